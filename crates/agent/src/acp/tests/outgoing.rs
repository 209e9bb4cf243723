//! What goes out.

use holdfast_core::provider::ProtocolFrame;

use super::*;

fn sent(chat: &Chat, out: &Outgoing, text: Option<&str>) -> Result<String, EncodeError> {
    let line = chat.state.encode(FrameNo(3), out, &Content { text, attached: &[] })?;
    Ok(String::from_utf8(line).unwrap())
}

#[test]
fn a_frame_is_one_line_with_the_number_as_its_id() {
    let chat = Chat::ready();
    let message = Outgoing::Message { message: MessageId::new(uuid::Uuid::nil()) };
    let text = "a\n\"b\"\u{0}\u{2028}é";
    let line = sent(&chat, &message, Some(text)).unwrap();
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(
        value(&line),
        json!({"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{
            "sessionId":"s1","prompt":[{"type":"text","text":text}]}})
    );
    assert_eq!(
        sent(&chat, &Outgoing::Interrupt, None).unwrap(),
        "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s1\"}}\n"
    );
    assert!(matches!(sent(&chat, &message, None), Err(EncodeError::TextMissing { .. })));
    let (early, _) = Chat::starting(&spec());
    assert!(matches!(sent(&early, &Outgoing::Interrupt, None), Err(EncodeError::NoSession { .. })));
    let odd = ProtocolFrame::Reply { id: "1".to_owned(), outcome: "\"result\":".to_owned() };
    assert!(matches!(
        sent(&chat, &Outgoing::Protocol(odd), None),
        Err(EncodeError::NotJson { .. })
    ));
}
