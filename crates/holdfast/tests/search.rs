//! Search over the transcripts of real agents, across kills.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use holdfast_testkit::host::{Place, TestHost};
use serde_json::json;

fn found(host: &TestHost<'_>, q: &str) -> Vec<String> {
    let found = host.get(&format!("/search?q={q}"));
    let items = found["items"].as_array().unwrap().iter();
    items.map(|item| item["chat"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_agents_said_is_found_whatever_was_killed_and_of_deleted_chats_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path());
    let host = place.start();
    let chats: Vec<String> = (0..4)
        .map(|n| {
            let chat = host.open();
            host.send(&chat, &format!("[[say the answer is sesame{n}]]"));
            chat
        })
        .collect();
    // Killed while it may be indexing; what is committed is found by the next.
    host.wait("the first answers", || host.said(&chats[0]).contains("sesame"));
    host.kill();
    let host = place.start();
    for (n, chat) in chats.iter().enumerate() {
        let only = |q: &str| found(&host, q).iter().all(|hit| hit == chat);
        host.wait("the message and the answer", || found(&host, &format!("sesame{n}")).len() == 2);
        assert!(only(&format!("sesame{n}")));
    }
    assert_eq!(host.get("/chats?q=sesame3")["items"][0]["id"], chats[3].as_str());

    host.request("DELETE", &format!("/chats/{}", chats[1]), None).unwrap().ok();
    host.wait("the deleted chat to be forgotten", || found(&host, "sesame1").is_empty());
    let file = place.data_dir().join("search.db");
    host.kill_everything();
    // It is nothing but a copy.
    std::fs::write(&file, "rubbish").unwrap();
    let host = place.start();
    host.wait("the index to be made anew", || found(&host, "sesame").len() == 6);
    assert!(found(&host, "sesame1").is_empty());
    assert_eq!(host.get("/host")["damage"], json!([]));
    host.stop();
}
