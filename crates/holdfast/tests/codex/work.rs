//! Work in the background: terminals and subagents that outlive the turn.

use std::fs;

use holdfast_testkit::codex;
use holdfast_testkit::scripted::{UNTIL_GO, one_by_one};
use holdfast_testkit::servers;
use serde_json::json;

use crate::lab::{Lab, answer, calls, open, open_prompt, running, tasks, turns};

#[test]
fn a_terminal_outlives_its_turn_and_wakes_nobody() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let run = codex::exec_in_background(UNTIL_GO);
    let message = host.send(&chat, &one_by_one(&[&run, "[[say on its way]]"]));
    host.wait_message(&chat, &message, "settled");
    host.wait_shown(&chat, "monitoring");
    assert_eq!(tasks(&host, &chat).len(), 1);
    let call = host.items(&chat).into_iter().find(|item| item["kind"] == "tool_call").unwrap();
    assert_eq!(call["call"]["task"], host.chat(&chat)["activity"]["tasks"][0]["id"]);
    assert_eq!(call["call"]["state"], "running");

    fs::write(lab.place.work_dir().join("go"), "").unwrap();
    host.wait_shown(&chat, "idle");
    assert!(calls(&host, &chat)[0].ends_with(" completed"), "{:?}", calls(&host, &chat));
    assert_eq!(turns(&host, &chat), ["completed"]);
    host.stop();
}

#[test]
fn a_terminal_is_stopped_by_itself_and_a_close_leaves_none() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let both = [&codex::exec_in_background("sleep 4713"), &codex::exec_in_background("sleep 4714")];
    let message = host.send(&chat, &one_by_one(&[both[0], both[1], "[[say both]]"]));
    host.wait_message(&chat, &message, "settled");
    host.wait_shown(&chat, "monitoring");
    assert_eq!(tasks(&host, &chat), ["command sleep 4713", "command sleep 4714"]);
    let task = host.chat(&chat)["activity"]["tasks"][0]["id"].as_str().unwrap().to_owned();
    host.post(&format!("/chats/{chat}/tasks/{task}/stop"), &json!({})).ok();
    host.wait("its end", || running(&lab.place, "sleep 4713") == 0);
    host.wait("the end of the task", || tasks(&host, &chat) == ["command sleep 4714"]);
    assert!(running(&lab.place, "sleep 4714") > 0, "the other goes on");
    host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
    host.wait("no process", || lab.place.processes().is_empty());
    host.stop();
}

#[test]
fn a_subagent_shows_its_work_within_its_call_and_asks_for_itself() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "read-only");
    let child =
        one_by_one(&[&codex::exec_escalated("echo from-sub", "to look"), "[[say sub report]]"]);
    let script = one_by_one(&[
        &codex::spawn("look", &child),
        &codex::wait_for_agents(30_000),
        "[[say parent done]]",
    ]);
    let message = host.send(&chat, &script);
    let prompt = open_prompt(&host, &chat);
    assert_eq!(host.chat(&chat)["status"]["shown"], "blocked");
    assert_eq!(tasks(&host, &chat), ["agent look"]);
    answer(&host, &chat, &prompt, &json!({ "option": "accept" }));
    host.wait_message(&chat, &message, "settled");
    host.wait_shown(&chat, "idle");
    let items = host.items(&chat);
    let spawn = items.iter().find(|item| item["call"]["name"] == "Subagent look").unwrap();
    let within: Vec<&str> = items
        .iter()
        .filter(|item| item["parent"] == spawn["id"])
        .map(|item| item["text"].as_str().or(item["call"]["name"].as_str()).unwrap_or_default())
        .collect();
    assert_eq!(within, ["echo from-sub", "sub report"], "{items:#?}");
    host.stop();
}

#[test]
fn a_subagent_outlives_the_turn() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let script = one_by_one(&[
        &codex::spawn("slow", "[[gate on]] [[say sub report]]"),
        "[[say on its way]]",
    ]);
    let message = host.send(&chat, &script);
    host.wait_message(&chat, &message, "settled");
    host.wait("the subagent alone", || {
        let row = host.chat(&chat);
        row["status"]["shown"] == "working" && row["status"]["lead"] == "done"
    });
    assert_eq!(tasks(&host, &chat), ["agent slow"]);
    lab.model.open("on");
    host.wait_shown(&chat, "idle");
    assert_eq!(turns(&host, &chat), ["completed"], "the chat's own agent is not woken");
    host.stop();
}

#[test]
fn servers_that_a_tool_left_are_shown_and_end_with_the_chat_or_when_a_person_says_so() {
    let lab = Lab::new();
    let host = lab.place.start();
    servers::are_shown_and_ended(host, |host| open(host, &lab, "full-access"), codex::exec);
}
