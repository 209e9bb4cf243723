//! What the CLI asks: approvals once and for good, refusals, questions, plans.

use holdfast_pinned::CLAUDE;
use holdfast_testkit::claude::{ask, bash, exit_plan_mode};
use holdfast_testkit::mcp;
use holdfast_testkit::scripted::{one_by_one, tool};
use serde_json::{Value, json};

use crate::lab::{Lab, VERSIONS, answer, choose, open_prompt, transcript, turns};

/// A command that is asked about in every mode but one.
const COMMAND: &str = "python3 -c 'print(7)'";

#[test]
fn always_in_this_session_asks_once_and_saved_is_written_where_the_option_says() {
    for (option, saved) in [("allow_session", false), ("allow_saved", true)] {
        let lab = Lab::new(&CLAUDE);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let script = one_by_one(&[&bash(COMMAND), &bash(COMMAND), "[[say done]]"]);
        let message = host.send(&chat, &script);
        let prompt = open_prompt(&host, &chat);
        let options: Vec<&str> = prompt["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["id"].as_str().unwrap())
            .collect();
        assert_eq!(options, ["allow", "allow_session", "allow_saved", "deny", "deny_stop"]);
        assert!(prompt["options"][2]["label"].as_str().unwrap().ends_with("settings.local.json"));
        choose(&host, &chat, option);
        host.wait_message(&chat, &message, "settled");
        let told = lab.told();
        assert_eq!(told.iter().filter(|said| *said == "tool: 7").count(), 2, "{told:?}");
        let settings = lab.place.work_dir().join(".claude/settings.local.json");
        assert_eq!(settings.exists(), saved, "{option}");
        host.stop();
    }
}

#[test]
fn what_is_denied_does_not_run_and_the_model_is_told_why() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let script = one_by_one(&[&bash("touch f.txt"), "[[say as you like]]"]);
        let message = host.send(&chat, &script);
        let prompt = open_prompt(&host, &chat);
        answer(&host, &chat, &prompt, &json!({ "option": "deny", "text": "Not now, please." }));
        host.wait_message(&chat, &message, "settled");
        assert!(!lab.place.work_dir().join("f.txt").exists());
        assert_eq!(lab.told().last().unwrap(), "tool: Not now, please.");
        assert!(host.said(&chat).ends_with("as you like"));

        let message = host.send(&chat, &one_by_one(&[&bash("touch g.txt"), "[[say never said]]"]));
        choose(&host, &chat, "deny_stop");
        host.wait_message(&chat, &message, "settled");
        assert!(!lab.place.work_dir().join("g.txt").exists());
        assert!(turns(&host, &chat)[1].ends_with("interrupted"), "{:?}", turns(&host, &chat));
        assert_eq!(lab.model.turns().len(), 3, "the model was not asked again");
        let shown = transcript(&host, &chat);
        assert!(shown.contains(&"Bash: a test failed: Not now, please.".to_owned()), "{shown:#?}");
        host.stop();
    }
}

#[test]
fn an_approval_may_change_what_runs() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let message = host.send(&chat, &one_by_one(&[&bash("touch f.txt"), "[[say ok]]"]));
        let prompt = open_prompt(&host, &chat);
        let input = json!({ "command": "touch other.txt && echo other", "description": "a test" });
        answer(&host, &chat, &prompt, &json!({ "option": "allow", "input": input.to_string() }));
        host.wait_message(&chat, &message, "settled");
        assert!(!lab.place.work_dir().join("f.txt").exists());
        assert!(lab.place.work_dir().join("other.txt").exists());
        host.stop();
    }
}

#[test]
fn questions_are_answered_by_option_and_in_free_words() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        for (given, heard) in [
            (json!({ "answers": [{ "question": "0", "options": ["1"] }] }), "blue"),
            (json!({ "answers": [{ "question": "0", "text": "mauve" }] }), "mauve"),
            (json!({ "option": "0" }), "red"),
        ] {
            let script = one_by_one(&[&ask("Which colour?", &["red", "blue"]), "[[say noted]]"]);
            let message = host.send(&chat, &script);
            let prompt = open_prompt(&host, &chat);
            assert_eq!(
                (&prompt["kind"], &prompt["label"]),
                (&json!("question"), &json!("Which colour?"))
            );
            assert_eq!(prompt["options"], json!([]));
            answer(&host, &chat, &prompt, &given);
            host.wait_message(&chat, &message, "settled");
            let told = lab.told();
            let wanted = format!("\"Which colour?\"=\"{heard}\"");
            assert!(told.last().unwrap().contains(&wanted), "{told:?}");
        }
        host.stop();
    }
}

#[test]
fn a_plan_is_shown_approved_and_carried_out() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let body = json!({ "agent": "claude", "cwd": lab.place.work_dir(), "mode": "plan" });
        let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
        let script = one_by_one(&[
            &exit_plan_mode("1. Touch a file."),
            &bash("touch f.txt && echo made"),
            "[[say carried out]]",
        ]);
        let message = host.send(&chat, &script);
        let prompt = open_prompt(&host, &chat);
        assert_eq!(prompt["kind"], "question");
        assert_eq!(host.chat(&chat)["mode"], "plan");
        let shown = transcript(&host, &chat);
        assert!(shown.contains(&"plan: 1. Touch a file.".to_owned()), "{shown:#?}");
        choose(&host, &chat, "allow_edits");
        // Changes of files are accepted from now on: nothing more is asked.
        host.wait_message(&chat, &message, "settled");
        assert!(lab.place.work_dir().join("f.txt").exists());
        host.wait("the mode", || host.chat(&chat)["mode"] == "acceptEdits");
        host.stop();
    }
}

#[test]
fn calls_of_one_reply_are_asked_about_one_by_one_and_an_interrupt_takes_the_question_back() {
    for version in VERSIONS {
        let lab = Lab::new(version);
        let host = lab.place.start();
        let chat = host.open_with("claude");
        let two = [bash("python3 -c 'print(1)'"), bash("python3 -c 'print(2)'")].concat();
        let message = host.send(&chat, &one_by_one(&[&two, "[[say both]]"]));
        choose(&host, &chat, "allow");
        choose(&host, &chat, "allow");
        host.wait_message(&chat, &message, "settled");
        let mut results = lab.told().split_off(3);
        results.sort();
        assert_eq!(results, ["tool: 1", "tool: 2"]);

        let message = host.send(&chat, &one_by_one(&[&bash(COMMAND), "[[say never said]]"]));
        open_prompt(&host, &chat);
        host.post(&format!("/chats/{chat}/interrupt"), &json!({})).ok();
        host.wait_message(&chat, &message, "settled");
        let open = |item: &Value| item["prompt"]["state"] == "open";
        assert!(!host.items(&chat).iter().any(open), "{:#?}", transcript(&host, &chat));
        assert!(turns(&host, &chat)[1].ends_with("interrupted"));
        host.wait_shown(&chat, "idle");
        host.stop();
    }
}

#[test]
fn a_form_of_a_tools_server_is_answered_field_by_field_or_declined() {
    let lab = Lab::new(&CLAUDE);
    let server = json!({ "command": "python3", "args": [mcp::script(&lab.place.root)] });
    lab.configure(&json!({ "mcpServers": { mcp::SERVER: server } }));
    let host = lab.place.start();
    let body =
        json!({ "agent": "claude", "cwd": lab.place.work_dir(), "mode": "bypassPermissions" });
    let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
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
        let script = one_by_one(&[&tool(mcp::BOOK_OF_CLAUDE, &json!({})), "[[say booked]]"]);
        let message = host.send(&chat, &script);
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
        assert_eq!(asked, ["Your name", "How many nights?", "With breakfast?", "Which view?"]);
        answer(&host, &chat, &prompt, &given);
        host.wait_message(&chat, &message, "settled");
        assert_eq!(lab.told().last().unwrap(), &format!("tool: {told}"));
        assert!(host.said(&chat).ends_with("booked"));
    }
    host.stop();
}
