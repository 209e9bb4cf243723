//! How an attempt ends: by itself, by a stop, by the outside.

use crate::common::*;
use holdfast_keeper::Record;
use holdfast_keeper::protocol::{Phase, Refusal, Stop, StopScope};
use holdfast_keeper::record::{Exit, SignalledBy, TreeEnd};
use holdfast_keeper::tree;
use std::time::{Duration, Instant};

/// A grandchild in a session of its own that ignores TERM, and its parent that does too.
const STUBBORN: &str = "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo born; while :; do sleep 1000; done' & \
                        sleep 1000; while :; do sleep 1000; done";

fn exited(records: &[Record]) -> (Exit, TreeEnd) {
    match records.last() {
        Some(Record::Exited { exit, tree }) => (*exit, tree.clone()),
        other => panic!("{other:?} is no exit"),
    }
}

#[tokio::test]
async fn a_stop_ends_everything_and_says_so_first() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run(STUBBORN).await;
    records_until(&mut events, |record| *record == line("born")).await;
    assert!(tree::count(attempt.spec.attempt).unwrap() >= 2);
    link.stop(stop_tree(Duration::from_millis(100))).await.unwrap();
    let records = all_records(&mut events).await;
    assert_eq!(records[0], Record::Signalled { signal: 15, by: SignalledBy::Host });
    assert_eq!(exited(&records), (Exit::Signal(9), TreeEnd::Clear));
    assert_eq!(tree::count(attempt.spec.attempt).unwrap(), 0);
    assert_eq!(link.stop(stop_tree(Duration::ZERO)).await, Err(Refusal::Ended.into()));
}

#[tokio::test]
async fn an_agent_that_heeds_the_stop_is_not_waited_for_longer() {
    let attempt = Attempt::spawn();
    let (link, mut events) =
        attempt.run("trap 'echo bye; exit 7' TERM; echo up; sleep 1000 & wait").await;
    records_until(&mut events, |record| *record == line("up")).await;
    let began = Instant::now();
    link.stop(stop_tree(Duration::from_secs(300))).await.unwrap();
    let records = all_records(&mut events).await;
    assert!(records.contains(&line("bye")), "{records:?}");
    assert_eq!(exited(&records), (Exit::Code(7), TreeEnd::Clear));
    assert!(began.elapsed() < BOUND);
}

#[tokio::test]
async fn a_second_stop_shortens_the_grace() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run(STUBBORN).await;
    records_until(&mut events, |record| *record == line("born")).await;
    link.stop(stop_tree(Duration::from_secs(300))).await.unwrap();
    assert_eq!(link.status().await.unwrap().phase, Phase::Stopping);
    assert_eq!(link.write_frame(1, frame("x\n")).await, Err(Refusal::Ended.into()));
    link.stop(stop_tree(Duration::ZERO)).await.unwrap();
    assert_eq!(exited(&all_records(&mut events).await).1, TreeEnd::Clear);
}

#[tokio::test]
async fn a_conditional_stop_is_refused_when_something_was_written_since() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("echo one; read go; printf tail; sleep 1000").await;
    let stop = |position| Stop {
        scope: StopScope::Tree { grace: Duration::ZERO },
        unless_after: Some(position),
    };
    let (_, position) =
        records_until(&mut events, |record| *record == line("one")).await.pop().unwrap();
    assert_eq!(link.stop(stop(position - 1)).await, Err(Refusal::NotIdle { end: position }.into()));
    assert_eq!(link.stop(stop(position + 1)).await, Err(Refusal::Ahead { end: position }.into()));
    link.write_frame(1, frame("\n")).await.unwrap();
    let (_, position) =
        records_until(&mut events, |record| *record == Record::FrameDone(1)).await.pop().unwrap();
    // A part of a line counts as something written, although no reader sees it yet.
    while link.status().await.unwrap().end == position {}
    assert_eq!(link.stop(stop(position)).await, Err(Refusal::NotIdle { end: position + 1 }.into()));
}

#[tokio::test]
async fn a_conditional_stop_holds_when_nothing_was_written() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("echo one; sleep 1000").await;
    let (_, position) =
        records_until(&mut events, |record| *record == line("one")).await.pop().unwrap();
    let scope = StopScope::Tree { grace: Duration::ZERO };
    link.stop(Stop { scope, unless_after: Some(position) }).await.unwrap();
    assert_eq!(exited(&all_records(&mut events).await).0, Exit::Signal(9));
}

#[tokio::test]
async fn an_agent_that_ends_takes_what_it_started_with_it() {
    let attempt = Attempt::spawn_with(|limits| limits.grace_ms = 100);
    let script = "setsid sh -c 'trap \"\" TERM; echo child; exec sleep 1000' & read go; exit 5";
    let (link, mut events) = attempt.run(script).await;
    records_until(&mut events, |record| *record == line("child")).await;
    link.write_frame(1, frame("\n")).await.unwrap();
    let records = all_records(&mut events).await;
    assert_eq!(exited(&records), (Exit::Code(5), TreeEnd::Clear));
    assert_eq!(tree::count(attempt.spec.attempt).unwrap(), 0);
}

#[tokio::test]
async fn what_a_grandchild_still_writes_after_the_agents_exit_is_kept() {
    let attempt = Attempt::spawn();
    let script = "(while kill -0 $$ 2>/dev/null; do :; done; echo late) & exit 0";
    let (_link, mut events) = attempt.run(script).await;
    let records = all_records(&mut events).await;
    assert!(records.contains(&line("late")), "{records:?}");
    assert_eq!(exited(&records), (Exit::Code(0), TreeEnd::Clear));
}

#[tokio::test]
async fn a_last_line_without_an_end_is_torn() {
    let attempt = Attempt::spawn();
    let (_link, mut events) = attempt.run("printf 'whole\\ntorn'").await;
    let records = all_records(&mut events).await;
    let closed = Record::StdoutClosed { lost_bytes: 0 };
    assert_eq!(records[1..4], [line("whole"), Record::Torn(b"torn".to_vec()), closed]);
}

#[tokio::test]
async fn the_agent_alone_can_be_stopped_and_the_rest_is_held() {
    let attempt = Attempt::spawn();
    let script = "setsid sh -c 'echo server; exec sleep 1000' & sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    records_until(&mut events, |record| *record == line("server")).await;
    let scope = StopScope::Agent { grace: Duration::ZERO };
    link.stop(Stop { scope, unless_after: None }).await.unwrap();
    let records =
        records_until(&mut events, |record| matches!(record, Record::Exited { .. })).await;
    let end = records.last().unwrap().1;
    let Record::Exited { exit, tree: TreeEnd::Left { named, .. } } = &records.last().unwrap().0
    else {
        panic!("{records:?}");
    };
    assert_eq!(*exit, Exit::Signal(9));
    assert!(named.iter().any(|left| left.command.contains("sleep 1000")), "{named:?}");
    link.acknowledge(end).await.unwrap();
    let status = link.status().await.unwrap();
    assert_eq!(status.phase, Phase::Holding);
    assert!(status.leftovers_count >= 1);
    link.stop(stop_tree(Duration::ZERO)).await.unwrap();
    attempt.keeper_is_dead().await;
    assert_eq!(tree::count(attempt.spec.attempt).unwrap(), 0);
}

#[tokio::test]
async fn a_holder_whose_leftovers_end_by_themselves_ends_too() {
    let attempt = Attempt::spawn();
    let script = "setsid sh -c 'trap \"exit 0\" USR1; echo $$; while :; do sleep 0.01; done' & exec sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    let records = records_until(&mut events, |record| matches!(record, Record::Line(_))).await;
    let Record::Line(pid) = &records.last().unwrap().0 else { unreachable!() };
    let pid: u32 = String::from_utf8(pid.clone()).unwrap().trim().parse().unwrap();
    let scope = StopScope::Agent { grace: Duration::ZERO };
    link.stop(Stop { scope, unless_after: None }).await.unwrap();
    let records =
        records_until(&mut events, |record| matches!(record, Record::Exited { .. })).await;
    link.acknowledge(records.last().unwrap().1).await.unwrap();
    assert_eq!(link.status().await.unwrap().phase, Phase::Holding);
    kill(tree::process_id(pid).unwrap(), 10);
    attempt.keeper_is_dead().await;
}

#[tokio::test]
async fn one_signal_reaches_the_agent_alone() {
    let attempt = Attempt::spawn();
    let script = "trap 'echo int' INT; echo up; while :; do sleep 0.01; done";
    let (link, mut events) = attempt.run(script).await;
    records_until(&mut events, |record| *record == line("up")).await;
    let signal = |number| Stop { scope: StopScope::Signal(number), unless_after: None };
    link.stop(signal(2)).await.unwrap();
    assert_eq!(next(&mut events).await.0, Record::Signalled { signal: 2, by: SignalledBy::Host });
    assert_eq!(next(&mut events).await.0, line("int"));
    assert_eq!(link.status().await.unwrap().phase, Phase::Running);
    for bad in [0, -1, 32, 65] {
        assert_eq!(link.stop(signal(bad)).await, Err(Refusal::Malformed.into()), "{bad}");
    }
}

#[tokio::test]
async fn a_signal_from_outside_is_recorded_before_it_is_carried_out() {
    for signal in [15, 2] {
        let attempt = Attempt::spawn_with(|limits| limits.grace_ms = 50);
        let (_link, mut events) = attempt.run(STUBBORN).await;
        records_until(&mut events, |record| *record == line("born")).await;
        kill(attempt.keeper(), signal);
        attempt.keeper_is_dead().await;
        let records = attempt.dead_records(0);
        let at =
            records.iter().position(|record| matches!(record, Record::Signalled { .. })).unwrap();
        assert_eq!(records[at], Record::Signalled { signal, by: SignalledBy::Outside });
        assert_eq!(exited(&records), (Exit::Signal(9), TreeEnd::Clear));
        assert_eq!(tree::count(attempt.spec.attempt).unwrap(), 0);
    }
}

#[tokio::test]
async fn a_hangup_is_for_hosts_and_ends_no_keeper() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("exec cat").await;
    next(&mut events).await;
    kill(attempt.keeper(), 1);
    link.write_frame(1, frame("still here\n")).await.unwrap();
    let records = records_until(&mut events, |record| matches!(record, Record::Line(_))).await;
    assert_eq!(records.last().unwrap().0, line("still here"));
}

#[tokio::test]
async fn an_orphan_with_a_clean_environment_is_ended_too() {
    let attempt = Attempt::spawn();
    let script = "(setsid env -i /bin/sh -c 'trap \"\" TERM; echo $$; while :; do /bin/sleep 1000; done' &); \
                  exec sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    let records = records_until(&mut events, |record| matches!(record, Record::Line(_))).await;
    let Record::Line(pid) = &records.last().unwrap().0 else { unreachable!() };
    let pid = String::from_utf8(pid.clone()).unwrap().parse().unwrap();
    let orphan = tree::process_id(pid).unwrap();
    link.stop(stop_tree(Duration::from_millis(50))).await.unwrap();
    assert_eq!(exited(&all_records(&mut events).await).1, TreeEnd::Clear);
    assert!(!tree::is_alive(orphan));
}

#[tokio::test]
async fn what_carries_the_cookie_is_ended_wherever_it_descends_from() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("exec sleep 1000").await;
    next(&mut events).await;
    let cookie = attempt.spec.attempt.to_string();
    let mut elsewhere = std::process::Command::new("sleep")
        .arg("1000")
        .env(tree::COOKIE_NAME, cookie)
        .spawn()
        .unwrap();
    let process = tree::process_id(elsewhere.id()).unwrap();
    link.stop(stop_tree(Duration::ZERO)).await.unwrap();
    assert_eq!(exited(&all_records(&mut events).await).1, TreeEnd::Clear);
    assert!(!tree::is_alive(process));
    elsewhere.wait().unwrap();
}

#[tokio::test]
async fn a_second_signal_from_outside_does_not_wait() {
    let attempt = Attempt::spawn_with(|limits| limits.grace_ms = 300_000);
    let (link, mut events) = attempt.run(STUBBORN).await;
    records_until(&mut events, |record| *record == line("born")).await;
    kill(attempt.keeper(), 15);
    records_until(&mut events, |record| matches!(record, Record::Signalled { .. })).await;
    assert_eq!(link.status().await.unwrap().phase, Phase::Stopping);
    kill(attempt.keeper(), 15);
    attempt.keeper_is_dead().await;
    assert_eq!(exited(&attempt.dead_records(0)).1, TreeEnd::Clear);
}

#[tokio::test]
async fn without_any_host_for_too_long_everything_is_ended_and_the_spool_is_left() {
    let attempt = Attempt::spawn_with(|limits| {
        limits.host_gone_ms = 100;
        limits.grace_ms = 50;
    });
    let (link, mut events) = attempt.run(STUBBORN).await;
    records_until(&mut events, |record| *record == line("born")).await;
    drop((link, events));
    attempt.keeper_is_dead().await;
    let records = attempt.dead_records(0);
    assert!(records.contains(&Record::Signalled { signal: 15, by: SignalledBy::HostLost }));
    assert_eq!(exited(&records).1, TreeEnd::Clear);
    assert_eq!(tree::count(attempt.spec.attempt).unwrap(), 0);
}

#[tokio::test]
async fn an_end_that_nobody_has_read_is_waited_with() {
    let attempt = Attempt::spawn();
    let (link, events) = attempt.run("exit 4").await;
    drop((link, events));
    let (link, _) = attempt.attach().await;
    let mut events = link.read_from(0).await.unwrap();
    assert_eq!(exited(&all_records(&mut events).await).0, Exit::Code(4));
    assert_eq!(link.status().await.unwrap().phase, Phase::Ended);
    assert!(attempt.dir.is_alive().unwrap());
}

#[tokio::test]
async fn the_status_names_leftovers_ports_and_stderr() {
    let attempt = Attempt::spawn();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let script = format!(
        "echo trouble >&2; perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, \
         LocalAddr => \"127.0.0.1\", LocalPort => {port}) or die; $| = 1; print \"up\\n\"; sleep 1000' & wait"
    );
    let (link, mut events) = attempt.run(&script).await;
    records_until(&mut events, |record| *record == line("up")).await;
    let status = link.status().await.unwrap();
    assert_eq!(status.phase, Phase::Running);
    assert_eq!((status.stderr_tail.as_slice(), status.stderr_bytes), (&b"trouble\n"[..], 8));
    assert_eq!(status.leftovers_count, 1, "{:?}", status.leftovers);
    assert_eq!(status.leftovers[0].ports, [port]);
    assert!(status.leftovers[0].process.command.starts_with("perl"));
    assert_ne!(status.leftovers[0].process.process, attempt.agent());
    assert_eq!(attempt.dir.stderr_tail(3).unwrap(), b"le\n");
}
