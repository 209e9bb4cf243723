//! Lines that nobody can read.

use holdfast_core::limits::UNRECOGNISED_BYTES_MAX;

use super::*;

#[test]
fn what_cannot_be_read_is_shown_and_the_chat_lives_on() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!(
        r#"{{"method":"session/update","params":{{"update":{{"sessionUpdate":"plan","entries":{deep}}}}}}}"#
    );
    for (line, reason) in [
        (&b"\xff\xfe"[..], "invalid_utf8"),
        (b"npm warn something", "invalid_json"),
        (b"{\"jsonrpc\":\"2.0\"", "invalid_json"),
        (b"[]", "not_json_rpc"),
        (b"{\"id\":{},\"method\":\"x\"}", "bad_request_id"),
        (b"\0", "invalid_json"),
        (b"{\"method\":\"session/update\"}", "unknown_update"),
        (b"{\"method\":\"session/update\",\"params\":7}", "unknown_update"),
        (b"{\"method\":\"session/upd\"}", "unknown_notification"),
        (
            b"{\"method\":\"session/update\",\"params\":{\"update\":{\"sessionUpdate\":\"tool_call\"}}}",
            "call_without_id",
        ),
        (deep.as_bytes(), "not_json_rpc"),
    ] {
        let mut chat = Chat::prompted();
        let told = words(&chat.step(Inward::Line(line)));
        let head: String = told.chars().take(60).collect();
        assert!(head.starts_with(&format!("1 unrecognised {reason}\n")), "{reason}: {head}");
        assert!(chat.updates(&[SAY]).contains("taken 3"));
    }
    let mut chat = Chat::prompted();
    let _ = chat.line(&nested);
    assert!(chat.updates(&[SAY]).contains("hi"));
    let oversized = Inward::Oversized { head: b"{\"x\":" };
    assert!(words(&chat.step(oversized)).contains("unrecognised oversized"));
    assert!(words(&chat.step(Inward::Torn(b"{\"x"))).contains("unrecognised torn"));
    assert_eq!(chat.step(Inward::Line(b"  \n")), []);
}

#[test]
fn a_broken_character_does_not_cost_the_end_of_a_turn() {
    let mut chat = Chat::prompted();
    let line = b"{\"id\":3,\"result\":{\"stopReason\":\"end_turn\",\"_meta\":\"\xc3\"}}";
    let told = words(&chat.step(Inward::Line(line)));
    assert!(told.contains("unrecognised invalid_utf8"), "{told}");
    assert!(told.ends_with("taken 3\nturn Completed -\n"), "{told}");
}

#[test]
fn half_a_character_is_mended() {
    let told = Chat::prompted().updates(&[
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\ud83d"}}"#,
        r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"\ude00\u0000"}}"#,
    ]);
    assert_eq!(
        told,
        "taken 3\n1 opened Message\n1 Text@0 \"a\u{fffd}\"\n1 Text@4 \"\u{fffd}\\0\"\n"
    );
}

#[test]
fn an_unrecognised_line_is_cut_and_a_flood_is_counted() {
    let mut chat = Chat::ready();
    let long = vec![0xff_u8; UNRECOGNISED_BYTES_MAX * 2];
    let events = chat.step(Inward::Line(&long));
    let Some(ProviderEvent::ItemText { text, .. }) = events.get(1) else { panic!("no text") };
    assert!(text.len() <= UNRECOGNISED_BYTES_MAX && text.len() > UNRECOGNISED_BYTES_MAX - 4);
    let mut shown = 0;
    let mut flood = 0;
    for _ in 0..1000 {
        let told = words(&chat.line("x"));
        shown += usize::from(told.contains("unrecognised"));
        flood += usize::from(told.contains("unrecognised flood"));
    }
    assert_eq!((shown, flood), (99, 1));
}

#[test]
fn requests_that_nobody_offered_are_refused() {
    for (line, told) in [
        (
            r#"{"id":7,"method":"fs/write_text_file","params":{}}"#,
            "reply 7 \"error\":{\"code\":-32601,\"message\":\"method not found\"}\n",
        ),
        (
            r#"{"id":"x","method":"terminal/create"}"#,
            "reply \"x\" \"error\":{\"code\":-32601,\"message\":\"method not found\"}\n",
        ),
    ] {
        assert_eq!(words(&Chat::prompted().line(line)), told);
    }
    let told = words(&Chat::prompted().line(r#"{"id":7,"method":"nope/nope"}"#));
    assert!(told.starts_with("reply 7 \"error\"") && told.contains("unknown_request"), "{told}");
}

#[test]
fn a_request_before_the_session_stands_is_refused() {
    let (mut chat, _) = Chat::starting(&spec());
    assert!(words(&chat.line(ASK)).starts_with("reply 0 \"error\""));
}

#[test]
fn the_state_stays_within_its_bound_whatever_the_agent_says() {
    let (mut chat, _) = Chat::starting(&spec());
    let _ = chat.line(r#"{"id":1,"result":{}}"#);
    let session = "\\u0001".repeat(512);
    let _ = chat.line(&format!(r#"{{"id":2,"result":{{"sessionId":"{session}"}}}}"#));
    let quotes = "\\\"".repeat(300);
    for n in 0..300 {
        chat.frame = u64::MAX - 5000 + 4 * n;
        let frame = chat.message();
        if n % 2 == 0 {
            let _ = chat.written(frame);
        }
        chat.issue(&Outgoing::StopTask { task: TaskId::new(1, 1) });
        let id = "\\u0001".repeat(10);
        for line in [
            format!(
                r#"{{"method":"_holdfast/task","params":{{"taskId":"{n}{id}","state":"running"}}}}"#
            ),
            format!(
                r#"{{"method":"session/update","params":{{"update":{{"sessionUpdate":"tool_call","toolCallId":"{n}","title":"{quotes}","rawInput":{{"n":{n}}},"content":[{{"type":"diff","newText":"{quotes}"}}]}}}}}}"#
            ),
            format!(
                r#"{{"id":"{n}","method":"session/request_permission","params":{{"sessionId":"other","toolCall":{{"toolCallId":"q{n}"}}}}}}"#
            ),
            format!(
                r#"{{"id":"f{n}","method":"elicitation/create","params":{{"requestedSchema":{{"properties":{{"{quotes}":{{"type":"string"}},"a":{{"type":"boolean"}}}}}}}}}}"#
            ),
        ] {
            // Each step also reads the state back, which checks its bound.
            let _ = chat.line(&line);
        }
        let _ = chat.answer(u32::try_from(n).unwrap(), Answer::Cancelled);
    }
    let bytes = chat.state.to_bytes().len();
    assert!(bytes > 40_000, "the tables were not filled: {bytes}");
}

#[test]
fn a_start_that_asks_for_much_stays_within_the_bound() {
    let most = |n: usize| "\u{1}".repeat(n);
    let spec = SessionSpec {
        cwd: most(holdfast_core::limits::CWD_BYTES_MAX),
        handle: Some(Handle { root: most(512), leaf: most(512) }),
        fork_of: None,
        history: History::Ask,
        model: Some(most(512)),
        mode: Some(most(512)),
        effort: None,
        sought: Vec::new(),
        holds: 0,
        attempt: (holdfast_core::ids::AttemptId::new(uuid::Uuid::nil()), u32::MAX),
    };
    let (mut chat, _) = Chat::starting(&spec);
    let events =
        chat.step(Inward::Line(br#"{"id":1,"result":{"agentCapabilities":{"loadSession":true}}}"#));
    assert!(words(&events).starts_with("wants session/load"));
}
