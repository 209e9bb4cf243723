//! What dies and what goes on: the host alone, everything, and how a chat is carried on with its own
//! session.

use std::fs;

use holdfast_pinned::{CLAUDE, Pinned};
use holdfast_testkit::claude::{bash, bash_in_background, subagent_in_background};
use holdfast_testkit::five::{Agent, Stage};
use holdfast_testkit::host::TestHost;
use holdfast_testkit::scripted::{UNTIL_GO, one_by_one};
use holdfast_testkit::{proc, scenario};
use serde_json::{Value, json};

use crate::lab::{Lab, VERSIONS, choose, open_prompt, transcript, turns};

const CONTINUES: &str = "was stopped from outside";

/// Resumes the offer of a chat, and waits until nothing is left of it and the chat rests.
fn resume(host: &TestHost<'_>, chat: &str) {
    let result = host.resume(chat);
    assert_eq!(result["outcome"], "pending", "{result}");
    host.wait("the offer's end", || !scenario::has_offer(host, chat));
    host.wait_shown(chat, "idle");
}

/// The messages of people and the host that the model was told, in order.
fn sent(lab: &Lab) -> Vec<String> {
    let told = lab.told();
    told.iter().filter_map(|said| said.strip_prefix("user: ").map(str::to_owned)).collect()
}

#[test]
fn a_killed_host_finds_it_again_and_misses_nothing() {
    const STREAM: &str = "[[slow-stream 120 25]]";
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let message = host.send(&chat, STREAM);
        host.wait("the middle of the stream", || host.said(&chat).contains("chunk 30 "));
        let pid = lab.agent();
        host.kill();
        assert!(proc::is_alive(pid));

        let host = lab.place.start();
        host.wait_message(&chat, &message, "settled");
        let whole: String = (1..=120).map(|number| format!("chunk {number} ")).collect();
        assert_eq!(host.said(&chat).trim_end(), whole.trim_end(), "nothing lost, nothing doubled");
        assert_eq!(lab.agent(), pid, "the same process");
        assert_eq!(lab.model.turns().len(), 1);
        assert_eq!(host.chat(&chat)["offer"], Value::Null);
        let next = host.send(&chat, "[[say and on]]");
        host.wait_message(&chat, &next, "settled");
        assert_eq!(sent(&lab), [STREAM, "[[say and on]]"]);
        host.stop();
    }
}

#[test]
fn a_prompt_outlives_the_host_and_is_answered_to_the_next() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let chat = host.open_with("claude");
    let script = one_by_one(&[&bash("touch f.txt && echo made"), "[[say done]]"]);
    let message = host.send(&chat, &script);
    open_prompt(&host, &chat);
    host.kill();
    let host = lab.place.start();
    choose(&host, &chat, "allow");
    host.wait_message(&chat, &message, "settled");
    assert_eq!(lab.told().last().unwrap(), "tool: made");
    assert_eq!(lab.model.turns().len(), 2, "nothing twice");
    host.stop();
}

/// What is cut at one point, and what its offer says.
struct Cut {
    script: String,
    says: &'static str,
    /// Whether it is as far as it is to be.
    there: fn(&TestHost<'_>, &str) -> bool,
}

fn cuts() -> Vec<Cut> {
    vec![
        Cut {
            script: "[[say half]] [[hang 600]]".to_owned(),
            says: "Was mid-reply",
            there: |host, chat| host.said(chat).ends_with("half"),
        },
        Cut {
            // Changes of files are not asked about in this mode, programs are.
            script: one_by_one(&[&bash("python3 -c 'print(7)'"), "[[say done]]"]),
            says: "Waiting for your approval: Bash: python3 -c 'print(7)'",
            there: |host, chat| host.chat(chat)["status"]["shown"] == "blocked",
        },
    ]
}

fn killed_and_resumed(version: &Pinned, cut: &Cut) {
    const FIRST: &str = "remember this [[say I remember]]";
    let lab = Lab::new(version);
    let host = lab.place.start();
    let chat = host.open_with("claude");
    host.request("PATCH", &format!("/chats/{chat}"), Some(&json!({ "mode": "acceptEdits" })));
    let first = host.send(&chat, FIRST);
    host.wait_message(&chat, &first, "settled");
    let message = host.send(&chat, &cut.script);
    host.wait("the point of the cut", || (cut.there)(&host, &chat));
    lab.wait_written(&cut.script);
    host.kill_everything();
    let before = lab.model.turns().len();

    let host = lab.place.start();
    let offer = host.wait_offer(&chat);
    assert_eq!(offer["summary"]["text"], cut.says);
    assert_eq!((&offer["cause"], &offer["needs_choice"]), (&json!("host_lost"), &json!(false)));
    host.wait_message(&chat, &message, "settled");
    assert_eq!(lab.model.turns().len(), before, "nothing was sent by itself");
    resume(&host, &chat);
    let told = sent(&lab);
    assert_eq!(told[..2], [FIRST, &cut.script], "the same session, the cut message once");
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[2].contains(CONTINUES), "{told:?}");
    assert_eq!(turns(&host, &chat).len(), 3);
    assert_eq!(host.chat(&chat)["mode"], "acceptEdits", "as before");
    let next = host.send(&chat, "and now?");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(sent(&lab).len(), 4);
    host.stop();
}

#[test]
fn killed_with_everything_it_carries_on_with_its_own_session() {
    for version in VERSIONS {
        for cut in cuts() {
            killed_and_resumed(version, &cut);
        }
    }
}

/// The CLI writes a message down only some time after it has taken it: killed before, it has lost it.
#[test]
fn a_message_that_the_session_has_lost_is_sent_again() {
    const FIRST: &str = "remember this [[say I remember]]";
    const CUT: &str = "[[say half]] [[hang 600]]";
    for before in [vec![FIRST], vec![]] {
        let lab = Lab::new(&CLAUDE);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        for message in &before {
            let first = host.send(&chat, message);
            host.wait_message(&chat, &first, "settled");
        }
        let cut = host.send(&chat, CUT);
        host.wait("the half", || host.said(&chat).ends_with("half"));
        lab.wait_written(CUT);
        host.kill_everything();
        // What a kill within the first hundred milliseconds leaves, whenever this one came.
        lab.lose(CUT);

        let host = lab.place.start();
        let offer = host.wait_offer(&chat);
        assert_eq!(offer["needs_choice"], false);
        host.wait_message(&chat, &cut, "refused");
        let asked = lab.model.turns().len();
        let result = host.resume(&chat);
        assert_eq!(result["outcome"], "pending", "{result}");
        host.wait("the continuation, then the message", || lab.model.turns().len() == asked + 2);
        let told = sent(&lab);
        assert_eq!(told.len(), before.len() + 2, "{told:?}");
        assert_eq!(told[..before.len()], before[..]);
        assert!(told[before.len()].contains(CONTINUES), "right after the continuation: {told:?}");
        host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
        host.wait_message(&chat, &cut, "settled");
        host.stop();
    }
}

#[test]
fn a_session_that_is_gone_is_begun_anew_with_a_recap() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let chat = host.open_with("claude");
    let first = host.send(&chat, "remember this [[say I remember]]");
    host.wait_message(&chat, &first, "settled");
    let cut = host.send(&chat, "[[say half]] [[hang 600]]");
    host.wait("the half", || host.said(&chat).ends_with("half"));
    lab.wait_written("half");
    host.kill_everything();
    fs::remove_dir_all(lab.projects()).unwrap();

    let host = lab.place.start();
    host.wait_offer(&chat);
    host.wait_message(&chat, &cut, "unknown");
    assert_eq!(host.resume_with(&chat, "arrived")["outcome"], "pending");
    host.wait("the failure", || {
        let failures = host.get("/offers")["failures"].clone();
        failures.as_array().unwrap().iter().any(|failure| failure["code"] == "session_not_found")
    });
    let body = json!({ "chats": [{ "chat": chat, "fresh": true, "recap": "What was before." }] });
    let result = host.post("/offers/resume", &body).ok()["results"][0].clone();
    assert_eq!(result["outcome"], "pending", "{result}");
    host.wait("the offer's end", || !scenario::has_offer(&host, &chat));
    host.wait_shown(&chat, "idle");
    assert_eq!(lab.told(), ["user: What was before."], "a new session");
    let shown = transcript(&host, &chat);
    assert!(!shown.iter().any(|line| line.starts_with("unrecognised")), "{shown:#?}");
    host.stop();
}

/// The CLI writes a copy of a session down only with the first message in it.
#[test]
fn a_fork_knows_what_came_before_also_when_its_agent_was_killed_before_its_first_message() {
    const FIRST: &str = "remember this [[say I remember]]";
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let first = host.send(&chat, FIRST);
        host.wait_message(&chat, &first, "settled");
        let last = host.items(&chat).last().unwrap()["seq"].clone();
        let fork = host.post(&format!("/chats/{chat}/fork"), &json!({ "at": last })).ok();
        let fork = fork["id"].as_str().unwrap().to_owned();
        host.wait("the copy's agent", || host.chat(&fork)["status"]["process"] == "running");
        host.kill_everything();

        let host = lab.place.start();
        let second = host.send(&fork, "[[say the fork goes on]]");
        host.wait_message(&fork, &second, "settled");
        assert_eq!(sent(&lab), [FIRST, "[[say the fork goes on]]"]);
        let copy = lab.model.turns().last().unwrap().session.clone();
        let other = host.send(&chat, "[[say so does the other]]");
        host.wait_message(&chat, &other, "settled");
        assert_eq!(sent(&lab), [FIRST, "[[say so does the other]]"], "neither knows of the other");
        assert_ne!(lab.model.turns().last().unwrap().session, copy);
        host.stop();
    }
}

/// As `cargo xtask real --agent claude` shows it.
#[test]
fn five_chats_are_killed_with_everything_and_each_that_worked_is_carried_on_once() {
    let dir = tempfile::tempdir().unwrap();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_holdfast"));
    Stage::new(program, dir.path(), Agent::Claude).play(&|_| ());
}

/// A tool and work in the background go on while no host lives: the agent notices nothing.
#[test]
fn a_killed_host_finds_a_tool_and_background_work_as_they_are_by_then() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let mode = "bypassPermissions";
        let body = json!({ "agent": "claude", "cwd": lab.place.work_dir(), "mode": mode });
        let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
        let go = lab.place.work_dir().join("go");
        let script = one_by_one(&[
            &bash(&format!("touch runs; {UNTIL_GO}; echo over")),
            &bash_in_background("sleep 600"),
            "[[say both]]",
        ]);
        let message = host.send(&chat, &script);
        host.wait("the tool", || lab.place.work_dir().join("runs").exists());
        let pid = lab.agent();
        host.kill();
        // It ends while nobody looks, and the turn goes on.
        fs::write(&go, "").unwrap();
        holdfast_testkit::wait_until(holdfast_testkit::host::PATIENCE, "the next reply", || {
            lab.model.turns().len() == 3
        });

        let host = lab.place.start();
        host.wait_message(&chat, &message, "settled");
        assert_eq!(lab.agent(), pid, "the same process");
        host.wait_shown(&chat, "monitoring");
        host.kill();
        let host = lab.place.start();
        let row = host.chat(&chat);
        assert_eq!(row["status"]["shown"], "monitoring");
        assert_eq!(row["activity"]["tasks"].as_array().unwrap().len(), 1, "{row}");
        assert_eq!(row["offer"], Value::Null);
        assert_eq!(lab.agent(), pid);
        assert_eq!(lab.model.turns().len(), 3, "nothing twice");
        let told = lab.told();
        assert_eq!(told.iter().filter(|said| *said == "tool: over").count(), 1, "{told:?}");
        let shown = transcript(&host, &chat);
        assert_eq!(shown.iter().filter(|line| line.ends_with("completed: over")).count(), 1);
        assert_eq!(shown.last().unwrap(), "agent: both", "{shown:#?}");
        host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
        host.wait("the end of its tree", || lab.place.processes().is_empty());
        host.stop();
    }
}

/// Whatever a chat is at, after its close nothing of its tree lives.
#[test]
fn a_close_leaves_no_process_in_a_reply_at_a_question_and_with_work_in_the_background() {
    let background = one_by_one(&[
        &bash_in_background("sleep 600"),
        &subagent_in_background("[[hang 600]]"),
        "[[say on its way]]",
    ]);
    let question = one_by_one(&[&bash("python3 -c 'print(7)'"), "[[say done]]"]);
    for (mode, script, shown) in [
        ("default", "[[say half]] [[hang 600]]".to_owned(), "working"),
        ("default", question, "blocked"),
        ("bypassPermissions", background, "working"),
    ] {
        let lab = Lab::new(&CLAUDE);
        let host = lab.place.start();
        let body = json!({ "agent": "claude", "cwd": lab.place.work_dir(), "mode": mode });
        let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
        host.send(&chat, &script);
        host.wait("the point of the close", || {
            let row = host.chat(&chat);
            let tasks = row["activity"]["tasks"].as_array().unwrap().len();
            let there = mode == "default" || (tasks == 2 && row["status"]["lead"] == "done");
            row["status"]["shown"] == shown && there && !lab.model.turns().is_empty()
        });
        assert!(!lab.place.processes().is_empty());
        host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
        host.wait("the end of its tree", || lab.place.processes().is_empty());
        host.wait("the end of its keeper", || lab.place.keepers().is_empty());
        assert_eq!(host.get("/offers")["offers"], json!([]), "a close offers nothing");
        host.stop();
    }
}
