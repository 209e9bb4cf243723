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
use holdfast_testkit::model::ModelServer;
use holdfast_testkit::scripted::one_by_one;
use holdfast_testkit::wait_until;
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
    assert!(told[2].ends_with("made\n"), "{told:?}");
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
        assert!(told[task + 2].ends_with("from child\n"), "{told:?}");
    }
}
