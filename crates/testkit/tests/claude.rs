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
use holdfast_testkit::lines::ANSWER_BOUND;
use holdfast_testkit::model::{ModelServer, Purpose, SUMMARY, TITLE};
use holdfast_testkit::scripted::{PICTURE, UNTIL_GO, one_by_one};
use holdfast_testkit::{loopback, wait_until};
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

    /// What it wrote down of a session, empty where that is nothing yet.
    fn session_file(&self, session: &str) -> String {
        let projects = self.scratch.path().join("agent/home/.claude/projects");
        let project = fs::read_dir(projects).unwrap().next().unwrap().unwrap().path();
        fs::read_to_string(project.join(format!("{session}.jsonl"))).unwrap_or_default()
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
        assert_eq!(told[3], "assistant: chunk 1 chunk 2", "what was shown: {told:?}");
        assert_eq!(told[4], "notice: [Request interrupted by user]", "{told:?}");
        assert_eq!(told[5..], ["user: [[say still here]]"], "{told:?}");
    }
}

#[test]
fn what_it_started_in_the_background_wakes_it() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&[]);
        let child = one_by_one(&[&claude::bash("echo from-sub"), "[[say sub report]]"]);
        for (start, summary) in [
            (claude::subagent_in_background(&child), "Agent \"a test\" finished"),
            (
                claude::bash_in_background("sleep 0.3; echo x"),
                "Background command \"a test\" completed (exit code 0)",
            ),
        ] {
            let before = claude.lines.heard_count();
            claude.say(&uuid(), &one_by_one(&[&start, "[[say on its way]]"]));
            let woken = claude.lines.wait_after(before, "the turn of its own", |line| {
                line["type"] == "result" && line["origin"]["kind"] == "task-notification"
            });
            assert_eq!(woken["result"], format!("noted: completed: {summary}"));
            assert_eq!(lab.told().last().unwrap(), &format!("notice: completed: {summary}"));
        }
        let of_child = lab.model.subagent_turns();
        assert_eq!(of_child.len(), 2);
        assert_eq!(of_child[1].told()[0], format!("user: {child}"));
        assert_eq!(of_child[1].told()[2..], ["tool: from-sub"]);
        assert_eq!(of_child[1].session, lab.model.turns()[0].session);
    }
}

#[test]
fn it_watches_a_command_and_is_woken_by_what_that_prints() {
    let lab = Lab::new(&CLAUDE);
    let mut claude = lab.start(&["--permission-mode", "bypassPermissions"]);
    let watched = claude::monitor(&format!("echo seen; {UNTIL_GO}"));
    claude.say(&uuid(), &one_by_one(&[&watched, "[[say watching]]"]));
    let noted = |summary: &str| {
        let wanted = format!("noted: {summary}");
        claude.lines.wait_for(&wanted, |line| line["result"] == wanted.as_str());
    };
    noted("Monitor event: \"a test\": seen");
    fs::write(lab.work().join("go"), "").unwrap();
    noted("completed: Monitor \"a test\" stream ended");
}

#[test]
fn calls_of_one_reply_are_parallel() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&["--permission-mode", "bypassPermissions"]);
        let two = [claude::bash("echo one"), claude::bash("echo two")].concat();
        claude.say(&uuid(), &one_by_one(&[&two, "[[say both]]"]));
        assert_eq!(claude.result(0)["result"], "both");
        let mut results = lab.told().split_off(3);
        results.sort();
        assert_eq!(results, ["tool: one", "tool: two"]);
        assert_eq!(lab.model.turns().len(), 2);
    }
}

#[test]
fn a_killed_one_knows_its_session_again() {
    const FIRST: &str = "remember this [[say I remember]]";
    const CUT: &str = "cut short [[say half]] [[gate never]]";
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&["--include-partial-messages"]);
        claude.say(&uuid(), FIRST);
        let session = claude.result(0)["session_id"].as_str().unwrap().to_owned();
        claude.say(&uuid(), CUT);
        claude.lines.wait_for("the half", |line| line["event"]["delta"]["text"] == "half");
        wait_until(ANSWER_BOUND, "the message in the session's file", || {
            lab.session_file(&session).contains("cut short")
        });
        claude.lines.kill_9();

        let mut claude = lab.start(&["--resume", &session]);
        claude.say(&uuid(), "and now?");
        assert_eq!(claude.result(0)["result"], "You said: and now?");
        let told = lab.told();
        let first = [format!("user: {FIRST}"), "assistant: I remember".to_owned()];
        assert_eq!(told[..2], first);
        assert_eq!(told[2], format!("user: {CUT}"));
        assert_eq!(told.last().unwrap(), "user: and now?");
        assert_eq!(lab.model.turns().last().unwrap().session, Some(session));
    }
}

#[test]
fn a_picture_is_seen() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&[]);
        let source = json!({ "type": "base64", "media_type": "image/png", "data": PICTURE });
        let picture = json!({ "type": "image", "source": source });
        let text = json!({ "type": "text", "text": "[[say I see]]" });
        claude.say_all(&uuid(), json!([text, picture]));
        assert_eq!(claude.result(0)["result"], "I see");
        let told = lab.told();
        assert_eq!(told[0], "user: [[say I see]]");
        assert!(told[1].starts_with("image: image/png, "), "{told:?}");
        assert_eq!(told.len(), 2, "{told:?}");
    }
}

#[test]
fn it_asks_and_is_answered() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&["--permission-mode", "plan"]);
        claude.say(&uuid(), &claude::ask("Which color?", &["red", "blue"]));
        let asked = claude.asked(0);
        let mut input = asked["request"]["input"].clone();
        input["answers"] = json!({ "Which color?": "blue" });
        claude.answer(&asked, json!({ "behavior": "allow", "updatedInput": input }));
        claude.result(0);
        assert!(lab.told()[2].contains("\"Which color?\"=\"blue\""), "{:?}", lab.told());

        let before = claude.lines.heard_count();
        let plan = one_by_one(&[&claude::exit_plan_mode("1. Do it."), "[[say carried out]]"]);
        claude.say(&uuid(), &plan);
        let asked = claude.asked(before);
        assert_eq!(asked["request"]["tool_name"], "ExitPlanMode");
        let input = &asked["request"]["input"];
        claude.answer(&asked, json!({ "behavior": "allow", "updatedInput": input }));
        assert_eq!(claude.result(before)["result"], "carried out");
    }
}

#[test]
fn a_message_in_the_middle_of_a_turn_is_told_apart() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&["--permission-mode", "bypassPermissions"]);
        let wait = claude::bash(&format!("{UNTIL_GO}; echo gone"));
        claude.say(&uuid(), &one_by_one(&[&wait, "[[say never said]]"]));
        claude.lines.wait_for("the call", |line| line["type"] == "assistant");
        claude.say(&uuid(), "[[say heard]]");
        // What was sent is taken in order: with this answer the message was read.
        claude.control(json!({ "subtype": "set_max_thinking_tokens", "max_thinking_tokens": 0 }));
        fs::write(lab.work().join("go"), "").unwrap();
        assert_eq!(claude.result(0)["result"], "heard");
        assert_eq!(lab.told()[2..], ["tool: gone", "mid-turn: [[say heard]]"]);
    }
}

#[test]
fn failures_of_the_model_are_what_the_script_says() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&[]);
        for (script, said, requests) in [
            ("[[status 529 1]] [[say after a pause]]", "after a pause", 2),
            ("[[say half]] [[cut 1]] [[say whole]]", "halfwhole", 2),
            ("[[say long]] [[stop max_tokens]] [[then]] [[say went on]]", "went on", 2),
            ("[[empty 1]] [[say filled]]", "filled", 2),
        ] {
            let (heard, asked) = (claude.lines.heard_count(), lab.model.turns().len());
            claude.say(&uuid(), script);
            let result = claude.result(heard);
            assert_eq!((&result["result"], &result["is_error"]), (&json!(said), &json!(false)));
            assert_eq!(lab.model.turns().len() - asked, requests, "{script}");
        }
        for (script, says) in [
            ("[[status 400]]", "400 told to fail"),
            ("[[status 401]]", "401 told to fail"),
            ("[[status 500]]", "500 told to fail"),
            ("[[stop refusal]] [[then]] [[stop refusal]]", "API Error: "),
        ] {
            let heard = claude.lines.heard_count();
            claude.say(&uuid(), script);
            let result = claude.result(heard);
            assert_eq!(result["is_error"], true, "{script}: {result}");
            assert!(result["result"].as_str().unwrap().contains(says), "{script}: {result}");
        }
        let heard = claude.lines.heard_count();
        claude.say(&uuid(), "[[say fine]]");
        assert_eq!(claude.result(heard)["result"], "fine");
    }
}

#[test]
fn titles_and_summaries_are_no_turns() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::new(version);
        let mut claude = lab.start(&[]);
        for text in ["[[say one]]", "[[say two]]"] {
            let heard = claude.lines.heard_count();
            claude.say(&uuid(), text);
            claude.result(heard);
        }
        let title = json!({
            "subtype": "generate_session_title",
            "description": "mend the parser that fails on an empty line",
            "persist": true,
        });
        assert_eq!(claude.control(title)["title"], TITLE);
        let heard = claude.lines.heard_count();
        claude.say(&uuid(), "/compact");
        claude.result(heard);
        let lines = claude.lines.messages();
        let boundary = lines.iter().find(|line| line["subtype"] == "compact_boundary");
        assert!(boundary.is_some(), "{:?}", &lines[heard..]);
        let heard = claude.lines.heard_count();
        claude.say(&uuid(), "[[say after]]");
        claude.result(heard);
        let purposes: Vec<_> = lab.model.seen().iter().map(|seen| seen.purpose).collect();
        let expected =
            [Purpose::Turn, Purpose::Turn, Purpose::Title, Purpose::Summary, Purpose::Turn];
        assert_eq!(purposes, expected);
        let told = lab.told();
        assert!(told[0].starts_with("notice: ") && told[0].contains(SUMMARY), "{told:?}");
        assert_eq!(told[1..], ["assistant: two", "user: [[say after]]"]);
    }
}

#[test]
fn it_needs_and_asks_nothing_but_loopback() {
    // The install may need the network; what runs then may not.
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        version.ensure().unwrap_or_else(|error| panic!("{error}"));
    }
    loopback::assert_nothing_else(&[
        "it_talks_and_the_model_saw_it",
        "a_tool_waits_for_its_approval_and_its_result_is_told",
    ]);
}
