//! Tables `(history, input) → events` for what the codec promises.

mod attached;
mod handshake;
mod hostile;
mod items;
mod outgoing;
mod own_turns;
mod prompts;
mod taking;

use holdfast_core::frame::{Answer, Outgoing};
use holdfast_core::ids::{FrameNo, MessageId, PromptId, TaskId};
use holdfast_core::provider::{Handle, ProviderEvent, Trunk};
use serde_json::json;

use crate::codec::{AgentKind, CodecState, Content, EncodeError, History, Inward, SessionSpec};
use crate::said::words;

const SESSION: &str = "s1";

/// A codec and a host that issues what it wants.
struct Chat {
    state: CodecState,
    frame: u64,
}

fn spec() -> SessionSpec {
    SessionSpec {
        cwd: "/w".to_owned(),
        handle: None,
        fork_of: None,
        history: History::Skip,
        model: None,
        mode: None,
        effort: None,
        sought: Vec::new(),
        holds: 0,
        attempt: (holdfast_core::ids::AttemptId::new(uuid::Uuid::nil()), 1),
    }
}

impl Chat {
    fn starting(spec: &SessionSpec) -> (Self, Vec<ProviderEvent>) {
        let (state, events) = CodecState::start(AgentKind::Acp, spec);
        let mut chat = Self { state, frame: 0 };
        chat.issue_wanted(&events);
        (chat, events)
    }

    /// A session that stands.
    fn ready() -> Self {
        let (mut chat, _) = Self::starting(&spec());
        let _ = chat.line(r#"{"id":1,"result":{"protocolVersion":1}}"#);
        let ready = chat.line(r#"{"id":2,"result":{"sessionId":"s1"}}"#);
        assert!(matches!(ready.as_slice(), [ProviderEvent::Ready { .. }]), "{ready:?}");
        chat
    }

    /// A session that stands with a message written in frame 3.
    fn prompted() -> Self {
        let mut chat = Self::ready();
        let frame = chat.message();
        assert_eq!(chat.written(frame), []);
        chat
    }

    fn issue(&mut self, out: &Outgoing) -> FrameNo {
        self.frame += 1;
        let frame = FrameNo(self.frame);
        assert_eq!(self.state.step(Inward::Issued { frame, out }), []);
        frame
    }

    fn issue_wanted(&mut self, events: &[ProviderEvent]) {
        for event in events {
            if let ProviderEvent::Wants(wanted) = event {
                let frame = self.issue(&Outgoing::Protocol(wanted.clone()));
                let _ = self.written(frame);
            }
        }
    }

    fn message(&mut self) -> FrameNo {
        let message = MessageId::new(uuid::Uuid::nil());
        self.issue(&Outgoing::Message { message })
    }

    fn answer(&mut self, prompt: u32, answer: Answer) -> FrameNo {
        self.issue(&Outgoing::Answer { prompt: PromptId::new(1, prompt), answer })
    }

    fn begun(&mut self, frame: FrameNo) -> Vec<ProviderEvent> {
        self.step(Inward::Begun { frame })
    }

    fn written(&mut self, frame: FrameNo) -> Vec<ProviderEvent> {
        self.step(Inward::Written { frame })
    }

    fn step(&mut self, input: Inward<'_>) -> Vec<ProviderEvent> {
        let events = self.state.step(input);
        let bytes = self.state.to_bytes();
        assert_eq!(CodecState::from_bytes(&bytes).unwrap(), self.state);
        events
    }

    fn line(&mut self, line: &str) -> Vec<ProviderEvent> {
        let events = self.step(Inward::Line(line.as_bytes()));
        self.issue_wanted(&events);
        events
    }

    fn update(&mut self, update: &str) -> Vec<ProviderEvent> {
        self.line(&format!(
            r#"{{"method":"session/update","params":{{"sessionId":"{SESSION}","update":{update}}}}}"#
        ))
    }

    /// Several updates, told in words.
    fn updates(&mut self, updates: &[&str]) -> String {
        let events: Vec<_> = updates.iter().flat_map(|update| self.update(update)).collect();
        words(&events)
    }
}

fn value(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap()
}

const SAY: &str =
    r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}"#;
const THINK: &str =
    r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}"#;
const CALL: &str =
    r#"{"sessionUpdate":"tool_call","toolCallId":"c1","title":"ls","status":"in_progress"}"#;
const CALL_DONE: &str =
    r#"{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}"#;
const PLAN: &str = r#"{"sessionUpdate":"plan","entries":[{"content":"a","status":"pending"}]}"#;
const ASK: &str = r#"{"id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"c9","title":"touch x"},"options":[{"optionId":"yes","kind":"allow_once","name":"Yes"}]}}"#;
