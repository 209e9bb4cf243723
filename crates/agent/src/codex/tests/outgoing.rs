//! What goes out.

use holdfast_core::frame::Setting;

use super::*;

#[test]
fn a_frame_is_one_line_that_names_no_version() {
    let mut chat = Chat::ready();
    let out = Outgoing::Message { message: message_id(9) };
    let frame = chat.issue(&out);
    let line =
        chat.state.encode(frame, &out, &Content { text: Some("a\nb"), attached: &[] }).unwrap();
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
    let sent: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(
        sent,
        json!({ "id": 5, "method": "turn/start", "params": {
            "threadId": "T",
            "input": [{ "type": "text", "text": "a\nb" }],
            "clientUserMessageId": "msg_00000000000000000000000000000009",
        } })
    );
    let missing = chat.state.encode(frame, &out, &Content::default());
    assert!(matches!(missing, Err(EncodeError::TextMissing { .. })));
    let (chat, _) = Chat::starting(&spec());
    assert!(matches!(chat.sends(FrameNo(9), &out), Err(EncodeError::NoSession { .. })));
}

#[test]
fn an_interrupt_names_the_turn_that_runs_or_is_promised() {
    let named = |chat: &mut Chat| {
        let frame = chat.issue(&Outgoing::Interrupt);
        chat.sends(frame, &Outgoing::Interrupt).unwrap()["params"].clone()
    };
    assert_eq!(named(&mut Chat::working()), json!({ "threadId": "T", "turnId": "U" }));
    let mut chat = Chat::prompted();
    assert_eq!(named(&mut chat)["turnId"], "", "whichever runs");
    let _ = chat.said(r#"{"id":5,"result":{"turn":{"id":"P"}}}"#);
    assert_eq!(named(&mut chat)["turnId"], "P");
    let mut chat = Chat::working();
    let _ = chat.said(ENDED);
    assert_eq!(named(&mut chat)["turnId"], "");
    // That there is nothing to interrupt says nothing.
    let error = r#"{"id":6,"error":{"code":-32600,"message":"no active turn to interrupt"}}"#;
    assert_eq!(chat.said(error), "");
}

#[test]
fn an_answer_that_nobody_waits_for_is_passed_over() {
    let mut chat = Chat::working();
    let _ = chat.told(&[ASK, INTERRUPTED]);
    let answer = Answer::Cancelled;
    let out = Outgoing::Answer { prompt: PromptId::new(1, 1), answer };
    assert!(matches!(chat.sends(FrameNo(9), &out), Err(EncodeError::PromptGone { prompt: 1 })));
}

#[test]
fn model_and_mode_are_set_while_it_runs() {
    let set = |chat: &Chat, setting: Setting| {
        let sent = chat.sends(FrameNo(9), &Outgoing::Set { setting })?;
        assert_eq!(sent["method"], "thread/settings/update");
        Ok::<_, EncodeError>(sent["params"].clone())
    };
    let chat = Chat::ready();
    let model = set(&chat, Setting::Model("n".to_owned())).unwrap();
    assert_eq!(model, json!({ "threadId": "T", "model": "n" }));
    let mode = set(&chat, Setting::Mode("full-access".to_owned())).unwrap();
    assert_eq!(mode["approvalPolicy"], "never");
    let effort = set(&chat, Setting::Effort("high".to_owned())).unwrap();
    assert_eq!(effort, json!({ "threadId": "T", "effort": "high" }));
    let same = set(&chat, Setting::Mode("auto".to_owned()));
    assert!(matches!(same, Err(EncodeError::NotSettable)));

    let mut chat = Chat::ready();
    let setting = Setting::Mode("odd".to_owned());
    let events = chat.step(Inward::Issued { frame: FrameNo(5), out: &Outgoing::Set { setting } });
    assert_eq!(words(&events), "setting refused Codex has no mode \"odd\".\nretuned m auto\n");
    let setting = Setting::Model("x".to_owned());
    let events = chat.step(Inward::Issued { frame: FrameNo(6), out: &Outgoing::Set { setting } });
    assert_eq!(events, []);
    let refused = chat.said(r#"{"id":6,"error":{"code":-32600,"message":"no such model"}}"#);
    assert_eq!(refused, "setting refused no such model\n");
}
