use holdfast_core::frame::Setting;
use holdfast_core::provider::Handle;

use super::*;

#[test]
fn it_is_ready_once_it_has_answered_with_the_session_that_the_host_chose() {
    let known = Handle { root: "s".to_owned(), leaf: "s".to_owned() };
    for (handle, session) in [(None, "00000000-0000-0000-0000-000000000100"), (Some(known), "s")] {
        let mut chat = Chat::started(&SessionSpec { handle, ..spec() });
        let answer = r#"{"type":"control_response","response":{"subtype":"success","request_id":"holdfast-1","response":{"current_permission_mode":"plan"}}}"#;
        assert_eq!(chat.line(answer), format!("ready {session} None Some(\"plan\")\n"));
        assert_eq!(chat.line(answer), "", "once");
    }
}

#[test]
fn a_start_that_comes_to_nothing_says_why() {
    for (line, said) in [
        (
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: x"]}"#,
            "failed SessionNotFound No conversation found with session ID: x\n",
        ),
        (
            r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["Session ID x is already in use."]}"#,
            "failed AgentRefused Session ID x is already in use.\n",
        ),
        (
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"holdfast-1","error":"no"}}"#,
            "failed AgentRefused no\n",
        ),
    ] {
        let mut chat = Chat::started(&spec());
        assert_eq!(chat.line(line), said);
        assert_eq!(chat.line(INIT), "", "nothing that it says matters");
    }
    let leaf = "x".repeat(10_000);
    let handle = Some(Handle { root: leaf.clone(), leaf });
    let (_, events) = CodecState::start(AgentKind::Claude, &SessionSpec { handle, ..spec() });
    assert!(words(&events).starts_with("failed AgentRefused"));
}

/// After a resume the CLI tells of what was cut off, and has turns that come to nothing.
#[test]
fn what_it_restates_after_a_resume_opens_nothing() {
    let mut chat = Chat::started(&spec());
    let said = chat.lines(&[
        r#"{"type":"system","subtype":"session_title_changed","title":"T"}"#,
        r#"{"type":"system","subtype":"task_notification","task_id":"b1","status":"stopped","summary":"x"}"#,
        r#"{"type":"system","subtype":"task_notification","task_id":"b1","status":"stopped","summary":"x"}"#,
    ]);
    assert_eq!(said, "titled T\n");
    let mut chat = Chat::ready();
    let empty = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"","origin":{"kind":"task-notification"}}"#;
    assert_eq!(chat.lines(&[INIT, empty, INIT, empty]), "retuned m -\n");
    // Also while our message is on its way: it is not the end of that.
    let frame = chat.message();
    assert_eq!(chat.lines(&[INIT, empty]), "");
    let id = message_id(ATTEMPT, frame);
    assert_eq!(
        chat.line(&format!(r#"{{"type":"user","isReplay":true,"uuid":"{id}","message":{{}}}}"#)),
        "taken 2\n"
    );
}

#[test]
fn settings_are_told_and_what_is_refused_stays_as_it_was() {
    let mut chat = Chat::working();
    let set = |setting| Outgoing::Set { setting };
    let model = set(Setting::Model("opus".to_owned()));
    assert_eq!(chat.encoded(&model).unwrap()["request"]["model"], "opus");
    let frame = chat.does(&model).0;
    let answer = |frame: u64, body: &str| {
        format!(
            r#"{{"type":"control_response","response":{{"request_id":"holdfast-{frame}",{body}}}}}"#
        )
    };
    assert_eq!(chat.line(&answer(frame, r#""subtype":"success""#)), "");
    let init =
        r#"{"type":"system","subtype":"init","model":"full-opus","permissionMode":"default"}"#;
    assert_eq!(chat.line(init), "", "the chat keeps the name that it asked by");
    assert_eq!(chat.line(INIT), "retuned m -\n", "the CLI itself changed it");
    let frame = chat.does(&set(Setting::Mode("x".to_owned()))).0;
    assert_eq!(
        chat.line(&answer(frame, r#""subtype":"error","error":"no""#)),
        "setting refused no\nretuned - default\n"
    );
    let status = r#"{"type":"system","subtype":"status","permissionMode":"acceptEdits"}"#;
    assert_eq!(chat.lines(&[status, status]), "retuned - acceptEdits\n");

    // The mode in which nothing is asked has to be there from the start.
    let bypass = set(Setting::Mode("bypassPermissions".to_owned()));
    assert!(matches!(chat.encoded(&bypass), Err(EncodeError::NotSettable)));
    let frame = FrameNo(99);
    assert_eq!(words(&chat.step(Inward::Issued { frame, out: &bypass })), "setting deferred\n");
    let mode = Some("bypassPermissions".to_owned());
    let allowed = Chat::started(&SessionSpec { mode, ..spec() });
    assert!(allowed.encoded(&bypass).is_ok());
}

#[test]
fn a_conversation_that_is_cleared_moves_to_another_session() {
    let mut chat = Chat::working();
    let init = r#"{"type":"system","subtype":"init","session_id":"other","model":"m"}"#;
    assert_eq!(chat.lines(&[init, init]), "moved to other\n");
}

#[test]
fn a_message_goes_out_with_the_id_of_its_hand_over() {
    let chat = Chat::working();
    let message = Outgoing::Message { message: MessageId::new(uuid::Uuid::nil()) };
    let line = chat.encoded(&message).unwrap();
    assert_eq!(line["uuid"], message_id(ATTEMPT, FrameNo(7)).to_string());
    assert_eq!(line["message"]["content"][0]["text"], "hi");
    let interrupt = chat.encoded(&Outgoing::Interrupt).unwrap();
    assert_eq!(interrupt["request"]["cancel_queued"], true);
    assert_eq!(interrupt["request_id"], "holdfast-7");
}

#[test]
fn an_effort_that_it_does_not_know_is_refused_for_it() {
    const KNOWS: &str = r#"{"type":"control_response","response":{"subtype":"success",
        "request_id":"holdfast-1","response":{"models":[{"supportedEffortLevels":["low","high"]},
        {},{"supportedEffortLevels":["high","max"]}]}}}"#;
    let knows = KNOWS.replace('\n', "");
    let effort = |effort: &str| SessionSpec { effort: Some(effort.to_owned()), ..spec() };
    let mut chat = Chat::started(&effort("low"));
    let told = chat.line(&knows);
    assert!(told.ends_with("efforts low high max\n"), "{told}");
    let set = |effort: &str| Outgoing::Set { setting: Setting::Effort(effort.to_owned()) };
    let sent = chat.encoded(&set("max")).unwrap();
    assert_eq!(sent["request"]["subtype"], "apply_flag_settings");
    assert_eq!(sent["request"]["settings"]["effortLevel"], "max");
    assert!(matches!(chat.encoded(&set("odd")), Err(EncodeError::NotSettable)));
    let refused = "setting refused Claude Code knows no effort \"odd\"; it knows low, high, max.\n";
    let issued = |chat: &mut Chat, out: &Outgoing| {
        words(&chat.step(Inward::Issued { frame: FrameNo(99), out }))
    };
    assert_eq!(issued(&mut chat, &set("odd")), format!("{refused}effort low\n"));
    assert_eq!(issued(&mut chat, &set("max")), "");
    assert_eq!(issued(&mut chat, &set("odd")), format!("{refused}effort max\n"));

    let mut chat = Chat::started(&effort("odd"));
    let told = chat.line(&knows);
    assert!(told.ends_with(&format!("{refused}effort \n")), "{told}");
}

#[test]
fn what_can_be_written_after_a_slash_is_told_with_the_start_and_when_it_changes() {
    let mut chat = Chat::started(&spec());
    let list = r#""commands":[{"name":"review","description":"Looks","argumentHint":"[file]"},{"name":"compact","description":"Shortens","argumentHint":"","builtin":true},{"description":"no name"}]"#;
    let initialized = format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"holdfast-1","response":{{{list}}}}}}}"#
    );
    let told = chat.line(&initialized);
    assert!(told.ends_with("commands review compact\n"), "{told}");
    let changed = r#"{"type":"system","subtype":"commands_changed","commands":[{"name":"x"}]}"#;
    assert_eq!(chat.line(changed), "commands x\n");
    assert_eq!(chat.line(r#"{"type":"system","subtype":"commands_changed"}"#), "");
}
