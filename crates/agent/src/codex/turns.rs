//! Our messages at the agent: which is in flight, what proves that it was taken, how its turn ends.
//! And what replies of the agent are expected at all.

use holdfast_core::ids::{FrameNo, MessageId};
use holdfast_core::limits::MARK_BYTES_MAX;
use holdfast_core::provider::{Proof, ProviderEvent, TurnEnd, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::calls::At;
use super::{Line, State, wire};
use crate::faults::Fault;
use crate::jsonrpc::PeerError;
use crate::ordinals::{digest, head};

/// Messages that are in flight. The host has one at a time; more are left behind only by agents that
/// end no turn.
const IN_FLIGHT_MAX: usize = 16;
/// Other frames whose replies are outstanding.
const EXPECTED_MAX: usize = 64;
/// Bytes of a turn's id; one that is longer cannot be given back.
pub(super) const TURN_ID_BYTES_MAX: usize = 128;
/// Bytes of the agent's words for the end of a turn.
const ERROR_TEXT_BYTES_MAX: usize = 4 * 1024;

/// What the reply to a frame is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Expect {
    /// It carries the start of the session on.
    Handshake,
    /// It lists the terminals of the thread with this digest.
    Terminals(u64),
    /// An error says that something was not set.
    Setting,
    /// It says nothing.
    Nothing,
}

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Way {
    /// Its frame has a number.
    Issued,
    /// Its first byte may have been written.
    Begun,
    /// The agent provably took it.
    Taken,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InFlight {
    frame: FrameNo,
    message: MessageId,
    way: Way,
    /// Whether the request was answered: no reply to it comes any more.
    answered: bool,
    /// The turn that it is in.
    turn: Option<String>,
    /// The turn that it was given to while that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    into: Option<String>,
}

/// The messages in flight, and the turn that runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turns {
    /// Oldest first.
    messages: Vec<InFlight>,
    expected: Vec<(FrameNo, Expect)>,
    /// The turn of the chat's thread that runs.
    active: Option<String>,
    /// What it has cost.
    usage: Usage,
}

impl Turns {
    pub(super) fn message(&mut self, frame: FrameNo, message: MessageId) {
        self.add(frame, message, None);
    }

    /// A message is given to the turn that runs.
    pub(super) fn steer(&mut self, frame: FrameNo, message: MessageId) {
        if let Some(active) = self.active.clone() {
            self.add(frame, message, Some(active));
        }
    }

    fn add(&mut self, frame: FrameNo, message: MessageId, into: Option<String>) {
        if self.messages.len() >= IN_FLIGHT_MAX {
            self.messages.remove(0);
        }
        let (way, answered, turn) = (Way::Issued, false, None);
        self.messages.push(InFlight { frame, message, way, answered, turn, into });
    }

    /// The turn that the message in this frame is given to.
    pub(super) fn steered_turn(&self, frame: FrameNo) -> Option<&str> {
        self.messages.iter().find(|it| it.frame == frame).and_then(|it| it.into.as_deref())
    }

    pub(super) fn expect(&mut self, frame: FrameNo, expect: Expect) {
        if self.expected.len() >= EXPECTED_MAX {
            self.expected.remove(0);
        }
        self.expected.push((frame, expect));
    }

    /// A frame is about to be written.
    pub(super) fn begun(&mut self, frame: FrameNo) {
        for message in self.messages.iter_mut().filter(|it| it.frame == frame) {
            if message.way == Way::Issued {
                message.way = Way::Begun;
            }
        }
    }

    /// Marks of frames may be among what is lost: any of them may have been written.
    pub(super) fn marks_lost(&mut self) {
        for message in self.messages.iter_mut().filter(|it| it.way == Way::Issued) {
            message.way = Way::Begun;
        }
    }

    /// A frame was written. If it was a message, what was issued before it and is not begun will not
    /// be, because frames are written in their order.
    pub(super) fn written(&mut self, frame: FrameNo) {
        if self.messages.iter().any(|message| message.frame == frame) {
            self.begun(frame);
            self.messages.retain(|it| it.way != Way::Issued || it.frame > frame);
        }
    }

    /// The turn that an interrupt ends: the one that runs, or the one that the agent has promised.
    pub(super) fn current(&self) -> Option<&str> {
        let promised = || self.messages.iter().rev().find_map(|message| message.turn.as_deref());
        self.active.as_deref().or_else(promised)
    }

    /// Whether a message is at the agent, so that a turn that begins may be its turn.
    fn is_at_work(&self) -> bool {
        self.messages.iter().any(|message| message.way != Way::Issued && message.into.is_none())
    }

    fn answered(&mut self, frame: FrameNo) -> Option<Expect> {
        let place = self.expected.iter().position(|(expected, _)| *expected == frame)?;
        Some(self.expected.remove(place).1)
    }

    /// The tokens of one answer of the model, which a turn may have several of.
    pub(super) fn used(&mut self, told: &wire::TokenUsage<'_>) {
        let Some(last) = &told.last else { return };
        self.usage.context_tokens = wire::count(last.total).or(self.usage.context_tokens);
        self.usage.context_window = wire::count(told.window).or(self.usage.context_window);
        for (sum, more) in [
            (&mut self.usage.input_tokens, last.input),
            (&mut self.usage.cached_tokens, last.cached),
            (&mut self.usage.output_tokens, last.output),
            (&mut self.usage.total_tokens, last.total),
        ] {
            if let Some(more) = wire::count(more) {
                *sum = Some(sum.unwrap_or_default().saturating_add(more));
            }
        }
    }
}

impl State {
    /// The agent answered a request of ours.
    pub(super) fn reply(
        &mut self,
        line: Line<'_>,
        id: Option<u64>,
        outcome: Result<Option<&RawValue>, PeerError<'_>>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let Some(frame) = id.map(FrameNo) else {
            return self.unrecognised("unknown_reply", line.0, out);
        };
        // Numbers can be guessed, so a reply answers no message before its first byte.
        let asked = |it: &InFlight| it.frame == frame && !it.answered && it.way != Way::Issued;
        if let Some(place) = self.turns.messages.iter().position(asked) {
            return self.message_answered(place, outcome, out);
        }
        match self.turns.answered(frame) {
            Some(Expect::Handshake) => self.handshake(Some(outcome), out),
            Some(Expect::Terminals(thread)) => self.terminals(thread, outcome, out),
            Some(Expect::Setting) => {
                if let Err(error) = outcome {
                    let text = Fault::of(&error).text;
                    out.push(ProviderEvent::SettingRefused { text });
                }
            }
            Some(Expect::Nothing) => {}
            None => self.unrecognised("unknown_reply", line.0, out),
        }
    }

    /// The result names the turn and proves nothing. An error before the message was taken says
    /// what it proves; after it the turn goes on to its end.
    fn message_answered(
        &mut self,
        place: usize,
        outcome: Result<Option<&RawValue>, PeerError<'_>>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let Some(message) = self.turns.messages.get_mut(place) else { return };
        message.answered = true;
        match outcome {
            Ok(_) if message.into.is_some() => {
                // Taken it is only when the agent tells the message; it does before the turn ends.
                let gone = message.way != Way::Taken && self.turns.active != message.into;
                if gone {
                    let frame = message.frame;
                    self.turns.messages.remove(place);
                    out.push(left_behind(frame, None));
                }
            }
            Ok(result) => {
                let told: wire::Started = wire::read(result).unwrap_or_default();
                let turn = told.turn.and_then(|turn| turn.id);
                let turn = turn.filter(|turn| turn.len() <= TURN_ID_BYTES_MAX);
                message.turn = message.turn.take().or(turn);
            }
            Err(error) if message.way != Way::Taken => {
                let frame = message.frame;
                self.turns.messages.remove(place);
                let fault = Fault::of(&error);
                let (proof, text) = (fault.proof(), fault.text);
                out.push(ProviderEvent::MessageFailed { frame, proof, text });
            }
            Err(_) => {}
        }
    }

    /// The agent tells a user's message that it has written into its thread. One with the id that we
    /// gave it is ours, and provably taken. Gives whether it was.
    pub(super) fn message_told(
        &mut self,
        client: Option<&str>,
        turn: Option<&str>,
        out: &mut Vec<ProviderEvent>,
    ) -> bool {
        let Some(named) = client.and_then(|client| client.parse::<MessageId>().ok()) else {
            return false;
        };
        let ours = |it: &&mut InFlight| it.message == named && it.way != Way::Issued;
        let Some(message) = self.turns.messages.iter_mut().rev().find(ours) else { return false };
        let turn = turn.filter(|turn| turn.len() <= TURN_ID_BYTES_MAX);
        message.turn = turn.map(str::to_owned).or_else(|| message.turn.take());
        if message.way != Way::Taken {
            message.way = Way::Taken;
            out.push(ProviderEvent::MessageTaken { frame: message.frame });
        }
        true
    }

    /// A turn of the chat's thread begins: that of a message, or one of the agent's own.
    pub(super) fn turn_started(&mut self, turn: String, out: &mut Vec<ProviderEvent>) {
        if self.turns.active.as_ref() == Some(&turn) || turn.len() > TURN_ID_BYTES_MAX {
            return;
        }
        if let Some(before) = self.turns.active.clone() {
            // Its end was not told, or cannot be read.
            self.turn_completed(wire::Turn { id: Some(before), ..wire::Turn::default() }, out);
        }
        self.turns.active = Some(turn);
        self.turns.usage = Usage::default();
        if !self.turns.is_at_work() {
            out.push(ProviderEvent::Stirred);
        }
    }

    /// A turn of the chat's thread has ended.
    pub(super) fn turn_completed(&mut self, told: wire::Turn, out: &mut Vec<ProviderEvent>) {
        let Some(turn) = told.id else { return };
        let error = told.error.as_ref().map(said);
        let (how, text) = match told.status.as_deref() {
            Some("completed") => (TurnEnd::Completed, None),
            Some("interrupted") => (TurnEnd::Interrupted, None),
            Some("failed") => {
                let text = error.unwrap_or_else(|| "The turn failed.".to_owned());
                (TurnEnd::Failed, Some(text))
            }
            Some(_) | None => {
                (TurnEnd::Completed, Some("The agent did not say how it ended.".to_owned()))
            }
        };
        let thread = digest(self.thread.as_bytes());
        let at = At { thread, turn: digest(turn.as_bytes()) };
        self.thread_rests(at, how, out);
        for item in [self.plan.take(), self.retrying.take()].into_iter().flatten() {
            out.push(ProviderEvent::ItemClosed { item });
        }
        self.messages_of(&turn, how, out);
        if self.turns.active.as_ref() == Some(&turn) {
            self.turns.active = None;
        }
        let usage = std::mem::take(&mut self.turns.usage);
        let usage = Some(usage).filter(|usage| *usage != Usage::default());
        // A turn is known by its own id, however it ended.
        let mark = Some(turn).filter(|turn| turn.len() <= MARK_BYTES_MAX);
        out.push(ProviderEvent::TurnEnded { how, usage, text, mark });
    }

    /// What becomes of the messages of a turn that has ended.
    fn messages_of(&mut self, turn: &str, how: TurnEnd, out: &mut Vec<ProviderEvent>) {
        self.turns.messages.retain(|message| {
            let (frame, taken) = (message.frame, message.way == Way::Taken);
            if message.into.as_deref() == Some(turn) && !taken {
                // One that is not answered is refused yet, or was accepted and is left behind too.
                if message.answered {
                    out.push(left_behind(frame, Some(how)));
                }
                return !message.answered;
            }
            // One that was taken into a turn without a name is in this one.
            let of_it = message.turn.as_deref().map_or(taken, |its| its == turn);
            match (of_it, taken, how) {
                (true, true, _) => false,
                // The line that proves it cannot be read; the agent has done what it said.
                (true, false, TurnEnd::Completed) => {
                    out.push(ProviderEvent::MessageTaken { frame });
                    false
                }
                (true, false, _) => {
                    let text = "The turn ended before the agent had the message.".to_owned();
                    let proof = Proof::Nothing;
                    out.push(ProviderEvent::MessageFailed { frame, proof, text });
                    false
                }
                (false, ..) => true,
            }
        });
    }
}

/// A turn accepted a message and ended without telling it. Codex lets go of what an interrupted turn
/// has not taken up; of any other nobody knows whether its thread holds it.
fn left_behind(frame: FrameNo, how: Option<TurnEnd>) -> ProviderEvent {
    let text = "The turn ended before the agent had the message.".to_owned();
    let proof = match how {
        Some(TurnEnd::Interrupted) => Proof::TakenBack,
        Some(TurnEnd::Completed | TurnEnd::Failed | TurnEnd::Lost) | None => Proof::Nothing,
    };
    ProviderEvent::MessageFailed { frame, proof, text }
}

/// The agent's words for an error, bounded. A model's server may have answered with JSON.
pub(super) fn said(error: &wire::TurnError) -> String {
    let message = error.message.as_deref().unwrap_or_default().trim();
    let inner = serde_json::from_str::<Value>(message).ok();
    let inner = inner.as_ref().and_then(|it| it["error"]["message"].as_str());
    let message = inner.unwrap_or(message);
    let text = match error.details.as_deref().map(str::trim).filter(|text| !text.is_empty()) {
        Some(details) if message.is_empty() => details.to_owned(),
        Some(details) if !message.contains(details) => format!("{message} ({details})"),
        Some(_) | None => message.to_owned(),
    };
    let text = if text.is_empty() { "The agent gave no reason.".to_owned() } else { text };
    head(&text, ERROR_TEXT_BYTES_MAX).to_owned()
}
