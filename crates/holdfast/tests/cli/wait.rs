//! Waiting for an answer.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use holdfast_testkit::host::PATIENCE;
use holdfast_testkit::wait_until;
use serde_json::json;

use crate::scene::{command, place, run};

#[test]
fn the_answer_is_what_the_agent_said_in_that_turn() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    assert_eq!(run(&place, &["chat", "send", &chat, "-w", "first"]).ok(), "first\n");
    let text = "[[say one]] [[think not this]] [[tool make 0]] [[say two]]";
    assert_eq!(run(&place, &["chat", "send", &chat, "-w", text]).ok(), "one\ntwo\n");
    let long = run(&place, &["chat", "send", &chat, "-w", "[[flood 50000]]"]).ok();
    assert_eq!(long.len(), 50_000, "the whole of a long one");
    let told = run(&place, &["chat", "send", &chat, "-w", "--json", "again"]).json();
    assert_eq!((&told["answer"], &told["state"]), (&json!("again"), &json!("completed")));
    assert_eq!(told["chat"], json!(chat));
    let new = run(&place, &["chat", "new", "-a", "demo", "-w", "hello"]);
    assert_eq!(new.out, "hello\n");
    assert!(new.err.starts_with("opened chat_"), "{new:?}");
    host.stop();
}

#[test]
fn who_waits_is_told_what_the_agent_asks() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let mut send = command(
        &place,
        &["chat", "send", &chat, "-w", "--timeout", "20", "[[ask Which colour?|Red|Blue]]"],
    );
    let mut waiting = send.stdout(Stdio::piped()).spawn().unwrap();
    let mut err = BufReader::new(waiting.stderr.take().unwrap()).lines();
    let mut hears = |words: &str| assert!(err.any(|line| line.unwrap().contains(words)), "{words}");
    hears("The agent asks");
    hears("2  Blue");
    run(&place, &["chat", "answer", &chat, "bl"]).ok();
    let ended = waiting.wait_with_output().unwrap();
    assert!(ended.status.success());
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "Answer: Blue\n");
    host.stop();
}

#[test]
fn a_question_that_is_not_asked_yet_can_be_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    // At once: the agent is only starting.
    let chat = run(&place, &["chat", "new", "-a", "demo", "[[ask Which colour?|Red|Blue]]"]).ok();
    run(&place, &["chat", "answer", chat.trim(), "--wait", "Blue"]).ok();
    host.wait("the answer", || host.said(chat.trim()) == "Answer: Blue");
    host.wait_shown(chat.trim(), "idle");
    let none = run(&place, &["chat", "answer", chat.trim(), "--wait", "Blue"]);
    assert_eq!(none.code, 4, "an idle agent asks nothing: {none:?}");
    host.send(chat.trim(), "[[slow 600]]");
    host.wait_shown(chat.trim(), "working");
    let late = run(&place, &["chat", "answer", chat.trim(), "-w", "Blue", "--timeout", "0.3"]);
    assert_eq!(late.code, 7, "{late:?}");
    let now = run(&place, &["chat", "answer", chat.trim(), "Blue"]);
    assert_eq!(now.code, 4);
    assert!(now.err.contains("--wait"), "{now:?}");
    host.stop();
}

#[test]
fn who_waits_waits_across_the_death_of_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let mut send = command(&place, &["chat", "send", &chat, "-w", "[[stream 40 25]] [[say done]]"]);
    let waiting = send.stdout(Stdio::piped()).spawn().unwrap();
    host.wait("the stream", || host.said(&chat).lines().count() > 10);
    host.kill();
    let host = place.start();
    let ended = waiting.wait_with_output().unwrap();
    let out = String::from_utf8(ended.stdout).unwrap();
    assert!(ended.status.success(), "{out}");
    assert_eq!(out.lines().count(), 41, "{out}");
    assert_eq!(place.evidence().seen("[[stream 40 25]] [[say done]]"), 1);
    host.stop();
}

#[test]
fn an_agent_that_fails_is_told_from_a_host_that_fails() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    std::fs::create_dir_all(place.data_dir()).unwrap();
    let config = "[agents.broken]\nkind = \"acp\"\ncommand = [\"false\"]\n";
    std::fs::write(place.data_dir().join("config.toml"), config).unwrap();
    let host = place.start();
    let chat = host.open();
    let died = run(&place, &["chat", "send", &chat, "-w", "[[say half]] [[die]]"]);
    assert_eq!((died.code, died.out.as_str()), (8, "half\n"), "what was said is shown: {died:?}");
    let broken = run(&place, &["chat", "new", "-a", "broken", "-w", "hello"]);
    assert_eq!(broken.code, 8, "{broken:?}");
    assert!(broken.err.contains("could not be started"), "{broken:?}");
    let refused = run(&place, &["chat", "send", &host.open(), "-w", "[[error -32602]]"]);
    assert_eq!(refused.code, 8, "{refused:?}");
    assert!(refused.err.contains("chat resolve"), "{refused:?}");

    let chat = host.open();
    let mut send = command(&place, &["chat", "send", &chat, "-w", "[[say half]] [[slow 600]]"]);
    let mut waiting = send.spawn().unwrap();
    host.wait("the turn", || host.said(&chat) == "half");
    run(&place, &["chat", "interrupt", &chat]).ok();
    wait_until(PATIENCE, "the end of the wait", || waiting.try_wait().unwrap().is_some());
    assert_eq!(waiting.wait().unwrap().code(), Some(1), "an interrupted turn is nobody's failure");
    host.stop();
}
