//! Forks, with real agents: another chat whose agent knows what this one's did, judged by what the
//! agents say they saw.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use holdfast_testkit::host::{Place, TestHost};
use serde_json::{Value, json};

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

/// A chat that has said two things and rests.
fn rested(host: &TestHost<'_>) -> String {
    let chat = host.open();
    for text in ["[[say one]]", "[[say two]]"] {
        let message = host.send(&chat, text);
        host.wait_message(&chat, &message, "settled");
    }
    chat
}

fn last(host: &TestHost<'_>, chat: &str) -> u64 {
    host.items(chat).last().unwrap()["seq"].as_u64().unwrap()
}

fn fork(host: &TestHost<'_>, key: &str, chat: &str) -> Value {
    let body = json!({ "at": last(host, chat) });
    let answer = host.call_as(key, "POST", &format!("/chats/{chat}/fork"), &body);
    assert_eq!(answer.status, 201, "{}", answer.body);
    answer.body
}

/// How many messages an agent says that it has seen.
fn count(host: &TestHost<'_>, chat: &str) -> String {
    let message = host.send(chat, "[[count]]");
    host.wait_message(chat, &message, "settled");
    let items = host.items(chat);
    items.iter().rev().find(|item| item["role"] == "agent").unwrap()["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn texts(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let items = host.items(chat);
    items.iter().filter_map(|item| item["text"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_fork_knows_what_was_said_and_goes_its_own_way() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = rested(&host);
    let path = format!("/chats/{chat}");
    host.request("PATCH", &path, Some(&json!({ "title": "The first" }))).unwrap().ok();
    let row = fork(&host, "k-1", &chat);
    let other = row["id"].as_str().unwrap().to_owned();
    assert_eq!((&row["forked_from"], &row["title"]), (&json!(chat), &json!("The first")));
    let items = host.items(&other);
    let notice = items.last().unwrap();
    let mut told = notice["notice"].as_object().unwrap().clone();
    told.retain(|_, value| !value.is_null());
    assert_eq!(Value::Object(told), json!({ "kind": "forked", "chat": chat }));
    assert_eq!(texts(&host, &other), texts(&host, &chat), "what was said is shown in both");
    let again = fork(&host, "k-1", &chat);
    assert_eq!(again, row, "a repeat is the first answer");

    assert_eq!(count(&host, &other), "3", "the copy knows both messages");
    assert_eq!(count(&host, &chat), "3", "the other chat's session was not touched");
    host.send(&chat, "[[say only here]]");
    host.wait("the first chat's answer", || texts(&host, &chat).contains(&"only here".to_owned()));
    assert!(!texts(&host, &other).contains(&"only here".to_owned()));

    // Without the first chat it goes on, also in the host's next life and in its agent's.
    host.request("DELETE", &path, None).unwrap().ok();
    host.kill_everything();
    let host = place.start();
    assert!(texts(&host, &other).contains(&"one".to_owned()));
    assert_eq!(count(&host, &other), "4");
}

#[test]
fn what_cannot_be_forked_says_why_and_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir).env("HOLDFAST_DEMO_NAME_NO_TURNS", "1");
    let host = place.start();
    let chat = rested(&host);
    let ask = |at: Value| host.post(&format!("/chats/{chat}/fork"), &json!({ "at": at }));
    let at = last(&host, &chat);
    let early = ask(json!(at - 1));
    assert_eq!((early.status, &early.body["code"]), (409, &json!("not_supported")));
    assert_eq!(early.body["field"], "at");
    assert!(early.body["detail"].as_str().unwrap().contains(&format!("number {at}.")));
    let nowhere = ask(json!(at + 1));
    assert_eq!((nowhere.status, &nowhere.body["code"]), (404, &json!("item_not_found")));
    let message = host.send(&chat, "[[stream 1000 100]]");
    host.wait_message(&chat, &message, "taken");
    let busy = ask(json!(last(&host, &chat)));
    assert_eq!((busy.status, &busy.body["code"]), (409, &json!("chat_busy")));
    let empty = host.open();
    let none = host.post(&format!("/chats/{empty}/fork"), &json!({ "at": 1 }));
    assert_eq!((none.status, &none.body["code"]), (404, &json!("item_not_found")));
    assert_eq!(host.get("/chats?state=all")["items"].as_array().unwrap().len(), 2);
}

/// The agent of the fork is killed with everything while it copies, as often as it takes to hit it:
/// the fork is there, and its session is the copy.
#[test]
fn a_fork_survives_a_kill_of_everything_right_after_its_answer() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let mut host = place.start();
    let chat = rested(&host);
    for round in 0..3 {
        let other = fork(&host, &format!("k-{round}"), &chat)["id"].as_str().unwrap().to_owned();
        host.kill_everything();
        host = place.start();
        assert_eq!(count(&host, &other), "3", "round {round}");
        assert_eq!(host.get("/offers")["offers"], json!([]), "nothing was going on");
    }
}
