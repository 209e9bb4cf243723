//! The real opencode under a real host, against a scripted model. What the model was told is the
//! evidence: it is what the agent made of what the host wrote to it.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::fs;

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::model::ModelServer;
use holdfast_testkit::opencode::{self, Alone};
use holdfast_testkit::{loopback, proc, scenario};
use serde_json::{Value, json};

const CONTINUES: &str = "was stopped from outside";

/// A place whose configuration has opencode, with a home of its own, and the right to run it.
struct Lab {
    place: Place,
    model: ModelServer,
    _dir: tempfile::TempDir,
    _alone: Alone,
}

impl Lab {
    fn new() -> Self {
        let program = opencode::ensure().unwrap_or_else(|error| panic!("{error}"));
        let alone = opencode::alone().unwrap();
        let (dir, model) = (tempfile::tempdir().unwrap(), ModelServer::start());
        let home = dir.path().join("agent-home");
        let agent = opencode::agent(&program, &home, model.port).unwrap();
        let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path()).configured(&agent);
        Self { place, model, _dir: dir, _alone: alone }
    }

    /// What the user said, in order, in the last conversation that the model was asked to go on.
    fn told(&self) -> Vec<String> {
        self.model.turns().last().map(|seen| seen.texts("user")).unwrap_or_default()
    }

    /// How often the model was asked to answer exactly this.
    fn asked(&self, text: &str) -> usize {
        self.model.turns().iter().filter(|seen| seen.last_user_text() == text).count()
    }
}

fn bash(command: &str) -> String {
    format!("[[tool bash {}]]", json!({ "command": command, "description": "a test" }))
}

/// The pid of opencode itself.
fn agent(place: &Place) -> u32 {
    let keepers = place.keepers();
    let agents: Vec<u32> = keepers.iter().flat_map(|keeper| proc::children(*keeper)).collect();
    assert_eq!(agents.len(), 1, "one agent under {keepers:?}: {agents:?}");
    agents[0]
}

/// The texts of the person's messages in the transcript, in order.
fn own_messages(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let items = host.items(chat);
    let own = items.iter().filter(|item| item["kind"] == "message" && item["role"] == "user");
    own.map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

fn open_prompt(host: &TestHost<'_>, chat: &str) -> Value {
    let mut found = Value::Null;
    host.wait("an open prompt", || {
        let items = host.items(chat);
        let open = items.into_iter().find(|item| item["prompt"]["state"] == "open");
        found = open.map(|item| item["prompt"].clone()).unwrap_or_default();
        !found.is_null()
    });
    found
}

#[test]
fn it_talks_runs_what_is_allowed_and_stops_when_told() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = host.open_with("opencode");

    // A plain turn.
    let first = host.send(&chat, "[[say one two three]]");
    host.wait_message(&chat, &first, "settled");
    assert_eq!(host.said(&chat), "one two three");
    assert_eq!(lab.told(), ["[[say one two three]]"]);
    assert_eq!(lab.model.turns().len(), 1);

    // A tool that a person allows: it ran, and the model got its result.
    let tool = host.send(&chat, &bash("echo hi > f.txt; cat f.txt"));
    let prompt = open_prompt(&host, &chat);
    assert_eq!(host.chat(&chat)["status"]["shown"], "blocked");
    assert!(!lab.place.work_dir().join("f.txt").exists(), "nothing runs before it is allowed");
    let options = prompt["options"].as_array().unwrap();
    let allow = options.iter().find(|option| option["kind"] == "allow_once").unwrap();
    let path = format!("/chats/{chat}/prompts/{}/answer", prompt["id"].as_str().unwrap());
    host.post(&path, &json!({ "option": allow["id"] })).ok();
    host.wait_message(&chat, &tool, "settled");
    assert_eq!(fs::read_to_string(lab.place.work_dir().join("f.txt")).unwrap(), "hi\n");
    let results = lab.model.turns().last().unwrap().texts("tool");
    assert_eq!(results.len(), 1);
    assert!(results[0].starts_with("hi"), "{results:?}");
    assert!(host.said(&chat).ends_with("tool done: hi"), "{}", host.said(&chat));
    let items = host.items(&chat);
    let call = items.iter().find(|item| item["kind"] == "tool_call").unwrap();
    assert_eq!(call["call"]["state"], "completed", "{call}");

    // A stop of the turn: the model's stream is cut, the chat goes on.
    let endless = host.send(&chat, "[[slow-stream 100000 20]]");
    host.wait("the first chunks", || host.said(&chat).contains("chunk 2"));
    host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
    host.wait_message(&chat, &endless, "settled");
    let turns = host.get(&format!("/chats/{chat}/turns"));
    assert_eq!(turns["items"].as_array().unwrap().last().unwrap()["state"], "interrupted");
    let last = host.send(&chat, "[[say still here]]");
    host.wait_message(&chat, &last, "settled");
    assert!(host.said(&chat).ends_with("still here"));
    let sent = own_messages(&host, &chat);
    assert_eq!(lab.told(), sent, "the model was told all that was sent, once, in order");
    assert!(host.stop().success());
    assert_eq!(lab.place.processes(), [0; 0]);
}

#[test]
fn a_killed_host_finds_it_again_and_misses_nothing() {
    const STREAM: &str = "[[slow-stream 120 25]]";
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = host.open_with("opencode");
    let message = host.send(&chat, STREAM);
    host.wait("the middle of the stream", || host.said(&chat).contains("chunk 30 "));
    let pid = agent(&lab.place);
    host.kill();
    assert!(proc::is_alive(pid));

    let host = lab.place.start();
    host.wait_message(&chat, &message, "settled");
    let whole: String = (1..=120).map(|number| format!("chunk {number} ")).collect();
    assert_eq!(host.said(&chat), whole, "nothing lost, nothing doubled");
    assert_eq!(agent(&lab.place), pid, "the same process");
    assert_eq!(lab.asked(STREAM), 1, "the model was asked once");
    assert_eq!(lab.model.turns().len(), 1);
    assert_eq!(host.chat(&chat)["offer"], Value::Null);
    // And it is driven on by the new host.
    let next = host.send(&chat, "[[say and on]]");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(lab.told(), [STREAM, "[[say and on]]"]);
    host.stop();
}

#[test]
fn killed_with_everything_it_carries_on_with_its_own_session() {
    const FIRST: &str = "remember this [[say I remember]]";
    const CUT: &str = "cut short [[say half]] [[hang 600]]";
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = host.open_with("opencode");
    let first = host.send(&chat, FIRST);
    host.wait_message(&chat, &first, "settled");
    let cut = host.send(&chat, CUT);
    host.wait("the half", || host.said(&chat).ends_with("half"));
    host.kill_everything();

    let host = lab.place.start();
    host.wait("the offer", || scenario::has_offer(&host, &chat));
    let offer = &scenario::offers(&host)[0];
    assert_eq!(offer["summary"]["text"], "Was mid-reply");
    assert_eq!(offer["cause"], "host_lost");
    assert_eq!(offer["needs_choice"], false, "its own store can be asked: {offer}");
    assert_eq!(lab.model.turns().len(), 2, "nothing was sent by itself");

    let answer = host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
    assert_eq!(answer["results"][0]["outcome"], "pending", "{answer}");
    host.wait("the offer's end", || !scenario::has_offer(&host, &chat));
    host.wait_shown(&chat, "idle");
    // opencode's store named the message: it is settled, its turn lost, and it is not sent again.
    host.wait_message(&chat, &cut, "settled");
    let turns = host.get(&format!("/chats/{chat}/turns"));
    let states: Vec<_> = turns["items"].as_array().unwrap().iter().map(|t| &t["state"]).collect();
    assert_eq!(states, ["completed", "lost", "completed"]);
    let told = lab.told();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[..2], [FIRST, CUT], "the earlier conversation, the cut message once");
    assert!(told[2].contains(CONTINUES), "{told:?}");
    let continued =
        lab.model.turns().iter().filter(|t| t.last_user_text().contains(CONTINUES)).count();
    assert_eq!(continued, 1, "one continuation");
    let items = host.items(&chat);
    assert_eq!(items.iter().filter(|item| item["text"] == CUT).count(), 1, "shown once");
    assert_eq!(items.iter().filter(|item| item["text"] == FIRST).count(), 1, "shown once");
    assert!(host.said(&chat).starts_with("I rememberhalf"), "{}", host.said(&chat));

    let next = host.send(&chat, "and now?");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(lab.told().len(), 4);
    host.stop();
}

#[test]
fn a_fork_has_told_the_model_what_was_said_before() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = host.open_with("opencode");
    let first = host.send(&chat, "[[say one]]");
    host.wait_message(&chat, &first, "settled");
    let at = host.items(&chat).last().unwrap()["seq"].clone();
    let forked = host.post(&format!("/chats/{chat}/fork"), &json!({ "at": at })).ok();
    let other = forked["id"].as_str().unwrap();
    let there = host.send(other, "[[say there]]");
    host.wait_message(other, &there, "settled");
    assert_eq!(lab.told(), ["[[say one]]", "[[say there]]"], "the copy knows the past");
    assert_eq!(own_messages(&host, other), ["[[say one]]", "[[say there]]"]);
    let here = host.send(&chat, "[[say here]]");
    host.wait_message(&chat, &here, "settled");
    assert_eq!(lab.told(), ["[[say one]]", "[[say here]]"], "the first chat is as it was");
    assert_eq!(lab.asked("[[say one]]"), 1, "nothing was said twice");
    assert!(host.stop().success());
}

/// A PNG of one pixel, in base64.
const PNG64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
/// The same.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

#[test]
fn what_is_attached_reaches_the_model() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = host.open_with("opencode");
    let attach = |name: &str, kind: &str, bytes: &[u8]| {
        let target = format!("/api/v1/chats/{chat}/attachments?name={name}");
        let request = host.raw("POST", &target).header("content-type", kind).body(bytes);
        host.exchange(&request).json()["id"].clone()
    };
    let files = [
        attach("dot.png", "image/png", PNG),
        attach("note.md", "text/markdown", b"the word is grassland"),
    ];
    let body = json!({ "text": "[[say seen]] look", "attachments": files });
    let sent = host.post(&format!("/chats/{chat}/messages"), &body).ok();
    let message = sent["message"]["id"].as_str().unwrap();
    host.wait_message(&chat, message, "settled");
    assert_eq!(host.said(&chat), "seen");
    let turns = lab.model.turns();
    let asked = &turns.last().unwrap().body["messages"];
    let parts = asked.as_array().unwrap().last().unwrap()["content"].as_array().unwrap();
    let image = parts.iter().find(|part| part["type"] == "image_url").unwrap();
    assert_eq!(image["image_url"]["url"], format!("data:image/png;base64,{PNG64}"));
    let text =
        parts.iter().any(|part| part["text"].as_str().unwrap_or_default().contains("grassland"));
    assert!(text, "{asked}");
    host.stop();
}

#[test]
fn host_agent_and_model_need_and_ask_nothing_but_loopback() {
    // The install may need the network; what runs then may not.
    opencode::ensure().unwrap_or_else(|error| panic!("{error}"));
    let asked =
        loopback::assert_nothing_else(&["it_talks_runs_what_is_allowed_and_stops_when_told"]);
    assert!(asked.len() > 5, "the connections were seen: {asked:?}");
}
