//! What proves that a message was taken, and how its turn ends.

use super::*;

#[test]
fn only_something_new_proves_that_a_message_was_taken() {
    let quiet = [
        r#"{"sessionUpdate":"available_commands_update","availableCommands":[]}"#,
        r#"{"sessionUpdate":"current_mode_update","currentModeId":"x"}"#,
        r#"{"sessionUpdate":"config_option_update","configOptions":[]}"#,
        r#"{"sessionUpdate":"session_info_update","title":"T"}"#,
        r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#,
        r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}"#,
        r#"{"sessionUpdate":"tool_call_update","toolCallId":"c7","status":"completed"}"#,
        r#"{"sessionUpdate":"something_new"}"#,
        r#"{"sessionUpdate":"subagent_update","sessionId":"x","description":"d"}"#,
    ];
    for update in quiet {
        let told = Chat::prompted().updates(&[update]);
        assert!(!told.contains("taken") && !told.contains("stirred"), "{update}: {told}");
    }
    for update in [SAY, THINK, PLAN, CALL] {
        let told = Chat::prompted().updates(&[update]);
        assert!(told.starts_with("taken 3\n"), "{update}: {told}");
    }
    assert!(words(&Chat::prompted().line(ASK)).starts_with("taken 3\n"));
}

#[test]
fn a_call_that_was_known_before_proves_nothing() {
    let mut chat = Chat::ready();
    let _ = chat.update(CALL);
    let frame = chat.message();
    let _ = chat.written(frame);
    assert!(!chat.updates(&[CALL, CALL_DONE]).contains("taken"));
    assert!(chat.updates(&[SAY]).starts_with("taken 3\n"));
}

#[test]
fn what_comes_before_the_last_byte_was_written_is_no_proof() {
    let mut chat = Chat::ready();
    let frame = chat.message();
    assert!(chat.updates(&[SAY]).starts_with("stirred\n"));
    assert_eq!(words(&chat.written(frame)), "1 closed\n");
    assert!(chat.updates(&[SAY]).starts_with("taken 3\n"));
    assert!(!chat.updates(&[SAY]).contains("taken"));
}

#[test]
fn a_frame_that_was_withdrawn_is_not_waited_for() {
    let mut chat = Chat::ready();
    let _withdrawn = chat.message();
    let frame = chat.message();
    let _ = chat.written(frame);
    assert!(chat.updates(&[SAY]).starts_with("taken 4\n"));
}

#[test]
fn words_of_another_session_prove_nothing() {
    let mut chat = Chat::prompted();
    let told = chat.line(
        r#"{"method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}"#,
    );
    assert_eq!(told, []);
}

#[test]
fn the_result_proves_it_and_ends_the_turn() {
    for (result, told) in [
        (r#"{"stopReason":"end_turn"}"#, "turn Completed -"),
        (r#"{"stopReason":"cancelled"}"#, "turn Interrupted -"),
        (r#"{"stopReason":"refusal"}"#, "turn Failed The agent refused to go on."),
        (r#"{"stopReason":"max_tokens"}"#, "turn Failed The agent reached its limit of tokens."),
        (
            r#"{"stopReason":"max_turn_requests"}"#,
            "turn Failed The agent reached its limit of requests in one turn.",
        ),
        (r#"{"stopReason":"nap"}"#, "turn Completed The agent ended with \"nap\"."),
        ("null", "turn Completed The agent ended without a reason."),
        (r#"[7]"#, "turn Completed The agent ended without a reason."),
    ] {
        let events = Chat::prompted().line(&format!(r#"{{"id":3,"result":{result}}}"#));
        assert_eq!(words(&events), format!("taken 3\n{told}\n"), "{result}");
    }
    let mut chat = Chat::prompted();
    let _ = chat.update(SAY);
    let told = words(&chat.line(r#"{"id":3,"result":{"stopReason":"end_turn"}}"#));
    assert_eq!(told, "1 closed\nturn Completed -\n");
}

#[test]
fn an_error_is_a_failed_turn_after_the_taking_and_a_failed_message_before() {
    let error = r#"{"id":3,"error":{"code":-32602,"message":"bad"}}"#;
    let mut chat = Chat::prompted();
    let _ = chat.update(SAY);
    assert_eq!(words(&chat.line(error)), "1 closed\nturn Failed bad\n");
    assert_eq!(words(&Chat::prompted().line(error)), "message failed 3 NotTaken bad\n");
    let error = r#"{"id":3,"error":{"code":500,"message":"bad"}}"#;
    assert_eq!(words(&Chat::prompted().line(error)), "message failed 3 Nothing bad\n");
}

#[test]
fn a_plain_end_after_our_cancel_is_an_interruption() {
    let end = r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
    let mut chat = Chat::prompted();
    let frame = chat.issue(&Outgoing::Interrupt);
    let _ = chat.written(frame);
    assert!(words(&chat.line(end)).ends_with("turn Interrupted -\n"));
    // Not if it ended before the cancel was written.
    let mut chat = Chat::prompted();
    let frame = chat.issue(&Outgoing::Interrupt);
    assert!(words(&chat.line(end)).ends_with("turn Completed -\n"));
    // And the next turn was not the one that was stopped.
    let _ = chat.written(frame);
    let next = chat.message();
    let _ = chat.written(next);
    let end = r#"{"id":5,"result":{"stopReason":"end_turn"}}"#;
    assert!(words(&chat.line(end)).ends_with("turn Completed -\n"));
}

#[test]
fn a_reply_is_none_before_the_first_byte_of_what_it_answers() {
    let end = r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
    let error = r#"{"id":3,"error":{"code":-32602,"message":"bad"}}"#;
    for guess in [end, error] {
        let mut chat = Chat::ready();
        let frame = chat.message();
        let told = words(&chat.line(guess));
        assert!(told.starts_with("1 unrecognised unknown_reply\n"), "{told}");
        assert!(!told.contains("taken") && !told.contains("turn ") && !told.contains("failed"));
        // It is still waited for.
        let _ = chat.begun(frame);
        let _ = chat.written(frame);
        assert_eq!(words(&chat.line(end)), "taken 3\nturn Completed -\n");
    }
    // An agent that does not wait for the line break.
    let mut chat = Chat::ready();
    let frame = chat.message();
    assert_eq!(chat.begun(frame), []);
    assert_eq!(words(&chat.line(end)), "taken 3\nturn Completed -\n");
    assert_eq!(chat.written(frame), []);
    // The mark may be in a part of the spool that is lost.
    let mut chat = Chat::ready();
    let _ = chat.message();
    assert_eq!(chat.step(Inward::Damaged), []);
    assert_eq!(words(&chat.line(end)), "taken 3\nturn Completed -\n");
    // What has begun and is not written proves nothing by what the agent says meanwhile.
    let mut chat = Chat::ready();
    let frame = chat.message();
    let _ = chat.begun(frame);
    assert!(chat.updates(&[SAY]).starts_with("stirred\n"));
}

#[test]
fn usage_is_read_from_the_result() {
    let events = Chat::prompted().line(
        r#"{"id":3,"result":{"stopReason":"end_turn","usage":{"inputTokens":5,"outputTokens":-1,"totalTokens":7}}}"#,
    );
    let Some(ProviderEvent::TurnEnded { usage: Some(usage), .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(
        (usage.input_tokens, usage.output_tokens, usage.total_tokens),
        (Some(5), None, Some(7))
    );
}

#[test]
fn a_reply_that_nobody_waits_for_is_shown() {
    let mut chat = Chat::prompted();
    let end = r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
    let _ = chat.line(end);
    for line in [end, r#"{"id":99,"result":{}}"#, r#"{"id":null,"error":{"code":-32700}}"#] {
        assert!(words(&chat.line(line)).contains("unrecognised unknown_reply"), "{line}");
    }
}

#[test]
fn an_error_after_our_cancel_is_an_interruption_only_if_it_says_so() {
    for (code, told) in [(-32800, "turn Interrupted no"), (-32603, "turn Failed no")] {
        let mut chat = Chat::prompted();
        let _ = chat.update(SAY);
        let frame = chat.issue(&Outgoing::Interrupt);
        let _ = chat.written(frame);
        let error = format!(r#"{{"id":3,"error":{{"code":{code},"message":"no"}}}}"#);
        assert_eq!(words(&chat.line(&error)), format!("1 closed\n{told}\n"));
    }
}

#[test]
fn a_message_behind_a_cancel_is_not_stopped_by_it() {
    let mut chat = Chat::ready();
    let cancel = chat.issue(&Outgoing::Interrupt);
    let message = chat.message();
    let _ = chat.written(cancel);
    let _ = chat.written(message);
    let end = r#"{"id":4,"result":{"stopReason":"end_turn"}}"#;
    assert_eq!(words(&chat.line(end)), "taken 4\nturn Completed -\n");
}

#[test]
fn what_was_never_written_has_no_reply() {
    let mut chat = Chat::ready();
    let _withdrawn = chat.message();
    let frame = chat.message();
    let _ = chat.written(frame);
    let end = r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
    assert!(words(&chat.line(end)).contains("unrecognised unknown_reply"));
}

#[test]
fn replies_that_never_come_are_forgotten_in_the_end() {
    let mut chat = Chat::ready();
    for _ in 0..20 {
        let frame = chat.message();
        let _ = chat.written(frame);
    }
    let end = r#"{"id":3,"result":{"stopReason":"end_turn"}}"#;
    assert!(words(&chat.line(end)).contains("unrecognised unknown_reply"));
    let mut chat = Chat::ready();
    for _ in 0..100 {
        let _ = chat.issue(&Outgoing::StopTask { task: TaskId::new(1, 1) });
    }
    assert!(words(&chat.line(r#"{"id":3,"result":{}}"#)).contains("unknown_reply"));
    assert_eq!(chat.line(r#"{"id":102,"result":{}}"#), []);
}

#[test]
fn the_end_of_a_turn_ends_its_calls() {
    let mut chat = Chat::prompted();
    let _ = chat.update(CALL);
    let told = words(&chat.line(r#"{"id":3,"result":{"stopReason":"cancelled"}}"#));
    assert_eq!(told, "1 now ls Unknown\n1 closed\nturn Interrupted -\n");
    // A word that comes later is still heard.
    assert_eq!(chat.updates(&[CALL_DONE]), "1 now ls Completed\n");
}

#[test]
fn the_gemini_cli_counts_elsewhere() {
    let events = Chat::prompted().line(
        r#"{"id":3,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":5,"output_tokens":6}}}}}"#,
    );
    let Some(ProviderEvent::TurnEnded { usage: Some(usage), .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(5), Some(6)));
}
