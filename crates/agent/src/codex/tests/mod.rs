//! Tables `(history, input) → events` for what the codec promises.

mod beside;
mod handshake;
mod hostile;
mod items;
mod outgoing;
mod prompts;
mod steering;
mod store;
mod taking;

use holdfast_core::frame::{Answer, Outgoing};
use holdfast_core::ids::{AttemptId, FrameNo, MessageId, PromptId, TaskId};
use holdfast_core::provider::{Handle, ProviderEvent, Trunk};
use serde_json::{Value, json};

use crate::codec::{AgentKind, CodecState, Content, EncodeError, History, Inward, SessionSpec};
use crate::said::words;

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
        attempt: (AttemptId::new(uuid::Uuid::nil()), 1),
    }
}

/// A chat whose thread `T` is to be brought back.
fn known() -> SessionSpec {
    SessionSpec { handle: Some(Handle { root: "T".to_owned(), leaf: "T".to_owned() }), ..spec() }
}

fn message_id(n: u128) -> MessageId {
    MessageId::new(uuid::Uuid::from_u128(n))
}

impl Chat {
    fn starting(spec: &SessionSpec) -> (Self, Vec<ProviderEvent>) {
        let (state, events) = CodecState::start(AgentKind::Codex, spec);
        let mut chat = Self { state, frame: 0 };
        chat.issue_wanted(&events);
        (chat, events)
    }

    /// Until the thread is asked for, in frame 4.
    fn opening(spec: &SessionSpec) -> (Self, String) {
        let (mut chat, _) = Self::starting(spec);
        let _ = chat.line(r#"{"id":1,"result":{"userAgent":"holdfast/0.171.0"}}"#);
        let told = chat.said(r#"{"id":3,"result":{"account":null,"requiresOpenaiAuth":false}}"#);
        (chat, told)
    }

    /// A thread that stands.
    fn ready() -> Self {
        let (mut chat, _) = Self::opening(&spec());
        let told = chat.said(OPENED);
        assert!(told.starts_with("ready T "), "{told}");
        chat
    }

    /// A thread that stands, with message 9 begun in frame 5.
    fn prompted() -> Self {
        let mut chat = Self::ready();
        let frame = chat.message(9);
        assert_eq!(frame, FrameNo(5));
        assert_eq!(chat.written(frame), []);
        chat
    }

    /// The same, in its turn `U`.
    fn working() -> Self {
        let mut chat = Self::prompted();
        let told = chat.told(&[STARTED, OURS]);
        assert_eq!(told, "taken 5\n");
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

    fn message(&mut self, n: u128) -> FrameNo {
        self.issue(&Outgoing::Message { message: message_id(n) })
    }

    fn steer(&mut self, n: u128) -> FrameNo {
        self.issue(&Outgoing::Steer { message: message_id(n) })
    }

    fn answer(&mut self, prompt: u32, answer: Answer) -> FrameNo {
        self.issue(&Outgoing::Answer { prompt: PromptId::new(1, prompt), answer })
    }

    fn begun(&mut self, frame: FrameNo) {
        assert_eq!(self.step(Inward::Begun { frame }), []);
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

    fn said(&mut self, line: &str) -> String {
        words(&self.line(line))
    }

    /// Several lines, told in words.
    fn told(&mut self, lines: &[&str]) -> String {
        lines.iter().map(|line| self.said(line)).collect()
    }

    /// What goes out for a frame.
    fn sends(&self, frame: FrameNo, out: &Outgoing) -> Result<Value, EncodeError> {
        let line = self.state.encode(frame, out, &Content { text: Some("hi"), attached: &[] })?;
        Ok(serde_json::from_slice(&line).unwrap())
    }
}

/// An item of the chat's own thread in its turn `U`, at this moment.
fn item(moment: &str, item: &Value) -> String {
    item_of("T", "U", moment, item)
}

fn item_of(thread: &str, turn: &str, moment: &str, item: &Value) -> String {
    let params = json!({ "item": item, "threadId": thread, "turnId": turn });
    json!({ "method": format!("item/{moment}"), "params": params }).to_string()
}

/// A command of the chat's own thread.
fn command(moment: &str, id: &str, more: &Value) -> String {
    let mut told = json!({
        "type": "commandExecution", "id": id, "command": format!("/bin/bash -lc '{id}'"),
        "cwd": "/w", "status": "inProgress",
        "commandActions": [{ "type": "unknown", "command": id }],
    });
    for (name, value) in more.as_object().unwrap() {
        told[name] = value.clone();
    }
    item(moment, &told)
}

const OPENED: &str = r#"{"id":4,"result":{"thread":{"id":"T"},"model":"m","approvalPolicy":"on-request","sandbox":{"type":"workspaceWrite"}}}"#;
const STARTED: &str = r#"{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U","status":"inProgress"}}}"#;
const ENDED: &str = r#"{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"completed"}}}"#;
const INTERRUPTED: &str = r#"{"method":"turn/completed","params":{"threadId":"T","turn":{"id":"U","status":"interrupted"}}}"#;
const OURS: &str = r#"{"method":"item/completed","params":{"threadId":"T","turnId":"U","item":{"type":"userMessage","id":"u1","clientId":"msg_00000000000000000000000000000009","content":[{"type":"text","text":"hi"}]}}}"#;
const SAY: &str = r#"{"method":"item/agentMessage/delta","params":{"threadId":"T","turnId":"U","itemId":"m1","delta":"hi"}}"#;
const ASK: &str = r#"{"id":0,"method":"item/commandExecution/requestApproval","params":{"threadId":"T","turnId":"U","itemId":"c1","command":"/bin/bash -lc 'touch x'","commandActions":[{"type":"unknown","command":"touch x"}],"availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["touch","x"]}},"cancel"]}}"#;
