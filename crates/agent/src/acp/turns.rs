//! Our messages at the agent: which is in flight, what proves that it was taken, how its turn ends.
//! And what replies of the agent are expected at all.

use holdfast_core::ids::FrameNo;
use holdfast_core::limits::MARK_BYTES_MAX;
use holdfast_core::provider::{ProviderEvent, TurnEnd, Usage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::prompts::Word;
use super::{Line, State, wire};
use crate::faults::Fault;
use crate::jsonrpc::PeerError;
use crate::ordinals::head;

/// Messages whose replies are outstanding. The host has one at a time; more are left behind only by
/// agents that do not reply.
const IN_FLIGHT_MAX: usize = 16;
/// Other frames whose replies are outstanding.
const EXPECTED_MAX: usize = 64;
/// Bytes of an agent's word for the end of a turn.
const STOP_REASON_BYTES_MAX: usize = 256;

/// What the reply to a frame is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Expect {
    /// It carries the start of the session on.
    Handshake,
    /// No reply comes: the frame ends the turns that are in flight when it is written.
    Interrupt,
    /// It says nothing.
    Nothing,
}

/// Whether a thing was asked of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stopped {
    /// Nobody stopped the turn.
    No,
    /// An interrupt was written while it was in flight.
    Yes,
}

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Way {
    /// Its frame has a number.
    Issued,
    /// Its first byte may have been written.
    Begun,
    /// Its last byte was written.
    Written,
    /// The agent provably took it.
    Taken,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InFlight {
    frame: FrameNo,
    way: Way,
    stopped: Stopped,
}

impl InFlight {
    /// Whether its last byte was written.
    fn is_written(&self) -> bool {
        match self.way {
            Way::Issued | Way::Begun => false,
            Way::Written | Way::Taken => true,
        }
    }
}

/// The frames whose replies are outstanding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turns {
    /// Oldest first.
    messages: Vec<InFlight>,
    expected: Vec<(FrameNo, Expect)>,
}

/// What a line of output says of the message in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// Something new, which proves that the message was taken.
    Anew,
    /// Something that may belong to what was before: it proves nothing.
    Unplaced,
    /// Something more of a known call. It proves nothing and opens no turn.
    Again,
}

impl Turns {
    pub(super) fn message(&mut self, frame: FrameNo) {
        if self.messages.len() >= IN_FLIGHT_MAX {
            self.messages.remove(0);
        }
        self.messages.push(InFlight { frame, way: Way::Issued, stopped: Stopped::No });
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

    /// A frame was written. Whether it was a message: then what was issued before it and is not
    /// written will not be, because frames are written in their order.
    pub(super) fn written(&mut self, frame: FrameNo) -> bool {
        if let Some(place) = self.expected.iter().position(|it| *it == (frame, Expect::Interrupt)) {
            self.expected.remove(place);
            for message in self.messages.iter_mut().filter(|it| it.is_written()) {
                message.stopped = Stopped::Yes;
            }
        }
        let mut found = false;
        self.messages.retain_mut(|message| {
            if message.frame == frame && !message.is_written() {
                message.way = Way::Written;
                found = true;
            }
            message.is_written() || message.frame > frame
        });
        found
    }

    /// The message whose turn it is: the oldest that was written and has no reply.
    fn current(&mut self) -> Option<&mut InFlight> {
        self.messages.iter_mut().find(|message| message.is_written())
    }

    /// The message that a reply with this number answers. Numbers can be guessed, so it is none
    /// before the message's first byte.
    ///
    /// That it has begun is all that can be asked. A keeper records the beginning before the first
    /// byte, and the end of a frame before it reads on in what the agent says; so the reply to a
    /// whole frame stands behind both marks. But the last byte is a line break, and an agent that
    /// reads JSON and not lines has the whole message before it: where a full pipe took the message
    /// and not yet the line break, its reply rightly stands before the end.
    fn answered_message(&mut self, frame: FrameNo) -> Option<InFlight> {
        let begun = |it: &InFlight| it.frame == frame && it.way != Way::Issued;
        let place = self.messages.iter().position(begun)?;
        Some(self.messages.remove(place))
    }

    fn answered(&mut self, frame: FrameNo) -> Option<Expect> {
        let place = self.expected.iter().position(|(expected, _)| *expected == frame)?;
        Some(self.expected.remove(place).1)
    }
}

impl State {
    /// A line of output of the chat's own session: what it proves comes before what it shows.
    pub(super) fn says(&mut self, says: Says, word: Word, out: &mut Vec<ProviderEvent>) {
        match (self.turns.current(), says) {
            (Some(message), Says::Anew) if message.way == Way::Written => {
                message.way = Way::Taken;
                out.push(ProviderEvent::MessageTaken { frame: message.frame });
            }
            (Some(_), _) | (None, Says::Again) => {}
            (None, Says::Anew | Says::Unplaced) => out.push(ProviderEvent::Stirred),
        }
        self.prompts.heard(word, out);
    }

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
        if let Some(message) = self.turns.answered_message(frame) {
            return match outcome {
                Ok(result) => self.message_ended(&message, result, out),
                Err(error) => self.message_failed(&message, &Fault::of(&error), out),
            };
        }
        match self.turns.answered(frame) {
            Some(Expect::Handshake) => self.handshake(outcome, out),
            Some(Expect::Nothing) => {}
            Some(Expect::Interrupt) | None => self.unrecognised("unknown_reply", line.0, out),
        }
    }

    /// The result of a message: it was taken, and its turn is over. A refusal or a bound that was
    /// reached leaves the work undone: the turn failed, and its text says why. A reason that this
    /// build does not know is an orderly end all the same.
    fn message_ended(
        &mut self,
        message: &InFlight,
        result: Option<&RawValue>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let told: wire::Prompted<'_> = wire::read(result).unwrap_or_default();
        if message.way != Way::Taken {
            out.push(ProviderEvent::MessageTaken { frame: message.frame });
        }
        let (how, text) = match (told.reason.as_deref(), message.stopped) {
            // An agent may say the plain word after it was stopped.
            (Some("cancelled"), _) | (Some("end_turn"), Stopped::Yes) => {
                (TurnEnd::Interrupted, None)
            }
            (Some("end_turn"), Stopped::No) => (TurnEnd::Completed, None),
            (Some("refusal"), _) => (TurnEnd::Failed, Some("The agent refused to go on.".into())),
            (Some("max_tokens"), _) => {
                (TurnEnd::Failed, Some("The agent reached its limit of tokens.".into()))
            }
            (Some("max_turn_requests"), _) => {
                let text = "The agent reached its limit of requests in one turn.";
                (TurnEnd::Failed, Some(text.into()))
            }
            (Some(other), _) => {
                let other = head(other, STOP_REASON_BYTES_MAX);
                (TurnEnd::Completed, Some(format!("The agent ended with {other:?}.")))
            }
            (None, _) => (TurnEnd::Completed, Some("The agent ended without a reason.".into())),
        };
        let usage = usage(&told);
        let holdfast = told.meta.and_then(|meta| meta.holdfast);
        let mark = holdfast.and_then(|meta| meta.turn);
        let mark = mark.filter(|mark| mark.len() <= MARK_BYTES_MAX);
        self.end_turn(how, out);
        out.push(ProviderEvent::TurnEnded { how, usage, text, mark });
    }

    fn message_failed(&mut self, message: &InFlight, fault: &Fault, out: &mut Vec<ProviderEvent>) {
        let text = fault.text.clone();
        if message.way != Way::Taken {
            let frame = message.frame;
            self.tasks.turn_ended(out);
            out.push(ProviderEvent::MessageFailed { frame, proof: fault.proof(), text });
            return;
        }
        let stopped = message.stopped == Stopped::Yes && fault.cancelled();
        let how = if stopped { TurnEnd::Interrupted } else { TurnEnd::Failed };
        self.end_turn(how, out);
        out.push(ProviderEvent::TurnEnded { how, usage: None, text: Some(text), mark: None });
    }

    /// Ends what belongs to a turn.
    fn end_turn(&mut self, how: TurnEnd, out: &mut Vec<ProviderEvent>) {
        self.prompts.turn_ended(out);
        self.tasks.turn_ended(out);
        self.texts.close(out);
        self.end_plan(out);
        self.calls.turn_ended(how, out);
    }
}

fn usage(told: &wire::Prompted<'_>) -> Option<Usage> {
    let own = told.usage.as_ref().map(|usage| Usage {
        input_tokens: wire::count(usage.input),
        output_tokens: wire::count(usage.output),
        total_tokens: wire::count(usage.total),
        ..Usage::default()
    });
    let vendor = || {
        let count = told.meta.as_ref()?.quota.as_ref()?.count.as_ref()?;
        Some(Usage {
            input_tokens: wire::count(count.input),
            output_tokens: wire::count(count.output),
            ..Usage::default()
        })
    };
    own.or_else(vendor).filter(|usage| *usage != Usage::default())
}
