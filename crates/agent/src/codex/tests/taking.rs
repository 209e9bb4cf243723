//! What proves that a message was taken, and how its turn ends.

use super::*;

const REPLY: &str = r#"{"id":5,"result":{"turn":{"id":"U","status":"inProgress"}}}"#;

#[test]
fn only_the_message_itself_with_its_own_id_proves_that_it_was_taken() {
    let other = OURS.replace("0009", "0008");
    let nobody = OURS.replace(r#""msg_00000000000000000000000000000009""#, "null");
    let begun = OURS.replace("item/completed", "item/started");
    let elsewhere = OURS.replace(r#""threadId":"T""#, r#""threadId":"X""#);
    for line in [REPLY, STARTED, SAY, &other, &nobody, &begun, &elsewhere] {
        let told = Chat::prompted().said(line);
        assert!(!told.contains("taken"), "{line}: {told}");
    }
    for before in [vec![], vec![REPLY], vec![REPLY, STARTED], vec![STARTED, REPLY], vec![STARTED]] {
        let mut chat = Chat::prompted();
        assert_eq!(chat.told(&before), "");
        assert_eq!(chat.told(&[OURS, OURS]), "taken 5\n", "{before:?}");
        assert_eq!(chat.said(ENDED), "turn Completed -\n");
    }
    // Before its first byte nothing can be its proof, nor its reply.
    let mut chat = Chat::ready();
    let frame = chat.message(9);
    assert!(!chat.told(&[OURS, REPLY]).contains("taken"));
    chat.begun(frame);
    assert!(chat.said(OURS).contains("taken 5"));
}

#[test]
fn an_error_before_the_take_up_says_what_it_proves() {
    for (code, text, told) in [
        (-32600, "thread not found: T", "message failed 5 NotTaken thread not found: T\n"),
        (-32603, "internal", "message failed 5 Nothing internal\n"),
    ] {
        let line = json!({ "id": 5, "error": { "code": code, "message": text } }).to_string();
        assert_eq!(Chat::prompted().said(&line), told);
        // After it the turn goes on to its own end.
        assert_eq!(Chat::working().told(&[&line, ENDED]), "turn Completed -\n");
    }
    let mut chat = Chat::prompted();
    assert!(chat.said(r#"{"id":77,"result":{}}"#).contains("unrecognised unknown_reply"));
    let _ = chat.said(REPLY);
    assert!(chat.said(REPLY).contains("unrecognised unknown_reply"), "it is answered once");
}

#[test]
fn a_turn_ends_as_the_agent_says() {
    let ended = |turn: Value| {
        json!({ "method": "turn/completed", "params": { "threadId": "T", "turn": turn } })
            .to_string()
    };
    for (turn, told) in [
        (json!({ "id": "U", "status": "completed" }), "turn Completed -\n"),
        (json!({ "id": "U", "status": "interrupted" }), "turn Interrupted -\n"),
        (
            json!({ "id": "U", "status": "failed", "error": { "message": "no", "additionalDetails": "at all" } }),
            "turn Failed no (at all)\n",
        ),
        (
            json!({ "id": "U", "status": "failed", "error": { "message": r#"{"error":{"message":"inner"}}"# } }),
            "turn Failed inner\n",
        ),
        (json!({ "id": "U", "status": "failed" }), "turn Failed The turn failed.\n"),
        (json!({ "id": "U" }), "turn Completed The agent did not say how it ended.\n"),
    ] {
        assert_eq!(Chat::working().said(&ended(turn)), told);
    }
}

#[test]
fn a_turn_that_ends_without_the_message_leaves_it_in_doubt() {
    for (end, told) in [
        (
            INTERRUPTED,
            "message failed 5 Nothing The turn ended before the agent had the message.\n",
        ),
        // What was done to the end was taken, although the line that says so was lost.
        (ENDED, "taken 5\n"),
    ] {
        let mut chat = Chat::prompted();
        assert!(chat.told(&[REPLY, end]).starts_with(told), "{end}");
    }
    // Of another turn nothing is learnt.
    let mut chat = Chat::prompted();
    assert_eq!(chat.told(&[REPLY, &ENDED.replace("\"U\"", "\"V\"")]), "turn Completed -\n");
    assert_eq!(chat.said(OURS), "taken 5\n");
}

#[test]
fn a_turn_without_a_message_is_the_agents_own() {
    let mut chat = Chat::ready();
    assert_eq!(chat.told(&[STARTED, STARTED, SAY]), "stirred\n1 opened Message\n1 Text@0 \"hi\"\n");
    // A message that comes meanwhile is taken into it.
    let frame = chat.message(9);
    let _ = chat.written(frame);
    assert_eq!(chat.said(OURS), "1 closed\ntaken 5\n");
    assert_eq!(chat.said(ENDED), "turn Completed -\n");
    // One that was given a number and not begun does not make the next turn its own.
    let mut chat = Chat::ready();
    chat.message(9);
    assert_eq!(chat.said(STARTED), "stirred\n");
}

#[test]
fn a_turn_whose_end_was_lost_ends_when_the_next_begins() {
    let mut chat = Chat::working();
    let next = STARTED.replace("\"U\"", "\"V\"");
    let told = chat.said(&next);
    assert_eq!(told, "turn Completed The agent did not say how it ended.\nstirred\n");
}

#[test]
fn what_the_model_has_counted_is_summed_over_the_turn() {
    let used = |input: u64| {
        json!({ "method": "thread/tokenUsage/updated", "params": { "threadId": "T", "tokenUsage": {
            "last": { "inputTokens": input, "cachedInputTokens": 1, "outputTokens": 2, "totalTokens": input + 2 },
            "modelContextWindow": 1000 } } })
        .to_string()
    };
    let mut chat = Chat::working();
    let _ = chat.told(&[&used(10), &used(20), &used(5).replace("\"T\"", "\"X\"")]);
    let events = chat.line(ENDED);
    let [ProviderEvent::TurnEnded { usage: Some(usage), .. }] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(30), Some(4)));
    assert_eq!((usage.cached_tokens, usage.total_tokens), (Some(2), Some(34)));
    assert_eq!((usage.context_tokens, usage.context_window), (Some(22), Some(1000)));
    // What is told between turns, as of a thread that was brought back, belongs to none.
    let _ = chat.told(&[&used(7), &STARTED.replace("\"U\"", "\"V\"")]);
    let events = chat.line(&ENDED.replace("\"U\"", "\"V\""));
    assert!(matches!(events.as_slice(), [ProviderEvent::TurnEnded { usage: None, .. }]));
}

#[test]
fn marks_that_are_lost_may_have_been_any() {
    let mut chat = Chat::ready();
    chat.message(9);
    assert_eq!(chat.step(Inward::Damaged), []);
    assert_eq!(chat.said(OURS), "taken 5\n");
}

#[test]
fn a_frame_that_was_passed_over_is_not_waited_for() {
    let mut chat = Chat::ready();
    let passed = chat.message(8);
    let frame = chat.message(9);
    let _ = chat.written(frame);
    chat.begun(passed);
    assert!(!chat.said(&OURS.replace("0009", "0008")).contains("taken"));
    assert_eq!(chat.said(OURS), "taken 6\n");
}
