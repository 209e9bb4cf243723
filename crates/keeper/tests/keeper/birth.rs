//! How an attempt comes to life, and how an agent is started.

use crate::common::*;
use holdfast_keeper::Record;
use holdfast_keeper::connect::{AttachError, Link};
use holdfast_keeper::protocol::{AgentState, Refusal, Start, Stop, StopScope};
use holdfast_keeper::registry::{self, CreateError, RemoveError};
use holdfast_keeper::tree;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn an_attempt_is_locked_before_it_can_be_seen_and_free_without_a_keeper() {
    let data = tempfile::tempdir().unwrap();
    let spec = spec();
    let born = registry::create(data.path(), &spec).unwrap();
    let dir = born.dir().clone();
    assert_eq!(registry::list(data.path()).unwrap(), std::slice::from_ref(&dir));
    assert!(dir.is_alive().unwrap());
    assert_eq!(mode(&data.path().join("attempts")), 0o700);
    assert_eq!(mode(dir.path()), 0o700);
    assert_eq!(mode(&dir.path().join("spec")), 0o600);
    let twice = registry::create(data.path(), &spec);
    assert!(matches!(twice, Err(CreateError::Exists(attempt)) if attempt == spec.attempt));
    assert!(matches!(registry::remove(&dir), Err(RemoveError::Alive(_))));
    drop(born);
    // What another test is just starting has a copy of every descriptor until it executes.
    until("the lock is free", || !dir.is_alive().unwrap()).await;
    registry::remove(&dir).unwrap();
    registry::remove(&dir).unwrap();
    assert_eq!(registry::list(data.path()).unwrap(), []);
}

#[test]
fn a_birth_that_a_crash_cut_short_is_removed() {
    let data = tempfile::tempdir().unwrap();
    let attempt = spec().attempt;
    let unborn = data.path().join("attempts").join(format!(".new-{attempt}"));
    std::fs::create_dir_all(&unborn).unwrap();
    std::fs::write(unborn.join("spec"), "a secret").unwrap();
    std::fs::create_dir_all(data.path().join("attempts").join("not an attempt")).unwrap();
    assert_eq!(registry::list(data.path()).unwrap(), []);
    assert!(!unborn.exists());
}

#[tokio::test]
async fn a_program_that_cannot_be_started_leaves_no_attempt() {
    let data = tempfile::tempdir().unwrap();
    let born = registry::create(data.path(), &spec()).unwrap();
    assert!(registry::spawn(born, Path::new("/no/such/keeper"), [] as [&str; 0]).is_err());
    assert_eq!(registry::list(data.path()).unwrap(), []);
}

#[tokio::test]
async fn a_keeper_has_its_own_session_and_no_secret_that_others_can_see() {
    let attempt = Attempt::spawn();
    let (_link, welcome) = attempt.attach().await;
    assert_eq!(welcome.agent, AgentState::None);
    assert_eq!((welcome.first, welcome.end), (0, 0));
    assert!(!attempt.dir.path().join("spec").exists());
    assert_eq!(mode(&attempt.dir.path().join("sock")), 0o600);
    let pid = attempt.keeper().pid;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let session = stat.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap().to_owned();
    assert_eq!(session, pid.to_string());
    assert_eq!(std::fs::read(format!("/proc/{pid}/environ")).unwrap(), b"");
    let arguments = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    assert_eq!(arguments, format!("{KEEPER}\0").into_bytes());
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/fd/0")).unwrap(), Path::new("/dev/null"));
    assert_eq!(std::fs::read_to_string(attempt.dir.path().join("keeper.log")).unwrap(), "");
}

#[tokio::test]
async fn a_dead_keeper_leaves_a_free_lock_and_no_zombie() {
    let attempt = Attempt::spawn();
    let (_link, _) = attempt.attach().await;
    let keeper = attempt.keeper();
    attempt.kill_keeper().await;
    until("the keeper is waited for", || tree::process_id(keeper.pid) != Some(keeper)).await;
    let attached = Link::attach(&attempt.dir, attempt.greeting(None)).await;
    assert!(matches!(attached, Err(AttachError::Dead(_))));
}

#[tokio::test]
async fn what_an_agent_leaves_behind_does_not_hold_the_lock() {
    let attempt = Attempt::spawn();
    let (_link, mut events) = attempt.run("setsid sleep 1000 & echo $!; sleep 1000").await;
    records_until(&mut events, |record| matches!(record, Record::Line(_))).await;
    attempt.kill_keeper().await;
    assert!(tree::count(attempt.spec.attempt).unwrap() > 0);
    assert!(!attempt.dir.is_alive().unwrap());
}

#[tokio::test]
async fn without_a_start_a_keeper_ends_itself() {
    let attempt = Attempt::spawn_with(|limits| limits.start_wait_ms = 50);
    attempt.keeper_is_dead().await;
    assert_eq!(attempt.dead_records(0), []);
}

#[tokio::test]
async fn an_agent_is_started_once() {
    let attempt = Attempt::spawn();
    let (_first, welcome) = attempt.start("echo one; sleep 1000").await;
    assert_eq!(welcome.agent, AgentState::Running(attempt.agent()));
    let (link, again) = attempt.start("echo two; sleep 1000").await;
    assert_eq!(again.agent, welcome.agent);
    let mut events = link.read_from(0).await.unwrap();
    next(&mut events).await;
    assert_eq!(next(&mut events).await.0, line("one"));
}

#[tokio::test]
async fn an_agent_gets_its_environment_and_the_cookie_and_nothing_else() {
    let attempt = Attempt::spawn();
    let mut start = shell("tr '\\0' '\\n' </proc/$$/environ; pwd; ls /proc/self/fd | wc -l; exit");
    start.env.push(("MARK".into(), "a b".into()));
    start.cwd = PathBuf::from("/usr");
    let greeting = attempt.greeting(Some(start));
    let (link, _) = Link::attach(&attempt.dir, greeting).await.unwrap();
    let mut events = link.read_from(0).await.unwrap();
    let lines: Vec<String> = all_records(&mut events)
        .await
        .into_iter()
        .filter_map(|record| match record {
            Record::Line(line) => Some(String::from_utf8(line).unwrap()),
            _ => None,
        })
        .collect();
    let (environment, rest) = lines.split_at(lines.len() - 2);
    let expected = BTreeSet::from([
        "PATH=/usr/local/bin:/usr/bin:/bin".to_owned(),
        "MARK=a b".to_owned(),
        format!("HOLDFAST_ATTEMPT={}", attempt.spec.attempt),
    ]);
    assert_eq!(environment.iter().cloned().collect::<BTreeSet<_>>(), expected);
    assert_eq!(rest[0], "/usr");
    assert_eq!(rest[1].trim(), "4", "stdin, stdout, stderr and the folder that is listed");
}

#[tokio::test]
async fn an_agent_leads_a_process_group_of_its_own() {
    let attempt = Attempt::spawn();
    let (_link, mut events) = attempt.run("cut -d' ' -f5 /proc/$$/stat; exit").await;
    let records = all_records(&mut events).await;
    assert_eq!(records[1], line(&attempt.agent().pid.to_string()));
}

/// Signals 32 and 33 cannot be reset by a program: the C library keeps them for itself.
const OF_THE_C_LIBRARY: u64 = 0b11 << 31;

/// What an odd ancestor may leave: a descriptor that nobody closes, signals ignored and blocked.
const ODD_PARENT: &str = "use POSIX; $^F = 100; open(my $leak, '<', '/dev/zero'); \
    $SIG{$_} = 'IGNORE' for qw(USR1 QUIT PIPE TSTP); \
    sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR2, SIGTERM)); exec @ARGV";

#[tokio::test]
async fn what_an_odd_parent_leaves_to_a_keeper_reaches_no_agent() {
    let data = tempfile::tempdir().unwrap();
    let spec = spec();
    let born = registry::create(data.path(), &spec).unwrap();
    let perl = Path::new("/usr/bin/perl");
    let dir = registry::spawn(born, perl, ["-e", ODD_PARENT, KEEPER]).unwrap().dir;
    let attempt = Attempt { data, dir, spec };
    let (_link, mut events) =
        attempt.run("grep -E '^Sig(Blk|Ign)' /proc/self/status; ls -l /proc/self/fd").await;
    let records = all_records(&mut events).await;
    let keeper = format!("/proc/{}/fd", attempt.keeper().pid);
    for record in &records[1..3] {
        let Record::Line(line) = record else { panic!("{records:?}") };
        let (name, mask) = std::str::from_utf8(line).unwrap().split_once('\t').unwrap();
        let mask = u64::from_str_radix(mask, 16).unwrap();
        assert_eq!(mask & !OF_THE_C_LIBRARY, 0, "{name} {mask:x}");
    }
    let leaked = |line: &Record| matches!(line, Record::Line(line) if line.ends_with(b"/dev/zero"));
    assert!(!records.iter().any(leaked));
    for entry in std::fs::read_dir(keeper).unwrap() {
        let target = std::fs::read_link(entry.unwrap().path()).unwrap();
        assert_ne!(target, Path::new("/dev/zero"));
    }
    // The signals that a keeper heeds are not blocked in it either.
    kill(attempt.keeper(), 15);
    attempt.keeper_is_dead().await;
}

#[tokio::test]
async fn an_agent_that_cannot_be_started_is_a_record() {
    let attempt = Attempt::spawn();
    let start = Start { argv: vec!["/no/such/agent".into()], ..shell("") };
    let greeting = attempt.greeting(Some(start));
    let (link, welcome) = Link::attach(&attempt.dir, greeting).await.unwrap();
    assert_eq!(welcome.agent, AgentState::Ended);
    let mut events = link.read_from(0).await.unwrap();
    let (record, end) = next(&mut events).await;
    assert!(matches!(record, Record::SpawnFailed { errno: 2, .. }), "{record:?}");
    assert_eq!(link.write_frame(1, frame("x\n")).await, Err(Refusal::Ended.into()));
    link.acknowledge(end).await.unwrap();
    attempt.keeper_is_dead().await;
}

#[tokio::test]
async fn a_stop_before_the_start_ends_the_attempt() {
    let attempt = Attempt::spawn();
    let (link, _) = attempt.attach().await;
    let agent_only = Stop { scope: StopScope::Agent { grace: Duration::ZERO }, unless_after: None };
    assert_eq!(link.stop(agent_only).await, Err(Refusal::NoAgent.into()));
    link.stop(stop_tree(Duration::ZERO)).await.unwrap();
    let mut events = link.read_from(0).await.unwrap();
    let (record, end) = next(&mut events).await;
    assert!(matches!(record, Record::SpawnFailed { errno: 0, .. }), "{record:?}");
    link.acknowledge(end).await.unwrap();
    attempt.keeper_is_dead().await;
}

#[tokio::test]
async fn a_data_directory_may_be_deep() {
    let data = tempfile::tempdir().unwrap();
    let deep = data.path().join("d".repeat(200)).join("a b\n'ü'");
    std::fs::create_dir_all(&deep).unwrap();
    let attempt = Attempt::spawn_at(data, &deep, |_| {});
    let (_link, mut events) = attempt.run("echo deep").await;
    assert!(all_records(&mut events).await.contains(&line("deep")));
}

#[tokio::test]
async fn a_keeper_started_by_hand_refuses() {
    let data = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(KEEPER)
        .current_dir(data.path())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("started by its host"), "{said}");
}
