//! What a host reads, and reads again.

use crate::common::*;
use holdfast_keeper::Record;
use holdfast_keeper::connect::CallError;
use holdfast_keeper::protocol::Refusal;

/// Numbered lines of very different lengths, some far beyond a pipe, and a mark now and then.
const LINES: usize = 400;

fn numbered() -> String {
    format!(
        "i=0; while [ $i -lt {LINES} ]; do i=$((i+1)); printf '%d:' $i; \
         case $i in *7) head -c 150000 /dev/zero | tr '\\0' x;; esac; echo; done"
    )
}

fn number_of(record: &Record) -> Option<usize> {
    let Record::Line(line) = record else { return None };
    let end = line.iter().position(|&byte| byte == b':')?;
    let number: usize = std::str::from_utf8(&line[..end]).ok()?.parse().ok()?;
    let long = if number % 10 == 7 { 150_000 } else { 0 };
    assert_eq!(line.len(), end + 1 + long, "line {number} is whole");
    Some(number)
}

#[tokio::test]
async fn a_host_that_is_cut_off_anywhere_loses_and_doubles_nothing() {
    let attempt = Attempt::spawn();
    let (link, _) = attempt.start(&numbered()).await;
    drop(link);
    let mut position = 0;
    let mut numbers = Vec::new();
    let mut over = false;
    for turn in 1.. {
        let (link, _) = attempt.attach().await;
        let mut events = link.read_from(position).await.unwrap();
        // Cut after 1, 2, 3, … records; what was read ahead is lost with the connection.
        for _ in 0..turn {
            let (record, next) = next(&mut events).await;
            assert!(next > position);
            position = next;
            numbers.extend(number_of(&record));
            over = matches!(record, Record::Exited { .. });
            if over {
                break;
            }
        }
        // Acknowledging at every other cut must change nothing.
        if turn % 2 == 0 {
            link.acknowledge(position).await.unwrap();
        }
        if over {
            break;
        }
    }
    assert_eq!(numbers, (1..=LINES).collect::<Vec<_>>());
}

#[tokio::test]
async fn reading_may_begin_inside_a_line() {
    let attempt = Attempt::spawn();
    // The first part of a line, then a frame, then the rest of the line.
    let (link, mut events) =
        attempt.run("printf first; read go; echo \" rest $go\"; sleep 1000").await;
    next(&mut events).await;
    while link.status().await.unwrap().end == 1 {}
    link.write_frame(1, frame("x\n")).await.unwrap();
    let (record, behind_begin) = next(&mut events).await;
    assert_eq!(record, Record::FrameBegun(1));
    let records = records_until(&mut events, |record| matches!(record, Record::Line(_))).await;
    assert_eq!(records.last().unwrap().0, line("first rest x"));
    link.acknowledge(behind_begin).await.unwrap();
    for position in [behind_begin, behind_begin + 1] {
        let (link, _) = attempt.attach().await;
        let mut events = link.read_from(position).await.unwrap();
        let records = records_until(&mut events, |record| matches!(record, Record::Line(_))).await;
        assert_eq!(records.last().unwrap().0, line("first rest x"), "from {position}");
        assert!(
            records
                .iter()
                .all(|(record, next)| *next > position && *record != Record::FrameBegun(1))
        );
    }
}

#[tokio::test]
async fn positions_that_the_spool_does_not_have_are_refused() {
    let attempt = Attempt::spawn();
    let script = "head -c 2999997 /dev/zero | tr '\\0' x | fold -w 999; echo; echo end; sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    let records = records_until(&mut events, |record| *record == line("end")).await;
    assert_eq!(records.len(), 3003 + 2, "a birth, the lines and the end");
    let end = records.last().unwrap().1;
    assert_eq!(link.read_from(0).await.err(), Some(CallError::ReadingAlready));
    link.acknowledge(end).await.unwrap();
    let (link, welcome) = attempt.attach().await;
    assert!(welcome.first > 0 && welcome.first < end, "{welcome:?}");
    assert_eq!(link.read_from(end + 1).await.err(), Some(Refusal::Ahead { end }.into()));
    let gone = Refusal::Gone { first: welcome.first }.into();
    assert_eq!(link.read_from(welcome.first - 1).await.err(), Some(gone));
    assert!(link.read_from(welcome.first).await.is_ok(), "a refusal leaves the link usable");
    let segments = std::fs::read_dir(attempt.dir.path().join("spool")).unwrap().count();
    // One more where the last line reaches back into it.
    assert!(segments <= 2, "acknowledged segments are deleted, {segments} are left");
}

#[tokio::test]
async fn a_newer_host_takes_over() {
    let attempt = Attempt::spawn();
    let (old, mut old_events) = attempt.run("exec cat").await;
    next(&mut old_events).await;
    let (new, welcome) = attempt.attach().await;
    assert_eq!(welcome.end, 1);
    assert_eq!(old_events.recv().await, None);
    assert_eq!(old.status().await.err(), Some(CallError::Disconnected));
    let mut events = new.read_from(1).await.unwrap();
    new.write_frame(1, frame("hi\n")).await.unwrap();
    let records = records_until(&mut events, |record| matches!(record, Record::Line(_))).await;
    assert_eq!(records.last().unwrap().0, line("hi"));
}

#[tokio::test]
async fn a_reader_that_is_slow_delays_no_answer_and_loses_nothing() {
    let attempt = Attempt::spawn();
    let script = "head -c 8000000 /dev/zero | tr '\\0' x | fold -w 99; echo; echo end; sleep 1000";
    let (link, mut events) = attempt.run(script).await;
    // Nothing is taken while the agent writes all of it.
    let expected = 8_000_000usize.div_ceil(99) as u64;
    while link.status().await.unwrap().end < expected {}
    let records = records_until(&mut events, |record| *record == line("end")).await;
    let lines = records
        .iter()
        .filter(|(record, _)| matches!(record, Record::Line(line) if line.len() == 99));
    assert_eq!(lines.count(), 8_000_000 / 99);
    let positions: Vec<u64> = records.iter().map(|(_, next)| *next).collect();
    assert!(positions.windows(2).all(|pair| pair[1] > pair[0]));
}

#[tokio::test]
async fn the_link_ends_with_its_last_handle() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("sleep 1000").await;
    next(&mut events).await;
    let other = link.clone();
    drop((link, events));
    other.status().await.unwrap();
    drop(other);
    // Seen by the keeper: without a host it syncs what it has written, and a new host finds it free.
    attempt.attach().await;
}
