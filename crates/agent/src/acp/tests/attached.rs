//! What is attached to a message, in the form that the agent takes.

use super::*;
use crate::codec::{Attached, Form, Given, IMAGE_BYTES_MAX, INLINE_BYTES_MAX, TEXT_BYTES_MAX};

/// A session that stands, with an agent that says this of prompts.
fn able(capabilities: &str) -> Chat {
    let (mut chat, _) = Chat::starting(&spec());
    let _ = chat.line(&format!(
        r#"{{"id":1,"result":{{"protocolVersion":1,"agentCapabilities":{capabilities}}}}}"#
    ));
    let _ = chat.line(r#"{"id":2,"result":{"sessionId":"s1"}}"#);
    chat
}

fn prompt(chat: &Chat, text: &str, attached: &[Attached<'_>]) -> serde_json::Value {
    let message = Outgoing::Message { message: MessageId::new(uuid::Uuid::nil()) };
    let content = Content { text: Some(text), attached };
    let line = chat.state.encode(FrameNo(3), &message, &content).unwrap();
    let line: serde_json::Value = serde_json::from_slice(&line).unwrap();
    line["params"]["prompt"].clone()
}

fn attached<'a>(media_type: &'a str, bytes: u64, given: Given<'a>) -> Attached<'a> {
    Attached { name: "a b.x", media_type, bytes, given }
}

const ALL: &str = r#"{"promptCapabilities":{"image":true,"embeddedContext":true}}"#;

#[test]
fn the_form_is_what_the_agent_says_that_it_takes() {
    use Form::{Image, Link, Text};
    let wanted =
        [("image/png", 9), ("image/svg+xml", 9), ("text/plain", 9), ("application/pdf", 9)];
    for (capabilities, forms) in [
        (ALL, [Image, Link, Text, Link]),
        (r#"{"promptCapabilities":{"image":true}}"#, [Image, Link, Link, Link]),
        (r#"{"promptCapabilities":{"embeddedContext":{}}}"#, [Link, Link, Text, Link]),
        (r#"{"promptCapabilities":{"image":false,"embeddedContext":null}}"#, [Link; 4]),
        (r#"{"promptCapabilities":7}"#, [Link; 4]),
        ("{}", [Link; 4]),
    ] {
        assert_eq!(able(capabilities).state.forms(&wanted), forms, "{capabilities}");
    }
}

#[test]
fn what_is_large_is_linked_and_a_message_stays_one_line() {
    use Form::{Image, Link, Text};
    let chat = able(ALL);
    let forms = |wanted: &[(&str, u64)]| chat.state.forms(wanted);
    assert_eq!(
        forms(&[("image/png", IMAGE_BYTES_MAX), ("image/png", IMAGE_BYTES_MAX + 1)]),
        [Image, Link]
    );
    assert_eq!(
        forms(&[("text/csv", TEXT_BYTES_MAX), ("text/csv", TEXT_BYTES_MAX + 1)]),
        [Text, Link]
    );
    let many = vec![("image/png", IMAGE_BYTES_MAX); 20];
    let images = forms(&many).iter().filter(|form| **form == Image).count();
    assert_eq!(u64::try_from(images).unwrap() * IMAGE_BYTES_MAX, INLINE_BYTES_MAX);
    let longest = usize::try_from(INLINE_BYTES_MAX).unwrap() * 4 / 3;
    assert!(longest + (1 << 20) < holdfast_core::limits::LINE_BYTES_MAX);
}

#[test]
fn each_form_has_its_block_behind_the_text() {
    let chat = able(ALL);
    let uri = "file:///t/a%20b.x";
    let all = [
        attached("image/png", 3, Given::Image(b"\x89PN")),
        attached("text/plain", 2, Given::Text { text: "hi", uri }),
        attached("application/pdf", 7, Given::Link { uri }),
        attached("image/png", 8, Given::Lost),
    ];
    let sent = prompt(&chat, "look", &all);
    assert_eq!(
        sent.as_array().unwrap()[..4],
        [
            json!({"type":"text","text":"look"}),
            json!({"type":"image","mimeType":"image/png","data":"iVBO"}),
            json!({"type":"resource",
                "resource":{"uri":uri,"mimeType":"text/plain","text":"hi"}}),
            json!({"type":"resource_link","uri":uri,"name":"a b.x",
                "mimeType":"application/pdf","size":7}),
        ]
    );
    let lost = sent[4]["text"].as_str().unwrap();
    assert!(lost.contains("a b.x") && lost.contains("damaged"), "{lost}");
    // The library that agents are written with reads the same.
    let blocks: Vec<agent_client_protocol_schema::v1::ContentBlock> =
        serde_json::from_value(sent).unwrap();
    assert_eq!(blocks.len(), 5);
}

#[test]
fn a_message_without_a_text_has_no_empty_block() {
    let chat = able(ALL);
    let image = [attached("image/png", 3, Given::Image(b"\x89PN"))];
    let sent = prompt(&chat, " ", &image);
    assert_eq!(sent.as_array().unwrap().len(), 1);
    assert_eq!(prompt(&chat, "", &[]), json!([{"type":"text","text":""}]));
}

/// What was attached is told beside the words, and is no part of them.
#[test]
fn a_replay_is_known_by_the_words_alone() {
    let mut spec = spec();
    spec.handle = Some(Handle { root: "s1".to_owned(), leaf: "s1".to_owned() });
    spec.history = History::Ask;
    let image = r#"{"type":"image","mimeType":"image/png","data":"iVBO"}"#;
    let words = r#"{"type":"text","text":"look"}"#;
    for (blocks, text) in
        [(vec![words, image], "look"), (vec![image], ""), (vec![image, words], "look")]
    {
        let (mut chat, _) = Chat::starting(&spec);
        let _ = chat.line(
            r#"{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#,
        );
        for block in blocks {
            let _ = chat.update(&format!(
                r#"{{"sessionUpdate":"user_message_chunk","messageId":"m1","content":{block}}}"#
            ));
        }
        let told = chat.line(r#"{"id":2,"result":{}}"#);
        let last = Some(holdfast_core::digest(text));
        assert_eq!(told.first(), Some(&ProviderEvent::ReplayEnded { messages: 1, last }));
    }
}

/// What an earlier build stored says nothing of what the agent takes: it is given links.
#[test]
fn a_state_of_an_earlier_build_is_read() {
    let chat = able(ALL);
    let stored = String::from_utf8(chat.state.to_bytes()).unwrap();
    let takes = r#","takes":{"image":true,"embedded":true}"#;
    assert!(stored.contains(takes), "{stored}");
    let older = CodecState::from_bytes(stored.replace(takes, "").as_bytes()).unwrap();
    assert_eq!(older.forms(&[("image/png", 9)]), [Form::Link]);
}
