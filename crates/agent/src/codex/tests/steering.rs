//! Messages that are given to the turn that runs.

use super::*;

/// In its turn `U`, with message 11 given to it in frame 6 and begun.
fn steered() -> Chat {
    let mut chat = Chat::working();
    let frame = chat.steer(11);
    assert_eq!(frame, FrameNo(6));
    chat.begun(frame);
    chat
}

fn told(n: u128) -> String {
    OURS.replace(&message_id(9).to_string(), &message_id(n).to_string())
}

const ACCEPTED: &str = r#"{"id":6,"result":{"turnId":"U"}}"#;
const LEFT: &str = "The turn ended before the agent had the message.\n";

#[test]
fn it_names_the_turn_that_it_is_for() {
    let mut chat = Chat::working();
    let frame = chat.steer(11);
    let out = Outgoing::Steer { message: message_id(11) };
    let sent = chat.sends(frame, &out).unwrap();
    assert_eq!(sent["method"], "turn/steer");
    assert_eq!(sent["params"]["expectedTurnId"], "U");
    assert_eq!(sent["params"]["clientUserMessageId"], message_id(11).to_string());
    // The same bytes come out once that turn is over: Codex says what it thinks of it.
    let _ = chat.said(ENDED);
    assert_eq!(chat.sends(frame, &out).unwrap(), sent);
    let frame = chat.steer(12);
    let out = Outgoing::Steer { message: message_id(12) };
    assert!(matches!(chat.sends(frame, &out), Err(EncodeError::NoTurn)));
}

#[test]
fn the_message_told_proves_that_it_was_taken_and_no_reply_does() {
    let mut chat = steered();
    assert_eq!(chat.said(ACCEPTED), "");
    assert_eq!(chat.said(&told(11)), "taken 6\n");
    let ended = chat.said(ENDED);
    assert!(ended.starts_with("turn Completed"), "{ended}");
}

#[test]
fn a_turn_that_is_over_did_not_take_it() {
    let mut chat = steered();
    let ended = chat.said(ENDED);
    assert!(ended.starts_with("turn Completed"), "it may be refused yet: {ended}");
    let error = r#"{"id":6,"error":{"code":-32600,"message":"no active turn to steer"}}"#;
    assert_eq!(chat.said(error), "message failed 6 NotTaken no active turn to steer\n");
    // A turn that begins beside it is not its turn.
    let mut chat = steered();
    let _ = chat.said(ENDED);
    assert_eq!(chat.said(&STARTED.replace("\"U\"", "\"V\"")), "stirred\n");
}

#[test]
fn what_a_turn_accepted_and_left_behind_is_known_only_where_it_was_stopped() {
    let mut chat = steered();
    let _ = chat.said(ACCEPTED);
    let ended = chat.said(ENDED);
    assert!(ended.starts_with(&format!("message failed 6 Nothing {LEFT}")), "{ended}");
    let mut chat = steered();
    let _ = chat.said(ACCEPTED);
    let ended = chat.said(INTERRUPTED);
    assert!(ended.starts_with(&format!("message failed 6 TakenBack {LEFT}")), "{ended}");
    // The reply may come last.
    let mut chat = steered();
    let _ = chat.said(ENDED);
    assert_eq!(chat.said(ACCEPTED), format!("message failed 6 Nothing {LEFT}"));
}
