//! Permissions and questions.

use super::*;

fn yes() -> Answer {
    Answer::Option { option: "yes".to_owned(), text: None }
}

fn bytes(chat: &Chat, answer: Answer) -> Result<String, EncodeError> {
    let out = Outgoing::Answer { prompt: PromptId::new(1, 1), answer };
    let line = chat.state.encode(FrameNo(4), &out, &Content::default())?;
    Ok(String::from_utf8(line).unwrap())
}

#[test]
fn an_answer_is_a_reply_to_the_agents_request() {
    let mut chat = Chat::prompted();
    let _ = chat.line(ASK);
    assert_eq!(
        value(&bytes(&chat, yes()).unwrap()),
        json!({"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}})
    );
    let cancelled = bytes(&chat, Answer::Cancelled).unwrap();
    assert!(cancelled.contains(r#""result":{"outcome":{"outcome":"cancelled"}}"#));
}

#[test]
fn an_answer_has_arrived_with_the_next_word_after_it_was_written() {
    let mut chat = Chat::prompted();
    let _ = chat.line(ASK);
    let frame = chat.answer(1, yes());
    assert!(!chat.updates(&[SAY]).contains("answer"));
    assert_eq!(words(&chat.written(frame)), "");
    let _ = chat.update(r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#);
    let word = r#"{"sessionUpdate":"tool_call_update","toolCallId":"c9","status":"completed"}"#;
    assert!(chat.updates(&[word]).starts_with("answer 1 taken\n"));
    assert!(!chat.updates(&[word]).contains("answer"));
    assert!(matches!(bytes(&chat, yes()), Err(EncodeError::PromptGone { prompt: 1 })));
}

#[test]
fn the_end_of_the_turn_is_the_last_word() {
    let end = r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
    let mut chat = Chat::prompted();
    let _ = chat.line(ASK);
    assert!(words(&chat.line(end)).contains("prompt 1 gone"));
    let mut chat = Chat::prompted();
    let _ = chat.line(ASK);
    let frame = chat.answer(1, yes());
    let _ = chat.written(frame);
    assert!(words(&chat.line(end)).contains("answer 1 taken"));
    let mut chat = Chat::prompted();
    let _ = chat.line(ASK);
    let _unwritten = chat.answer(1, yes());
    assert!(words(&chat.line(end)).contains("prompt 1 gone"));
}

#[test]
fn a_request_that_the_agent_takes_back_is_gone() {
    let mut chat = Chat::prompted();
    let _ = chat.line(ASK);
    let cancel = r#"{"method":"$/cancel_request","params":{"requestId":0}}"#;
    let told = words(&chat.line(cancel));
    assert_eq!(
        told,
        "reply 0 \"error\":{\"code\":-32800,\"message\":\"cancelled\"}\nprompt 1 gone\n"
    );
    assert!(matches!(bytes(&chat, yes()), Err(EncodeError::PromptGone { prompt: 1 })));
    assert_eq!(chat.line(cancel), []);
    assert_eq!(chat.line(r#"{"method":"$/cancel_request","params":{"requestId":5}}"#), []);
}

#[test]
fn an_id_that_is_used_twice_can_be_answered_for_neither() {
    let mut chat = Chat::prompted();
    let _ = chat.line(ASK);
    let told = words(&chat.line(ASK));
    assert!(told.starts_with("reply 0 \"error\""), "{told}");
    assert!(told.contains("prompt 1 gone\n"), "{told}");
    assert!(told.contains("unrecognised duplicate_request"), "{told}");
    assert!(!told.contains("prompt 2"), "{told}");
    // Once the answer was written the id is free again.
    let mut chat = Chat::prompted();
    let _ = chat.line(ASK);
    let frame = chat.answer(1, yes());
    let _ = chat.written(frame);
    let told = words(&chat.line(ASK));
    assert!(told.contains("answer 1 taken\n") && told.contains("prompt 2"), "{told}");
}

#[test]
fn a_question_of_the_demo_agent_is_a_question() {
    let ask = ASK.replace(r#""options""#, r#""_meta":{"holdfast":{"kind":"question"}},"options""#);
    let events = Chat::prompted().line(&ask);
    let Some(ProviderEvent::PromptOpened { asked, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(asked.kind, holdfast_core::provider::PromptKind::Question);
    assert_eq!(asked.options[0].kind, "choice");
}

#[test]
fn a_subagents_prompt_blocks_and_outlives_the_turn() {
    let ask = ASK.replace(r#""s1""#, r#""s1:sub""#);
    let mut chat = Chat::prompted();
    let told = words(&chat.line(&ask));
    assert_eq!(told, "1 call touch x Running\n2 prompt 1 Approval touch x\n");
    let end = r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
    assert_eq!(words(&chat.line(end)), "taken 3\nturn Completed -\n");
    let frame = chat.answer(1, yes());
    let _ = chat.written(frame);
    assert!(!chat.updates(&[SAY]).contains("answer"));
    let quiet = r#"{"method":"session/update","params":{"sessionId":"s1:sub","update":{"sessionUpdate":"usage_update","used":1}}}"#;
    assert_eq!(chat.line(quiet), []);
    let word = r#"{"method":"session/update","params":{"sessionId":"s1:sub","update":{"sessionUpdate":"tool_call_update","toolCallId":"c9","status":"completed"}}}"#;
    assert_eq!(words(&chat.line(word)), "answer 1 taken\n1 now touch x Completed\n1 closed\n");
}

#[test]
fn a_form_becomes_questions() {
    let form = |schema: &str| {
        format!(
            r#"{{"id":"f","method":"elicitation/create","params":{{"sessionId":"s1","mode":"form","message":"M","requestedSchema":{schema}}}}}"#
        )
    };
    let asked = |schema: &str| {
        let events = Chat::prompted().line(&form(schema));
        match events.last() {
            Some(ProviderEvent::PromptOpened { asked, .. }) => {
                let questions: Vec<_> = asked
                    .questions
                    .iter()
                    .map(|q| {
                        let options: Vec<_> = q.options.iter().map(|o| &*o.id).collect();
                        format!("{}:{}{}{options:?}", q.id, u8::from(q.multi), u8::from(q.free))
                    })
                    .collect();
                let options: Vec<_> = asked.options.iter().map(|o| &*o.id).collect();
                format!("{} {options:?} {questions:?}", asked.label)
            }
            _ => words(&events),
        }
    };
    for (schema, told) in [
        (
            r#"{"properties":{"q":{"type":"string","title":"Which?","oneOf":[{"const":"a","title":"A"},{"const":"b"}]}},"required":["q"]}"#,
            r#"Which? ["a", "b"] []"#,
        ),
        (r#"{"properties":{"q":{"type":"string","enum":["a","b"]}}}"#, r#"q ["a", "b"] []"#),
        (r#"{"properties":{"q":{"type":"boolean"}}}"#, r#"q ["true", "false"] []"#),
        (r#"{"properties":{"q":{"type":"string"}}}"#, r#"q [] ["q:01[]"]"#),
        (
            r#"{"properties":{"z":{"type":"integer"},"a":{"type":"array","items":{"anyOf":[{"const":"x"}]}}}}"#,
            r#"M [] ["z:01[]", "a:10[\"x\"]"]"#,
        ),
        (
            r#"{"properties":{"q":{"type":"string","enum":["a"]},"more":{"type":"string"}},"required":["q"]}"#,
            r#"q ["a"] []"#,
        ),
        (
            r#"{"properties":{"q":{"type":"string","enum":["a"]},"n":{"type":"string","_meta":{"codex":{"questionId":"q","role":"user_note"}}}},"required":["q"]}"#,
            r#"q [] ["q:01[\"a\"]"]"#,
        ),
        ("{}", r#"M ["accept", "decline"] []"#),
    ] {
        assert_eq!(asked(schema), told, "{schema}");
    }
    let odd = r#"{"properties":{"q":{"type":"hologram"}},"required":["q"]}"#;
    let told = words(&Chat::prompted().line(&form(odd)));
    assert!(told.starts_with("reply \"f\" \"error\""), "{told}");
    assert!(told.contains("unrecognised unknown_form"), "{told}");
}

#[test]
fn more_prompts_than_can_be_kept_are_refused() {
    let mut chat = Chat::prompted();
    let mut opened = 0;
    for id in 0..200 {
        let ask = ASK.replace(r#""id":0"#, &format!(r#""id":"00000000-0000-0000-0000-{id:012}""#));
        let told = words(&chat.line(&ask));
        let open = told.contains("prompt ");
        assert_eq!(open, !told.contains("\"error\""), "{told}");
        opened += usize::from(open);
    }
    assert!(opened > holdfast_core::limits::OPEN_PROMPTS_MAX && opened < 100, "{opened}");
}

#[test]
fn the_next_question_of_a_subagent_is_its_next_word() {
    let ask = ASK.replace(r#""s1""#, r#""s1:sub""#);
    let mut chat = Chat::prompted();
    let _ = chat.line(&ask);
    let frame = chat.answer(1, yes());
    let _ = chat.written(frame);
    let told = words(&chat.line(&ask.replace(r#""id":0"#, r#""id":1"#)));
    assert_eq!(told, "answer 1 taken\n3 prompt 2 Approval touch x\n");
}

#[test]
fn a_form_that_cannot_be_answered_exactly_is_refused() {
    let refused = |mode: &str, properties: &str| {
        let form = format!(
            r#"{{"id":0,"method":"elicitation/create","params":{{"sessionId":"s1","mode":"{mode}","requestedSchema":{{"properties":{properties}}}}}}}"#
        );
        words(&Chat::prompted().line(&form)).contains("unknown_form")
    };
    assert!(!refused("form", r#"{"a":{"type":"string"}}"#));
    assert!(refused("url", "{}"));
    let long = "x".repeat(257);
    let form = format!(r#"{{"{long}":{{"type":"string"}}}},"required":["{long}"],"x":{{}}"#);
    assert!(refused("form", &form));
    let many: Vec<_> = (0..33).map(|n| format!(r#""f{n}":{{"type":"boolean"}}"#)).collect();
    assert!(refused("form", &format!("{{{}}}", many.join(","))));
    assert!(!refused("form", &format!("{{{}}}", many[..32].join(","))));
}

#[test]
fn an_option_whose_id_cannot_be_given_back_is_not_offered() {
    let long = "x".repeat(1025);
    let options: Vec<_> = (0..100).map(|n| format!(r#"{{"optionId":"o{n}"}}"#)).collect();
    let ask = |options: &str| {
        let ask = format!(
            r#"{{"id":0,"method":"session/request_permission","params":{{"sessionId":"s1","options":[{options}]}}}}"#
        );
        match Chat::prompted().line(&ask).last() {
            Some(ProviderEvent::PromptOpened { asked, .. }) => asked.options.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ask(&format!(r#"{{"optionId":"{long}"}},{{"optionId":"a"}},{{"name":"b"}}"#)), 1);
    assert_eq!(ask(&options.join(",")), holdfast_core::limits::PROMPT_OPTIONS_MAX);
}
