//! Lines that nobody can read.

use super::*;

#[test]
fn what_cannot_be_read_is_shown_and_the_chat_lives_on() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = item("completed", &json!({ "type": "agentMessage", "id": "a", "text": "x" }))
        .replace("\"x\"", &deep);
    for (line, reason) in [
        (&b"\xff\xfe"[..], "invalid_utf8"),
        (b"warning: something", "invalid_json"),
        (b"[]", "not_json_rpc"),
        (b"{\"id\":{},\"method\":\"x\"}", "bad_request_id"),
        (b"{\"method\":\"no/such\"}", "unknown_notification"),
        (b"{\"method\":\"item/completed\",\"params\":{\"item\":{}}}", "item_without_id"),
        (
            b"{\"method\":\"item/completed\",\"params\":{\"item\":{\"type\":\"new\",\"id\":\"x\"}}}",
            "unknown_item",
        ),
        (deep.as_bytes(), "not_json_rpc"),
    ] {
        let mut chat = Chat::prompted();
        let told = words(&chat.step(Inward::Line(line)));
        let head: String = told.chars().take(60).collect();
        assert!(head.starts_with(&format!("1 unrecognised {reason}\n")), "{reason}: {head}");
        assert!(chat.said(OURS).contains("taken 5"));
    }
    let mut chat = Chat::prompted();
    let _ = chat.line(&nested);
    assert!(chat.said(OURS).contains("taken 5"));
    assert!(words(&chat.step(Inward::Oversized { head: b"{" })).contains("unrecognised oversized"));
    assert!(words(&chat.step(Inward::Torn(b"{\"x"))).contains("unrecognised torn"));
    assert_eq!(chat.step(Inward::Line(b"  \n")), []);
}

#[test]
fn a_broken_character_does_not_cost_the_end_of_a_turn() {
    let mut chat = Chat::working();
    let mut line = ENDED.as_bytes().to_vec();
    let end = line.len() - 1;
    line.splice(end..end, b",\"x\":\"\xc3\"".iter().copied());
    let told = words(&chat.step(Inward::Line(&line)));
    assert!(told.contains("unrecognised invalid_utf8"), "{told}");
    assert!(told.ends_with("turn Completed -\n"), "{told}");
}

#[test]
fn the_state_stays_within_its_bound_whatever_the_agent_says() {
    let odd = "\\u0001".repeat(20);
    let (mut chat, _) = Chat::opening(&spec());
    let thread = "\\u0001".repeat(128);
    let model = "\\u0001".repeat(512);
    let _ = chat.line(&format!(
        r#"{{"id":4,"result":{{"thread":{{"id":"{thread}"}},"model":"{model}","approvalPolicy":"{model}","sandbox":{{"type":"{model}"}}}}}}"#
    ));
    let long = "\\\"".repeat(300);
    for n in 0..400_u64 {
        chat.frame = u64::MAX - 9000 + 8 * n;
        let frame = chat.message(u128::from(n));
        if n % 2 == 0 {
            let _ = chat.written(frame);
        }
        chat.issue(&Outgoing::StopTask { task: TaskId::new(1, 1) });
        for line in [
            format!(
                r#"{{"method":"item/started","params":{{"threadId":"{thread}","turnId":"{odd}{n}","item":{{"type":"commandExecution","id":"{n}","command":"{long}","processId":"{odd}{n}"}}}}}}"#
            ),
            format!(
                r#"{{"method":"item/agentMessage/delta","params":{{"threadId":"{thread}","itemId":"m{n}","delta":"x"}}}}"#
            ),
            format!(
                r#"{{"method":"turn/started","params":{{"threadId":"{odd}{n}","turn":{{"id":"{thread}"}}}}}}"#
            ),
            format!(
                r#"{{"method":"turn/completed","params":{{"threadId":"{thread}","turn":{{"id":"{odd}{n}","status":"interrupted"}}}}}}"#
            ),
            format!(
                r#"{{"id":"{n}{odd}","method":"item/commandExecution/requestApproval","params":{{"threadId":"x{n}","availableDecisions":[{{"acceptWithExecpolicyAmendment":{{"execpolicy_amendment":["{odd}"]}}}}]}}}}"#
            ),
            format!(
                r#"{{"id":"q{n}","method":"item/permissions/requestApproval","params":{{"threadId":"x{n}","permissions":{{"a":"{long}"}}}}}}"#
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
        handle: Some(Handle { root: most(512), leaf: most(128) }),
        fork_of: Some(Trunk {
            session: Handle { root: most(512), leaf: most(128) },
            until: Some(most(128)),
        }),
        history: History::Ask,
        model: Some(most(512)),
        mode: Some(most(512)),
        effort: None,
        sought: (0..17).map(message_id).collect(),
        holds: u64::MAX,
        attempt: (AttemptId::new(uuid::Uuid::nil()), u32::MAX),
    };
    let (mut chat, told) = Chat::opening(&spec);
    assert_eq!(told, "wants thread/resume\n");
    assert!(chat.said(OPENED).starts_with("wants thread/turns/list"));
}
