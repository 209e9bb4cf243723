//! The queue, by what the agents saw: in order, once, whatever is killed, whoever looks on.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use holdfast_testkit::host::{PATIENCE, Place, TestHost};
use holdfast_testkit::scenario::Stop;
use holdfast_testkit::wait_until;
use serde_json::json;

/// What a continuation says, and no message of a person.
const CONTINUATION: &str = "was stopped from outside";
/// A turn that lasts until it is answered: no clock in the test.
const GATE: &str = "gate [[approve go]]";

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

/// Opens a chat whose agent works until its gate is opened.
fn open_gated(host: &TestHost<'_>) -> (String, String) {
    let chat = host.open();
    host.send(&chat, GATE);
    let gate = host.wait_prompts(&chat, 1).remove(0);
    (chat, gate)
}

fn open_gate(host: &TestHost<'_>, chat: &str, gate: &str) {
    assert_eq!(host.answer(chat, gate, "allow-once").status, 200);
}

/// `m1` to `m10`.
fn ten() -> Vec<String> {
    (1..=10).map(|n| format!("m{n}")).collect()
}

fn wait_seen(place: &Place, expected: &[&str]) {
    wait_until(PATIENCE, &format!("the agent to see {expected:?}"), || {
        place.evidence().prompts() == expected
    });
}

#[test]
fn a_message_accepted_while_the_agent_starts_is_seen_once() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir).env("HOLDFAST_DEMO_START_DELAY_MS", "5000");
    let host = place.start();
    let chat = host.open();
    let first = host.send(&chat, "first");
    let second = host.send(&chat, "second");
    let row = host.chat(&chat);
    assert_eq!(row["status"]["shown"], "working", "an agent that starts for a message works");
    assert_eq!(host.queue(&chat), ["first", "second"]);
    host.wait_message(&chat, &first, "settled");
    host.wait_message(&chat, &second, "settled");
    assert_eq!(place.evidence().prompts(), ["first", "second"]);
    assert_eq!(place.evidence().pids().len(), 1);
}

#[test]
fn ten_behind_a_running_turn_survive_the_death_of_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, gate) = open_gated(&host);
    for text in ten() {
        host.send(&chat, &text);
    }
    host.kill();

    let host = place.start();
    assert_eq!(host.queue(&chat), ten());
    assert_eq!(host.held(&chat), None);
    assert_eq!(place.evidence().prompts(), [GATE], "the turn goes on: nothing overtakes it");
    open_gate(&host, &chat, &gate);
    host.wait("the queue to run dry", || place.evidence().prompts().len() > 10);
    host.wait_shown(&chat, "idle");
    assert_eq!(place.evidence().prompts()[1..], ten()[..]);
    assert_eq!(place.evidence().pids().len(), 1);
    assert!(host.queue(&chat).is_empty());
}

fn ten_are_held_beside_the_offer_and_then_sent(stop: Stop) {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, _) = open_gated(&host);
    for text in ten() {
        host.send(&chat, &text);
    }
    match stop {
        Stop::KillEverything => host.kill_everything(),
        Stop::Graceful => assert!(host.stop().success()),
    }

    // A second life in which nobody does anything changes nothing.
    let host = place.start();
    host.wait_offer(&chat);
    host.kill();
    let host = place.start();
    let offer = host.wait_offer(&chat);
    assert_eq!(offer["summary"]["text"], "Waiting for your approval: go");
    assert_eq!(host.queue(&chat), ten());
    assert_eq!(host.held(&chat).as_deref(), Some("offer"));
    assert_eq!(place.evidence().prompts(), [GATE], "nothing runs by itself");
    assert!(place.processes().is_empty(), "looking at it starts nothing");

    let result = host.resume(&chat);
    assert!(matches!(result["outcome"].as_str(), Some("resumed" | "pending")), "{result}");
    // What was asked is asked again, and the queue waits behind it.
    let gate = host.wait_prompts(&chat, 1).remove(0);
    assert_eq!(place.evidence().prompts().len(), 2);
    open_gate(&host, &chat, &gate);
    host.wait("the queue to run dry", || place.evidence().prompts().len() >= 12);
    host.wait_shown(&chat, "idle");
    let prompts = place.evidence().prompts();
    assert_eq!(prompts[0], GATE);
    assert!(prompts[1].contains(CONTINUATION), "the continuation first: {prompts:?}");
    assert_eq!(prompts[2..], ten()[..]);
    assert_eq!(host.chat(&chat)["user_messages"], 11);
}

#[test]
fn ten_behind_a_running_turn_survive_the_death_of_everything() {
    ten_are_held_beside_the_offer_and_then_sent(Stop::KillEverything);
}

#[test]
fn ten_behind_a_running_turn_survive_a_graceful_stop() {
    ten_are_held_beside_the_offer_and_then_sent(Stop::Graceful);
}

#[test]
fn what_waits_is_edited_ordered_withdrawn_and_sent_as_a_person_says() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, gate) = open_gated(&host);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| host.send(&chat, text));
    let queue = format!("/chats/{chat}/queue");

    let edited = host.call("PATCH", &format!("{queue}/{a}"), &json!({ "text": "a, edited" }));
    assert_eq!(edited.ok()["message"]["state"], "queued");
    let withdrawn = host.call("DELETE", &format!("{queue}/{b}"), &json!({}));
    assert_eq!(withdrawn.ok()["message"]["state"], "withdrawn");
    let order = json!({ "messages": [d, c, a] });
    host.call("PUT", &format!("{queue}/order"), &order).ok();
    assert_eq!(host.queue(&chat), ["d", "c", "a, edited"]);

    let late = host.call("PATCH", &format!("{queue}/{b}"), &json!({ "text": "no" }));
    assert_eq!((late.status, &late.body["code"]), (409, &json!("not_queued")));
    let partial = host.call("PUT", &format!("{queue}/order"), &json!({ "messages": [d, c] }));
    assert_eq!((partial.status, &partial.body["code"]), (409, &json!("not_queued")));

    host.post(&format!("{queue}/pause"), &json!({})).ok();
    open_gate(&host, &chat, &gate);
    host.wait("the turn's end", || host.chat(&chat)["status"]["lead"] == "done");
    host.kill();
    let host = place.start();
    assert_eq!(host.queue(&chat), ["d", "c", "a, edited"]);
    assert_eq!(host.held(&chat).as_deref(), Some("person"));

    host.post(&format!("{queue}/{c}/send-now"), &json!({})).ok();
    host.wait_message(&chat, &c, "settled");
    assert_eq!(place.evidence().prompts(), [GATE, "c"], "that one and no other");
    assert_eq!(host.queue(&chat), ["d", "a, edited"]);
    assert_eq!(host.held(&chat).as_deref(), Some("person"));

    host.post(&format!("{queue}/resume"), &json!({})).ok();
    host.wait_message(&chat, &a, "settled");
    assert_eq!(place.evidence().prompts(), [GATE, "c", "d", "a, edited"]);
    assert_eq!(host.chat(&chat)["user_messages"], 4, "what was withdrawn is not counted");
    let receipt = host.get(&format!("/chats/{chat}/items"));
    assert!(!receipt.to_string().contains("\"b\""), "what was withdrawn is not in the transcript");
}

#[test]
fn after_a_stop_a_persons_next_message_runs_alone_and_the_rest_waits() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let slow = host.send(&chat, "m0 [[say on]] [[slow 600]]");
    host.wait_message(&chat, &slow, "taken");
    host.send(&chat, "q1");
    host.send(&chat, "q2");
    host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
    host.wait_message(&chat, &slow, "settled");
    let turns = host.get(&format!("/chats/{chat}/turns"));
    assert_eq!(turns["items"][0]["state"], "interrupted");
    assert_eq!(host.held(&chat).as_deref(), Some("stop"));

    let next = host.send(&chat, "next");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(place.evidence().prompts(), ["m0 [[say on]] [[slow 600]]", "next"]);
    assert_eq!(host.queue(&chat), ["q1", "q2"]);
    assert_eq!(host.held(&chat).as_deref(), Some("stop"));

    host.post(&format!("/chats/{chat}/queue/resume"), &json!({})).ok();
    wait_seen(&place, &["m0 [[say on]] [[slow 600]]", "next", "q1", "q2"]);
}

#[test]
fn the_queue_runs_with_no_client() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "m0 [[slow 0.5]]");
    host.send(&chat, "q1");
    host.send(&chat, "q2");
    // From here nobody asks the host anything.
    wait_seen(&place, &["m0 [[slow 0.5]]", "q1", "q2"]);
}

#[test]
fn what_waits_in_one_chat_never_reaches_another_ones_agent() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (a, gate_a) = open_gated(&host);
    let (b, gate_b) = open_gated(&host);
    for n in 1..=3 {
        host.send(&a, &format!("a{n}"));
        host.send(&b, &format!("b{n}"));
    }
    open_gate(&host, &b, &gate_b);
    open_gate(&host, &a, &gate_a);
    host.wait("all of it", || place.evidence().prompts().len() == 8);
    for (chat, own) in [(&a, ["a1", "a2", "a3"]), (&b, ["b1", "b2", "b3"])] {
        host.wait_shown(chat, "idle");
        let sessions = place.evidence().sessions(|prompt| own.contains(&prompt));
        assert_eq!(sessions.len(), 1);
        let events = place.evidence().events();
        let seen = events.iter().filter(|event| event["session"] == sessions[0].as_str());
        let seen: Vec<&str> = seen.filter_map(|event| event["prompt"].as_str()).collect();
        assert_eq!(seen[1..], own);
    }
}

#[test]
fn a_queued_message_waits_for_the_end_of_the_turn_and_not_for_a_tool_call() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let three = "[[tool one 0.1]] [[tool two 0.1]] [[tool three 0.1]]";
    let message = json!({ "agent": "demo", "cwd": place.work_dir(), "message": three });
    let first = host.post("/chats", &message).ok()["id"].as_str().unwrap().to_owned();
    host.send(&first, "q1");
    host.send(&first, "q2");
    wait_seen(&place, &[three, "q1", "q2"]);
    let events = place.evidence().events();
    let at = |what: &str| events.iter().position(|event| event.to_string().contains(what)).unwrap();
    assert!(at("three done") < at("\"prompt\":\"q1\""), "q1 came after the whole first turn");
    assert!(host.queue(&chat).is_empty());
}

#[test]
fn a_closed_chat_takes_no_message_and_keeps_what_waited() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let (chat, _) = open_gated(&host);
    let waiting = host.send(&chat, "waiting");
    host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
    let late = host.post(&format!("/chats/{chat}/messages"), &json!({ "text": "late" }));
    assert_eq!((late.status, &late.body["code"]), (409, &json!("chat_closed")));
    assert_eq!(host.queue(&chat), ["waiting"]);
    wait_until(PATIENCE, "the end of the agent", || place.processes().is_empty());

    host.post(&format!("/chats/{chat}/reopen"), &json!({})).ok();
    assert_eq!(host.queue(&chat), ["waiting"]);
    assert!(host.held(&chat).is_some(), "opening a chat releases nothing");
    host.post(&format!("/chats/{chat}/queue/resume"), &json!({})).ok();
    host.wait_message(&chat, &waiting, "settled");
    assert_eq!(place.evidence().prompts(), [GATE, "waiting"]);
}

#[test]
fn a_start_that_fails_keeps_the_message_until_a_person_tries_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir).env("HOLDFAST_DEMO_DIE_AT_START", "7");
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "first");
    host.wait_shown(&chat, "to_check");
    assert_eq!(host.queue(&chat), ["first"]);
    assert_eq!(host.held(&chat).as_deref(), Some("start_failed"));
    let offers = host.get("/offers");
    assert_eq!(offers["offers"], json!([]), "a first start that dies makes no offer");
    let failure = &offers["failures"][0];
    assert_eq!((failure["chat"].as_str(), &failure["code"]), (Some(&*chat), &json!("agent_died")));
    assert!(failure["text"].as_str().unwrap().contains("told to die at start"), "{failure}");
    assert_eq!(host.get("/host")["counts"]["to_check"], 1);

    // The next message tries again; as long as it fails both wait.
    host.send(&chat, "second");
    host.wait_shown(&chat, "to_check");
    assert_eq!(host.queue(&chat), ["first", "second"]);
    host.kill();

    place.env.clear();
    let host = place.start();
    assert_eq!(host.held(&chat).as_deref(), Some("start_failed"), "a start of the host is no try");
    assert!(place.evidence().prompts().is_empty());
    let third = host.send(&chat, "third");
    host.wait_message(&chat, &third, "settled");
    assert_eq!(place.evidence().prompts(), ["first", "second", "third"]);
    host.wait_shown(&chat, "idle");
    assert_eq!(host.get("/offers")["failures"], json!([]));
}

#[test]
fn an_agent_that_starts_again_and_again_fails_each_time_once() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir).env("HOLDFAST_DEMO_DIE_AT_START", "7");
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "first");
    host.wait_shown(&chat, "to_check");
    assert_eq!(host.resume(&chat)["outcome"], "pending", "a retry of the failure");
    host.wait("the second failure", || {
        let notices = host.items(&chat);
        notices.iter().filter(|item| item["notice"]["kind"] == "start_failed").count() == 2
    });
    host.wait_shown(&chat, "to_check");
    assert_eq!(host.queue(&chat), ["first"]);
}
