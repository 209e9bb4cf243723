//! What the agent asks.

use holdfast_core::frame::QuestionAnswer;
use holdfast_core::provider::PromptKind;

use super::*;

const RESOLVED: &str =
    r#"{"method":"serverRequest/resolved","params":{"threadId":"T","requestId":0}}"#;

fn accept() -> Answer {
    Answer::Option { option: "accept".to_owned(), text: None }
}

#[test]
fn an_answer_is_taken_when_the_agent_says_so() {
    let mut chat = Chat::working();
    assert_eq!(chat.said(ASK), "1 prompt 1 Approval touch x\n");
    let frame = chat.answer(1, accept());
    let _ = chat.written(frame);
    assert_eq!(chat.said(SAY), "2 opened Message\n2 Text@0 \"hi\"\n", "a word is no evidence");
    assert_eq!(chat.told(&[RESOLVED, RESOLVED]), "answer 1 taken\n");
    // Without an answer it waits for none any more.
    assert_eq!(
        Chat::working().told(&[ASK, RESOLVED]),
        "1 prompt 1 Approval touch x\nprompt 1 gone\n"
    );
    let mut chat = Chat::working();
    let _ = chat.said(ASK);
    chat.answer(1, accept());
    assert_eq!(chat.said(RESOLVED), "prompt 1 gone\n", "the answer was not written");
}

#[test]
fn the_end_of_a_turn_ends_what_its_thread_asks_and_no_other() {
    let child =
        ASK.replace(r#""threadId":"T""#, r#""threadId":"X""#).replace("\"id\":0", "\"id\":1");
    let mut chat = Chat::working();
    let _ = chat.told(&[ASK, &child]);
    assert_eq!(chat.told(&[INTERRUPTED, RESOLVED]), "prompt 1 gone\nturn Interrupted -\n");
    let frame = chat.answer(2, accept());
    let _ = chat.written(frame);
    assert_eq!(chat.said(&RESOLVED.replace(":0}", ":1}")), "answer 2 taken\n");
    let mut chat = Chat::working();
    let _ = chat.said(ASK);
    let frame = chat.answer(1, accept());
    let _ = chat.written(frame);
    assert_eq!(chat.said(ENDED), "answer 1 taken\nturn Completed -\n");
}

fn asked(line: &str) -> holdfast_core::provider::Asked {
    let mut chat = Chat::working();
    let patch = item(
        "started",
        &json!({ "type": "fileChange", "id": "p1", "status": "inProgress",
        "changes": [{ "path": "/w/a.txt", "kind": { "type": "add" }, "diff": "x\n" }] }),
    );
    let _ = chat.said(&patch);
    let events = chat.line(line);
    let Some(ProviderEvent::PromptOpened { asked, .. }) = events.last() else {
        panic!("{events:?}")
    };
    asked.clone()
}

#[test]
fn what_is_asked_is_named_and_has_its_options() {
    let request = |method: &str, mut params: Value| {
        params["threadId"] = json!("T");
        json!({ "id": 3, "method": method, "params": params }).to_string()
    };
    let decisions = "accept acceptForSession decline cancel";
    for (line, label, options) in [
        (ASK.to_owned(), "touch x", "accept acceptForSession rule-0 decline cancel"),
        (
            request(
                "item/commandExecution/requestApproval",
                json!({ "command": "ls", "reason": "it must" }),
            ),
            "ls: it must",
            decisions,
        ),
        (
            request(
                "item/commandExecution/requestApproval",
                json!({ "networkApprovalContext": { "host": "h" } }),
            ),
            "Network: h",
            decisions,
        ),
        (
            request("item/fileChange/requestApproval", json!({ "itemId": "p1" })),
            "Add a.txt",
            decisions,
        ),
        (
            request("item/fileChange/requestApproval", json!({ "itemId": "?" })),
            "Edit files",
            decisions,
        ),
        (
            request(
                "item/permissions/requestApproval",
                json!({ "reason": "net", "permissions": {} }),
            ),
            "net",
            "accept acceptForSession decline",
        ),
        (
            request(
                "mcpServer/elicitation/request",
                json!({ "serverName": "s", "mode": "url", "message": "go", "url": "http://x" }),
            ),
            "s: go http://x",
            "accept decline",
        ),
        (
            request(
                "item/tool/requestUserInput",
                json!({ "questions": [{ "id": "q", "question": "Which?", "isOther": false,
                "options": [{ "label": "a", "description": "" }, { "label": "b", "description": "bee" }] }] }),
            ),
            "Which?",
            "a b",
        ),
    ] {
        let asked = asked(&line);
        let ids: Vec<&str> = asked.options.iter().map(|option| option.id.as_str()).collect();
        assert_eq!((asked.label.as_str(), ids.join(" ").as_str()), (label, options), "{line}");
        assert!(asked.questions.is_empty());
    }
    let free = asked(&request(
        "item/tool/requestUserInput",
        json!({ "questions": [
        { "id": "q", "question": "Which?", "isOther": true, "options": [{ "label": "a" }] },
        { "id": "r", "header": "Why?", "options": null } ] }),
    ));
    let free: Vec<(String, bool, usize)> =
        free.questions.into_iter().map(|it| (it.text, it.free, it.options.len())).collect();
    assert_eq!(free, [("Which?".to_owned(), true, 1), ("Why?".to_owned(), true, 0)]);
}

/// A question for each field; what is chosen and written goes back as the schema has it.
#[test]
fn a_form_of_a_tools_server_is_asked_field_by_field_and_can_be_declined() {
    let line = json!({ "id": 3, "method": "mcpServer/elicitation/request",
        "params": { "threadId": "T", "serverName": "kit", "mode": "form", "message": "A room, please.",
            "requestedSchema": { "type": "object", "required": ["name", "nights", "breakfast"],
                "properties": {
                    "name": { "type": "string", "title": "Your name" },
                    "nights": { "type": "integer", "description": "How many nights?" },
                    "breakfast": { "type": "boolean" },
                    "view": { "type": "string", "enum": ["sea", "yard"] } } } } })
    .to_string();
    let asked = asked(&line);
    assert_eq!((asked.kind, asked.label.as_str()), (PromptKind::Question, "kit: A room, please."));
    let questions: Vec<(&str, &str, bool)> =
        asked.questions.iter().map(|it| (it.id.as_str(), it.text.as_str(), it.free)).collect();
    assert_eq!(
        questions,
        [
            ("name", "Your name", true),
            ("nights", "How many nights?", true),
            ("breakfast", "breakfast", false)
        ],
        "in the server's order; what may stay open is left out where other fields may not"
    );
    let options: Vec<&str> = asked.options.iter().map(|option| option.id.as_str()).collect();
    assert_eq!(options, ["decline"]);
    let given = |question: &str, options: &[&str], text: Option<&str>| QuestionAnswer {
        question: question.to_owned(),
        options: options.iter().map(|it| (*it).to_owned()).collect(),
        text: text.map(str::to_owned),
    };
    let answers = vec![
        given("name", &[], Some("Ada")),
        given("nights", &[], Some("2")),
        given("breakfast", &["true"], None),
    ];
    for (answer, told) in [
        (
            Answer::Answers { answers },
            json!({ "action": "accept", "_meta": null,
                "content": { "name": "Ada", "nights": 2, "breakfast": true } }),
        ),
        (
            Answer::Option { option: "decline".to_owned(), text: None },
            json!({ "action": "decline", "content": null, "_meta": null }),
        ),
        (Answer::Cancelled, json!({ "action": "cancel", "content": null, "_meta": null })),
    ] {
        let mut chat = Chat::working();
        let _ = chat.said(&line);
        let out = Outgoing::Answer { prompt: PromptId::new(1, 1), answer };
        assert_eq!(chat.sends(FrameNo(9), &out).unwrap()["result"], told);
    }
}

/// What two prompts ask is the same only where all of it is.
#[test]
fn leave_for_the_very_same_command_is_known_again() {
    let deed = |change: &dyn Fn(&mut Value)| {
        let mut params = json!({ "threadId": "T", "command": "ls", "cwd": "/w", "reason": "so" });
        change(&mut params);
        let method = "item/commandExecution/requestApproval";
        asked(&json!({ "id": 3, "method": method, "params": params }).to_string()).deed
    };
    let first = deed(&|_| {});
    assert!(first.is_some());
    assert_eq!(deed(&|it| it["reason"] = json!("other words")), first);
    for (name, value) in [
        ("command", json!("ls -l")),
        ("cwd", json!("/")),
        ("networkApprovalContext", json!({ "host": "h" })),
        ("additionalPermissions", json!({ "network": {} })),
    ] {
        assert_ne!(deed(&|it| it[name] = value.clone()), first, "{name}");
    }
    assert_eq!(deed(&|it| it["command"] = Value::Null), None);
    let patch = r#"{"id":3,"method":"item/fileChange/requestApproval","params":{"itemId":"p1"}}"#;
    assert_eq!(asked(patch).deed, None);
}

#[test]
fn what_cannot_be_asked_is_refused_and_shown() {
    for (method, params, reason) in [
        ("item/tool/requestUserInput", json!({}), "unknown_form"),
        ("item/tool/requestUserInput", json!({ "questions": [{ "id": "q" }] }), "unknown_form"),
        (
            "item/permissions/requestApproval",
            json!({ "permissions": { "x": "y".repeat(5000) } }),
            "unknown_form",
        ),
        (
            "mcpServer/elicitation/request",
            json!({ "requestedSchema": {
                "properties": { "a": { "type": "object" } }, "required": ["a"]
            } }),
            "unknown_form",
        ),
        ("execCommandApproval", json!({}), "unknown_request"),
        ("no/such", json!({}), "unknown_request"),
    ] {
        let line = json!({ "id": 3, "method": method, "params": params }).to_string();
        let told = Chat::working().said(&line);
        assert!(told.starts_with("reply 3 \"error\""), "{method}: {told}");
        assert!(told.contains(&format!("unrecognised {reason}")), "{method}: {told}");
    }
    let quiet = r#"{"id":3,"method":"item/tool/call","params":{}}"#;
    assert!(!Chat::working().said(quiet).contains("unrecognised"));
}

#[test]
fn more_questions_than_can_be_kept_are_refused() {
    let mut chat = Chat::working();
    let mut opened = 0;
    for n in 0..200 {
        let told = chat.said(&ASK.replace("\"id\":0", &format!("\"id\":{n}")));
        let is_open = told.contains("Approval touch x");
        opened += usize::from(is_open);
        assert!(is_open || told.contains("too many questions wait"), "{told}");
    }
    assert!((20..100).contains(&opened), "{opened}");
}

#[test]
fn an_id_that_is_used_again_was_resolved() {
    let told = Chat::working().told(&[ASK, ASK]);
    assert_eq!(told, "1 prompt 1 Approval touch x\nprompt 1 gone\n2 prompt 2 Approval touch x\n");
}
