//! What whoever runs a host sees of it: figures, health, the log.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::collections::BTreeMap;

use holdfast_testkit::host::{Place, TestHost};
use serde_json::Value;

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

#[track_caller]
fn turn(host: &TestHost<'_>, chat: &str, text: &str) {
    let message = host.send(chat, text);
    host.wait_message(chat, &message, "settled");
}

/// Every figure with its value.
fn figures(host: &TestHost<'_>) -> BTreeMap<String, f64> {
    let answer = host.exchange(&host.raw("GET", "/metrics"));
    assert_eq!(answer.status, 200);
    let text = String::from_utf8(answer.body).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.map(|line| line.rsplit_once(' ').unwrap());
    pairs.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

#[test]
fn figures_follow_what_happens() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let before = figures(&host);
    assert_eq!(before["holdfast_attempts"], 0.0);
    assert_eq!(before["holdfast_queue_bound{queue=\"store_calls\"}"], 1024.0);
    let chat = host.open();
    turn(&host, &chat, "[[say one]]");
    host.send(&chat, "[[slow 600]]");
    host.wait_shown(&chat, "working");
    let path = format!("/chats/{chat}/messages");
    host.post(&path, &serde_json::json!({ "text": "it waits" })).ok();
    let now = figures(&host);
    for (name, value) in [
        ("holdfast_chats{state=\"open\"}", 1.0),
        ("holdfast_chats{state=\"running\"}", 1.0),
        ("holdfast_messages_queued", 1.0),
        ("holdfast_attempts", 1.0),
        ("holdfast_attempts_begun_total", 1.0),
        ("holdfast_chats_loaded", 1.0),
    ] {
        assert_eq!(now[name], value, "{name}: {now:#?}");
    }
    let grew = |name: &str| now[name] - before[name];
    assert!(grew("holdfast_store_append_seconds_count") >= 4.0, "{now:#?}");
    assert!(grew("holdfast_store_append_seconds_sum") > 0.0);
    // Every call was in one of the transactions.
    assert!(grew("holdfast_store_batch_calls_sum") >= grew("holdfast_store_append_seconds_count"));
    assert!(grew("holdfast_store_batch_calls_count") >= 1.0);
    host.stop();
}

#[test]
fn a_log_for_programs_tells_request_chat_and_attempt() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir).env("HOLDFAST_LOG", "info,holdfast_http=debug,holdfast_host=debug");
    place.args = vec!["--log-format".into(), "json".into()];
    let host = place.start();
    let chat = host.open();
    turn(&host, &chat, "[[say one]]");
    let target = format!("/api/v1/chats/{chat}");
    host.exchange(&host.raw("GET", &target).header("x-request-id", "seen-1"));
    let lines = || -> Vec<Value> {
        place.log().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    host.wait("the line", || lines().iter().any(|line| line["request_id"] == "seen-1"));
    let lines = lines();
    let request = lines.iter().find(|line| line["request_id"] == "seen-1").unwrap();
    assert_eq!(request["chat"], chat.as_str());
    assert_eq!((&request["status"], &request["method"]), (&200.into(), &"GET".into()));
    let attempt = lines.iter().find(|line| line["message"] == "the keeper answers").unwrap();
    assert_eq!(attempt["chat"], chat.as_str());
    // It is named as in all other places.
    let name = attempt["attempt"].as_str().unwrap();
    let id = name.rsplit('_').next().unwrap();
    let on_disk = place.attempts().remove(0);
    assert_eq!(on_disk.replace('-', ""), id.replace('-', ""), "{name}");
    assert!(lines.iter().all(|line| line["level"].is_string() && line["at"].is_string()));
    host.stop();
}

#[test]
fn a_host_says_that_it_lives_and_is_ready() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    for path in ["/livez", "/readyz"] {
        let answer = host.exchange(
            &holdfast_testkit::raw::RawRequest::new("GET", path)
                .header("host", holdfast_testkit::raw::address(&host.url)),
        );
        assert_eq!((answer.status, answer.body.as_slice()), (200, &b"ok\n"[..]), "{path}");
    }
    host.stop();
}
