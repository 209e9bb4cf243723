//! What it asks: leave once and for the session, patches, questions, plans.

use std::fs;

use holdfast_testkit::scripted::{one_by_one, tool};
use holdfast_testkit::{codex, mcp};
use serde_json::json;

use crate::lab::{Lab, answer, calls, open, open_prompt};

#[test]
fn leave_for_the_session_is_asked_once() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "read-only");
    let run = codex::exec_escalated("echo again >> f.txt", "for the test");
    let first = host.send(&chat, &one_by_one(&[&run, "[[say one]]"]));
    let prompt = open_prompt(&host, &chat);
    let kinds: Vec<&str> = prompt["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..2], ["allow_once", "allow_always"]);
    answer(&host, &chat, &prompt, &json!({ "option": "acceptForSession" }));
    host.wait_message(&chat, &first, "settled");
    let second = host.send(&chat, &one_by_one(&[&run, "[[say two]]"]));
    host.wait_message(&chat, &second, "settled");
    assert_eq!(fs::read_to_string(lab.place.work_dir().join("f.txt")).unwrap(), "again\nagain\n");
    host.stop();
}

#[test]
fn no_and_stop_ends_the_turn() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "read-only");
    let message = host.send(&chat, &codex::exec_escalated("touch f.txt", "for the test"));
    let prompt = open_prompt(&host, &chat);
    answer(&host, &chat, &prompt, &json!({ "option": "cancel" }));
    host.wait_message(&chat, &message, "settled");
    assert!(!lab.place.work_dir().join("f.txt").exists());
    host.wait_shown(&chat, "idle");
    assert_eq!(crate::lab::turns(&host, &chat), ["interrupted"]);
    host.stop();
}

#[test]
fn a_patch_is_shown_before_it_is_allowed() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "read-only");
    let message =
        host.send(&chat, &one_by_one(&[&codex::add_file("new.txt", "line"), "[[say added]]"]));
    let prompt = open_prompt(&host, &chat);
    assert_eq!(prompt["label"], "Add new.txt");
    let items = host.items(&chat);
    let call = items.iter().find(|item| item["kind"] == "tool_call").unwrap();
    let diff = call["call"]["output"]["text"].as_str().unwrap();
    assert!(diff.ends_with("+line\n"), "{diff}");
    answer(&host, &chat, &prompt, &json!({ "option": "accept" }));
    host.wait_message(&chat, &message, "settled");
    assert_eq!(fs::read_to_string(lab.place.work_dir().join("new.txt")).unwrap(), "line\n");
    assert_eq!(calls(&host, &chat), ["Add new.txt completed"]);
    host.stop();
}

#[test]
fn a_question_is_answered_by_option_and_in_free_words() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "auto");
    for (given, told) in [
        (json!({ "question": "q1", "options": ["Red"] }), r#"["Red"]"#),
        (
            json!({ "question": "q1", "options": [], "text": "like rust" }),
            r#"["user_note: like rust"]"#,
        ),
    ] {
        let message = host.send(
            &chat,
            &one_by_one(&[&codex::ask("Which colour?", &["Red", "Blue"]), "[[say so be it]]"]),
        );
        let prompt = open_prompt(&host, &chat);
        assert_eq!(prompt["label"], "Which colour?");
        answer(&host, &chat, &prompt, &json!({ "answers": [given] }));
        host.wait_message(&chat, &message, "settled");
        let result = lab.model.turns().last().unwrap().texts("tool").pop().unwrap();
        assert!(result.contains(told), "{result}");
    }
    host.stop();
}

#[test]
fn a_plan_is_shown_and_the_plan_mode_is_kept() {
    let lab = Lab::new();
    let host = lab.place.start();
    let chat = open(&host, &lab, "plan");
    let message = host.send(&chat, "[[say thinking it over]]");
    host.wait_message(&chat, &message, "settled");
    assert_eq!(host.chat(&chat)["mode"], "plan");
    host.request("PATCH", &format!("/chats/{chat}"), Some(&json!({ "mode": "auto" })))
        .unwrap()
        .ok();
    let message =
        host.send(&chat, &one_by_one(&[&codex::update_plan(&["one", "two"]), "[[say planned]]"]));
    host.wait_message(&chat, &message, "settled");
    assert_eq!(host.chat(&chat)["mode"], "auto");
    let plan = host.items(&chat).into_iter().find(|item| item["kind"] == "plan").unwrap();
    let steps: Vec<String> = plan["plan"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            format!("{} {}", step["text"].as_str().unwrap(), step["state"].as_str().unwrap())
        })
        .collect();
    assert_eq!(steps, ["one in_progress", "two pending"]);
    host.stop();
}

#[test]
fn a_form_of_a_tools_server_is_answered_field_by_field_or_declined() {
    let lab = Lab::new();
    lab.configure(&format!(
        "[mcp_servers.{}]\ncommand = \"python3\"\nargs = [{:?}]\n",
        mcp::SERVER,
        mcp::script(&lab.place.root)
    ));
    let host = lab.place.start();
    let chat = open(&host, &lab, "auto");
    let field = |name: &str, options: &[&str], text: &str| json!({ "question": name, "options": options, "text": text });
    let answers = [
        field("name", &[], "Ada"),
        field("nights", &[], "2"),
        field("breakfast", &["true"], ""),
        field("view", &["sea"], ""),
    ];
    for (given, told) in [
        (
            json!({ "answers": answers }),
            r#"{"action": "accept", "content": {"breakfast": true, "name": "Ada", "nights": 2, "view": "sea"}}"#,
        ),
        (json!({ "option": "decline" }), r#"{"action": "decline", "content": null}"#),
    ] {
        let script = one_by_one(&[&tool(mcp::BOOK, &json!({})), "[[say booked]]"]);
        let message = host.send(&chat, &script);
        // First Codex itself asks whether the tool may run, in the same way.
        let leave = open_prompt(&host, &chat);
        assert_eq!(leave["label"], "forms: Allow the forms MCP server to run tool \"book\"?");
        answer(&host, &chat, &leave, &json!({ "option": "accept" }));
        host.wait("the form", || open_prompt(&host, &chat)["id"] != leave["id"]);
        let prompt = open_prompt(&host, &chat);
        assert_eq!(
            (&prompt["kind"], &prompt["label"]),
            (&json!("question"), &json!("forms: A room, please."))
        );
        let asked: Vec<&str> = prompt["questions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["text"].as_str().unwrap())
            .collect();
        // Codex puts the fields into the order of their names.
        assert_eq!(asked, ["With breakfast?", "Your name", "How many nights?", "Which view?"]);
        answer(&host, &chat, &prompt, &given);
        host.wait_message(&chat, &message, "settled");
        let result = lab.model.turns().last().unwrap().texts("tool").pop().unwrap();
        assert!(result.ends_with(told), "{result}");
    }
    host.stop();
}
