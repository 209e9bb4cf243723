//! The start of a session.

use super::*;

fn known(history: History) -> SessionSpec {
    let id = "old".to_owned();
    SessionSpec { handle: Some(Handle { root: id.clone(), leaf: id }), history, ..spec() }
}

#[test]
fn how_a_session_is_opened_depends_on_what_the_agent_can() {
    let load = r#"{"loadSession":true}"#;
    let resume = r#"{"sessionCapabilities":{"resume":{}}}"#;
    let both = r#"{"loadSession":true,"sessionCapabilities":{"resume":{}}}"#;
    let odd = r#"{"loadSession":false,"sessionCapabilities":{"resume":null}}"#;
    for (spec, capabilities, told) in [
        (spec(), both, "wants session/new"),
        (known(History::Ask), load, "wants session/load"),
        (known(History::Ask), both, "wants session/load"),
        (known(History::Ask), resume, "wants session/resume"),
        (known(History::Skip), load, "wants session/load"),
        (known(History::Skip), both, "wants session/resume"),
        (known(History::Skip), odd, "failed SessionNotFound"),
        (known(History::Ask), "7", "failed SessionNotFound"),
    ] {
        let (mut chat, _) = Chat::starting(&spec);
        let events = chat.line(&format!(
            r#"{{"id":1,"result":{{"protocolVersion":1,"agentCapabilities":{capabilities}}}}}"#
        ));
        assert!(words(&events).starts_with(told), "{capabilities}: {events:?}");
    }
}

#[test]
fn another_version_is_refused_with_a_sentence() {
    let (mut chat, _) = Chat::starting(&spec());
    let told = words(&chat.line(r#"{"id":1,"result":{"protocolVersion":2}}"#));
    assert!(told.starts_with("failed AgentRefused The agent speaks version 2"), "{told}");
    assert_eq!(chat.line(r#"{"id":2,"result":{"sessionId":"s"}}"#), []);
}

#[test]
fn an_error_at_any_stage_ends_the_start() {
    let (mut chat, _) = Chat::starting(&spec());
    let _ = chat.line(r#"{"id":1,"result":{}}"#);
    let error = r#"{"id":2,"error":{"code":-32000,"message":"Authentication required"}}"#;
    assert_eq!(words(&chat.line(error)), "failed LoginNeeded Authentication required\n");

    let (mut chat, _) = Chat::starting(&known(History::Skip));
    let _ = chat.line(r#"{"id":1,"result":{"agentCapabilities":{"loadSession":true}}}"#);
    let error = r#"{"id":2,"error":{"code":-32602,"message":"Session not found: old"}}"#;
    assert_eq!(words(&chat.line(error)), "failed SessionNotFound Session not found: old\n");

    let (mut chat, _) = Chat::starting(&spec());
    let _ = chat.line(r#"{"id":1,"result":{}}"#);
    assert!(words(&chat.line(r#"{"id":2,"result":{}}"#)).starts_with("failed AgentRefused"));
}

#[test]
fn history_proves_nothing_and_shows_nothing() {
    let (mut chat, _) = Chat::starting(&known(History::Ask));
    let _ = chat.line(r#"{"id":1,"result":{"agentCapabilities":{"loadSession":true}}}"#);
    let old = |kind: &str, rest: &str| {
        format!(
            r#"{{"method":"session/update","params":{{"sessionId":"old","update":{{"sessionUpdate":"{kind}",{rest}}}}}}}"#
        )
    };
    let text = |text: &str| format!(r#""content":{{"type":"text","text":"{text}"}}"#);
    for line in [
        old("user_message_chunk", &text("one")),
        old("agent_message_chunk", &text("1")),
        old("tool_call", r#""toolCallId":"c""#),
        old("user_message_chunk", &format!(r#""messageId":"m",{}"#, text(" tw"))),
        old("usage_update", r#""used":1"#),
        old("user_message_chunk", &format!(r#""messageId":"m",{}"#, text("o "))),
    ] {
        assert_eq!(chat.line(&line), [], "{line}");
    }
    let told = words(&chat.line(r#"{"id":2,"result":{}}"#));
    let digest = holdfast_core::digest("two");
    assert_eq!(told, format!("replay ended 2 {digest}\nready old None None\n"));
}

#[test]
fn a_resumed_session_has_no_history_to_ask() {
    let (mut chat, _) = Chat::starting(&known(History::Ask));
    let _ = chat
        .line(r#"{"id":1,"result":{"agentCapabilities":{"sessionCapabilities":{"resume":{}}}}}"#);
    let told = words(&chat.line(r#"{"id":2,"result":{"sessionId":"new"}}"#));
    assert_eq!(told, "ready new None None\n");
}

fn fork() -> SessionSpec {
    let session = known(History::Skip).handle.unwrap();
    SessionSpec { fork_of: Some(Trunk { session, until: None }), ..spec() }
}

#[test]
fn a_fork_is_another_session_and_what_it_shows_at_first_is_history() {
    let can = r#"{"id":1,"result":{"agentCapabilities":{"sessionCapabilities":{"fork":{}}}}}"#;
    let (mut chat, _) = Chat::starting(&fork());
    assert_eq!(words(&chat.line(can)), "wants session/fork\n");
    let old = r#"{"method":"session/update","params":{"sessionId":"new","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"one"}}}}"#;
    assert_eq!(chat.line(old), []);
    let told = words(&chat.line(r#"{"id":2,"result":{"sessionId":"new"}}"#));
    let digest = holdfast_core::digest("one");
    assert_eq!(told, format!("replay ended 1 {digest}\nready new None None\n"));

    for (reply, why) in [
        (r#"{"id":2,"result":{"sessionId":"old"}}"#, "failed AgentRefused"),
        (r#"{"id":2,"result":{}}"#, "failed AgentRefused"),
        (
            r#"{"id":2,"error":{"code":-32602,"message":"Session not found: old"}}"#,
            "failed SessionNotFound",
        ),
    ] {
        let (mut chat, _) = Chat::starting(&fork());
        let _ = chat.line(can);
        let told = words(&chat.line(reply));
        assert!(told.starts_with(why), "{reply}: {told}");
    }
}

#[test]
fn an_agent_that_cannot_fork_is_not_asked_to() {
    let (mut chat, _) = Chat::starting(&fork());
    let told = words(&chat.line(r#"{"id":1,"result":{"agentCapabilities":{"loadSession":true}}}"#));
    assert!(told.starts_with("failed AgentRefused"), "{told}");
}

#[test]
fn mode_and_model_are_set_where_the_agent_lists_them() {
    let opened = r#"{"id":2,"result":{"sessionId":"s1","modes":{"currentModeId":"ask","availableModes":[{"id":"ask"},{"id":"plan"}]},"configOptions":[{"id":"m","category":"model","currentValue":"a","options":[{"value":"a"},{"group":"g","options":[{"value":"b"}]}]}]}}"#;
    let wants = |mode: &str, model: &str| SessionSpec {
        mode: Some(mode.to_owned()),
        model: Some(model.to_owned()),
        ..spec()
    };
    for (mode, model, replies, told) in [
        (
            "plan",
            "b",
            [r#""result":{}"#, r#""result":null"#],
            "wants session/set_mode\nwants session/set_config_option\nready s1 Some(\"b\") Some(\"plan\")\n",
        ),
        (
            "plan",
            "b",
            [r#""error":{"code":1}"#, r#""error":{"code":1}"#],
            "wants session/set_mode\nwants session/set_config_option\nready s1 Some(\"a\") Some(\"ask\")\n",
        ),
        ("ask", "zzz", ["", ""], "ready s1 Some(\"a\") Some(\"ask\")\n"),
        ("ask", "a", ["", ""], "ready s1 Some(\"a\") Some(\"ask\")\n"),
    ] {
        let (mut chat, _) = Chat::starting(&wants(mode, model));
        let _ = chat.line(r#"{"id":1,"result":{}}"#);
        let mut events = chat.line(opened);
        for (reply, id) in replies.iter().zip(3..) {
            if !reply.is_empty() {
                events.extend(chat.line(&format!(r#"{{"id":{id},{reply}}}"#)));
            }
        }
        assert_eq!(words(&events), told, "{mode} {model}");
    }
}

#[test]
fn a_session_that_no_frame_could_name_is_not_opened() {
    let (mut chat, _) = Chat::starting(&spec());
    let _ = chat.line(r#"{"id":1,"result":{}}"#);
    let long = "x".repeat(513);
    let told = words(&chat.line(&format!(r#"{{"id":2,"result":{{"sessionId":"{long}"}}}}"#)));
    assert!(told.starts_with("failed AgentRefused"), "{told}");
    let cwd = "x".repeat(5000);
    let (_, events) = CodecState::start(AgentKind::Acp, &SessionSpec { cwd, ..spec() });
    assert!(words(&events).starts_with("failed AgentRefused"));
}
