//! What this codec sends is what the protocol's own library reads.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use agent_client_protocol_schema::v1;
use holdfast_agent::codec::{AgentKind, CodecState, Content, History, Inward, SessionSpec};
use holdfast_core::frame::{Answer, Outgoing};
use holdfast_core::ids::{FrameNo, MessageId, PromptId};
use holdfast_core::provider::{Handle, ProviderEvent};
use serde::de::DeserializeOwned;
use serde_json::Value;

struct Talk {
    state: CodecState,
    frame: u64,
    sent: Vec<Value>,
}

impl Talk {
    fn start(handle: Option<&str>, history: History) -> Self {
        let spec = SessionSpec {
            cwd: "/w".to_owned(),
            handle: handle.map(|id| Handle { root: id.to_owned(), leaf: id.to_owned() }),
            fork_of: None,
            history,
            model: Some("m2".to_owned()),
            mode: Some("plan".to_owned()),
            effort: None,
            sought: Vec::new(),
            holds: 0,
            attempt: (holdfast_core::ids::AttemptId::new(uuid::Uuid::nil()), 1),
        };
        let (state, events) = CodecState::start(AgentKind::Acp, &spec);
        let mut talk = Self { state, frame: 0, sent: Vec::new() };
        talk.send_wanted(events);
        talk
    }

    fn send(&mut self, out: &Outgoing) {
        self.frame += 1;
        let frame = FrameNo(self.frame);
        let _ = self.state.step(Inward::Issued { frame, out });
        let text = Some("hi");
        let line = self.state.encode(frame, out, &Content { text, attached: &[] }).unwrap();
        self.sent.push(serde_json::from_slice(&line).unwrap());
        let _ = self.state.step(Inward::Written { frame });
    }

    fn send_wanted(&mut self, events: Vec<ProviderEvent>) {
        for event in events {
            if let ProviderEvent::Wants(wanted) = event {
                self.send(&Outgoing::Protocol(wanted));
            }
        }
    }

    fn hear(&mut self, line: &str) {
        let events = self.state.step(Inward::Line(line.as_bytes()));
        self.send_wanted(events);
    }

    /// The parameters or the result of the frame that was sent last, as the library reads it.
    fn last<T: DeserializeOwned>(&self, method: Option<&str>) -> T {
        let sent = self.sent.last().unwrap();
        assert_eq!(sent["jsonrpc"], "2.0");
        assert_eq!(sent["method"].as_str(), method);
        let inner = if method.is_some() { &sent["params"] } else { &sent["result"] };
        serde_json::from_value(inner.clone()).unwrap_or_else(|error| panic!("{sent}: {error}"))
    }
}

const INITIALIZED: &str = r#"{"id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}}"#;

#[test]
fn the_handshake_is_read() {
    let mut talk = Talk::start(None, History::Skip);
    let asked: v1::InitializeRequest = talk.last(Some("initialize"));
    assert_eq!(serde_json::to_value(asked.protocol_version).unwrap(), 1);
    let capabilities = asked.client_capabilities;
    assert!(!capabilities.terminal && !capabilities.fs.read_text_file);
    assert!(capabilities.elicitation.is_some_and(|elicitation| elicitation.supports_form()));
    talk.hear(INITIALIZED);
    let new: v1::NewSessionRequest = talk.last(Some("session/new"));
    assert!(new.mcp_servers.is_empty() && new.cwd.as_os_str() == "/w");
    talk.hear(
        r#"{"id":2,"result":{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"plan"}]},"configOptions":[{"id":"model","category":"model","currentValue":"m","options":[{"value":"m2"}]}]}}"#,
    );
    let mode: v1::SetSessionModeRequest = talk.last(Some("session/set_mode"));
    assert_eq!(&*mode.mode_id.0, "plan");
    talk.hear(r#"{"id":3,"result":{}}"#);
    let model: v1::SetSessionConfigOptionRequest = talk.last(Some("session/set_config_option"));
    assert_eq!(serde_json::to_value(model).unwrap()["value"], "m2");
}

#[test]
fn a_session_is_brought_back() {
    let mut talk = Talk::start(Some("old"), History::Ask);
    talk.hear(INITIALIZED);
    let load: v1::LoadSessionRequest = talk.last(Some("session/load"));
    assert_eq!(&*load.session_id.0, "old");
    let mut talk = Talk::start(Some("old"), History::Skip);
    talk.hear(INITIALIZED);
    let resume: v1::ResumeSessionRequest = talk.last(Some("session/resume"));
    assert_eq!(&*resume.session_id.0, "old");
}

#[test]
fn messages_answers_and_refusals_are_read() {
    let mut talk = Talk::start(None, History::Skip);
    talk.hear(INITIALIZED);
    talk.hear(r#"{"id":2,"result":{"sessionId":"s"}}"#);
    talk.send(&Outgoing::Message { message: MessageId::new(uuid::Uuid::nil()) });
    let prompt: v1::PromptRequest = talk.last(Some("session/prompt"));
    assert!(
        matches!(prompt.prompt.as_slice(), [v1::ContentBlock::Text(text)] if text.text == "hi")
    );
    talk.send(&Outgoing::Interrupt);
    let cancel: v1::CancelNotification = talk.last(Some("session/cancel"));
    assert_eq!(&*cancel.session_id.0, "s");

    let ask = |id: u32| {
        format!(
            r#"{{"id":{id},"method":"session/request_permission","params":{{"sessionId":"s","toolCall":{{"toolCallId":"c"}},"options":[{{"optionId":"yes"}}]}}}}"#
        )
    };
    talk.hear(&ask(0));
    let answer = Answer::Option { option: "yes".to_owned(), text: None };
    talk.send(&Outgoing::Answer { prompt: PromptId::new(1, 1), answer });
    let reply: v1::RequestPermissionResponse = talk.last(None);
    assert!(matches!(reply.outcome, v1::RequestPermissionOutcome::Selected(_)));
    talk.hear(&ask(1));
    talk.send(&Outgoing::Answer { prompt: PromptId::new(1, 2), answer: Answer::Cancelled });
    let reply: v1::RequestPermissionResponse = talk.last(None);
    assert!(matches!(reply.outcome, v1::RequestPermissionOutcome::Cancelled));

    talk.hear(
        r#"{"id":2,"method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"M","requestedSchema":{"properties":{"q":{"type":"string","enum":["yes"]}}}}}"#,
    );
    let answer = Answer::Option { option: "yes".to_owned(), text: None };
    talk.send(&Outgoing::Answer { prompt: PromptId::new(1, 3), answer });
    let reply: v1::CreateElicitationResponse = talk.last(None);
    assert!(matches!(reply.action, v1::ElicitationAction::Accept(_)));

    talk.hear(r#"{"id":3,"method":"fs/read_text_file","params":{}}"#);
    let refusal: v1::Error =
        serde_json::from_value(talk.sent.last().unwrap()["error"].clone()).unwrap();
    assert_eq!(i32::from(refusal.code), -32601);
}
