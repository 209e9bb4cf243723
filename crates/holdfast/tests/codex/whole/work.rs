//! Work in the background.

use std::fs;

use holdfast_testkit::codex;
use holdfast_testkit::scripted::{UNTIL_GO, one_by_one};
use serde_json::json;

use super::Whole;
use crate::lab::{Lab, answer, calls, open_prompt};

/// Codex is not woken by the end of a terminal; it is told when it is asked next.
#[test]
fn a_terminal_that_outlives_its_turn() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "full-access");
    let run = codex::exec_in_background(UNTIL_GO);
    let message = host.send(&whole.chat, &one_by_one(&[&run, "[[say on its way]]"]));
    host.wait_message(&whole.chat, &message, "settled");
    host.wait_shown(&whole.chat, "monitoring");
    whole.look("while it runs");
    fs::write(lab.place.work_dir().join("go"), "").unwrap();
    whole.idle();
    whole.say("[[say and on]]");
    whole.is("terminal");
    host.stop();
}

#[test]
fn a_subagent_that_outlives_the_turn() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "full-access");
    let spawn = codex::spawn("slow", "[[gate on]] [[say sub report]]");
    let message = host.send(&whole.chat, &one_by_one(&[&spawn, "[[say on its way]]"]));
    host.wait_message(&whole.chat, &message, "settled");
    host.wait("the subagent alone", || {
        let status = &host.chat(&whole.chat)["status"];
        status["shown"] == "working"
            && status["lead"] == "done"
            && lab.model.subagent_turns().len() == 1
    });
    whole.look("while it works");
    lab.model.open("on");
    whole.idle();
    whole.say("[[say and on]]");
    whole.is("subagent");
    host.stop();
}

#[test]
fn a_subagent_that_asks_and_is_waited_for() {
    let lab = Lab::new();
    let host = lab.place.start();
    let mut whole = Whole::open(&host, &lab, "read-only");
    // It begins when the lead waits for it: else their calls would come in any order.
    let run = codex::exec_escalated("echo from-sub", "to look");
    let child = one_by_one(&[&format!("[[gate on]] {run}"), "[[say sub report]]"]);
    let script = one_by_one(&[
        &codex::spawn("look", &child),
        &codex::wait_for_agents(30_000),
        "[[say parent done]]",
    ]);
    let message = host.send(&whole.chat, &script);
    host.wait("the lead's wait", || calls(&host, &whole.chat).len() == 2);
    host.wait("the subagent", || lab.model.subagent_turns().len() == 1);
    lab.model.open("on");
    let prompt = open_prompt(&host, &whole.chat);
    whole.look("while it asks");
    answer(&host, &whole.chat, &prompt, &json!({ "option": "accept" }));
    whole.rests(&message);
    whole.is("subagent-asks");
    host.stop();
}
