//! The real Codex against the scripted model, driven by hand: what a host may rely on.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test: helpers may fail it, and it starts real processes"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use holdfast_pinned::CODEX;
use holdfast_testkit::codex::{self, Codex};
use holdfast_testkit::lines::ANSWER_BOUND;
use holdfast_testkit::model::{ModelServer, Purpose, SUMMARY};
use holdfast_testkit::scripted::{PICTURE, UNTIL_GO, one_by_one};
use holdfast_testkit::{loopback, wait_until};
use serde_json::json;

/// A home for Codex and a model to talk to.
struct Lab {
    program: PathBuf,
    model: ModelServer,
    scratch: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let program = CODEX.ensure().unwrap_or_else(|error| panic!("{error}"));
        Self { program, model: ModelServer::start(), scratch: tempfile::tempdir().unwrap() }
    }

    fn work(&self) -> PathBuf {
        let work = self.scratch.path().join("work");
        fs::create_dir_all(&work).unwrap();
        work
    }

    fn start(&self) -> Codex {
        let scratch = self.scratch.path().join("agent");
        let home = codex::home(&self.program, &scratch, self.model.port).unwrap();
        let mut command = Command::new(&self.program);
        command.current_dir(self.work());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).envs(home);
        Codex::start(&mut command)
    }

    fn told(&self) -> Vec<String> {
        self.model.turns().last().unwrap().told()
    }
}

#[test]
fn it_talks_and_the_model_saw_it() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread(&lab.work(), "untrusted");
    codex.say(&thread, "[[think hm hm]] [[say one two three]]");
    let ended = codex.ended(0, &thread);
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(lab.told(), ["user: [[think hm hm]] [[say one two three]]"]);
    assert_eq!(lab.model.turns().len(), 1);
    assert_eq!(lab.model.turns()[0].session.as_deref(), Some(thread.as_str()));
    assert_eq!(codex.said(0, &thread), "one two three");
    codex.lines.close_stdin();
    assert!(codex.lines.wait_exit().success());
}

#[test]
fn a_tool_waits_for_its_approval_and_its_result_is_told() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread(&lab.work(), "untrusted");
    let script = one_by_one(&[&codex::exec("touch f.txt && echo made"), "[[say all is well]]"]);
    codex.say(&thread, &script);
    let asked = codex.next(0, "item/commandExecution/requestApproval");
    assert!(!lab.work().join("f.txt").exists(), "nothing runs before it is allowed");
    codex.answer(&asked, json!({ "decision": "accept" }));
    assert_eq!(codex.ended(0, &thread)["status"], "completed");
    assert!(lab.work().join("f.txt").exists());
    let told = lab.told();
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[1].starts_with("call: exec_command {"), "{told:?}");
    assert!(told[2].ends_with("made"), "{told:?}");
}

#[test]
fn a_slow_stream_is_shown_as_it_comes_and_can_be_interrupted() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread(&lab.work(), "untrusted");
    codex.say(&thread, "[[slow-stream 3 20]] [[gate on]] [[say end]]");
    codex.lines.wait_for("the third chunk", |line| line["params"]["delta"] == "chunk 3 ");
    lab.model.open("on");
    codex.ended(0, &thread);
    assert_eq!(codex.said(0, &thread), "chunk 1 chunk 2 chunk 3 end");

    let before = codex.lines.heard_count();
    let turn = codex.say(&thread, "[[slow-stream 2 20]] [[gate never]]");
    codex
        .lines
        .wait_after(before, "the second chunk", |line| line["params"]["delta"] == "chunk 2 ");
    codex.call("turn/interrupt", json!({ "threadId": thread, "turnId": turn }));
    assert_eq!(codex.ended(before, &thread)["status"], "interrupted");
    let before = codex.lines.heard_count();
    codex.say(&thread, "[[say still here]]");
    assert_eq!(codex.ended(before, &thread)["status"], "completed");
    let last = ["user: [[slow-stream 2 20]] [[gate never]]", "user: [[say still here]]"];
    assert_eq!(lab.told()[2..], last, "of what was cut short nothing is told again");
}

#[test]
fn a_subagent_is_told_its_task_and_asks_on_its_own_account() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let child = one_by_one(&[&codex::exec("echo from child"), "[[say child done]]"]);
    for (model, spawn) in [
        (codex::MODEL, codex::spawn("task_1", &child)),
        (codex::MODEL_OLDER_AGENTS, codex::spawn_older(&child)),
    ] {
        let before = lab.model.subagent_turns().len();
        let thread = codex.start_thread_with(&lab.work(), "never", model);
        codex.say(&thread, &one_by_one(&[&spawn, "[[say parent done]]"]));
        wait_until(ANSWER_BOUND, "the child's second request", || {
            lab.model.subagent_turns().len() == before + 2
        });
        let asked = lab.model.subagent_turns().pop().unwrap();
        assert_eq!(asked.session.as_deref(), Some(thread.as_str()));
        assert_ne!(asked.subagent, asked.session);
        let told = asked.told();
        let task = told.iter().rposition(|line| *line == format!("user: {child}")).unwrap();
        assert!(told[task + 1].starts_with("call: exec_command {"), "{told:?}");
        assert!(told[task + 2].ends_with("from child"), "{told:?}");
    }
}

#[test]
fn a_patch_a_plan_and_a_question_are_what_the_script_says() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread(&lab.work(), "untrusted");
    let script = one_by_one(&[
        &codex::add_file("f.txt", "one"),
        &codex::replace_line("f.txt", "one", "two"),
        &codex::update_plan(&["first", "second"]),
        &codex::ask("Which color?", &["red", "blue"]),
        "[[say done]]",
    ]);
    codex.say(&thread, &script);
    let mut before = 0;
    for _ in 0..2 {
        let asked = codex.next(before, "item/fileChange/requestApproval");
        before = codex.lines.heard_count();
        codex.answer(&asked, json!({ "decision": "accept" }));
    }
    let asked = codex.next(0, "item/tool/requestUserInput");
    codex.answer(&asked, json!({ "answers": { "q1": { "answers": ["blue"] } } }));
    assert_eq!(codex.ended(0, &thread)["status"], "completed");
    assert_eq!(codex.said(0, &thread), "done");
    assert_eq!(fs::read_to_string(lab.work().join("f.txt")).unwrap(), "two\n");
    let plan = &codex.next(0, "turn/plan/updated")["params"]["plan"];
    assert_eq!(plan[0], json!({ "step": "first", "status": "inProgress" }));
    let told = lab.told();
    assert_eq!(told.len(), 9, "{told:?}");
    assert!(told[1].starts_with("call: apply_patch *** Begin Patch"), "{told:?}");
    assert_eq!(told[6], "tool: Plan updated");
    assert_eq!(told[8], "tool: {\"answers\":{\"q1\":{\"answers\":[\"blue\"]}}}");
}

#[test]
fn what_is_to_run_outside_the_sandbox_is_asked_for() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let started = codex.call(
        "thread/start",
        json!({ "cwd": lab.work(), "approvalPolicy": "on-request", "sandbox": "workspace-write" }),
    );
    let thread = started["thread"]["id"].as_str().unwrap().to_owned();
    codex.say(&thread, &codex::exec_escalated("echo out > out.txt", "because"));
    let asked = codex.next(0, "item/commandExecution/requestApproval");
    assert_eq!(asked["params"]["reason"], "because");
    codex.answer(&asked, json!({ "decision": "accept" }));
    assert_eq!(codex.ended(0, &thread)["status"], "completed");
    assert_eq!(fs::read_to_string(lab.work().join("out.txt")).unwrap(), "out\n");
}

#[test]
fn a_picture_is_seen() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread(&lab.work(), "never");
    let picture = format!("data:image/png;base64,{PICTURE}");
    let text = json!({ "type": "text", "text": "[[say I see]]" });
    codex.say_all(&thread, json!([text, { "type": "image", "url": picture }]));
    codex.ended(0, &thread);
    assert_eq!(codex.said(0, &thread), "I see");
    let told = lab.told();
    assert_eq!(told[0], "user: [[say I see]]");
    assert!(told[1].starts_with("image: image/png, "), "{told:?}");
    assert_eq!(told.len(), 2, "{told:?}");
}

#[test]
fn a_command_outlives_its_turn() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread(&lab.work(), "never");
    let wait = codex::exec_in_background(&format!("{UNTIL_GO}; echo gone"));
    codex.say(&thread, &one_by_one(&[&wait, "[[say left running]]"]));
    assert_eq!(codex.ended(0, &thread)["status"], "completed");
    let before = codex.lines.heard_count();
    fs::write(lab.work().join("go"), "").unwrap();
    let ended = codex.next(before, "item/completed");
    assert_eq!(ended["params"]["item"]["type"], "commandExecution", "{ended}");
    assert_eq!(ended["params"]["item"]["aggregatedOutput"], "gone\n", "{ended}");
    assert_eq!(lab.model.turns().len(), 2, "the model is not woken");
}

#[test]
fn failures_of_the_model_are_what_the_script_says() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread(&lab.work(), "never");
    for (script, requests) in [
        ("[[status 500 1]] [[say fine]]", 2),
        ("[[say half]] [[cut 1]] [[say whole]]", 2),
        ("[[empty]]", 1),
    ] {
        let (heard, asked) = (codex.lines.heard_count(), lab.model.turns().len());
        codex.say(&thread, script);
        assert_eq!(codex.ended(heard, &thread)["status"], "completed", "{script}");
        assert_eq!(lab.model.turns().len() - asked, requests, "{script}");
    }
    for (script, info) in [
        ("[[status 400]]", json!("other")),
        ("[[status 401]]", json!({ "httpConnectionFailed": { "httpStatusCode": 401 } })),
        ("[[status 500]]", json!("internalServerError")),
        ("[[say a]] [[fail insufficient_quota]]", json!("usageLimitExceeded")),
        ("[[say a]] [[fail context_length_exceeded]]", json!("contextWindowExceeded")),
        ("[[say a]] [[stop max_output_tokens]]", json!("other")),
    ] {
        let heard = codex.lines.heard_count();
        codex.say(&thread, script);
        let ended = codex.ended(heard, &thread);
        assert_eq!(ended["status"], "failed", "{script}: {ended}");
        assert_eq!(ended["error"]["codexErrorInfo"], info, "{script}: {ended}");
    }
    let heard = codex.lines.heard_count();
    codex.say(&thread, "[[say fine]]");
    assert_eq!(codex.ended(heard, &thread)["status"], "completed");
    assert_eq!(codex.said(heard, &thread), "fine");
}

#[test]
fn a_killed_one_knows_its_thread_again() {
    const FIRST: &str = "remember this [[say I remember]]";
    const CUT: &str = "cut short [[say half]] [[gate never]]";
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread(&lab.work(), "never");
    codex.say(&thread, FIRST);
    codex.ended(0, &thread);
    codex.say(&thread, CUT);
    codex.lines.wait_for("the half", |line| line["params"]["delta"] == "half");
    codex.lines.kill_9();

    let mut codex = lab.start();
    codex.call("thread/resume", json!({ "threadId": thread }));
    codex.say(&thread, "and now?");
    codex.ended(0, &thread);
    assert_eq!(codex.said(0, &thread), "You said: and now?");
    let told = lab.told();
    let expected = [
        format!("user: {FIRST}"),
        "assistant: I remember".to_owned(),
        format!("user: {CUT}"),
        "user: and now?".to_owned(),
    ];
    assert_eq!(told, expected);
    assert_eq!(lab.model.turns().last().unwrap().session, Some(thread));
}

#[test]
fn a_summary_is_no_turn() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread(&lab.work(), "never");
    codex.say(&thread, "[[say before]]");
    codex.ended(0, &thread);
    let heard = codex.lines.heard_count();
    codex.call("thread/compact/start", json!({ "threadId": thread }));
    codex.ended(heard, &thread);
    let heard = codex.lines.heard_count();
    codex.say(&thread, "[[say after]]");
    codex.ended(heard, &thread);
    let purposes: Vec<_> = lab.model.seen().iter().map(|seen| seen.purpose).collect();
    assert_eq!(purposes, [Purpose::Turn, Purpose::Summary, Purpose::Turn]);
    assert!(lab.told()[1].ends_with(SUMMARY), "{:?}", lab.told());
}

#[test]
fn code_calls_tools() {
    let lab = Lab::new();
    let mut codex = lab.start();
    let thread = codex.start_thread_with(&lab.work(), "never", codex::MODEL_CODE);
    let code = codex::code("text(await tools.exec_command({ cmd: 'echo hi' }))");
    codex.say(&thread, &one_by_one(&[&code, "[[say done]]"]));
    assert_eq!(codex.ended(0, &thread)["status"], "completed");
    assert!(lab.told()[2].contains("\"output\":\"hi\\n\""), "{:?}", lab.told());
}

#[test]
fn it_needs_and_asks_nothing_but_loopback() {
    // The install may need the network; what runs then may not.
    CODEX.ensure().unwrap_or_else(|error| panic!("{error}"));
    loopback::assert_nothing_else(&[
        "it_talks_and_the_model_saw_it",
        "a_tool_waits_for_its_approval_and_its_result_is_told",
    ]);
}
