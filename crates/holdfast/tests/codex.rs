//! The real Codex under a real host, against a scripted model. What the model was told is the
//! evidence: it is what the agent made of what the host wrote to it.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::fs;

use holdfast_pinned::CODEX;
use holdfast_testkit::codex;
use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::model::ModelServer;
use holdfast_testkit::scripted::one_by_one;
use holdfast_testkit::{proc, scenario};
use serde_json::{Value, json};

const CONTINUES: &str = "was stopped from outside";

/// A place whose configuration has Codex, with a home of its own.
struct Lab {
    place: Place,
    model: ModelServer,
    _dir: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let program = CODEX.ensure().unwrap_or_else(|error| panic!("{error}"));
        let (dir, model) = (tempfile::tempdir().unwrap(), ModelServer::start());
        let agent = codex::agent(&program, &dir.path().join("agent"), model.port).unwrap();
        let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path()).configured(&agent);
        Self { place, model, _dir: dir }
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

/// Opens a chat in this mode.
fn open(host: &TestHost<'_>, lab: &Lab, mode: &str) -> String {
    let body = json!({ "agent": "codex", "cwd": lab.place.work_dir(), "mode": mode });
    host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned()
}

/// The pid of Codex itself.
fn agent(place: &Place) -> u32 {
    let keepers = place.keepers();
    let agents: Vec<u32> = keepers.iter().flat_map(|keeper| proc::children(*keeper)).collect();
    assert_eq!(agents.len(), 1, "one agent under {keepers:?}: {agents:?}");
    agents[0]
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

fn answer(host: &TestHost<'_>, chat: &str, prompt: &Value, answer: &Value) {
    let path = format!("/chats/{chat}/prompts/{}/answer", prompt["id"].as_str().unwrap());
    host.post(&path, answer).ok();
}

fn calls(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let items = host.items(chat);
    let calls = items.iter().filter(|item| item["kind"] == "tool_call");
    calls
        .map(|item| {
            let word = |name: &str| item["call"][name].as_str().unwrap().to_owned();
            format!("{} {}", word("name"), word("state"))
        })
        .collect()
}

fn turns(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let turns = host.get(&format!("/chats/{chat}/turns"));
    let turns = turns["items"].as_array().unwrap().iter();
    turns.map(|turn| turn["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn it_talks_runs_what_is_allowed_and_stops_when_told() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "read-only");

    // A plain turn, thoughts included.
    let first = host.send(&chat, "[[think hm]] [[say one two three]]");
    host.wait_message(&chat, &first, "settled");
    assert_eq!(host.said(&chat), "one two three");
    assert_eq!(lab.told(), ["[[think hm]] [[say one two three]]"]);
    assert_eq!(lab.model.turns().len(), 1);
    assert_eq!(host.chat(&chat)["mode"], "read-only");
    let thoughts = host.items(&chat).into_iter().find(|item| item["kind"] == "thinking");
    assert_eq!(thoughts.unwrap()["text"], "hm");

    // A command that a person allows: it ran, and the model got its result.
    let run = codex::exec_escalated("echo hi > f.txt; cat f.txt", "for the test");
    let tool = host.send(&chat, &one_by_one(&[&run, "[[say ran]]"]));
    let prompt = open_prompt(&host, &chat);
    assert_eq!(host.chat(&chat)["status"]["shown"], "blocked");
    assert!(!lab.place.work_dir().join("f.txt").exists(), "nothing runs before it is allowed");
    assert!(prompt["label"].as_str().unwrap().starts_with("echo hi > f.txt"), "{prompt}");
    answer(&host, &chat, &prompt, &json!({ "option": "accept" }));
    host.wait_message(&chat, &tool, "settled");
    assert_eq!(fs::read_to_string(lab.place.work_dir().join("f.txt")).unwrap(), "hi\n");
    let results = lab.model.turns().last().unwrap().texts("tool");
    assert!(results[0].contains("hi"), "{results:?}");
    assert_eq!(calls(&host, &chat), ["echo hi > f.txt; cat f.txt completed"]);

    // One that a person refuses does not run; the model is told, and goes on.
    let refused = codex::exec_escalated("touch g.txt", "for the test");
    let tool = host.send(&chat, &one_by_one(&[&refused, "[[say not then]]"]));
    let prompt = open_prompt(&host, &chat);
    answer(&host, &chat, &prompt, &json!({ "option": "decline" }));
    host.wait_message(&chat, &tool, "settled");
    assert!(!lab.place.work_dir().join("g.txt").exists());
    assert!(host.said(&chat).ends_with("not then"), "{}", host.said(&chat));
    assert_eq!(calls(&host, &chat)[1], "touch g.txt failed");

    // A stop of the turn: the model's stream is cut, the chat goes on.
    let endless = host.send(&chat, "[[slow-stream 100000 20]]");
    host.wait("the first chunks", || host.said(&chat).contains("chunk 2"));
    host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
    host.wait_message(&chat, &endless, "settled");
    assert_eq!(turns(&host, &chat).last().unwrap(), "interrupted");
    let last = host.send(&chat, "[[say still here]]");
    host.wait_message(&chat, &last, "settled");
    assert!(host.said(&chat).ends_with("still here"));
    assert_eq!(lab.told().len(), 5, "the model was told all that was sent, once, in order");
    assert!(host.stop().success());
    assert_eq!(lab.place.processes(), [0; 0]);
}

#[test]
fn a_killed_host_finds_it_again_and_misses_nothing() {
    const STREAM: &str = "[[slow-stream 120 25]]";
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "auto");
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
    assert_eq!(host.chat(&chat)["offer"], Value::Null);
    // And it is driven on by the new host, also what it asks across a kill.
    let run = codex::exec_escalated("echo hi", "for the test");
    let next = host.send(&chat, &one_by_one(&[&run, "[[say and on]]"]));
    let prompt = open_prompt(&host, &chat);
    host.kill();
    let host = lab.place.start();
    assert_eq!(open_prompt(&host, &chat)["id"], prompt["id"]);
    answer(&host, &chat, &prompt, &json!({ "option": "accept" }));
    host.wait_message(&chat, &next, "settled");
    assert_eq!(calls(&host, &chat), ["echo hi completed"]);
    assert!(host.said(&chat).ends_with("and on"));
    host.stop();
}

#[test]
fn killed_with_everything_it_carries_on_with_its_own_thread() {
    const FIRST: &str = "remember this [[say I remember]]";
    const CUT: &str = "cut short [[say half]] [[hang 600]]";
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
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

    host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
    host.wait("the offer's end", || !scenario::has_offer(&host, &chat));
    host.wait_shown(&chat, "idle");
    // Codex's own thread named the message: it is settled, its turn lost, and it is not sent again.
    host.wait_message(&chat, &cut, "settled");
    assert_eq!(turns(&host, &chat), ["completed", "lost", "completed"]);
    let told = lab.told();
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[..2], [FIRST, CUT], "the earlier conversation, the cut message once");
    assert!(told[2].contains(CONTINUES), "{told:?}");
    let items = host.items(&chat);
    assert_eq!(items.iter().filter(|item| item["text"] == CUT).count(), 1, "shown once");
    assert!(host.said(&chat).starts_with("I rememberhalf"), "{}", host.said(&chat));
    assert_eq!(host.chat(&chat)["mode"], "full-access", "the mode is as before");
    let sessions = lab.model.turns().into_iter().map(|seen| seen.session);
    let sessions: std::collections::BTreeSet<_> = sessions.collect();
    assert_eq!(sessions.len(), 1, "one thread: {sessions:?}");
    host.stop();
}
