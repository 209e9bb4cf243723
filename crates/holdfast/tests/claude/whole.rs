//! Each case of what a person does with Claude Code, compared whole: all that the API shows of the chat,
//! in the middle where it rests there and at its end, and what the model was told.

use std::fs;

use holdfast_pinned::{CLAUDE, CLAUDE_OLDEST, Pinned};
use holdfast_testkit::claude::{
    ask, bash, bash_in_background, exit_plan_mode, monitor, subagent_in_background,
};
use holdfast_testkit::host::TestHost;
use holdfast_testkit::scripted::{UNTIL_GO, one_by_one};
use serde_json::{Value, json};

use crate::lab::{Lab, answer, choose, open_prompt, turns};
use crate::shown::{Redaction, now, told};
use crate::talks::PNG;

/// A command that is asked about in every mode but one.
const COMMAND: &str = "python3 -c 'print(7)'";

/// One case as it is played.
struct Case<'a> {
    lab: &'a Lab,
    host: &'a TestHost<'a>,
    chat: String,
    moments: Vec<Value>,
}

impl Case<'_> {
    /// Notes what is shown now.
    fn note(&mut self, when: &str) {
        let mut shown = Value::Null;
        // A child of the CLI that is just ending is shown for a moment as left behind.
        self.host.wait("nothing left behind", || {
            shown = now(self.host, &self.chat);
            shown["row"]["activity"]["leftovers"] == json!([])
        });
        self.moments.push(json!({ "when": when, "shown": shown }));
    }

    fn send(&self, text: &str) -> String {
        self.host.send(&self.chat, text)
    }

    /// Sends a message and waits for the end of its turn.
    fn say(&self, text: &str) {
        let message = self.send(text);
        self.settled(&message);
    }

    fn settled(&self, message: &str) {
        self.host.wait_message(&self.chat, message, "settled");
    }

    /// Waits until the agent has shown that it has the message of the running turn.
    fn taken(&self, message: &str) {
        self.host.wait_message(&self.chat, message, "taken");
    }

    fn wait_said(&self, text: &str) {
        self.host.wait(text, || self.host.said(&self.chat).contains(text));
    }

    fn interrupt(&self) {
        self.host.post(&format!("/chats/{}/interrupt", self.chat), &json!({})).ok();
    }

    /// Lets the command end that runs until the test says so.
    fn go(&self) {
        fs::write(self.lab.place.work_dir().join("go"), "").unwrap();
    }

    fn wait_file(&self, name: &str) {
        self.host.wait(name, || self.lab.place.work_dir().join(name).exists());
    }
}

/// Plays a case and compares it.
fn play(name: &str, version: &Pinned, mode: &str, script: impl Fn(&mut Case<'_>)) {
    play_in(&Lab::new(version), name, version, mode, script);
}

fn play_in(lab: &Lab, name: &str, version: &Pinned, mode: &str, script: impl Fn(&mut Case<'_>)) {
    let host = lab.place.start();
    let body = json!({ "agent": "claude", "cwd": lab.place.work_dir(), "mode": mode });
    let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
    let mut case = Case { lab, host: &host, chat, moments: Vec::new() };
    script(&mut case);
    host.wait_shown(&case.chat, "idle");
    case.note("at the end");
    let whole = json!({ "moments": case.moments, "model": told(lab) });
    let whole = Redaction::new(lab).whole(&whole);
    insta::assert_json_snapshot!(format!("{name}-{}", version.version), whole);
    host.stop();
}

/// The cases that both versions know.
fn both(name: &str, mode: &str, script: impl Fn(&mut Case<'_>)) {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        play(name, version, mode, &script);
    }
}

#[test]
fn a_plain_turn_that_is_streamed() {
    both("plain", "default", |case| {
        let message = case.send("[[think hm]] [[say one two]] [[gate on]] [[say three]]");
        case.taken(&message);
        case.wait_said("one two");
        case.note("while it streams");
        case.lab.model.open("on");
        case.settled(&message);
    });
}

#[test]
fn a_tool_that_is_allowed() {
    both("allowed", "default", |case| {
        let message = case.send(&one_by_one(&[&bash(COMMAND), "[[say done]]"]));
        case.taken(&message);
        open_prompt(case.host, &case.chat);
        case.note("while it asks");
        choose(case.host, &case.chat, "allow");
        case.settled(&message);
    });
}

#[test]
fn a_tool_that_is_denied() {
    both("denied", "default", |case| {
        let message = case.send(&one_by_one(&[&bash(COMMAND), "[[say as you like]]"]));
        let prompt = open_prompt(case.host, &case.chat);
        let given = json!({ "option": "deny", "text": "Not now, please." });
        answer(case.host, &case.chat, &prompt, &given);
        case.settled(&message);
    });
}

#[test]
fn a_tool_that_is_always_allowed() {
    both("always", "default", |case| {
        let message = case.send(&one_by_one(&[&bash(COMMAND), &bash(COMMAND), "[[say done]]"]));
        choose(case.host, &case.chat, "allow_session");
        case.settled(&message);
    });
}

#[test]
fn two_prompts_of_one_reply() {
    both("two_prompts", "default", |case| {
        let two = [bash("python3 -c 'print(1)'"), bash("python3 -c 'print(2)'")].concat();
        let message = case.send(&one_by_one(&[&two, "[[say both]]"]));
        choose(case.host, &case.chat, "allow");
        choose(case.host, &case.chat, "allow");
        case.settled(&message);
    });
}

#[test]
fn a_question_that_is_answered() {
    both("question", "default", |case| {
        let script = one_by_one(&[&ask("Which colour?", &["red", "blue"]), "[[say noted]]"]);
        let message = case.send(&script);
        case.taken(&message);
        let prompt = open_prompt(case.host, &case.chat);
        case.note("while it asks");
        let given = json!({ "answers": [{ "question": "0", "options": ["1"] }] });
        answer(case.host, &case.chat, &prompt, &given);
        case.settled(&message);
    });
}

#[test]
fn a_plan_that_is_approved() {
    both("plan", "plan", |case| {
        let message = case.send(&one_by_one(&[
            &exit_plan_mode("1. Touch a file."),
            &bash("touch f.txt && echo made"),
            "[[say carried out]]",
        ]));
        case.taken(&message);
        open_prompt(case.host, &case.chat);
        case.note("while it asks");
        choose(case.host, &case.chat, "allow_edits");
        case.settled(&message);
        case.host.wait("the mode", || case.host.chat(&case.chat)["mode"] == "acceptEdits");
    });
}

#[test]
fn an_interrupt_in_a_text() {
    both("interrupt_text", "default", |case| {
        let message = case.send("[[say half of it]] [[gate never]]");
        case.wait_said("half of it");
        case.interrupt();
        case.settled(&message);
        case.say("[[say still here]]");
    });
}

#[test]
fn an_interrupt_in_a_tool() {
    both("interrupt_tool", "bypassPermissions", |case| {
        let tool = bash(&format!("touch runs; {UNTIL_GO}"));
        let message = case.send(&one_by_one(&[&tool, "[[say never said]]"]));
        case.taken(&message);
        case.wait_file("runs");
        case.note("while the tool runs");
        case.interrupt();
        case.settled(&message);
        case.say("[[say still here]]");
    });
}

#[test]
fn a_message_during_a_text_waits() {
    both("message_in_text", "default", |case| {
        let first = case.send("[[think hm]] [[say half]] [[gate on]] [[say whole]]");
        case.taken(&first);
        case.wait_said("half");
        let second = case.send("[[say heard you]]");
        case.note("while it waits");
        case.lab.model.open("on");
        case.settled(&first);
        case.settled(&second);
    });
}

#[test]
fn a_message_during_a_loop_of_tools_waits() {
    both("message_in_tools", "bypassPermissions", |case| {
        let tool = bash(&format!("touch runs; {UNTIL_GO}"));
        let first = case.send(&one_by_one(&[&tool, &bash("echo two"), "[[say looped]]"]));
        case.taken(&first);
        case.wait_file("runs");
        let second = case.send("[[say heard you]]");
        case.note("while it waits");
        case.go();
        case.settled(&first);
        case.settled(&second);
    });
}

#[test]
fn a_shell_in_the_background_that_wakes_the_agent() {
    both("background_shell", "bypassPermissions", |case| {
        case.say(&one_by_one(&[&bash_in_background(UNTIL_GO), "[[say on its way]]"]));
        case.host.wait_shown(&case.chat, "monitoring");
        case.note("while it runs");
        case.go();
        case.host.wait("the turn of its own", || turns(case.host, &case.chat).len() == 2);
    });
}

#[test]
fn a_subagent_in_the_background_that_wakes_the_agent() {
    both("background_subagent", "bypassPermissions", |case| {
        let child = one_by_one(&["[[gate on]]", &bash("echo from-sub"), "[[say sub report]]"]);
        let child = child.replacen("[[gate on]] [[then]] ", "[[gate on]] ", 1);
        case.say(&one_by_one(&[&subagent_in_background(&child), "[[say on its way]]"]));
        case.host.wait("the subagent alone", || {
            let row = case.host.chat(&case.chat);
            row["status"]["shown"] == "working" && row["status"]["lead"] == "done"
        });
        case.host.wait("its question to the model", || case.lab.model.subagent_turns().len() == 1);
        case.note("while it runs");
        case.lab.model.open("on");
        case.host.wait("the turn of its own", || turns(case.host, &case.chat).len() == 2);
    });
}

#[test]
fn a_monitor_that_wakes_the_agent() {
    play("monitor", &CLAUDE, "bypassPermissions", |case| {
        let watched =
            monitor(&format!("{UNTIL_GO}; echo seen; while [ -e go ]; do sleep 0.05; done"));
        case.say(&one_by_one(&[&watched, "[[say watching]]"]));
        case.host.wait_shown(&case.chat, "monitoring");
        case.note("while it watches");
        case.go();
        case.wait_said("seen");
        case.host.wait_shown(&case.chat, "monitoring");
        fs::remove_file(case.lab.place.work_dir().join("go")).unwrap();
        case.host.wait("the second turn of its own", || turns(case.host, &case.chat).len() == 3);
    });
}

#[test]
fn a_model_that_fails() {
    for (name, first) in [
        ("error_529", "[[status 529 1]] [[say after a pause]]"),
        ("error_500", "[[status 500]]"),
        ("error_400", "[[status 400]]"),
    ] {
        both(name, "default", |case| {
            case.say(first);
            case.say("[[say well again]]");
        });
    }
}

#[test]
fn a_conversation_that_is_shortened_by_command() {
    both("compact_command", "default", |case| {
        case.say("[[say a long story]]");
        case.say("[[say a longer one]]");
        case.say("/compact");
        case.say("[[say and on]]");
    });
}

#[test]
fn a_conversation_that_is_shortened_by_itself() {
    for version in [&CLAUDE, &CLAUDE_OLDEST] {
        let lab = Lab::with(version, "CLAUDE_CODE_AUTO_COMPACT_WINDOW", "100000");
        play_in(&lab, "compact_automatic", version, "default", |case| {
            case.say("[[say a long story]]");
            case.say("[[say a longer one]] [[usage 95000]]");
            case.say("[[say and on]]");
        });
    }
}

#[test]
fn an_image() {
    both("image", "default", |case| {
        let target = format!("/api/v1/chats/{}/attachments?name=dot.png", case.chat);
        let request = case.host.raw("POST", &target).header("content-type", "image/png").body(PNG);
        let file = case.host.exchange(&request).json()["id"].clone();
        let body = json!({ "text": "[[say seen]] look", "attachments": [file] });
        let sent = case.host.post(&format!("/chats/{}/messages", case.chat), &body).ok();
        case.settled(sent["message"]["id"].as_str().unwrap());
    });
}

#[test]
fn another_model_and_mode() {
    both("model_and_mode", "default", |case| {
        case.say("[[say one]]");
        let change = json!({ "model": "claude-sonnet-4-5", "mode": "acceptEdits" });
        let path = format!("/chats/{}", case.chat);
        case.host.request("PATCH", &path, Some(&change)).unwrap().ok();
        // The CLI's own word comes when it comes.
        case.host.wait("the new model", || {
            let items = case.host.items(&case.chat);
            items.iter().any(|item| item["text"].as_str().unwrap_or("").starts_with("Set model"))
        });
        case.say(&one_by_one(&[&bash("touch f.txt && echo made"), "[[say two]]"]));
    });
}
