//! The real Claude Code against the scripted model, driven by hand: what a host may rely on.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test: helpers may fail it, and it starts real processes"
)]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use holdfast_pinned::{CLAUDE, CLAUDE_OLDEST, Pinned};
use holdfast_testkit::claude::{self, Claude};
use holdfast_testkit::model::ModelServer;
use holdfast_testkit::scripted::one_by_one;
use serde_json::json;

/// A home for Claude Code and a model to talk to.
struct Lab {
    program: PathBuf,
    model: ModelServer,
    scratch: tempfile::TempDir,
}

impl Lab {
    fn new(version: &Pinned) -> Self {
        let program = version.ensure().unwrap_or_else(|error| panic!("{error}"));
        Self { program, model: ModelServer::start(), scratch: tempfile::tempdir().unwrap() }
    }

    fn work(&self) -> PathBuf {
        let work = self.scratch.path().join("work");
        fs::create_dir_all(&work).unwrap();
        work
    }

    fn start(&self, more: &[&str]) -> Claude {
        let home = claude::home(&self.scratch.path().join("agent"), self.model.port).unwrap();
        let mut command = Command::new(&self.program);
        command.args(claude::ARGUMENTS).args(more).current_dir(self.work());
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).envs(home);
        Claude::start(&mut command)
    }

    fn told(&self) -> Vec<String> {
        self.model.turns().last().unwrap().told()
    }
}

fn uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

#[test]
fn it_talks_and_the_model_saw_it() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&["--include-partial-messages"]);
        claude.say(&uuid(), "[[think hm hm]] [[say one two three]]");
        let result = claude.result(0);
        assert_eq!(result["result"], "one two three");
        assert_eq!(result["is_error"], false);
        assert_eq!(lab.told(), ["user: [[think hm hm]] [[say one two three]]"]);
        assert_eq!(lab.model.turns().len(), 1);
        let session = result["session_id"].as_str().unwrap().to_owned();
        assert_eq!(lab.model.turns()[0].session, Some(session));
        claude.lines.close_stdin();
        assert!(claude.lines.wait_exit().success());
    }
}

#[test]
fn a_tool_waits_for_its_approval_and_its_result_is_told() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&[]);
        let script =
            one_by_one(&[&claude::bash("touch f.txt && echo made"), "[[say all is well]]"]);
        claude.say(&uuid(), &script);
        let asked = claude.asked(0);
        assert_eq!(asked["request"]["tool_name"], "Bash");
        assert!(!lab.work().join("f.txt").exists(), "nothing runs before it is allowed");
        claude.answer(
            &asked,
            json!({ "behavior": "allow", "updatedInput": asked["request"]["input"] }),
        );
        assert_eq!(claude.result(0)["result"], "all is well");
        assert!(lab.work().join("f.txt").exists());
        let told = lab.told();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[1].starts_with("call: Bash {"), "{told:?}");
        assert_eq!(told[2], "tool: made");
    }
}

#[test]
fn a_slow_stream_is_shown_as_it_comes_and_can_be_interrupted() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&["--include-partial-messages"]);
        claude.say(&uuid(), "[[slow-stream 3 20]] [[gate on]] [[say end]]");
        claude
            .lines
            .wait_for("the third chunk", |line| line["event"]["delta"]["text"] == "chunk 3 ");
        lab.model.open("on");
        assert_eq!(claude.result(0)["result"], "chunk 1 chunk 2 chunk 3 end");

        let before = claude.lines.heard_count();
        claude.say(&uuid(), "[[slow-stream 2 20]] [[gate never]]");
        claude.lines.wait_after(before, "the second chunk", |line| {
            line["event"]["delta"]["text"] == "chunk 2 "
        });
        claude.control(json!({ "subtype": "interrupt" }));
        assert_eq!(claude.result(before)["subtype"], "error_during_execution");
        let before = claude.lines.heard_count();
        claude.say(&uuid(), "[[say still here]]");
        assert_eq!(claude.result(before)["result"], "still here");
        let told = lab.told();
        assert_eq!(told[3], "assistant: chunk 1 chunk 2 ", "what was shown: {told:?}");
        assert_eq!(told[4].trim_end(), "user: [Request interrupted by user]", "{told:?}");
        assert_eq!(told[5..], ["user: [[say still here]]"], "{told:?}");
    }
}
