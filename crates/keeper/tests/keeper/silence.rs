//! A keeper that lives and does not answer.

use crate::common::*;
use holdfast_keeper::connect::{AttachError, CallError, Link};
use holdfast_keeper::limits::{ATTACH_MAX, CALL_MAX};
use std::time::Instant;

const STOP: i32 = 19;
const CONT: i32 = 18;

#[tokio::test]
async fn a_keeper_that_goes_on_within_the_bound_has_only_been_slow() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("while read line; do echo \"got $line\"; done").await;
    next(&mut events).await;
    kill(attempt.keeper(), STOP);
    let mut call = Box::pin(link.write_frame(1, frame("a\n")));
    // The call is on its way and is not answered.
    assert!(tokio::time::timeout(CALL_MAX / 10, &mut call).await.is_err());
    kill(attempt.keeper(), CONT);
    call.await.unwrap();
    assert!(!link.is_silent());
    records_until(&mut events, |record| *record == line("got a")).await;
}

#[tokio::test]
async fn a_keeper_that_does_not_answer_is_given_up_and_found_again_as_it_was() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("while read line; do echo \"got $line\"; done").await;
    let (_, position) = next(&mut events).await;
    kill(attempt.keeper(), STOP);
    let began = Instant::now();
    assert_eq!(link.write_frame(1, frame("a\n")).await, Err(CallError::Silent));
    assert!((CALL_MAX..CALL_MAX * 2).contains(&began.elapsed()));
    assert!(link.is_silent() && attempt.dir.is_alive().unwrap());
    assert_eq!(events.recv().await, None);
    assert_eq!(link.status().await, Err(CallError::Disconnected));
    let began = Instant::now();
    let greeted = Link::attach(&attempt.dir, attempt.greeting(None)).await;
    assert!(matches!(greeted, Err(AttachError::Silent(_))));
    assert!(began.elapsed() < ATTACH_MAX * 2);

    kill(attempt.keeper(), CONT);
    let (link, _) = attempt.attach().await;
    let mut events = link.read_from(position).await.unwrap();
    link.write_frame(1, frame("a\n")).await.unwrap();
    link.write_frame(2, frame("b\n")).await.unwrap();
    let records = records_until(&mut events, |record| *record == line("got b")).await;
    let got_a = records.iter().filter(|(record, _)| *record == line("got a")).count();
    assert_eq!(got_a, 1, "a frame that is repeated is written once: {records:?}");
}

#[tokio::test]
async fn a_frame_larger_than_a_socket_holds_up_no_call_beyond_its_bound() {
    let attempt = Attempt::spawn();
    let (link, mut events) = attempt.run("cat > /dev/null").await;
    next(&mut events).await;
    kill(attempt.keeper(), STOP);
    let large = link.write_frame(1, vec![b'x'; 2_000_000].into());
    let (large, status) = tokio::join!(large, link.status());
    assert_eq!(status, Err(CallError::Silent));
    assert_eq!(large, Err(CallError::Disconnected));
    assert_eq!(events.recv().await, None);
}
