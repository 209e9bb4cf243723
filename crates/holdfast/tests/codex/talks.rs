//! Turns: what is said, run, refused and stopped.

use std::fs;

use holdfast_testkit::codex;
use holdfast_testkit::scripted::one_by_one;
use serde_json::json;

use crate::lab::{Lab, answer, calls, open, open_prompt, running, turns};

#[test]
fn it_talks_runs_what_is_allowed_and_stops_when_told() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "read-only");

    // A plain turn, thoughts included.
    let first = host.send(&chat, "[[think hm]] [[say one two three]]");
    host.wait_message(&chat, &first, "settled");
    assert_eq!(host.said(&chat), "one two three");
    assert_eq!(lab.told(), ["[[think hm]] [[say one two three]]"]);
    assert_eq!(lab.model.turns().len(), 1);
    assert_eq!(host.chat(&chat)["mode"], "read-only");
    let thoughts = host.items(&chat).into_iter().find(|item| item["kind"] == "thinking");
    assert_eq!(thoughts.unwrap()["text"], "hm");

    // A command that a person allows: it ran, and the model got its result.
    let run = codex::exec_escalated("echo hi > f.txt; cat f.txt", "for the test");
    let tool = host.send(&chat, &one_by_one(&[&run, "[[say ran]]"]));
    let prompt = open_prompt(&host, &chat);
    assert_eq!(host.chat(&chat)["status"]["shown"], "blocked");
    assert!(!lab.place.work_dir().join("f.txt").exists(), "nothing runs before it is allowed");
    assert!(prompt["label"].as_str().unwrap().starts_with("echo hi > f.txt"), "{prompt}");
    answer(&host, &chat, &prompt, &json!({ "option": "accept" }));
    host.wait_message(&chat, &tool, "settled");
    assert_eq!(fs::read_to_string(lab.place.work_dir().join("f.txt")).unwrap(), "hi\n");
    let results = lab.model.turns().last().unwrap().texts("tool");
    assert!(results[0].contains("hi"), "{results:?}");
    assert_eq!(calls(&host, &chat), ["echo hi > f.txt; cat f.txt completed"]);

    // One that a person refuses does not run; the model is told, and goes on.
    let refused = codex::exec_escalated("touch g.txt", "for the test");
    let tool = host.send(&chat, &one_by_one(&[&refused, "[[say not then]]"]));
    let prompt = open_prompt(&host, &chat);
    answer(&host, &chat, &prompt, &json!({ "option": "decline" }));
    host.wait_message(&chat, &tool, "settled");
    assert!(!lab.place.work_dir().join("g.txt").exists());
    assert!(host.said(&chat).ends_with("not then"), "{}", host.said(&chat));
    assert_eq!(calls(&host, &chat)[1], "touch g.txt failed");

    // A stop of the turn: the model's stream is cut, the chat goes on.
    let endless = host.send(&chat, "[[slow-stream 100000 20]]");
    host.wait("the first chunks", || host.said(&chat).contains("chunk 2"));
    host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
    host.wait_message(&chat, &endless, "settled");
    assert_eq!(turns(&host, &chat).last().unwrap(), "interrupted");
    let last = host.send(&chat, "[[say still here]]");
    host.wait_message(&chat, &last, "settled");
    assert!(host.said(&chat).ends_with("still here"));
    assert_eq!(lab.told().len(), 5, "the model was told all that was sent, once, in order");
    assert!(host.stop().success());
    assert_eq!(lab.place.processes(), [0; 0]);
}

#[test]
fn a_stop_ends_the_command_that_the_turn_runs() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let message = host.send(&chat, &codex::exec("sleep 4711; echo over"));
    host.wait("the command to run", || {
        running(&lab.place, "sleep 4711") > 0 && !calls(&host, &chat).is_empty()
    });
    host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
    host.wait_message(&chat, &message, "settled");
    assert_eq!(turns(&host, &chat), ["interrupted"]);
    host.wait("the end of the command", || running(&lab.place, "sleep 4711") == 0);
    host.wait_shown(&chat, "idle");
    assert_eq!(calls(&host, &chat), ["sleep 4711; echo over failed"]);
    host.stop();
}

#[test]
fn an_error_of_the_model_fails_the_turn_and_the_chat_goes_on() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "auto");
    let notices = || -> Vec<String> {
        let items = host.items(&chat);
        let notices = items.iter().filter(|item| item["kind"] == "notice");
        notices.map(|item| item["notice"]["kind"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let mut all = Vec::new();
    for (code, told) in [
        (500, &["retrying", "turn_failed"][..]),
        (529, &["retrying", "turn_failed"]),
        (400, &["turn_failed"]),
    ] {
        let failed = host.send(&chat, &format!("[[status {code}]]"));
        host.wait_message(&chat, &failed, "settled");
        all.extend(told.iter().map(|word| (*word).to_owned()));
        assert_eq!(notices(), all, "{code}: {:#?}", host.items(&chat));
    }
    assert_eq!(turns(&host, &chat), ["failed"; 3]);
    let next = host.send(&chat, "[[say still here]]");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(host.said(&chat), "still here");
    host.stop();
}

#[test]
fn model_and_mode_change_while_it_runs() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "auto");
    let first = host.send(&chat, "[[say one]]");
    host.wait_message(&chat, &first, "settled");
    assert_eq!(host.chat(&chat)["model"], codex::MODEL);
    let wanted = json!({ "model": codex::MODEL_OLDER_AGENTS, "mode": "full-access" });
    let path = format!("/chats/{chat}");
    host.request("PATCH", &path, Some(&wanted)).unwrap().ok();
    // What the sandbox would have kept from it runs unasked.
    let next =
        host.send(&chat, &one_by_one(&[&codex::exec("echo free > ../free.txt"), "[[say two]]"]));
    host.wait_message(&chat, &next, "settled");
    assert!(lab.place.root.join("free.txt").exists());
    let models = lab.model.turns().into_iter().map(|seen| seen.body["model"].clone());
    let models: Vec<_> = models.collect();
    assert_eq!(models.first().unwrap(), codex::MODEL);
    assert_eq!(models.last().unwrap(), codex::MODEL_OLDER_AGENTS);
    let row = host.chat(&chat);
    assert_eq!(
        (row["model"].as_str(), row["mode"].as_str()),
        (Some(codex::MODEL_OLDER_AGENTS), Some("full-access"))
    );
    host.stop();
}

#[test]
fn what_is_attached_reaches_the_model() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "auto");
    let attach = |name: &str, kind: &str, bytes: &[u8]| {
        let target = format!("/api/v1/chats/{chat}/attachments?name={name}");
        let request = host.raw("POST", &target).header("content-type", kind).body(bytes);
        host.exchange(&request).json()["id"].as_str().unwrap().to_owned()
    };
    let files = [
        attach("dot.png", "image/png", PNG),
        attach("note.md", "text/markdown", b"the word is grassland"),
    ];
    let body = json!({ "text": "[[say seen]] look", "attachments": files });
    let sent = host.post(&format!("/chats/{chat}/messages"), &body).ok();
    host.wait_message(&chat, sent["message"]["id"].as_str().unwrap(), "settled");
    let seen = lab.model.turns().pop().unwrap();
    let pictures = seen.texts("image");
    assert_eq!(pictures.len(), 1, "{:?}", seen.told());
    // Codex may put it into another form; it is a picture that the model could look at.
    let whole = seen.body.to_string();
    assert!(whole.contains("data:image/png;base64,"), "{:?}", seen.told());
    assert!(seen.told().iter().any(|said| said.contains("the word is grassland")));
    assert!(seen.texts("user").iter().any(|said| said.contains("[[say seen]] look")));

    // After a death of everything the conversation has it still.
    host.kill_everything();
    let host = lab.place.start();
    let next = host.send(&chat, "[[say again]]");
    host.wait_message(&chat, &next, "settled");
    let seen = lab.model.turns().pop().unwrap();
    assert_eq!(seen.texts("image").len(), 1, "{:?}", seen.told());
    host.stop();
}

/// A PNG of one pixel.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";

/// While a text comes, and in a loop of tools: neither merged nor seen before its turn.
#[test]
fn messages_wait_for_the_end_of_the_turn() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "full-access");
    let text = "[[slow-stream 20 20]]".to_owned();
    let tools = one_by_one(&[&codex::exec("echo one"), &codex::exec("echo two"), "[[say looped]]"]);
    for script in [text, tools] {
        let before = lab.model.turns().len();
        let running = host.send(&chat, &script);
        host.wait("the turn", || lab.model.turns().len() > before);
        let waiting = host.send(&chat, "[[say heard you]]");
        host.wait_message(&chat, &running, "settled");
        host.wait_message(&chat, &waiting, "settled");
        let told = lab.told();
        assert_eq!(told[told.len() - 2..], [script, "[[say heard you]]".to_owned()], "{told:?}");
        let asked = lab.model.turns().split_off(before);
        let early = asked.iter().filter(|seen| {
            let texts = seen.texts("user");
            texts.last().is_some_and(|last| last == "[[say heard you]]")
        });
        assert_eq!(early.count(), 1, "it was asked once, in a turn of its own");
    }
    assert_eq!(turns(&host, &chat), ["completed"; 4]);
    host.stop();
}

/// Two commands of one reply wait for leave, each for its own.
#[test]
fn two_commands_of_one_reply_are_each_asked_about() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "read-only");
    let two = [
        codex::exec_escalated("touch one.txt", "the first"),
        codex::exec_escalated("touch two.txt", "the second"),
    ];
    let message = host.send(&chat, &one_by_one(&[&two.concat(), "[[say one of them]]"]));
    let mut asked = Vec::new();
    for _ in 0..2 {
        let mut prompt = json!(null);
        host.wait("a prompt that was not answered", || {
            prompt = open_prompt(&host, &chat);
            !asked.contains(&prompt["label"].as_str().unwrap().to_owned())
        });
        let label = prompt["label"].as_str().unwrap().to_owned();
        let option = if label.starts_with("touch one") { "accept" } else { "decline" };
        answer(&host, &chat, &prompt, &json!({ "option": option }));
        asked.push(label);
    }
    host.wait_message(&chat, &message, "settled");
    asked.sort();
    assert_eq!(asked, ["touch one.txt: the first", "touch two.txt: the second"]);
    assert!(lab.place.work_dir().join("one.txt").exists());
    assert!(!lab.place.work_dir().join("two.txt").exists());
    let mut calls = calls(&host, &chat);
    calls.sort();
    assert_eq!(calls, ["touch one.txt completed", "touch two.txt failed"]);
    assert_eq!(lab.model.turns().last().unwrap().texts("tool").len(), 2);
    host.stop();
}
