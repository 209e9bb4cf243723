//! The start of a thread.

use super::*;

#[test]
fn a_start_is_asked_step_by_step() {
    let (mut chat, events) = Chat::starting(&spec());
    assert_eq!(words(&events), "wants initialize\n");
    let told = chat.said(r#"{"id":1,"result":{}}"#);
    assert_eq!(told, "tells initialized\nwants account/read\n");
    assert_eq!(chat.said(r#"{"id":3,"result":{}}"#), "wants thread/start\n");
    assert_eq!(chat.said(OPENED), "ready T Some(\"m\") Some(\"auto\")\n");
}

fn asked(spec: &SessionSpec) -> (String, Value) {
    let (_, events) = CodecState::start(AgentKind::Codex, spec);
    assert_eq!(words(&events), "wants initialize\n");
    let (mut chat, _) = Chat::starting(spec);
    let _ = chat.line(r#"{"id":1,"result":{}}"#);
    let events = chat.line(r#"{"id":3,"result":{}}"#);
    let [ProviderEvent::Wants(holdfast_core::provider::ProtocolFrame::Request { method, params })] =
        events.as_slice()
    else {
        panic!("{events:?}")
    };
    (method.clone(), serde_json::from_str(params).unwrap())
}

#[test]
fn a_thread_is_begun_or_brought_back_with_what_the_chat_wants() {
    let tuned = |spec: SessionSpec, mode: &str| SessionSpec {
        model: Some("large".to_owned()),
        mode: Some(mode.to_owned()),
        ..spec
    };
    for (spec, method, params) in [
        (spec(), "thread/start", json!({ "cwd": "/w" })),
        (
            tuned(spec(), "read-only"),
            "thread/start",
            json!({
                "cwd": "/w", "model": "large", "approvalPolicy": "on-request",
                "sandbox": "read-only",
            }),
        ),
        (
            SessionSpec { fork_of: trunk(), ..spec() },
            "thread/fork",
            json!({ "cwd": "/w", "threadId": "T", "excludeTurns": true }),
        ),
        (tuned(spec(), "odd"), "thread/start", json!({ "cwd": "/w", "model": "large" })),
        (
            tuned(known(), "full-access"),
            "thread/resume",
            json!({
                "cwd": "/w", "model": "large", "approvalPolicy": "never",
                "sandbox": "danger-full-access", "threadId": "T", "excludeTurns": true,
            }),
        ),
    ] {
        assert_eq!(asked(&spec), (method.to_owned(), params));
    }
}

#[test]
fn what_a_start_cannot_say_is_said_right_after_it() {
    let plan = SessionSpec { mode: Some("plan".to_owned()), ..spec() };
    let (mut chat, _) = Chat::opening(&plan);
    let told = chat.said(OPENED);
    assert_eq!(told, "wants thread/settings/update\nready T Some(\"m\") Some(\"plan\")\n");
    // A thread that is in it already is left in peace.
    let (mut chat, _) = Chat::opening(&plan);
    let opened = OPENED
        .replace(r#""model""#, r#""collaborationMode":{"mode":"plan","settings":{}},"model""#);
    assert_eq!(chat.said(&opened), "ready T Some(\"m\") Some(\"plan\")\n");
}

#[test]
fn a_start_that_fails_says_why() {
    let fault = |spec: &SessionSpec, line: &str| Chat::opening(spec).0.said(line);
    for (spec, error, told) in [
        (spec(), "no such directory", "failed AgentRefused no such directory\n"),
        (
            SessionSpec { holds: 1, ..known() },
            "no rollout found for thread id T",
            "failed SessionNotFound no rollout found for thread id T\n",
        ),
        (
            SessionSpec { fork_of: trunk(), ..spec() },
            "no rollout found for thread id T",
            "failed SessionNotFound no rollout found for thread id T\n",
        ),
        (
            known(),
            "thread T already has an active writer",
            "failed AgentRefused Another program has this Codex thread open; close it there first. \
             (thread T already has an active writer)\n",
        ),
    ] {
        let line = json!({ "id": 4, "error": { "code": -32600, "message": error } }).to_string();
        assert_eq!(fault(&spec, &line), told);
    }
    let no_id = fault(&spec(), r#"{"id":4,"result":{}}"#);
    assert!(no_id.starts_with("failed AgentRefused The agent opened a thread without"), "{no_id}");
    let (mut chat, _) = Chat::starting(&spec());
    let told = chat.said(r#"{"id":1,"error":{"code":-32600,"message":"no"}}"#);
    assert_eq!(told, "failed AgentRefused no\n");
    assert_eq!(chat.told(&[SAY, ASK, "x"]), "", "after that nothing it says matters");
    let long = SessionSpec { cwd: "x".repeat(5000), ..spec() };
    let (_, events) = Chat::starting(&long);
    assert!(words(&events).starts_with("failed AgentRefused The directory"));
}

#[test]
fn nobody_is_logged_in_only_where_an_account_is_wanted() {
    for (account, told) in [
        (r#"{"account":null,"requiresOpenaiAuth":true}"#, "failed LoginNeeded"),
        (r#"{"account":{"type":"apiKey"},"requiresOpenaiAuth":true}"#, "wants thread/start"),
        (r#"{"account":null,"requiresOpenaiAuth":false}"#, "wants thread/start"),
        (r#"{}"#, "wants thread/start"),
    ] {
        let (mut chat, _) = Chat::starting(&spec());
        let _ = chat.line(r#"{"id":1,"result":{}}"#);
        let said = chat.said(&format!(r#"{{"id":3,"result":{account}}}"#));
        assert!(said.starts_with(told), "{account}: {said}");
    }
    let (mut chat, _) = Chat::starting(&spec());
    let _ = chat.line(r#"{"id":1,"result":{}}"#);
    let older = chat.said(r#"{"id":3,"error":{"code":-32600,"message":"unknown variant"}}"#);
    assert_eq!(older, "wants thread/start\n");
}

#[test]
fn another_thread_than_the_one_asked_for_is_a_fork() {
    let (mut chat, told) = Chat::opening(&known());
    assert_eq!(told, "wants thread/resume\n");
    let events = chat.line(&OPENED.replace("\"T\"", "\"F\""));
    let [ProviderEvent::Ready { handle, .. }] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((handle.root.as_str(), handle.leaf.as_str()), ("F", "F"));
}

#[test]
fn a_thread_begins_as_a_copy_of_another() {
    let (mut chat, told) = Chat::opening(&SessionSpec { fork_of: trunk(), ..spec() });
    assert_eq!(told, "wants thread/fork\n");
    let told = chat.said(&OPENED.replace("\"T\"", "\"F\""));
    assert!(told.starts_with("ready F "), "{told}");
}

#[test]
fn what_is_told_before_the_thread_stands_is_passed_over() {
    let (mut chat, _) = Chat::opening(&spec());
    let noise = r#"{"method":"configWarning","params":{"summary":"x"}}"#;
    assert_eq!(chat.told(&[noise, STARTED, SAY, ENDED]), "");
    assert!(chat.said(ASK).starts_with("reply 0 \"error\""));
}

/// The whole of the thread that is known.
fn trunk() -> Option<Trunk> {
    known().handle.map(|session| Trunk { session, until: None })
}

#[test]
fn a_fork_ends_with_the_turn_that_it_is_asked_for() {
    let session = known().handle.unwrap();
    let at = |until: Option<&str>| {
        let until = until.map(str::to_owned);
        let trunk = Trunk { session: session.clone(), until };
        asked(&SessionSpec { fork_of: Some(trunk), ..spec() })
    };
    let (method, params) = at(Some("U"));
    assert_eq!((method.as_str(), &params["lastTurnId"]), ("thread/fork", &json!("U")));
    assert_eq!(at(None).1["lastTurnId"], Value::Null);
}
