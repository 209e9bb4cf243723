//! The Agent Client Protocol, version 1: lines of JSON-RPC in, provider events out.
//!
//! What agents really do (and where they differ from the protocol's text) was observed on opencode,
//! the Gemini CLI and two adapters of Codex; their transcripts are this codec's fixtures.
//!
//! * `mod`: the state, and what reaches it. `handshake`: until the session stands. `turns`: messages
//!   in flight, what proves that one was taken, ends of turns. `updates`: what the agent tells.
//!   `requests`: what it asks. `encode`: what goes out.
//! * The JSON-RPC id of a request of ours is the number of its frame. The agent numbers its own
//!   requests as it likes; the two directions never meet.
//! * A line of output while none of our messages is in flight is [`ProviderEvent::Stirred`] first,
//!   each time: the codec does not know when the host closes a turn that the agent opened by itself.

mod asked;
mod blocks;
mod calls;
mod content;
mod encode;
mod handshake;
mod prompts;
mod replay;
mod requests;
mod texts;
mod turns;
mod updates;
mod wire;

#[cfg(test)]
mod tests;

use holdfast_core::frame::Outgoing;
use holdfast_core::ids::FrameNo;
use holdfast_core::provider::{ProtocolFrame, ProviderEvent};
use serde::{Deserialize, Serialize};

use self::calls::Calls;
use self::handshake::{Opening, Outcome, Stage};
use self::prompts::Prompts;
use self::texts::Texts;
use self::turns::{Expect, Turns};
use crate::attached::Takes;
use crate::codec::{Inward, SessionSpec};
use crate::jsonrpc::{self, Incoming};
use crate::noise::Noise;
use crate::ordinals::Ordinals;
use crate::tasks::Tasks;

/// What this codec knows of one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    stage: Stage,
    /// The session's id; empty until it stands.
    session: String,
    ordinals: Ordinals,
    turns: Turns,
    texts: Texts,
    /// The item of the plan of this turn.
    plan: Option<u32>,
    calls: Calls,
    prompts: Prompts,
    tasks: Tasks,
    noise: Noise,
    /// What it takes in a prompt.
    #[serde(default)]
    takes: Takes,
}

/// One line while it is taken in: what it was, for the case that nobody can read it.
#[derive(Clone, Copy)]
struct Line<'a>(&'a [u8]);

impl State {
    /// Begins to speak with an agent that was just started.
    #[must_use]
    pub fn start(spec: &SessionSpec) -> (Self, Vec<ProviderEvent>) {
        let (stage, events) = handshake::start(spec);
        let state = Self {
            stage,
            session: String::new(),
            ordinals: Ordinals::default(),
            turns: Turns::default(),
            texts: Texts::default(),
            plan: None,
            calls: Calls::default(),
            prompts: Prompts::default(),
            tasks: Tasks::default(),
            noise: Noise::default(),
            takes: Takes::default(),
        };
        (state, events)
    }

    /// Takes in one thing.
    #[must_use]
    pub fn step(&mut self, input: Inward<'_>) -> Vec<ProviderEvent> {
        let mut out = Vec::new();
        match input {
            Inward::Line(bytes) => self.line(bytes, &mut out),
            Inward::Oversized { head } => self.unreadable("oversized", head, &mut out),
            Inward::Torn(bytes) => self.unreadable("torn", bytes, &mut out),
            Inward::Damaged => {
                self.doubt_replay();
                self.turns.marks_lost();
            }
            Inward::Issued { frame, out: issued } => self.issued(frame, issued),
            Inward::Begun { frame } => self.turns.begun(frame),
            Inward::Written { frame } => self.written(frame, &mut out),
        }
        out
    }

    fn line(&mut self, bytes: &[u8], out: &mut Vec<ProviderEvent>) {
        // After a failed start the agent is being stopped: nothing that it says matters.
        if self.stage == Stage::Failed || bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let valid = matches!(text, std::borrow::Cow::Borrowed(_));
        if !valid {
            // It is shown for what it is, and still taken in as far as it can be read: a broken
            // character must not cost the reply that ends a turn.
            self.unreadable("invalid_utf8", bytes, out);
        }
        let text = jsonrpc::repaired(&text);
        let line = Line(bytes);
        match jsonrpc::parse(&text) {
            Ok(Incoming::Reply { id, outcome }) => self.reply(line, id, outcome, out),
            Ok(Incoming::Request { id, method, params }) => {
                self.request(line, id, &method, params, out);
            }
            Ok(Incoming::Notification { method, params }) => {
                self.notification(line, &method, params, out);
            }
            Err(fault) if valid => self.unreadable(fault.word(), bytes, out),
            Err(_) => {}
        }
    }

    /// Shows a line that cannot be read at all. Within a replay it may have been a message of the
    /// user: what is not in the rest is not proven to be absent.
    fn unreadable(&mut self, reason: &str, line: &[u8], out: &mut Vec<ProviderEvent>) {
        self.doubt_replay();
        self.unrecognised(reason, line, out);
    }

    fn doubt_replay(&mut self) {
        if let Some(replay) = self.replay() {
            replay.has_a_hole();
        }
    }

    /// Shows what cannot be read.
    fn unrecognised(&mut self, reason: &str, line: &[u8], out: &mut Vec<ProviderEvent>) {
        if self.stage != Stage::Failed {
            self.noise.show(reason, line, &mut self.ordinals, out);
        }
    }

    /// The host numbered a frame: a reply with this number will be the answer to it.
    fn issued(&mut self, frame: FrameNo, issued: &Outgoing) {
        match issued {
            Outgoing::Message { message: _ } => self.turns.message(frame),
            Outgoing::Steer { message: _ } => {}
            Outgoing::Interrupt => self.turns.expect(frame, Expect::Interrupt),
            Outgoing::Answer { prompt, answer: _ } => self.prompts.answered(prompt.n, frame),
            // It is never told of another model or mode while it runs: it is started anew.
            Outgoing::StopTask { task: _ } | Outgoing::Set { setting: _ } => {
                self.turns.expect(frame, Expect::Nothing)
            }
            Outgoing::Protocol(ProtocolFrame::Request { method, params: _ }) => {
                let expected = match method.as_str() {
                    "initialize"
                    | "session/new"
                    | "session/load"
                    | "session/resume"
                    | "session/fork"
                    | "session/set_mode"
                    | "session/set_model"
                    | "session/set_config_option" => Expect::Handshake,
                    _ => Expect::Nothing,
                };
                self.turns.expect(frame, expected);
            }
            Outgoing::Protocol(
                ProtocolFrame::Reply { .. } | ProtocolFrame::Notification { .. },
            ) => {}
        }
    }

    fn written(&mut self, frame: FrameNo, out: &mut Vec<ProviderEvent>) {
        self.prompts.written(frame);
        if self.turns.written(frame) {
            // What the agent said before belongs to a turn of its own.
            self.texts.close(out);
            self.end_plan(out);
        }
    }

    fn end_plan(&mut self, out: &mut Vec<ProviderEvent>) {
        out.extend(self.plan.take().map(|item| ProviderEvent::ItemClosed { item }));
    }

    /// The agent answered a frame of the start.
    fn handshake(&mut self, outcome: Outcome<'_>, out: &mut Vec<ProviderEvent>) {
        let (stage, events) = match std::mem::replace(&mut self.stage, Stage::Failed) {
            Stage::Initializing { spec } => {
                let told = outcome.as_ref().ok().copied().flatten();
                self.takes = handshake::takes(told);
                handshake::initialized(spec, outcome)
            }
            Stage::Opening { opening, asked, capabilities, model, mode } => {
                handshake::opened(opening, asked, capabilities, (model, mode), outcome)
            }
            Stage::Setting { wanted, ready } => {
                self.session = ready.session().to_owned();
                handshake::set(wanted, ready, &outcome)
            }
            stage @ (Stage::Ready | Stage::Failed) => (stage, Vec::new()),
        };
        for event in &events {
            if let ProviderEvent::Ready { handle, .. } = event {
                self.session = handle.leaf.clone();
            }
        }
        self.stage = stage;
        out.extend(events);
    }

    /// Whether the session stands, so that what is told belongs to it.
    fn stands(&self) -> bool {
        matches!(self.stage, Stage::Ready)
    }

    /// The replay under way, while the session is being loaded.
    fn replay(&mut self) -> Option<&mut replay::Replay> {
        match &mut self.stage {
            Stage::Opening { opening: Opening::Load(replay) | Opening::Fork(replay), .. } => {
                Some(replay)
            }
            Stage::Opening { opening: Opening::New | Opening::Resume, .. }
            | Stage::Initializing { .. }
            | Stage::Setting { .. }
            | Stage::Ready
            | Stage::Failed => None,
        }
    }
}
