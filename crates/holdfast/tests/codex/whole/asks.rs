//! What it asks.

use std::fs;

use holdfast_testkit::codex;
use holdfast_testkit::scripted::one_by_one;
use serde_json::json;

use super::Whole;
use crate::lab::{Lab, answer, open_prompt};

/// A chat in which a command is asked about once, and what is answered.
fn asked(name: &str, option: &str, again: bool) {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "read-only");
    let run = codex::exec_escalated("echo hi >> f.txt; cat f.txt", "for the test");
    let script = one_by_one(&[&run, "[[say so be it]]"]);
    let message = host.send(&whole.chat, &script);
    let prompt = open_prompt(&host, &whole.chat);
    whole.look("while it asks");
    answer(&host, &whole.chat, &prompt, &json!({ "option": option }));
    whole.rests(&message);
    if again {
        whole.say(&script);
    }
    whole.is(name);
    host.stop();
}

#[test]
fn a_command_that_is_allowed() {
    asked("allowed", "accept", false);
}

#[test]
fn a_command_that_is_denied() {
    asked("denied", "decline", false);
}

#[test]
fn a_command_that_is_denied_with_its_turn() {
    asked("denied-with-turn", "cancel", false);
}

#[test]
fn a_command_that_is_allowed_for_the_session() {
    asked("always", "acceptForSession", true);
}

/// Codex asks about both at once, in any order: they are the same to the letter, and the first to ask is
/// allowed. None runs before both are answered.
#[test]
fn two_commands_of_one_reply() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "read-only");
    let run = codex::exec_escalated("echo again >> f.txt", "for the test");
    let message = host.send(&whole.chat, &one_by_one(&[&run.repeat(2), "[[say one of them]]"]));
    let prompts = host.wait_prompts(&whole.chat, 2);
    whole.look("while it asks");
    host.answer(&whole.chat, &prompts[0], "accept").ok();
    host.wait("its answer to be taken", || {
        let items = host.items(&whole.chat);
        let own = items.iter().find(|item| item["prompt"]["id"] == prompts[0].as_str());
        own.is_some_and(|own| own["prompt"]["answer"]["life"] == "taken")
    });
    whole.look("while it asks for the other");
    host.answer(&whole.chat, &prompts[1], "decline").ok();
    whole.rests(&message);
    assert_eq!(fs::read_to_string(lab.place.work_dir().join("f.txt")).unwrap(), "again\n");
    whole.is("two-prompts");
    host.stop();
}

#[test]
fn a_patch_that_is_allowed() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "read-only");
    let script = one_by_one(&[&codex::add_file("new.txt", "line"), "[[say added]]"]);
    let message = host.send(&whole.chat, &script);
    let prompt = open_prompt(&host, &whole.chat);
    whole.look("while it asks");
    answer(&host, &whole.chat, &prompt, &json!({ "option": "accept" }));
    whole.rests(&message);
    assert_eq!(fs::read_to_string(lab.place.work_dir().join("new.txt")).unwrap(), "line\n");
    whole.is("patch");
    host.stop();
}

#[test]
fn a_question_that_is_answered() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "auto");
    let ask = codex::ask("Which colour?", &["Red", "Blue"]);
    let message = host.send(&whole.chat, &one_by_one(&[&ask, "[[say so be it]]"]));
    let prompt = open_prompt(&host, &whole.chat);
    whole.look("while it asks");
    let given = json!({ "question": "q1", "options": ["Red"], "text": "like rust" });
    answer(&host, &whole.chat, &prompt, &json!({ "answers": [given] }));
    whole.rests(&message);
    whole.is("question");
    host.stop();
}

/// Codex asks nobody about its plan: a person who is content leaves the plan mode.
#[test]
fn a_plan_that_is_carried_out() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "plan");
    whole.say("[[say <proposed_plan>\n# Two steps\n- one\n- two\n</proposed_plan>]]");
    whole.look("with its plan");
    host.call("PATCH", &whole.path(""), &json!({ "mode": "auto" })).ok();
    whole.say(&one_by_one(&[&codex::update_plan(&["one", "two"]), "[[say planned]]"]));
    whole.is("plan");
    host.stop();
}
