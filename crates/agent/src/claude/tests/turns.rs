use super::*;

fn replay(frame: u64) -> String {
    let id = message_id(ATTEMPT, FrameNo(frame));
    format!(r#"{{"type":"user","isReplay":true,"uuid":"{id}","message":{{"content":"x"}}}}"#)
}

fn text(text: &str) -> String {
    says(&json!({ "type": "text", "text": text }))
}

#[test]
fn a_message_is_taken_once_the_cli_names_it_and_never_before_it_began() {
    let mut chat = Chat::ready();
    let frame = chat.issue(&Outgoing::Message { message: MessageId::new(uuid::Uuid::nil()) });
    assert_eq!(chat.line(&replay(2)), "", "ids can be guessed");
    let _ = chat.step(Inward::Begun { frame });
    assert_eq!(chat.line(&replay(2)), "taken 2\n");
    assert_eq!(chat.line(&replay(2)), "", "once");
    assert_eq!(chat.line(&text("hi")), "1 opened Message\n1 Text@0 \"hi\"\n1 closed\n");
    assert_eq!(chat.line(ENDS), "turn Completed -\n");
    assert_eq!(chat.line(ENDS), "", "a turn ends once");
}

#[test]
fn every_frame_that_names_messages_proves() {
    let id = message_id(ATTEMPT, FrameNo(2));
    for line in [
        format!(
            r#"{{"type":"system","subtype":"status","status":"requesting","user_message_uuids":["{id}"]}}"#
        ),
        format!(
            r#"{{"type":"stream_event","event":{{"type":"message_start"}},"user_message_uuids":["{id}"]}}"#
        ),
        format!(r#"{{"type":"assistant","message":{{}},"user_message_uuids":["other","{id}"]}}"#),
    ] {
        let mut chat = Chat::ready();
        chat.message();
        assert_eq!(chat.line(&line), "taken 2\n", "{line}");
    }
    let mut chat = Chat::ready();
    chat.message();
    let ends =
        ENDS.replace(r#""num_turns""#, &format!(r#""user_message_uuids":["{id}"],"num_turns""#));
    assert_eq!(chat.line(&ends), "taken 2\nturn Completed -\n", "a turn of its own commands");
}

#[test]
fn what_nobody_asked_for_is_a_turn_of_its_own_and_its_end_is_told() {
    let mut chat = Chat::ready();
    assert_eq!(chat.line(INIT), "retuned m -\n", "it may come to nothing");
    assert_eq!(
        chat.line(&text("woken")),
        "stirred\n1 opened Message\n1 Text@0 \"woken\"\n1 closed\n"
    );
    let ends =
        ENDS.replace(r#""num_turns""#, r#""origin":{"kind":"task-notification"},"num_turns""#);
    // Our message was written meanwhile: this is not its end.
    chat.message();
    assert_eq!(chat.line(&ends), "turn Completed -\n");
    assert_eq!(chat.line(&replay(2)), "taken 2\n");
    // What subagents do opens no turn of the main conversation.
    let mut chat = Chat::ready();
    let nested = text("x")
        .replace(r#""type":"assistant""#, r#""parent_tool_use_id":"t","type":"assistant""#);
    assert!(!chat.line(&nested).contains("stirred"));
}

/// Versions that name no message give it back in the middle of its turn, or not at all.
#[test]
fn an_older_version_says_late_whose_a_turn_is() {
    let mut chat = Chat::ready();
    chat.message();
    assert_eq!(
        chat.lines(&[INIT, &text("a")]),
        "retuned m -\nstirred\n1 opened Message\n1 Text@0 \"a\"\n1 closed\n"
    );
    assert_eq!(chat.line(&replay(2)), "taken 2\nturn of 2\n");
    assert_eq!(chat.line(ENDS), "turn Completed -\n");
    // One of its own commands: nothing is said at all.
    chat.message();
    assert_eq!(chat.lines(&[INIT, ENDS]), "taken 3\nturn Completed -\n");
}

#[test]
fn ends_of_turns_have_their_kinds() {
    for (end, said) in [
        (r#""subtype":"success","is_error":false"#, "turn Completed -\n"),
        (
            r#""subtype":"success","is_error":true,"terminal_reason":"api_error","result":"API Error: 529""#,
            "turn Failed API Error: 529\n",
        ),
        (r#""subtype":"error_max_turns","is_error":false"#, "turn Failed error_max_turns\n"),
        (
            r#""subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_streaming""#,
            "turn Interrupted -\n",
        ),
        (r#""subtype":"success","terminal_reason":"aborted_tools""#, "turn Interrupted -\n"),
        (
            r#""subtype":"error_during_execution","is_error":true,"errors":["a","b"]"#,
            "turn Failed a\nb\n",
        ),
    ] {
        let mut chat = Chat::working();
        assert_eq!(chat.line(&format!(r#"{{"type":"result",{end}}}"#)), said, "{end}");
    }
    // Older versions give no reason: what was stopped was interrupted.
    let failed = r#"{"type":"result","subtype":"error_during_execution","is_error":true}"#;
    let mut chat = Chat::working();
    chat.does(&Outgoing::Interrupt);
    assert_eq!(chat.line(failed), "turn Interrupted -\n");
    // A stop of before says nothing of a later turn.
    chat.does(&Outgoing::Interrupt);
    chat.message();
    assert_eq!(chat.lines(&[&replay(5), failed]), "taken 5\nturn Failed error_during_execution\n");
}

#[test]
fn a_message_that_is_stopped_before_it_began_was_not_taken() {
    let id = message_id(ATTEMPT, FrameNo(2));
    let words = "message failed 2 TakenBack It was stopped before the agent began with it.\n";
    for line in [
        format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"holdfast-3","response":{{"cancelled":["{id}"]}}}}}}"#
        ),
        format!(r#"{{"type":"command_lifecycle","command_uuid":"{id}","state":"cancelled"}}"#),
    ] {
        let mut chat = Chat::ready();
        chat.message();
        chat.does(&Outgoing::Interrupt);
        assert_eq!(chat.lines(&[&line, &line]), words, "{line}");
    }
    // One that was taken is cancelled by the end of its turn.
    let mut chat = Chat::working();
    let line =
        format!(r#"{{"type":"command_lifecycle","command_uuid":"{id}","state":"cancelled"}}"#);
    assert_eq!(chat.line(&line), "");
}

#[test]
fn what_a_turn_took_and_cost_is_counted() {
    let usage = |chat: &mut Chat, line: &str| {
        let events = chat.step(Inward::Line(line.as_bytes()));
        events.into_iter().find_map(|event| match event {
            ProviderEvent::TurnEnded { usage, .. } => usage,
            _ => None,
        })
    };
    let counted = r#""usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":85,"output_tokens":7},"modelUsage":{"m":{"contextWindow":1000}}"#;
    let told = |more: &str| format!(r#"{{"type":"result","subtype":"success",{counted}{more}}}"#);
    let mut chat = Chat::working();
    chat.line(r#"{"type":"assistant","message":{"usage":{"input_tokens":3,"cache_read_input_tokens":90},"content":[]}}"#);
    let first = usage(
        &mut chat,
        &told(r#","total_cost_usd":0.5,"model_usage_since_last_result":{"m":{"costUSD":0.25}}"#),
    )
    .unwrap();
    assert_eq!(
        (first.input_tokens, first.output_tokens, first.cached_tokens),
        (Some(100), Some(7), Some(85))
    );
    assert_eq!((first.context_tokens, first.context_window), (Some(93), Some(1000)));
    assert_eq!(first.cost_micros, Some(250_000));
    // Older versions tell the total of the process: the difference counts, and of the first nothing is known.
    let mut chat = Chat::working();
    assert_eq!(usage(&mut chat, &told(r#","total_cost_usd":0.5"#)).unwrap().cost_micros, None);
    chat.message();
    chat.line(&replay(3));
    assert_eq!(
        usage(&mut chat, &told(r#","total_cost_usd":0.75"#)).unwrap().cost_micros,
        Some(250_000)
    );
    chat.message();
    chat.line(&replay(4));
    assert_eq!(usage(&mut chat, ENDS), None, "nothing was asked of the model");
}

/// The place at the end of a turn is behind all that the turn took up: a copy up to what the model said
/// before a steered message would not hold that.
#[test]
fn a_turn_ends_at_a_place_only_where_the_model_spoke_after_what_it_took_up_last() {
    let spoken = |id: &str| text("x").replacen('{', &format!(r#"{{"uuid":"{id}","#), 1);
    let mark = |chat: &mut Chat| {
        let events = chat.step(Inward::Line(ENDS.as_bytes()));
        events.into_iter().find_map(|event| match event {
            ProviderEvent::TurnEnded { mark, .. } => mark,
            _ => None,
        })
    };
    let steered = || {
        let mut chat = Chat::working();
        chat.line(&spoken("a"));
        chat.does(&Outgoing::Steer { message: MessageId::new(uuid::Uuid::nil()) });
        assert_eq!(chat.line(&replay(3)), "taken 3\n");
        chat
    };
    assert_eq!(mark(&mut steered()), None);
    let mut chat = steered();
    chat.line(&spoken("b"));
    assert_eq!(mark(&mut chat).as_deref(), Some("b"));
}
