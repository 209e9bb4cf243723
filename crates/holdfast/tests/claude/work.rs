//! Work in the background: shells, subagents and monitors that outlive the turn and wake the agent.

use std::fs;

use holdfast_pinned::CLAUDE;
use holdfast_testkit::claude::{
    bash, bash_in_background, monitor, schedule_wakeup, subagent, subagent_in_background,
};
use holdfast_testkit::scripted::{UNTIL_GO, one_by_one};
use holdfast_testkit::servers;
use serde_json::{Value, json};

use crate::lab::{Lab, VERSIONS, transcript, turns};

/// A chat in which nothing is asked.
fn unasked(host: &holdfast_testkit::host::TestHost<'_>, lab: &Lab) -> String {
    let mode = "bypassPermissions";
    let body = json!({ "agent": "claude", "cwd": lab.place.work_dir(), "mode": mode });
    host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned()
}

/// The live tasks of a chat, in short words.
fn tasks(host: &holdfast_testkit::host::TestHost<'_>, chat: &str) -> Vec<String> {
    let row = host.chat(chat);
    let word = |task: &Value| {
        format!("{} {}", task["kind"].as_str().unwrap(), task["label"].as_str().unwrap())
    };
    row["activity"]["tasks"].as_array().unwrap().iter().map(word).collect()
}

#[test]
fn a_shell_in_the_background_outlives_its_turn_and_wakes_the_agent() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = unasked(&host, &lab);
        let script = one_by_one(&[&bash_in_background(UNTIL_GO), "[[say on its way]]"]);
        let message = host.send(&chat, &script);
        host.wait_message(&chat, &message, "settled");
        host.wait_shown(&chat, "monitoring");
        assert_eq!(tasks(&host, &chat), ["command a test"]);
        let call = host.items(&chat).into_iter().find(|item| item["kind"] == "tool_call").unwrap();
        assert_eq!(call["call"]["task"], host.chat(&chat)["activity"]["tasks"][0]["id"]);

        fs::write(lab.place.work_dir().join("go"), "").unwrap();
        host.wait("the turn of its own", || turns(&host, &chat).len() == 2);
        host.wait_shown(&chat, "idle");
        assert_eq!(turns(&host, &chat), ["message completed", "agent completed"]);
        let note = "Background command \"a test\" completed (exit code 0)";
        assert_eq!(lab.told().last().unwrap(), &format!("notice: completed: {note}"));
        assert!(host.said(&chat).ends_with(&format!("noted: completed: {note}")));
        host.stop();
    }
}

#[test]
fn a_task_is_stopped_by_itself() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let chat = unasked(&host, &lab);
    let script = one_by_one(&[&bash_in_background(UNTIL_GO), "[[say on its way]]"]);
    let message = host.send(&chat, &script);
    host.wait_message(&chat, &message, "settled");
    host.wait_shown(&chat, "monitoring");
    let task = host.chat(&chat)["activity"]["tasks"][0]["id"].as_str().unwrap().to_owned();
    host.post(&format!("/chats/{chat}/tasks/{task}/stop"), &json!({})).ok();
    host.wait_shown(&chat, "idle");
    assert_eq!(turns(&host, &chat), ["message completed"], "no turn follows");
    host.stop();
}

#[test]
fn a_subagent_shows_its_work_within_its_call() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = unasked(&host, &lab);
        let child = one_by_one(&[&bash("echo from-sub"), "[[say sub report]]"]);
        let message = host.send(&chat, &one_by_one(&[&subagent(&child), "[[say parent done]]"]));
        host.wait_message(&chat, &message, "settled");
        let shown = transcript(&host, &chat);
        assert!(shown[1].starts_with("Agent: a test completed"), "{shown:#?}");
        assert!(
            shown.contains(&"Bash: a test completed: from-sub within 1".to_owned()),
            "{shown:#?}"
        );
        assert!(tasks(&host, &chat).is_empty());

        let script = one_by_one(&[
            &subagent_in_background(&format!("[[gate on]] {child}")),
            "[[say on its way]]",
        ]);
        let message = host.send(&chat, &script);
        host.wait_message(&chat, &message, "settled");
        host.wait("the subagent alone", || {
            let row = host.chat(&chat);
            row["status"]["shown"] == "working" && row["status"]["lead"] == "done"
        });
        assert_eq!(tasks(&host, &chat), ["agent a test"]);
        lab.model.open("on");
        host.wait("the turn of its own", || turns(&host, &chat).len() == 3);
        host.wait_shown(&chat, "idle");
        assert!(turns(&host, &chat)[2] == "agent completed");
        host.stop();
    }
}

#[test]
fn what_a_monitor_prints_wakes_the_agent_each_time() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let chat = unasked(&host, &lab);
    let watched = monitor(&format!("echo seen; {UNTIL_GO}"));
    host.send(&chat, &one_by_one(&[&watched, "[[say watching]]"]));
    host.wait("what it printed", || host.said(&chat).contains("seen"));
    host.wait_shown(&chat, "monitoring");
    assert_eq!(tasks(&host, &chat), ["monitor a test"]);
    fs::write(lab.place.work_dir().join("go"), "").unwrap();
    host.wait_shown(&chat, "idle");
    assert_eq!(turns(&host, &chat)[1], "agent completed");
    host.stop();
}

#[test]
fn a_wake_up_that_is_armed_is_a_monitor() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let chat = unasked(&host, &lab);
    let script = one_by_one(&[&schedule_wakeup(3600, "[[say awake]]"), "[[say armed]]"]);
    let message = host.send(&chat, &script);
    host.wait_message(&chat, &message, "settled");
    host.wait_shown(&chat, "monitoring");
    let tasks = tasks(&host, &chat);
    assert!(
        tasks.len() == 1 && tasks[0].starts_with("monitor Next wakeup scheduled for"),
        "{tasks:?}"
    );
    host.stop();
}

/// Everything is killed while work runs in the background: it is offered, what the CLI restates settles,
/// its empty turns are no turns, and nothing of the tree lives on.
#[test]
fn killed_with_work_in_the_background_it_is_offered_and_restated_work_is_not_live_again() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = unasked(&host, &lab);
        let script = one_by_one(&[
            &bash_in_background(UNTIL_GO),
            &subagent_in_background("[[hang 600]]"),
            "[[say on its way]]",
        ]);
        let message = host.send(&chat, &script);
        host.wait_message(&chat, &message, "settled");
        host.wait("both", || tasks(&host, &chat).len() == 2);
        host.wait("the subagent alone", || host.chat(&chat)["status"]["lead"] == "done");
        lab.wait_written(&script);
        host.kill_everything();

        let host = lab.place.start();
        let offer = host.wait_offer(&chat);
        let text = offer["summary"]["text"].as_str().unwrap();
        assert_eq!(text, "Subagent running: a test · Monitoring: a test");
        assert_eq!(host.resume(&chat)["outcome"], "pending");
        host.wait("the offer's end", || !holdfast_testkit::scenario::has_offer(&host, &chat));
        host.wait_shown(&chat, "idle");
        assert_eq!(turns(&host, &chat), ["message completed", "message completed"]);
        let asked = lab.model.turns().iter().filter(|seen| seen.subagent.is_none()).count();
        assert_eq!(asked, 4, "three replies, one continuation");
        assert!(host.stop().success());
        assert_eq!(lab.place.processes(), [0; 0]);
    }
}

#[test]
fn servers_that_a_tool_left_are_shown_and_end_with_the_chat_or_when_a_person_says_so() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        servers::are_shown_and_ended(lab.place.start(), |host| unasked(host, &lab), bash);
    }
}
