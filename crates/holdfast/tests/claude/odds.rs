//! What goes wrong and what changes: failures of the model's server, interrupts in a tool, messages while
//! a turn runs, compaction, another model or mode, a conversation that is cleared.

use holdfast_pinned::CLAUDE;
use holdfast_testkit::claude::bash;
use holdfast_testkit::host::TestHost;
use holdfast_testkit::scripted::{UNTIL_GO, one_by_one};
use serde_json::{Value, json};

use crate::lab::{Lab, VERSIONS, choose, transcript, turns};

/// A tool that runs until it is ended, and shows that it does.
fn endless() -> String {
    bash(&format!("touch runs; {UNTIL_GO}"))
}

fn patch(host: &TestHost<'_>, chat: &str, change: &Value) -> Value {
    host.request("PATCH", &format!("/chats/{chat}"), Some(change)).unwrap().ok()
}

#[test]
fn a_model_that_fails_is_tried_again_and_then_fails_the_turn() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let message = host.send(&chat, "[[status 529 1]] [[say after a pause]]");
        host.wait_message(&chat, &message, "settled");
        assert!(host.said(&chat).ends_with("after a pause"));
        let shown = transcript(&host, &chat);
        assert!(shown.iter().any(|line| line.starts_with("notice retrying: ")), "{shown:#?}");

        for code in [500, 400] {
            let message = host.send(&chat, &format!("[[status {code}]]"));
            host.wait_message(&chat, &message, "settled");
            let shown = transcript(&host, &chat);
            let last = shown.last().unwrap();
            assert!(
                last.starts_with("notice turn_failed: ") && last.contains(&code.to_string()),
                "{shown:#?}"
            );
        }
        assert_eq!(turns(&host, &chat), ["message completed", "message failed", "message failed"]);
        let next = host.send(&chat, "[[say well again]]");
        host.wait_message(&chat, &next, "settled");
        assert!(host.said(&chat).ends_with("well again"));
        host.stop();
    }
}

#[test]
fn an_interrupt_in_a_tool_ends_the_tool_and_messages_wait_for_the_end_of_the_turn() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let running = host.send(&chat, &one_by_one(&[&endless(), "[[say never said]]"]));
        choose(&host, &chat, "allow");
        host.wait("the tool", || lab.place.work_dir().join("runs").exists());
        host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
        host.wait_message(&chat, &running, "settled");
        host.wait_shown(&chat, "idle");
        assert_eq!(turns(&host, &chat), ["message interrupted"]);

        // While a text comes, and in a loop of tools: neither merged nor seen before its turn.
        let first = "[[slow-stream 20 20]]".to_owned();
        let second = one_by_one(&[&bash("echo one"), &bash("echo two"), "[[say looped]]"]);
        for script in [first, second] {
            let before = lab.model.turns().len();
            let running = host.send(&chat, &script);
            host.wait("the turn", || lab.model.turns().len() > before);
            let waiting = host.send(&chat, "[[say heard you]]");
            host.wait_message(&chat, &running, "settled");
            host.wait_message(&chat, &waiting, "settled");
            let told = lab.told();
            assert_eq!(told.last().unwrap(), "user: [[say heard you]]", "{told:?}");
            assert!(!told.iter().any(|said| said.starts_with("mid-turn")), "{told:?}");
        }
        assert!(turns(&host, &chat)[1..].iter().all(|turn| turn == "message completed"));
        host.stop();
    }
}

#[test]
fn a_conversation_is_shortened_and_cleared() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let chat = host.open_with("claude");
    for text in ["[[say a long story]]", "[[say more]]", "/compact"] {
        let message = host.send(&chat, text);
        host.wait_message(&chat, &message, "settled");
    }
    let shown = transcript(&host, &chat);
    let compaction = shown.iter().find(|line| line.starts_with("compaction: "));
    assert!(compaction.is_some_and(|line| line.contains("was shortened from")), "{shown:#?}");
    assert!(!shown.iter().any(|line| line.starts_with("unrecognised")), "{shown:#?}");

    for text in ["/clear", "[[say anew]]"] {
        let message = host.send(&chat, text);
        host.wait_message(&chat, &message, "settled");
    }
    assert_eq!(lab.told(), ["user: [[say anew]]"]);
    // The next start goes on where the conversation went.
    let session = lab.model.turns().last().unwrap().session.clone();
    host.post(&format!("/chats/{chat}/interrupt"), &json!({ "agent": "stop" })).ok();
    host.wait("the agent's end", || host.chat(&chat)["status"]["process"] == "stopped");
    let message = host.send(&chat, "[[say again]]");
    host.wait_message(&chat, &message, "settled");
    assert_eq!(lab.model.turns().last().unwrap().session, session);
    assert_eq!(lab.told().last().unwrap(), "user: [[say again]]");
    assert_eq!(lab.told()[0], "user: [[say anew]]");
    host.stop();
}

#[test]
fn model_and_mode_change_while_it_runs_and_are_given_again_at_the_next_start() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let message = host.send(&chat, "[[say one]]");
        host.wait_message(&chat, &message, "settled");
        let pid = lab.agent();
        let own = host.chat(&chat)["model"].as_str().unwrap().to_owned();
        assert!(own.starts_with("claude-"), "{own}");

        let change = json!({ "model": "claude-sonnet-4-5", "mode": "acceptEdits" });
        patch(&host, &chat, &change);
        let script = one_by_one(&[&bash("touch f.txt && echo made"), "[[say two]]"]);
        let message = host.send(&chat, &script);
        // Changes of files are accepted: nothing is asked.
        host.wait_message(&chat, &message, "settled");
        assert_eq!(lab.agent(), pid, "the same process");
        assert_eq!(lab.model.turns().last().unwrap().body["model"], "claude-sonnet-4-5");
        assert!(lab.place.work_dir().join("f.txt").exists());

        host.post(&format!("/chats/{chat}/interrupt"), &json!({ "agent": "stop" })).ok();
        host.wait("the agent's end", || host.chat(&chat)["status"]["process"] == "stopped");
        let script = one_by_one(&[&bash("touch g.txt && echo made"), "[[say three]]"]);
        let message = host.send(&chat, &script);
        host.wait_message(&chat, &message, "settled");
        assert_eq!(lab.model.turns().last().unwrap().body["model"], "claude-sonnet-4-5");
        let row = host.chat(&chat);
        assert_eq!(
            (&row["model"], &row["mode"]),
            (&json!("claude-sonnet-4-5"), &json!("acceptEdits"))
        );

        // One that it takes only at a start it gets by a new one.
        patch(&host, &chat, &json!({ "mode": "bypassPermissions" }));
        let script = one_by_one(&[&bash("python3 -c 'print(7)'"), "[[say four]]"]);
        let message = host.send(&chat, &script);
        host.wait_message(&chat, &message, "settled");
        let told = lab.told();
        assert!(told.last().unwrap().starts_with("tool: 7"), "{told:?}");
        assert_eq!(host.chat(&chat)["mode"], "bypassPermissions");
        host.stop();
    }
}

#[test]
fn a_close_leaves_no_process_whatever_runs() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        host.send(&chat, &one_by_one(&[&endless(), "[[say never said]]"]));
        choose(&host, &chat, "allow");
        host.wait("the tool", || lab.place.work_dir().join("runs").exists());
        host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
        host.wait("the end of its tree", || lab.place.processes().is_empty());
        host.stop();
    }
}

/// What it does not take it says, and works as before. (The oldest version takes any word.)
#[test]
fn a_mode_that_it_does_not_know_is_refused_and_shown() {
    let lab = Lab::new(&CLAUDE);
    let host = lab.place.start();
    let chat = host.open_with("claude");
    let message = host.send(&chat, "[[say one]]");
    host.wait_message(&chat, &message, "settled");
    patch(&host, &chat, &json!({ "mode": "nonsense" }));
    host.wait("the refusal", || {
        transcript(&host, &chat).iter().any(|line| line.starts_with("notice setting_refused"))
    });
    host.wait("the mode as before", || host.chat(&chat)["mode"] == "default");
    host.stop();
}

/// However soon it is stopped, a message is either taken or provably not, and the chat goes on.
#[test]
fn a_message_that_is_stopped_at_once_is_never_in_doubt() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let message = host.send(&chat, "[[say one]]");
        host.wait_message(&chat, &message, "settled");
        for round in 0..6 {
            let before = lab.model.turns().len();
            let message = host.send(&chat, "[[say half]] [[hang 600]]");
            if round % 2 == 1 {
                host.wait("its turn", || lab.model.turns().len() > before);
            }
            host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
            host.wait("its fate", || {
                let state = host.delivery(&chat, &message)["state"].clone();
                state == "settled" || state == "refused" || state == "withdrawn"
            });
            host.wait_shown(&chat, "idle");
            host.request("POST", &format!("/chats/{chat}/queue/resume"), Some(&json!({})));
        }
        let last = host.send(&chat, "[[say still here]]");
        host.wait_message(&chat, &last, "settled");
        assert!(host.said(&chat).ends_with("still here"));
        host.stop();
    }
}
