//! `kill -9` of the host, of the keeper, and damaged spools.

use crate::common::*;
use holdfast_keeper::Record;
use holdfast_keeper::connect::{Greeting, Link};
use holdfast_keeper::registry::{self, AttemptDir, ReadDeadError, Spec};
use holdfast_keeper::spool::OpenError;
use holdfast_keeper::tree::{self, Survivors};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

const HOST_DATA: &str = "HOLDFAST_TEST_HOST_DATA";
const HOST_SPEC: &str = "HOLDFAST_TEST_HOST_SPEC";

/// The host of the next test, as a process of its own: spawns a keeper, starts an agent, and tells each
/// record that it has taken on its stdout, until it is killed.
#[test]
fn a_host_process() {
    let (Ok(data), Ok(spec)) = (std::env::var(HOST_DATA), std::env::var(HOST_SPEC)) else { return };
    let spec: Spec = serde_json::from_str(&spec).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let born = registry::create(Path::new(&data), &spec).unwrap();
        let dir = registry::spawn(born, Path::new(KEEPER), [] as [&str; 0]).unwrap().dir;
        let script = "i=0; while :; do i=$((i+1)); printf '%d' $i; echo \" line\"; done";
        let (secret, incarnation) = (spec.secret.clone(), spec.incarnation);
        let greeting = Greeting { secret, incarnation, start: Some(shell(script)) };
        let (link, _) = Link::attach(&dir, greeting).await.unwrap();
        let mut events = link.read_from(0).await.unwrap();
        while let Some((record, position)) = events.recv().await {
            if let Record::Line(line) = record {
                println!("took {position} {}", String::from_utf8(line).unwrap());
            }
        }
    });
}

#[tokio::test]
async fn the_kill_of_a_host_stops_no_agent_and_loses_no_line() {
    let data = tempfile::tempdir().unwrap();
    let spec = spec();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["crashes::a_host_process", "--exact", "--nocapture"])
        .env(HOST_DATA, data.path())
        .env(HOST_SPEC, serde_json::to_string(&spec).unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let dir = AttemptDir::of(data.path(), spec.attempt);
    let attempt = Attempt { data, dir, spec };
    let mut taken = Vec::new();
    for told in BufReader::new(host.stdout.take().unwrap()).lines() {
        let told = told.unwrap();
        let Some(told) = told.strip_prefix("took ") else { continue };
        taken.push(told.to_owned());
        if taken.len() == 500 {
            // Its stdout ends with it; what it took and could not tell is read again below.
            host.kill().unwrap();
            break;
        }
    }
    host.wait().unwrap();
    let agent = attempt.agent();
    assert!(tree::is_alive(agent));
    let (position, _) = taken.last().unwrap().split_once(' ').unwrap();
    let (link, _) = attempt.attach().await;
    let mut events = link.read_from(position.parse().unwrap()).await.unwrap();
    let mut lines: Vec<String> =
        taken.iter().map(|told| told.split_once(' ').unwrap().1.to_owned()).collect();
    while lines.len() < 2000 {
        if let (Record::Line(line), _) = next(&mut events).await {
            lines.push(String::from_utf8(line).unwrap());
        }
    }
    let expected: Vec<String> = (1..=2000).map(|number| format!("{number} line")).collect();
    assert_eq!(lines, expected);
    assert!(tree::is_alive(agent));
}

#[tokio::test]
async fn the_kill_of_a_keeper_takes_the_agent_with_it_and_leaves_the_spool() {
    let attempt = Attempt::spawn();
    let script = "setsid sh -c 'trap \"\" TERM; echo child; while :; do sleep 1000; done' & \
                  read go; echo heard; printf unfinished; sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    records_until(&mut events, |record| *record == line("child")).await;
    link.write_frame(1, frame("\n")).await.unwrap();
    records_until(&mut events, |record| *record == line("heard")).await;
    while link.status().await.unwrap().end < 6 {}
    let agent = attempt.agent();
    let alive = registry::read_dead(&attempt.dir, 0);
    assert!(matches!(alive, Err(ReadDeadError::Alive(_))), "a living keeper is asked");
    attempt.kill_keeper().await;
    assert_eq!(events.recv().await, None);
    until("the agent is dead", || !tree::is_alive(agent)).await;
    let mut reader = registry::read_dead(&attempt.dir, 0).unwrap();
    let records: Vec<Record> = reader.by_ref().map(|record| record.unwrap().0).collect();
    let expected = [
        Record::Started(agent),
        line("child"),
        Record::FrameBegun(1),
        Record::FrameDone(1),
        line("heard"),
    ];
    assert_eq!(records, expected);
    let end = reader.end().unwrap();
    assert_eq!((end.position, end.open_line_bytes, end.torn_bytes), (6, 10, 0));
    assert!(tree::count(attempt.spec.attempt).unwrap() >= 1, "the grandchild lives");
    let record = attempt.dir.record().unwrap();
    let survivors = tree::end_survivors(attempt.spec.attempt, record.as_ref(), &[]).unwrap();
    assert_eq!(survivors, Survivors::None);
    assert_eq!(tree::count(attempt.spec.attempt).unwrap(), 0);
    registry::remove(&attempt.dir).unwrap();
}

#[tokio::test]
async fn a_dead_spool_is_read_from_anywhere_and_not_beyond_its_ends() {
    let attempt = Attempt::spawn();
    let script = "head -c 2999997 /dev/zero | tr '\\0' x | fold -w 999; echo; echo end; sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    let records = records_until(&mut events, |record| *record == line("end")).await;
    let end = records.last().unwrap().1;
    link.acknowledge(end - 1000).await.unwrap();
    let first = attempt.attach().await.1.first;
    attempt.kill_keeper().await;
    for position in [first, end - 1000, end - 1, end] {
        let read: Vec<_> =
            registry::read_dead(&attempt.dir, position).unwrap().map(Result::unwrap).collect();
        let expected = records.iter().filter(|(_, next)| *next > position).cloned();
        assert!(read == expected.collect::<Vec<_>>(), "from {position}");
    }
    // What a host still wants and is not there was lost.
    let mut lost = registry::read_dead(&attempt.dir, first - 1).unwrap();
    assert_eq!(lost.next().unwrap().unwrap(), (Record::Damaged, first));
    let ahead = registry::read_dead(&attempt.dir, end + 1);
    let is_ahead = matches!(
        ahead,
        Err(ReadDeadError::Open { source: OpenError::Ahead { end: it, .. }, .. }) if it == end
    );
    assert!(is_ahead);
}

#[tokio::test]
async fn a_flipped_byte_in_the_middle_is_damage_and_what_follows_is_read() {
    let attempt = Attempt::spawn();
    let (_link, mut events) = attempt.run("for i in 1 2 3 4 5 6; do echo line $i; done").await;
    let whole = all_records(&mut events).await;
    attempt.kill_keeper().await;
    let segment = std::fs::read_dir(attempt.dir.path().join("spool")).unwrap().next().unwrap();
    let path = segment.unwrap().path();
    let bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(6).position(|window| window == b"line 3").unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"L", at as u64).unwrap();
    let read = attempt.dead_records(0);
    let mut expected = whole.clone();
    expected[3] = Record::Damaged;
    assert_eq!(read, expected);
    // Cut inside the last record: its torn rest is none.
    file.set_len(bytes.len() as u64 - 1).unwrap();
    let mut reader = registry::read_dead(&attempt.dir, 0).unwrap();
    let read: Vec<_> = reader.by_ref().map(|record| record.unwrap().0).collect();
    assert_eq!(read, expected[..expected.len() - 1]);
    assert!(reader.end().unwrap().torn_bytes > 0);
}
