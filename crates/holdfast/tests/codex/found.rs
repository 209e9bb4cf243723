//! Threads that a person had with Codex itself: listed, adopted, gone on with.

use holdfast_testkit::codex::{MODEL, add_file, exec, spawn, wait_for_agents};
use holdfast_testkit::host::TestHost;
use holdfast_testkit::scripted::one_by_one;
use serde_json::{Value, json};

use crate::lab::Lab;

const FIRST: &str = "Fix the lexer [[think hmm]] [[say I remember the lexer]]";

fn sessions(host: &TestHost<'_>) -> Vec<Value> {
    host.get("/agents/codex/sessions")["items"].as_array().unwrap().clone()
}

/// The transcript in short words.
fn transcript(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let word = |item: &Value, name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let line = |item: &Value| match item["call"].as_object() {
        Some(call) => {
            let (name, state) = (call["name"].as_str().unwrap(), call["state"].as_str().unwrap());
            format!("{name} {state}: {}", call["output"]["text"].as_str().unwrap().trim_end())
        }
        None => format!("{} {}: {}", word(item, "role"), word(item, "kind"), word(item, "text")),
    };
    host.items(chat).iter().map(line).collect()
}

#[test]
fn a_thread_had_by_hand_is_listed_adopted_and_gone_on_with() {
    let lab = Lab::new();
    let mut by_hand = lab.by_hand();
    let thread = by_hand.start_thread_with(&lab.place.work_dir(), "never", MODEL);
    let second = one_by_one(&[
        &exec("echo hi"),
        &add_file("a.txt", "one"),
        &spawn("look", "[[say seen]]"),
        &wait_for_agents(10_000),
        "[[say done it]]",
    ]);
    for text in [FIRST, &second] {
        let skip = by_hand.lines.messages().len();
        by_hand.say(&thread, text);
        by_hand.ended(skip, &thread);
    }
    by_hand.call("thread/name/set", json!({ "threadId": thread, "name": "The lexer" }));

    let host = lab.place.start();
    let all = sessions(&host);
    assert_eq!(all.len(), 1, "the thread of its subagent is none: {all:#?}");
    let session = &all[0];
    let said = (&session["id"], &session["title"], &session["first"]);
    assert_eq!(said, (&json!(thread), &json!("The lexer"), &json!(FIRST)));
    assert_eq!(session["cwd"], json!(lab.place.work_dir()));
    assert_eq!(session["open_elsewhere"], true, "Codex holds its lock");
    drop(by_hand);
    host.wait("the end of the other", || sessions(&host)[0]["open_elsewhere"] == false);

    let body = json!({ "agent": "codex", "adopt": { "session": thread } });
    let row = host.post("/chats", &body).ok();
    assert_eq!((&row["title"], &row["cwd"]), (&json!("The lexer"), &session["cwd"]));
    let chat = row["id"].as_str().unwrap();
    let shown = transcript(&host, chat);
    let begins = [
        format!("user message: {FIRST}"),
        "agent thinking: hmm".to_owned(),
        "agent message: I remember the lexer".to_owned(),
        format!("user message: {second}"),
        "echo hi completed: hi".to_owned(),
    ];
    assert_eq!(shown[..begins.len()], begins, "{shown:#?}");
    assert!(shown[begins.len()].starts_with("Edit a.txt completed: "), "{shown:#?}");
    let ends = ["agent message: done it", "host notice: "];
    assert_eq!(shown[shown.len() - 2..], ends, "{shown:#?}");
    assert_eq!(host.chat(chat)["status"]["process"], "stopped", "nothing was started");
    assert_eq!(sessions(&host)[0]["chat"], chat);
    let refused = host.post("/chats", &body);
    assert_eq!((refused.status, refused.body["code"].as_str()), (409, Some("session_taken")));

    let next = host.send(chat, "[[say and on]]");
    host.wait_message(chat, &next, "settled");
    assert_eq!(lab.told(), [FIRST, &second, "[[say and on]]"], "the earlier conversation");
    assert_eq!(sessions(&host).len(), 1, "the same thread");
    host.stop();
}
