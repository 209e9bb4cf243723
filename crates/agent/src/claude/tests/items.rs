use super::*;

fn stream(event: &Value) -> String {
    json!({ "type": "stream_event", "event": event }).to_string()
}

fn begins(kind: &str) -> String {
    stream(&json!({ "type": "content_block_start", "content_block": { "type": kind } }))
}

fn piece(text: &str) -> String {
    stream(
        &json!({ "type": "content_block_delta", "delta": { "type": "text_delta", "text": text } }),
    )
}

const STOPS: &str = r#"{"type":"stream_event","event":{"type":"content_block_stop"}}"#;

#[test]
fn a_text_is_streamed_and_then_told_whole_and_shown_once() {
    let mut chat = Chat::working();
    let whole = says(&json!({ "type": "text", "text": "one two" }));
    assert_eq!(
        chat.lines(&[&begins("text"), &piece("one "), &piece("two"), &whole, STOPS]),
        "1 opened Message\n1 Text@0 \"one \"\n1 Text@4 \"two\"\n1 closed\n"
    );
    // What was not streamed of it is added.
    assert_eq!(
        chat.lines(&[&begins("text"), &piece("one"), &whole, STOPS]),
        "2 opened Message\n2 Text@0 \"one\"\n2 Text@3 \" two\"\n2 closed\n"
    );
    // One that is another text is not mixed with it.
    assert_eq!(
        chat.lines(&[&begins("text"), &piece("uno"), &whole, STOPS]),
        "3 opened Message\n3 Text@0 \"uno\"\n3 closed\n"
    );
    // Without a stream it comes at once; a stream that breaks off leaves what there was.
    assert_eq!(chat.line(&whole), "4 opened Message\n4 Text@0 \"one two\"\n4 closed\n");
    let again = stream(&json!({ "type": "message_start" }));
    assert_eq!(
        chat.lines(&[&begins("text"), &piece("cut"), &again, &whole]),
        "5 opened Message\n5 Text@0 \"cut\"\n5 closed\n6 opened Message\n6 Text@0 \"one two\"\n6 closed\n"
    );
    let thought = says(&json!({ "type": "thinking", "thinking": "" }));
    assert_eq!(chat.lines(&[&begins("thinking"), &thought, STOPS]), "", "an empty thought is none");
}

#[test]
fn a_call_has_its_input_its_result_and_its_end() {
    let mut chat = Chat::working();
    let call = calls("t1", "Bash", &json!({ "command": "ls" }));
    assert_eq!(
        chat.lines(&[&call, &call]),
        "1 call Bash: ls Running\n1 Input@0 \"{\\\"command\\\":\\\"ls\\\"}\"\n"
    );
    assert_eq!(
        chat.lines(&[&gives("t1", "out"), &gives("t1", "again")]),
        "1 Output@0 \"out\"\n1 now Bash: ls Completed\n1 closed\n"
    );
    // A change of a file is shown as one; what the model is told of it is not.
    let block = json!({ "type": "tool_result", "tool_use_id": "t2", "content": "updated" });
    let hunk = json!({ "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-a", "+b", "+c"] });
    let result = json!({ "filePath": "/w/f", "structuredPatch": [hunk] });
    let edited =
        json!({ "type": "user", "message": { "content": [block] }, "tool_use_result": result });
    chat.line(&calls("t2", "Edit", &json!({ "file_path": "/w/f" })));
    let said = chat.line(&edited.to_string());
    assert!(said.contains(r#"--- /w/f\n+++ /w/f\n@@ -1,1 +1,2 @@\n-a\n+b\n+c\n"#), "{said}");
    // A result of nothing that is known is shown all the same.
    assert!(chat.line(&gives("t9", "lost")).contains("Output@0 \"lost\""));
    // What has no result at the end of the turn has none.
    chat.line(&calls("t3", "Bash", &json!({ "command": "x" })));
    assert!(chat.line(ENDS).starts_with("4 now Bash: x Unknown\n4 closed\n"), "{said}");
}

#[test]
fn what_a_subagent_says_stands_within_its_call_and_outlives_the_turn() {
    let mut chat = Chat::working();
    chat.line(&calls("a1", "Agent", &json!({ "description": "look", "run_in_background": true })));
    let nested =
        |line: String| line.replacen('{', r#"{"parent_tool_use_id":"a1","agent_id":"x","#, 1);
    assert_eq!(
        chat.line(&nested(says(&json!({ "type": "text", "text": "hm" })))),
        "2 opened Message within i1.1\n2 Text@0 \"hm\"\n2 closed\n"
    );
    let events = chat.step(Inward::Line(nested(calls("b1", "Bash", &json!({}))).as_bytes()));
    let within = events.iter().any(|event| match event {
        ProviderEvent::ItemOpened { body: holdfast_core::item::Body::Call(call), .. } => {
            call.within == Some(holdfast_core::ids::ItemId::new(1, 1))
        }
        _ => false,
    });
    assert!(within, "{events:?}");
    chat.lines(&[&gives("a1", "launched"), ENDS]);
    assert!(chat.line(&nested(gives("b1", "out"))).contains("now Bash Completed"));
}

#[test]
fn retries_share_a_line_until_the_model_answers() {
    let retry = |n: u32| {
        format!(
            r#"{{"type":"system","subtype":"api_retry","attempt":{n},"max_retries":10,"error_status":529,"error":"overloaded"}}"#
        )
    };
    let mut chat = Chat::working();
    assert_eq!(
        chat.lines(&[&retry(1), &retry(2)]),
        "1 notice Retrying { attempt: 1, of: 10 }\n1 Text@0 \"overloaded 529\"\n1 changed\n"
    );
    let said = chat.line(&says(&json!({ "type": "text", "text": "hi" })));
    assert!(said.starts_with("1 closed\n2 opened Message"), "{said}");
    // Words of the CLI in the model's place are those of the failed turn.
    let failed = r#"{"type":"assistant","error":"server_error","is_api_error_message":true,"message":{"content":[{"type":"text","text":"API Error"}]}}"#;
    assert_eq!(chat.line(failed), "");
}

#[test]
fn a_compaction_is_an_item_with_its_summary() {
    let mut chat = Chat::working();
    let said = chat.lines(&[
        r#"{"type":"system","subtype":"status","status":"compacting"}"#,
        r#"{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":9,"post_tokens":2}}"#,
        r#"{"type":"user","isSynthetic":true,"message":{"content":"This session is being continued"}}"#,
    ]);
    assert_eq!(
        said,
        "1 opened Compaction\n1 Text@0 \"The conversation was shortened from 9 to 2 tokens.\"\n1 Text@50 \"\\n\\nThis session is being continued\"\n1 closed\n"
    );
}

#[test]
fn words_of_the_cli_are_remarks_and_what_is_said_elsewhere_is_not_said_twice() {
    let mut chat = Chat::working();
    let remark =
        |text: &str, n: u32| format!("{n} notice AgentSays\n{n} Text@0 \"{text}\"\n{n} closed\n");
    for (n, (line, text)) in [
        (r#"{"type":"user","isReplay":true,"message":{"content":"<local-command-stdout>Set model</local-command-stdout>"}}"#, "Set model"),
        (r#"{"type":"system","subtype":"informational","content":"stopped"}"#, "stopped"),
        (r#"{"type":"system","subtype":"permission_denied","message":"needs approval"}"#, "needs approval"),
        (r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"five_hour"}}"#, "Limit of the account (five_hour): rejected"),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(chat.line(line), remark(text, u32::try_from(n + 1).unwrap()), "{line}");
    }
    for line in [
        r#"{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#,
        r#"{"type":"user","isReplay":true,"message":{"content":"<local-command-stdout></local-command-stdout>"}}"#,
        r#"{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}"#,
        r#"{"type":"system","subtype":"session_state_changed","state":"running"}"#,
        r#"{"type":"keep_alive"}"#,
    ] {
        assert_eq!(chat.line(line), "", "{line}");
    }
}

#[test]
fn what_is_not_known_is_kept_and_shown_and_ends_nothing() {
    let mut chat = Chat::working();
    for (line, reason) in [
        (r#"{"type":"surprise"}"#, "unknown_frame"),
        (r#"{"type":"system","subtype":"surprise"}"#, "unknown_system_frame"),
        ("[]", "not_a_frame"),
        ("{", "invalid_json"),
    ] {
        assert!(chat.line(line).contains(&format!("unrecognised {reason}")), "{line}");
    }
    assert_eq!(chat.line(ENDS), "turn Completed -\n");
}
