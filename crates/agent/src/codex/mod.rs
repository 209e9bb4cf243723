//! The app-server of Codex: lines of JSON-RPC that name no version in, provider events out.
//!
//! What it really does was observed; recorded talks with it are this codec's fixtures.
//!
//! * `mod`: the state, and what reaches it. `handshake`: until the thread stands, with `search` for
//!   messages in doubt. `turns`: messages in flight, what proves that one was taken, ends of turns.
//!   `items`: what the agent tells, with `texts`, `calls` and `view`. `subagents`: threads beside the
//!   chat's own, commands that outlive their turn, goals. `requests`: what it asks. `encode`: what
//!   goes out.
//! * The id of a request of ours is the number of its frame. The agent numbers its own requests; the
//!   two directions never meet.
//! * Ids of threads, turns and items are kept as digests where they need not be given back.

mod asked;
mod attached;
mod calls;
mod command;
mod encode;
mod handshake;
pub mod history;
mod items;
mod mode;
mod notifications;
mod prompts;
mod requests;
mod search;
mod shown;
mod subagents;
mod texts;
mod turns;
mod view;
mod wire;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use holdfast_core::frame::{Outgoing, Setting};
use holdfast_core::ids::FrameNo;
use holdfast_core::limits::{LABEL_CHARS_MAX, cut};
use holdfast_core::provider::{ProtocolFrame, ProviderEvent};
use serde::{Deserialize, Serialize};

pub(crate) use self::attached::forms;
pub use self::command::argv;

use self::calls::Calls;
use self::handshake::{Opened, Outcome, Stage};
use self::mode::Settings;
use self::prompts::Prompts;
use self::subagents::Subagents;
use self::texts::Texts;
use self::turns::{Expect, Turns};
use crate::codec::{Inward, SessionSpec};
use crate::jsonrpc::{self, Incoming};
use crate::noise::Noise;
use crate::ordinals::Ordinals;
use crate::tasks::Tasks;

/// What this codec knows of one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    stage: Stage,
    /// The id of the chat's thread; empty until it stands.
    thread: String,
    /// The attempt's ordinal in its chat.
    origin: u32,
    /// How it is set.
    settings: Settings,
    ordinals: Ordinals,
    turns: Turns,
    texts: Texts,
    /// The item of the plan of this turn.
    plan: Option<u32>,
    /// The item that says that the agent tries again.
    #[serde(default)]
    retrying: Option<u32>,
    calls: Calls,
    prompts: Prompts,
    tasks: Tasks,
    subagents: Subagents,
    noise: Noise,
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
            thread: String::new(),
            origin: spec.attempt.1,
            settings: Settings::default(),
            ordinals: Ordinals::default(),
            turns: Turns::default(),
            texts: Texts::default(),
            plan: None,
            retrying: None,
            calls: Calls::default(),
            prompts: Prompts::default(),
            tasks: Tasks::default(),
            subagents: Subagents::default(),
            noise: Noise::default(),
        };
        (state, events)
    }

    /// Takes in one thing.
    #[must_use]
    pub fn step(&mut self, input: Inward<'_>) -> Vec<ProviderEvent> {
        let mut out = Vec::new();
        match input {
            Inward::Line(bytes) => self.line(bytes, &mut out),
            Inward::Oversized { head } => {
                self.unrecognised("oversized", head, &mut out);
                self.doubt_search(&mut out);
            }
            Inward::Torn(bytes) => self.unrecognised("torn", bytes, &mut out),
            Inward::Damaged => {
                self.turns.marks_lost();
                self.doubt_search(&mut out);
            }
            Inward::Issued { frame, out: issued } => self.issued(frame, issued, &mut out),
            Inward::Begun { frame } => self.turns.begun(frame),
            Inward::Written { frame } => {
                self.turns.written(frame);
                self.prompts.written(frame);
            }
        }
        out
    }

    fn line(&mut self, bytes: &[u8], out: &mut Vec<ProviderEvent>) {
        // After a failed start the agent is being stopped: nothing that it says matters.
        if self.stage == Stage::Failed || bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let valid = matches!(text, Cow::Borrowed(_));
        if !valid {
            // It is shown for what it is, and still taken in as far as it can be read: a broken
            // character must not cost the line that ends a turn.
            self.unrecognised("invalid_utf8", bytes, out);
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
            Err(fault) => {
                if valid {
                    self.unrecognised(fault.word(), bytes, out);
                }
                self.doubt_search(out);
            }
        }
    }

    /// Shows what cannot be read.
    fn unrecognised(&mut self, reason: &str, line: &[u8], out: &mut Vec<ProviderEvent>) {
        if self.stage != Stage::Failed {
            self.noise.show(reason, line, &mut self.ordinals, out);
        }
    }

    /// Something of what the agent said is lost: it may be the page that was asked for, and nobody
    /// would wait for it again.
    fn doubt_search(&mut self, out: &mut Vec<ProviderEvent>) {
        if matches!(self.stage, Stage::Searching { .. }) {
            self.handshake(None, out);
        }
    }

    /// The host numbered a frame: a reply with this number will be the answer to it.
    fn issued(&mut self, frame: FrameNo, issued: &Outgoing, out: &mut Vec<ProviderEvent>) {
        match issued {
            Outgoing::Message { message } => self.turns.message(frame, *message),
            Outgoing::Steer { message } => self.turns.steer(frame, *message),
            Outgoing::Answer { prompt, answer: _ } => self.prompts.answered(prompt.n, frame),
            Outgoing::Set { setting } => {
                if let Setting::Mode(mode) = setting
                    && !mode::is_known(mode)
                {
                    let text = format!("Codex has no mode {:?}.", cut(mode, LABEL_CHARS_MAX));
                    out.push(ProviderEvent::SettingRefused { text });
                    let (model, mode) = (self.settings.model.clone(), self.settings.mode());
                    out.push(ProviderEvent::Retuned { model, mode });
                }
                self.turns.expect(frame, Expect::Setting);
            }
            Outgoing::Interrupt | Outgoing::StopTask { task: _ } => {
                self.turns.expect(frame, Expect::Nothing);
            }
            Outgoing::Protocol(ProtocolFrame::Request { method, params }) => {
                let expected = match method.as_str() {
                    "initialize" | "account/read" | "thread/start" | "thread/resume"
                    | "thread/fork" | "thread/turns/list" | "thread/items/list" => {
                        Expect::Handshake
                    }
                    handshake::SET => Expect::Setting,
                    subagents::LIST => Expect::Terminals(subagents::listed_thread(params)),
                    _ => Expect::Nothing,
                };
                self.turns.expect(frame, expected);
            }
            Outgoing::Protocol(
                ProtocolFrame::Reply { .. } | ProtocolFrame::Notification { .. },
            ) => {}
        }
    }

    /// The agent answered a frame of the start; none where the answer cannot be read.
    fn handshake(&mut self, outcome: Option<Outcome<'_>>, out: &mut Vec<ProviderEvent>) {
        let stage = std::mem::replace(&mut self.stage, Stage::Failed);
        let (stage, events) = match (stage, outcome) {
            (Stage::Initializing { spec }, Some(outcome)) => handshake::initialized(spec, &outcome),
            (Stage::Account { spec }, Some(outcome)) => handshake::account(spec, &outcome),
            (Stage::Opening { spec }, Some(outcome)) => match handshake::opened(spec, outcome) {
                Opened::Stands(search, ready) => {
                    let (thread, settings) = ready.thread();
                    self.thread = thread.to_owned();
                    self.settings = settings.clone();
                    handshake::search(search, ready)
                }
                Opened::Not(other) => other,
            },
            (Stage::Searching { search, ready }, outcome) => {
                handshake::page(search, ready, outcome.as_ref())
            }
            (stage, _) => (stage, Vec::new()),
        };
        self.stage = stage;
        out.extend(events);
    }
}
