//! Messages that are given to the running turn: taken up between two tools, or the next turn's own.

use std::fs;

use holdfast_pinned::CLAUDE;
use holdfast_testkit::claude::bash;
use holdfast_testkit::host::TestHost;
use holdfast_testkit::scenario;
use holdfast_testkit::scripted::one_by_one;
use serde_json::json;

use crate::lab::{Lab, VERSIONS, choose, open_prompt, turns};

/// A tool that runs until the file is there.
fn until(file: &str, says: &str) -> String {
    bash(&format!("until [ -e {file} ]; do sleep 0.05; done; echo {says}"))
}

/// A chat whose tools run unasked, in the middle of one.
fn in_a_tool(host: &TestHost<'_>, lab: &Lab, script: &str) -> (String, String) {
    let body =
        json!({ "agent": "claude", "cwd": lab.place.work_dir(), "mode": "bypassPermissions" });
    let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
    let message = host.send(&chat, script);
    host.wait("the tool to run", || {
        host.items(&chat).iter().any(|item| item["call"]["state"] == "running")
    });
    (chat, message)
}

fn touch(lab: &Lab, file: &str) {
    fs::write(lab.place.work_dir().join(file), "").unwrap();
}

#[test]
fn in_a_tool_the_turn_takes_it_up_after_that() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let script = one_by_one(&[&until("go", "one"), "[[say not this]]"]);
        let (chat, first) = in_a_tool(&host, &lab, &script);
        let steer = host.steer(&chat, "[[say heard you]]");
        host.wait("it to be given", || host.steered(&chat, &steer) == "given");
        assert_eq!(lab.model.turns().len(), 1);
        touch(&lab, "go");
        host.wait_message(&chat, &steer, "settled");
        host.wait_message(&chat, &first, "settled");
        assert_eq!(host.steered(&chat, &steer), "taken_up");
        assert_eq!(turns(&host, &chat), ["message completed"], "one turn");
        assert_eq!(host.said(&chat), "heard you");
        let told = lab.told();
        let heard: Vec<&String> = told.iter().filter(|said| said.contains("heard you")).collect();
        assert_eq!(heard.len(), 1, "once: {told:?}");
        assert_eq!(lab.model.turns().len(), 2);
        host.wait_shown(&chat, "idle");
        assert!(host.stop().success());
        assert_eq!(lab.place.processes(), [0; 0]);
    }
}

#[test]
fn in_a_text_it_opens_the_next_turn() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let first = host.send(&chat, "[[say one]] [[gate g]]");
        host.wait("the text", || host.said(&chat).ends_with("one"));
        let steer = host.steer(&chat, "[[say two]]");
        if version.version == CLAUDE.version {
            host.wait("it to be given", || host.steered(&chat, &steer) == "given");
        } else {
            // What runs is known to be the first message's turn only when it says so at its end.
            let queue = host.get(&format!("/chats/{chat}/queue"));
            assert_eq!(queue["items"][0]["message"], json!(steer), "{queue}");
        }
        lab.model.open("g");
        host.wait_message(&chat, &first, "settled");
        host.wait_message(&chat, &steer, "settled");
        assert_eq!(host.steered(&chat, &steer), "own_turn");
        assert_eq!(turns(&host, &chat), ["message completed", "message completed"]);
        assert_eq!(lab.model.turns().len(), 2);
        let items = host.items(&chat);
        let of = |id: &str| {
            items.iter().find(|item| item["delivery"]["message"] == id).unwrap()["turn"].clone()
        };
        assert_ne!(of(&first), of(&steer), "each is in its own turn");
        assert!(host.stop().success());
    }
}

/// How often the model was told this, in the last conversation that it was asked to go on.
fn heard(lab: &Lab, text: &str) -> usize {
    lab.told().iter().filter(|said| said.contains(text)).count()
}

#[test]
fn the_next_host_sees_it_taken_up() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let script = one_by_one(&[&until("go", "one"), "[[say not this]]"]);
        let (chat, first) = in_a_tool(&host, &lab, &script);
        let steer = host.steer(&chat, "[[say heard you]]");
        host.wait("it to be given", || host.steered(&chat, &steer) == "given");
        let pid = lab.agent();
        host.kill();
        touch(&lab, "go");
        let host = lab.place.start();
        host.wait_message(&chat, &steer, "settled");
        host.wait_message(&chat, &first, "settled");
        assert_eq!(host.steered(&chat, &steer), "taken_up");
        assert_eq!(lab.agent(), pid, "the same process");
        assert_eq!(turns(&host, &chat), ["message completed"]);
        assert_eq!((heard(&lab, "heard you"), lab.model.turns().len()), (1, 2));
        host.stop();
    }
}

fn resume(host: &TestHost<'_>, chat: &str) {
    let result = host.resume(chat);
    assert_eq!(result["outcome"], "pending", "{result}");
    host.wait("the offer's end", || !scenario::has_offer(host, chat));
    host.wait_shown(chat, "idle");
}

#[test]
fn killed_with_everything_on_its_way_it_is_sent_once() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let script = one_by_one(&[&until("go", "one"), "[[say not this]]"]);
        let (chat, first) = in_a_tool(&host, &lab, &script);
        lab.wait_written("not this");
        let steer = host.steer(&chat, "[[say heard you]]");
        host.wait("it to be given", || host.steered(&chat, &steer) == "given");
        lab.wait_queued(2);
        host.kill_everything();

        let host = lab.place.start();
        host.wait("the offer", || scenario::has_offer(&host, &chat));
        assert_eq!(lab.model.turns().len(), 1, "nothing was sent by itself");
        resume(&host, &chat);
        host.wait_message(&chat, &steer, "settled");
        host.wait_message(&chat, &first, "settled");
        assert_eq!(heard(&lab, "heard you"), 1, "{:?}", lab.told());
        host.stop();
    }
}

#[test]
fn killed_with_everything_once_it_was_taken_up_it_is_not_sent_again() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let script = one_by_one(&[&until("go", "one"), "[[say not this]]"]);
        let (chat, first) = in_a_tool(&host, &lab, &script);
        let steer = host.steer(&chat, &format!("heard you {}", until("never", "two")));
        host.wait("it to be given", || host.steered(&chat, &steer) == "given");
        touch(&lab, "go");
        host.wait("it to be taken up", || host.steered(&chat, &steer) == "taken_up");
        host.wait("the second tool", || {
            host.items(&chat).iter().any(|item| item["call"]["state"] == "running")
        });
        lab.wait_noted("heard you");
        host.kill_everything();

        let host = lab.place.start();
        host.wait("the offer", || scenario::has_offer(&host, &chat));
        host.wait_message(&chat, &steer, "settled");
        host.wait_message(&chat, &first, "settled");
        resume(&host, &chat);
        assert_eq!(heard(&lab, "heard you"), 1, "{:?}", lab.told());
        assert_eq!(turns(&host, &chat)[..1], ["message lost"]);
        host.stop();
    }
}

#[test]
fn a_stop_brings_back_what_was_not_taken_up() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let script = one_by_one(&[&until("go", "one"), "[[say not this]]"]);
        let (chat, first) = in_a_tool(&host, &lab, &script);
        let steer = host.steer(&chat, "[[say heard you]]");
        host.wait("it to be given", || host.steered(&chat, &steer) == "given");
        lab.wait_queued(2);
        host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
        host.wait_message(&chat, &first, "settled");
        host.wait("it to be somewhere else", || host.steered(&chat, &steer) != "given");
        if version.version == CLAUDE.version {
            assert_eq!(host.steered(&chat, &steer), "returned");
            let queue = host.get(&format!("/chats/{chat}/queue"));
            assert_eq!(queue["items"][0]["message"], json!(steer), "{queue}");
            assert_eq!(queue["paused"], true, "it waits for the person");
            assert_eq!(heard(&lab, "heard you"), 0);
            host.post(&format!("/chats/{chat}/queue/resume"), &json!({})).ok();
        } else {
            // This version takes nothing out of its queue: what it was given runs.
            assert_eq!(host.steered(&chat, &steer), "own_turn");
        }
        host.wait_message(&chat, &steer, "settled");
        assert_eq!(turns(&host, &chat), ["message interrupted", "message completed"]);
        assert_eq!(heard(&lab, "heard you"), 1);
        host.stop();
    }
}

#[test]
fn while_it_waits_for_a_person_it_takes_it_up_after_the_answer() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let script = one_by_one(&[&bash("touch f.txt && echo made"), "[[say not this]]"]);
        let first = host.send(&chat, &script);
        let prompt = open_prompt(&host, &chat);
        let steer = host.steer(&chat, "[[say heard you]]");
        host.wait("it to be given", || host.steered(&chat, &steer) == "given");
        assert_eq!(open_prompt(&host, &chat)["id"], prompt["id"], "the question stays");
        choose(&host, &chat, "allow");
        host.wait_message(&chat, &steer, "settled");
        host.wait_message(&chat, &first, "settled");
        assert_eq!(host.steered(&chat, &steer), "taken_up");
        assert_eq!((heard(&lab, "heard you"), host.said(&chat)), (1, "heard you".to_owned()));
        host.stop();
    }
}

#[test]
fn a_message_that_interrupts_goes_before_what_comes_back() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let script = one_by_one(&[&until("go", "one"), "[[say not this]]"]);
    let (chat, _) = in_a_tool(&host, &lab, &script);
    let steer = host.steer(&chat, "[[say heard you]]");
    host.wait("it to be given", || host.steered(&chat, &steer) == "given");
    lab.wait_queued(2);
    let body = json!({ "text": "[[say at once]]", "delivery": "interrupt" });
    host.post(&format!("/chats/{chat}/messages"), &body).ok();
    host.wait_message(&chat, &steer, "settled");
    assert_eq!(host.steered(&chat, &steer), "returned");
    assert_eq!(host.said(&chat), "at onceheard you");
    assert_eq!(heard(&lab, "heard you"), 1);
    host.stop();
}

#[test]
fn one_more_waits_until_the_turn_has_taken_the_one_before() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let script = one_by_one(&[&until("go", "one"), "[[say not this]]"]);
    let (chat, _) = in_a_tool(&host, &lab, &script);
    let first = host.steer(&chat, &until("go2", "two"));
    let second = host.steer(&chat, "[[say heard both]]");
    host.wait("the first to be given", || host.steered(&chat, &first) == "given");
    let queue = host.get(&format!("/chats/{chat}/queue"));
    assert_eq!(queue["items"][0]["message"], json!(second), "{queue}");
    touch(&lab, "go");
    host.wait("the second to be given", || host.steered(&chat, &second) == "given");
    assert_eq!(host.steered(&chat, &first), "taken_up");
    touch(&lab, "go2");
    host.wait_message(&chat, &second, "settled");
    assert_eq!(host.steered(&chat, &second), "taken_up");
    assert_eq!(turns(&host, &chat), ["message completed"]);
    assert_eq!(host.said(&chat), "heard both");
    host.stop();
}
