//! What the host writes to an agent.

use crate::common::*;
use holdfast_keeper::Record;
use holdfast_keeper::protocol::{Cancelled, Frames, Refusal, Written};
use holdfast_keeper::record::{Exit, Pipe, TreeEnd};
use std::time::Duration;

/// More than a pipe holds.
const BIG: usize = 300_000;

#[tokio::test]
async fn an_agent_hears_answers_and_ends() {
    let attempt = Attempt::spawn();
    let (link, mut events) =
        attempt.run("echo hello; read answer; echo \"got $answer\"; exit 3").await;
    assert_eq!(next(&mut events).await.0, Record::Started(attempt.agent()));
    assert_eq!(next(&mut events).await.0, line("hello"));
    assert_eq!(link.write_frame(1, frame("hi\n")).await, Ok(Written::Accepted));
    let expected = [
        Record::FrameBegun(1),
        Record::FrameDone(1),
        line("got hi"),
        Record::StdoutClosed { lost_bytes: 0 },
        Record::Exited { exit: Exit::Code(3), tree: TreeEnd::Clear },
    ];
    assert_eq!(all_records(&mut events).await, expected);
    assert_eq!(link.write_frame(1, frame("hi\n")).await, Ok(Written::Already));
    assert_eq!(link.write_frame(2, frame("hi\n")).await, Err(Refusal::Ended.into()));
    let end = attempt.attach().await.1.end;
    let (link, _) = attempt.attach().await;
    assert_eq!(link.acknowledge(end + 1).await, Err(Refusal::Ahead { end }.into()));
    link.acknowledge(end).await.unwrap();
    attempt.keeper_is_dead().await;
}

#[tokio::test]
async fn frames_of_all_sizes_arrive_whole_and_in_order() {
    let sizes = [1, 0, 32 * 1024, 32 * 1024 + 1, 64 * 1024, 3_000_000];
    let total: usize = sizes.iter().sum();
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run(&format!("head -c {total} | cksum; sleep 1000")).await;
    let mut sent = Vec::new();
    for (number, size) in (1..).zip(sizes) {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8 ^ number as u8).collect();
        sent.extend_from_slice(&bytes);
        link.write_frame(number, bytes.into()).await.unwrap();
    }
    let records = records_until(&mut events, |record| matches!(record, Record::Line(_))).await;
    let (sum, marks): (Vec<Record>, Vec<Record>) = records
        .into_iter()
        .map(|(record, _)| record)
        .skip(1)
        .partition(|record| matches!(record, Record::Line(_)));
    let expected: Vec<Record> = (1..=6)
        .flat_map(|number| [Record::FrameBegun(number), Record::FrameDone(number)])
        .take(marks.len())
        .collect();
    assert_eq!(marks, expected);
    assert!(marks.contains(&Record::FrameBegun(6)));
    assert_eq!(sum, [Record::Line(cksum(&sent))]);
    while link.status().await.unwrap().frames != (Frames { accepted: 6, begun: 6, done: 6 }) {}
    let left = std::fs::read_dir(attempt.dir.path().join("frames")).unwrap().count();
    assert_eq!(left, 0, "frames that were written leave no files");
}

fn cksum(bytes: &[u8]) -> Vec<u8> {
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
    std::io::Seek::rewind(&mut file).unwrap();
    let output = std::process::Command::new("cksum").stdin(file).output().unwrap();
    output.stdout.trim_ascii_end().to_vec()
}

#[tokio::test]
async fn an_agent_gets_every_byte() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("exec cat").await;
    let mut sent = Vec::new();
    for number in 1..=40u64 {
        let mut text = format!("{number}:").repeat(number as usize * 300);
        sent.push(line(&text));
        text.push('\n');
        link.write_frame(number, text.into_bytes().into()).await.unwrap();
    }
    let mut got = Vec::new();
    while got.len() < sent.len() {
        if let record @ Record::Line(_) = next(&mut events).await.0 {
            got.push(record);
        }
    }
    assert_eq!(got, sent);
}

#[tokio::test]
async fn a_frame_that_waits_can_be_taken_back_and_one_that_has_begun_cannot() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("exec sleep 1000").await;
    next(&mut events).await;
    link.write_frame(1, vec![b'x'; BIG].into()).await.unwrap();
    link.write_frame(2, frame("two\n")).await.unwrap();
    assert_eq!(next(&mut events).await.0, Record::FrameBegun(1));
    assert_eq!(link.cancel_frame(1).await, Ok(Cancelled::Begun));
    assert_eq!(link.cancel_frame(2).await, Ok(Cancelled::Cancelled));
    assert_eq!(link.cancel_frame(2).await, Ok(Cancelled::Cancelled), "asked again");
    assert_eq!(link.cancel_frame(3).await, Ok(Cancelled::Cancelled), "it never arrived");
    assert_eq!(link.write_frame(3, frame("three\n")).await, Ok(Written::Already));
    let gap = Err(Refusal::OutOfOrder { expected: 4 }.into());
    assert_eq!(link.write_frame(5, frame("five\n")).await, gap);
    assert_eq!(next(&mut events).await.0, Record::FrameCancelled(2));
    assert_eq!(next(&mut events).await.0, Record::FrameCancelled(3));
    let frames = link.status().await.unwrap().frames;
    assert_eq!(frames, Frames { accepted: 3, begun: 1, done: 0 });
    // What is on disk says the same once the keeper is gone.
    attempt.kill_keeper().await;
    let expected = [Record::FrameBegun(1), Record::FrameCancelled(2), Record::FrameCancelled(3)];
    assert_eq!(attempt.dead_records(1), expected);
}

#[tokio::test]
async fn too_many_waiting_frames_are_refused() {
    let attempt = Attempt::spawn();
    let (link, _events) = attempt.run("exec sleep 1000").await;
    link.write_frame(1, vec![b'x'; BIG].into()).await.unwrap();
    until_begun(&link).await;
    for number in 2..=65 {
        link.write_frame(number, frame("x\n")).await.unwrap();
    }
    assert_eq!(link.write_frame(66, frame("x\n")).await, Err(Refusal::Busy.into()));
}

async fn until_begun(link: &holdfast_keeper::connect::Link) {
    while link.status().await.unwrap().frames.begun == 0 {}
}

#[tokio::test]
async fn a_closed_stdin_leaves_the_frame_begun() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("exec <&-; echo closed; sleep 1000").await;
    records_until(&mut events, |record| *record == line("closed")).await;
    link.write_frame(1, frame("x\n")).await.unwrap();
    assert_eq!(next(&mut events).await.0, Record::FrameBegun(1));
    assert_eq!(link.write_frame(2, frame("x\n")).await, Err(Refusal::StdinClosed.into()));
    // It lives on: that is told after a while.
    assert_eq!(next(&mut events).await.0, Record::CutOff(Pipe::Stdin));
    link.stop(stop_tree(Duration::ZERO)).await.unwrap();
    let records = all_records(&mut events).await;
    assert!(!records.contains(&Record::FrameDone(1)), "{records:?}");
}

#[tokio::test]
async fn half_a_frame_of_a_lost_host_is_forgotten() {
    use holdfast_keeper::protocol::{Call, WriteChunk};
    let attempt = Attempt::spawn();
    let (_link, mut events) = attempt.run("exec cat").await;
    next(&mut events).await;
    let mut raw = Raw::greeted(&attempt).await;
    let chunk = WriteChunk { number: 1, total: 10, offset: 0, bytes: b"half " };
    raw.send(&Call::WriteFrame(chunk)).await;
    raw.send(&Call::Status).await;
    raw.reply().await;
    drop(raw);
    let (link, welcome) = attempt.attach().await;
    assert_eq!(welcome.frames, Frames::default());
    link.write_frame(1, frame("whole\n")).await.unwrap();
    let mut events = link.read_from(1).await.unwrap();
    let records = records_until(&mut events, |record| matches!(record, Record::Line(_))).await;
    assert_eq!(records.last().unwrap().0, line("whole"));
}
