use holdfast_core::frame::QuestionAnswer;

use super::*;

fn asks(id: &str, request: &Value) -> String {
    let mut request = request.clone();
    request["subtype"] = json!("can_use_tool");
    json!({ "type": "control_request", "request_id": id, "request": request }).to_string()
}

fn bash(id: &str) -> String {
    asks(
        id,
        &json!({
            "tool_name": "Bash", "tool_use_id": "t1", "input": { "command": "rm x" },
            "permission_suggestions": [
                { "type": "addRules", "rules": [], "behavior": "allow", "destination": "localSettings" }
            ],
        }),
    )
}

fn chosen(option: &str) -> Answer {
    Answer::Option { option: option.to_owned(), text: None }
}

#[test]
fn an_approval_is_answered_in_the_words_of_the_cli() {
    for (answer, response) in [
        (chosen("allow"), json!({ "behavior": "allow", "updatedInput": { "command": "rm x" } })),
        (
            chosen("allow_session"),
            json!({
                "behavior": "allow", "updatedInput": { "command": "rm x" },
                "updatedPermissions": [
                    { "type": "addRules", "rules": [], "behavior": "allow", "destination": "session" }
                ],
            }),
        ),
        (
            chosen("allow_saved"),
            json!({
                "behavior": "allow", "updatedInput": { "command": "rm x" },
                "updatedPermissions": [
                    { "type": "addRules", "rules": [], "behavior": "allow", "destination": "localSettings" }
                ],
            }),
        ),
        (
            Answer::Changed { option: "allow".to_owned(), input: r#"{"command":"ls"}"#.to_owned() },
            json!({ "behavior": "allow", "updatedInput": { "command": "ls" } }),
        ),
        (chosen("deny"), json!({ "behavior": "deny", "message": "The user does not allow this." })),
        (
            Answer::Option { option: "deny".to_owned(), text: Some("not now".to_owned()) },
            json!({ "behavior": "deny", "message": "not now" }),
        ),
        (
            chosen("deny_stop"),
            json!({ "behavior": "deny", "message": "The user does not allow this.", "interrupt": true }),
        ),
        (
            Answer::Cancelled,
            json!({ "behavior": "deny", "message": "The user stopped the turn.", "interrupt": true }),
        ),
    ] {
        let mut chat = Chat::working();
        assert_eq!(chat.line(&bash("r1")), "1 prompt 1 Approval Bash: rm x\n");
        assert_eq!(chat.answer(1, answer.clone()).0, response, "{answer:?}");
    }
}

/// What is too long to be kept is not given back: the CLI goes on with its own.
#[test]
fn a_long_input_costs_no_answer() {
    let mut chat = Chat::working();
    let long = "x".repeat(100_000);
    let rule = json!({ "type": "addRules", "rules": [long], "destination": "session" });
    let request = json!({ "tool_name": "Write", "input": { "content": long }, "permission_suggestions": [rule] });
    chat.line(&asks("r1", &request));
    assert_eq!(chat.answer(1, chosen("allow")).0, json!({ "behavior": "allow" }));
}

#[test]
fn an_answer_is_taken_by_the_next_word_on_it_or_by_its_repetition() {
    let echo = r#"{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow"}}}"#;
    let mut chat = Chat::working();
    chat.line(&bash("r1"));
    assert_eq!(chat.line(echo), "", "nobody has answered");
    chat.answer(1, chosen("allow"));
    assert_eq!(chat.lines(&[echo, echo]), "answer 1 taken\n");
    let mut chat = Chat::working();
    chat.line(&bash("r1"));
    chat.answer(1, chosen("allow"));
    assert!(chat.line(&gives("t1", "x")).starts_with("answer 1 taken\n"));
    // A frame that is not written has answered nothing.
    let mut chat = Chat::working();
    chat.line(&bash("r1"));
    let out = Outgoing::Answer { prompt: PromptId::new(1, 1), answer: chosen("allow") };
    chat.issue(&out);
    assert!(!chat.line(&gives("t1", "x")).contains("taken"));
    assert!(chat.line(ENDS).contains("prompt 1 gone\n"));
}

#[test]
fn what_the_cli_takes_back_nobody_answers() {
    let mut chat = Chat::working();
    chat.line(&bash("r1"));
    let back = r#"{"type":"control_cancel_request","request_id":"r1"}"#;
    assert_eq!(chat.lines(&[back, back]), "prompt 1 gone\n");
    let out = Outgoing::Answer { prompt: PromptId::new(1, 1), answer: chosen("allow") };
    assert!(matches!(chat.encoded(&out), Err(EncodeError::PromptGone { prompt: 1 })));
}

#[test]
fn what_a_subagent_asks_outlives_the_turn() {
    let mut chat = Chat::working();
    chat.line(&bash("r1"));
    let request = json!({ "tool_name": "Bash", "tool_use_id": "t2", "input": {}, "agent_id": "a" });
    assert_eq!(chat.line(&asks("r2", &request)), "2 prompt 2 Approval Bash\n");
    assert_eq!(chat.line(ENDS), "prompt 1 gone\nturn Completed -\n");
    assert!(chat.answer(2, chosen("allow")).0.is_object());
    assert!(chat.line(&gives("t2", "x")).starts_with("stirred\nanswer 2 taken\n"));
}

#[test]
fn questions_are_answered_by_their_texts() {
    let question = |text: &str| {
        json!({
            "question": text, "multiSelect": true,
            "options": [{ "label": "red", "description": "the warm one" }, { "label": "blue" }],
        })
    };
    let input = json!({ "questions": [question("Which?"), question("And?")] });
    let request = json!({ "tool_name": "AskUserQuestion", "input": input });
    let mut chat = Chat::working();
    let events = chat.step(Inward::Line(asks("r1", &request).as_bytes()));
    let [ProviderEvent::PromptOpened { asked, .. }] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!(
        (asked.questions.len(), asked.questions[0].options[0].label.as_str()),
        (2, "red: the warm one")
    );
    let one = |question: &str, options: &[&str], text: Option<&str>| QuestionAnswer {
        question: question.to_owned(),
        options: options.iter().map(|&it| it.to_owned()).collect(),
        text: text.map(str::to_owned),
    };
    let answers = vec![one("0", &["0", "1"], Some("or pink")), one("1", &[], Some("none"))];
    let (response, _) = chat.answer(1, Answer::Answers { answers });
    assert_eq!(
        response["updatedInput"]["answers"],
        json!({ "Which?": "red, blue, or pink", "And?": "none" })
    );
    assert_eq!(response["updatedInput"]["questions"], input["questions"]);
}

#[test]
fn a_plan_is_an_item_and_a_question() {
    let mut chat = Chat::working();
    let said = chat.line(&calls("t1", "ExitPlanMode", &json!({ "plan": "1. Do it." })));
    assert!(said.ends_with("2 opened Plan\n2 Text@0 \"1. Do it.\"\n2 closed\n"), "{said}");
    let request = json!({ "tool_name": "ExitPlanMode", "tool_use_id": "t1", "input": {} });
    assert_eq!(chat.line(&asks("r1", &request)), "3 prompt 1 Question Carry out this plan?\n");
    let edits = chat
        .encoded(&Outgoing::Answer { prompt: PromptId::new(1, 1), answer: chosen("allow_edits") });
    assert_eq!(
        edits.unwrap()["response"]["response"]["updatedPermissions"][0]["mode"],
        "acceptEdits"
    );
    assert_eq!(chat.answer(1, chosen("deny")).0["message"], "The user wants to go on planning.");
}

#[test]
fn what_cannot_be_asked_is_refused_and_shown() {
    let mut chat = Chat::working();
    let other =
        r#"{"type":"control_request","request_id":"r1","request":{"subtype":"hook_callback"}}"#;
    let said = chat.line(other);
    assert!(said.starts_with("reply \"r1\" \"subtype\":\"error\""), "{said}");
    assert!(said.contains("unrecognised unknown_request"), "{said}");
    let events = chat.state.step(Inward::Line(other.replace("r1", "r\\\"2").as_bytes()));
    let [ProviderEvent::Wants(reply), ..] = events.as_slice() else { panic!("{events:?}") };
    let line = chat.encoded(&Outgoing::Protocol(reply.clone())).unwrap();
    assert_eq!(line["response"]["request_id"], "r\"2");
    let long = "x".repeat(30_000);
    let request =
        json!({ "tool_name": "AskUserQuestion", "input": { "questions": [{ "question": long }] } });
    assert!(chat.line(&asks("r3", &request)).contains("unrecognised too_many_prompts"));
    chat.line(&bash("r4"));
    assert!(chat.line(&bash("r4")).contains("unrecognised duplicate_request"));
}

/// A tool's server asks a form through the CLI; it can be answered field by field or declined.
#[test]
fn a_form_of_a_tools_server_is_asked_and_answered() {
    let line = json!({ "type": "control_request", "request_id": "r1", "request": {
        "subtype": "elicitation", "mcp_server_name": "kit", "message": "A room, please.",
        "mode": "form", "requested_schema": { "type": "object", "properties": {
            "name": { "type": "string", "title": "Your name" },
            "view": { "type": "string", "enum": ["sea", "yard"] } } } } })
    .to_string();
    let answers = Answer::Answers {
        answers: [("name", None, Some("Ada")), ("view", Some("sea"), None)]
            .map(|(question, option, text)| QuestionAnswer {
                question: question.to_owned(),
                options: option.map(str::to_owned).into_iter().collect(),
                text: text.map(str::to_owned),
            })
            .into(),
    };
    let decline = Answer::Option { option: "decline".to_owned(), text: None };
    for (answer, told) in [
        (answers, json!({ "action": "accept", "content": { "name": "Ada", "view": "sea" } })),
        (decline, json!({ "action": "decline" })),
        (Answer::Cancelled, json!({ "action": "cancel" })),
    ] {
        let mut chat = Chat::working();
        assert_eq!(chat.line(&line), "1 prompt 1 Question kit: A room, please.\n");
        assert_eq!(chat.answer(1, answer).0, told);
    }
    // Also where a yes or no, or a choice, is all that it asks: that is not answered with it.
    for field in
        [json!({ "type": "boolean" }), json!({ "type": "string", "enum": ["a", "decline"] })]
    {
        let mut one: Value = serde_json::from_str(&line).unwrap();
        one["request"]["requested_schema"]["properties"] = json!({ "sure": field });
        let mut chat = Chat::working();
        chat.line(&one.to_string());
        let decline = Answer::Option { option: "decline".to_owned(), text: None };
        assert_eq!(chat.answer(1, decline).0, json!({ "action": "decline" }));
    }
    let odd = line.replace(r#""type":"string","enum""#, r#""type":"object","enum""#);
    let odd = odd.replace(r#""properties""#, r#""required":["view"],"properties""#);
    let told = Chat::working().line(&odd);
    assert!(told.contains("unrecognised unknown_form"), "{told}");
}
