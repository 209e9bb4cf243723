//! The main job: what was acknowledged survives real kills. Evidence comes from the agents' own
//! log and from `/proc`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use holdfast_testkit::host::Place;
use holdfast_testkit::scenario::{Stop, kill_the_host, offers, stop_everything};

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

#[test]
fn a_host_killed_in_mid_stream_loses_and_doubles_nothing() {
    let dir = tempfile::tempdir().unwrap();
    kill_the_host(&place(&dir), &|_| {});
}

#[test]
fn a_stop_and_a_kill_of_everything_give_the_same_offers() {
    let (killed, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let killed = stop_everything(&place(&killed), Stop::KillEverything, &|_| {});
    let stopped = stop_everything(&place(&stopped), Stop::Graceful, &|_| {});
    assert_eq!(killed, stopped);
    let expected = [
        ("mid-reply", "Was mid-reply"),
        ("subagent", "Subagent running: Read the manual"),
        ("monitor", "Monitoring: Watch the build"),
        ("question", "Waiting for your answer: Which colour?"),
    ];
    assert_eq!(killed, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
}

/// Resume-all starts three agents at once, not all of them.
#[test]
fn resuming_many_starts_three_at_once() {
    const CHATS: usize = 7;
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    let host = place.start();
    let chats: Vec<String> = (0..CHATS).map(|_| host.open()).collect();
    for chat in &chats {
        host.send(chat, "[[slow 600]]");
    }
    host.wait("all to work", || place.evidence().prompts().len() == CHATS);
    host.stop();
    place.env.insert("HOLDFAST_DEMO_START_DELAY_MS".to_owned(), "700".to_owned());
    let host = place.start();
    host.wait("the offers", || offers(&host).len() == CHATS);
    host.post("/offers/resume", &serde_json::json!({ "chats": "all" })).ok();
    let mut most = 0;
    host.wait("all to be resumed", || {
        most = most.max(place.silent_agents());
        offers(&host).is_empty()
    });
    assert!((1..=3).contains(&most), "{most} at once");
    host.stop();
}
