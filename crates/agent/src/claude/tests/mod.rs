//! Tables `(history, line) → events` for what the codec promises.

mod asked;
mod items;
mod start;
mod turns;
mod work;

use holdfast_core::frame::{Answer, Outgoing};
use holdfast_core::ids::{AttemptId, FrameNo, MessageId, PromptId};
use holdfast_core::provider::ProviderEvent;
use serde_json::{Value, json};

use super::ids::message_id;
use crate::codec::{AgentKind, CodecState, Content, EncodeError, History, Inward, SessionSpec};
use crate::said::words;

const ATTEMPT: AttemptId = AttemptId::new(uuid::Uuid::from_u128(0x100));

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
        attempt: (ATTEMPT, 1),
    }
}

/// A codec and a host.
struct Chat {
    state: CodecState,
    frame: u64,
}

impl Chat {
    /// The CLI was started; what is wanted first has frame 1.
    fn started(spec: &SessionSpec) -> Self {
        let (state, events) = CodecState::start(AgentKind::Claude, spec);
        let mut chat = Self { state, frame: 0 };
        let [ProviderEvent::Wants(wanted)] = events.as_slice() else { panic!("{events:?}") };
        chat.does(&Outgoing::Protocol(wanted.clone()));
        chat
    }

    /// The session stands.
    fn ready() -> Self {
        let mut chat = Self::started(&spec());
        chat.line(r#"{"type":"control_response","response":{"subtype":"success","request_id":"holdfast-1","response":{"current_permission_mode":"default"}}}"#);
        chat
    }

    /// A turn of our message runs; the message is in frame 2.
    fn working() -> Self {
        let mut chat = Self::ready();
        let frame = chat.message();
        let id = message_id(ATTEMPT, frame);
        let said = chat.line(&format!(
            r#"{{"type":"system","subtype":"init","session_id":"{}","model":"m","permissionMode":"default","user_message_uuids":["{id}"]}}"#,
            super::ids::session_id(ATTEMPT)
        ));
        assert_eq!(said, "retuned m -\ntaken 2\n");
        chat
    }

    fn issue(&mut self, out: &Outgoing) -> FrameNo {
        self.frame += 1;
        let frame = FrameNo(self.frame);
        let _ = self.state.step(Inward::Issued { frame, out });
        frame
    }

    /// Issues a frame and writes it.
    fn does(&mut self, out: &Outgoing) -> FrameNo {
        let frame = self.issue(out);
        let _ = self.step(Inward::Begun { frame });
        let _ = self.step(Inward::Written { frame });
        frame
    }

    fn message(&mut self) -> FrameNo {
        self.does(&Outgoing::Message { message: MessageId::new(uuid::Uuid::nil()) })
    }

    fn answer(&mut self, prompt: u32, answer: Answer) -> (Value, FrameNo) {
        let out = Outgoing::Answer { prompt: PromptId::new(1, prompt), answer };
        let line = self.encoded(&out).unwrap();
        (line["response"]["response"].clone(), self.does(&out))
    }

    fn encoded(&self, out: &Outgoing) -> Result<Value, EncodeError> {
        let bytes =
            self.state.encode(FrameNo(7), out, &Content { text: Some("hi"), attached: &[] })?;
        assert!(bytes.ends_with(b"\n") && !bytes[..bytes.len() - 1].contains(&b'\n'));
        Ok(serde_json::from_slice(&bytes).unwrap())
    }

    fn step(&mut self, input: Inward<'_>) -> Vec<ProviderEvent> {
        let events = self.state.step(input);
        let bytes = self.state.to_bytes();
        assert_eq!(CodecState::from_bytes(&bytes).unwrap(), self.state);
        events
    }

    /// What comes of a line, in words.
    fn line(&mut self, line: &str) -> String {
        words(&self.step(Inward::Line(line.as_bytes())))
    }

    fn lines(&mut self, lines: &[&str]) -> String {
        lines.iter().map(|line| self.line(line)).collect()
    }
}

/// An assistant's block.
fn says(block: &Value) -> String {
    json!({ "type": "assistant", "message": { "id": "msg_1", "content": [block] } }).to_string()
}

/// A call of a tool.
fn calls(id: &str, name: &str, input: &Value) -> String {
    says(&json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
}

/// Its result.
fn gives(id: &str, text: &str) -> String {
    let block = json!({ "type": "tool_result", "tool_use_id": id, "content": text });
    json!({ "type": "user", "message": { "content": [block] } }).to_string()
}

/// The end of a turn.
const ENDS: &str = r#"{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","num_turns":1,"result":"x"}"#;
/// The beginning of a turn that names no message.
const INIT: &str = r#"{"type":"system","subtype":"init","model":"m","permissionMode":"default"}"#;
