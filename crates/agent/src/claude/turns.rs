//! Our messages at the CLI: which is in flight, what proves that it was taken, how its turn ends. And
//! which turn runs that nobody's message opened.

use holdfast_core::ids::FrameNo;
use holdfast_core::limits::MARK_BYTES_MAX;
use holdfast_core::provider::{Proof, ProviderEvent, TurnEnd, Usage};
use serde::{Deserialize, Serialize};

use super::State;
use super::prompts::Word;
use super::wire::{self, is_true};
use crate::ordinals::head;
use crate::tolerant::List;

/// What a person can do about a login that is missing.
const LOG_IN: &str = "Run `claude` in a terminal and type /login, or set ANTHROPIC_API_KEY in the agent's \
    environment. Then send your message again.";
/// Messages that are told apart. The host has one at a time at the CLI.
const IN_FLIGHT_MAX: usize = 16;
/// Bytes of the CLI's words for the end of a turn.
const TEXT_BYTES_MAX: usize = 4 * 1024;

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
    /// The CLI provably took it.
    Taken,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct InFlight {
    frame: FrameNo,
    way: Way,
}

/// What is known of a turn that runs at the CLI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Running {
    /// None does.
    #[default]
    No,
    /// The host was told of it: by a message that was taken, or by what the model says.
    Told,
    /// The host was told of it by what the model says, and a message was in flight that may have opened
    /// it: versions that name no messages say so later.
    Unclaimed,
}

/// Whether somebody wants the turn to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Interrupted {
    #[default]
    No,
    Yes,
}

/// The turns of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turns {
    /// Oldest first.
    messages: Vec<InFlight>,
    running: Running,
    /// Whether this version names the messages of a turn.
    names: bool,
    interrupted: Interrupted,
    /// What the process had cost when it last said so, in millionths of a US dollar.
    cost: Option<u64>,
    /// Tokens of the conversation as the model read it last.
    context: Option<u64>,
    /// The id of the last message of the model in this turn: the CLI can go back to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spoken: Option<String>,
    /// Whether the turn was told that nobody is logged in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) logged_out: bool,
}

impl Turns {
    pub(super) fn message(&mut self, frame: FrameNo) {
        if self.messages.len() >= IN_FLIGHT_MAX {
            self.messages.remove(0);
        }
        self.messages.push(InFlight { frame, way: Way::Issued });
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

    /// A frame was written. What was issued before it and is not written will not be: frames are
    /// written in their order.
    pub(super) fn written(&mut self, frame: FrameNo) {
        self.messages.retain_mut(|message| {
            let waits = matches!(message.way, Way::Issued | Way::Begun);
            if message.frame == frame && waits {
                message.way = Way::Written;
            }
            !waits || message.frame >= frame
        });
    }

    /// Somebody wants the running turn to end.
    pub(super) fn interrupted(&mut self) {
        self.interrupted = Interrupted::Yes;
    }

    /// The model read this much.
    pub(super) fn read(&mut self, usage: Option<&wire::Usage<'_>>) {
        let Some(usage) = usage else { return };
        let parts = [usage.input, usage.created, usage.cached];
        let read: u64 = parts.into_iter().filter_map(wire::count).fold(0, u64::saturating_add);
        if read > 0 {
            self.context = Some(read);
        }
    }

    /// The model has said something in the main conversation.
    pub(super) fn spoke(&mut self, id: Option<&str>) {
        self.spoken = id.filter(|id| id.len() <= MARK_BYTES_MAX).map(str::to_owned);
    }

    /// The host is told of a turn: nobody has wanted this one to end.
    fn begins(&mut self, running: Running) {
        if self.running == Running::No {
            self.running = running;
            self.interrupted = Interrupted::No;
        }
    }

    /// The CLI names the message in this frame as one that a turn has taken up. Ids can be guessed by
    /// whoever sees one, so it is none before the message's first byte.
    fn named(&mut self, frame: FrameNo, out: &mut Vec<ProviderEvent>) {
        let begun = |it: &&mut InFlight| it.frame == frame && it.way != Way::Issued;
        let Some(message) = self.messages.iter_mut().find(begun) else { return };
        if message.way != Way::Taken {
            message.way = Way::Taken;
            let unclaimed = self.running == Running::Unclaimed;
            if self.running == Running::Told {
                // It came into a turn that runs: what the model said until then does not hold it.
                self.spoken = None;
            }
            self.begins(Running::Told);
            out.push(ProviderEvent::MessageTaken { frame });
            if unclaimed {
                self.running = Running::Told;
                out.push(ProviderEvent::TurnClaimed { frame });
            }
        }
    }

    /// Whether a message is written that no turn has taken up.
    fn waits(&self) -> bool {
        self.messages.iter().any(|message| message.way == Way::Written)
    }

    /// The CLI has taken the message out of its queue again, before a turn took it up.
    fn cancelled(&mut self, frame: FrameNo, out: &mut Vec<ProviderEvent>) {
        let waits = |it: &InFlight| it.frame == frame && it.way != Way::Taken;
        let Some(place) = self.messages.iter().position(waits) else { return };
        self.messages.remove(place);
        let text = "It was stopped before the agent began with it.".to_owned();
        out.push(ProviderEvent::MessageFailed { frame, proof: Proof::TakenBack, text });
    }

    /// What a turn cost: what the CLI says of it, or the difference to what it had said before. The
    /// first total of a process may hold what an earlier one had spent.
    fn cost(&mut self, told: &wire::Result<'_>) -> Option<u64> {
        let total = wire::micros(told.cost);
        let before = self.cost;
        self.cost = total.or(before);
        match &told.since {
            Some(models) => {
                let costs = models.0.iter().filter_map(|(_, model)| {
                    let model: wire::ModelUsage<'_> = serde_json::from_str(model.get()).ok()?;
                    wire::micros(model.cost)
                });
                Some(costs.fold(0, u64::saturating_add))
            }
            None => Some(total?.saturating_sub(before?)),
        }
    }

    fn usage(&mut self, told: &wire::Result<'_>) -> Option<Usage> {
        let cost_micros = self.cost(told);
        let counted = told.usage.as_ref()?;
        let cached = wire::count(counted.cached);
        let read = [wire::count(counted.input), wire::count(counted.created), cached];
        let windows = told.models.as_ref().map(|models| {
            let windows = models.0.iter().filter_map(|(_, model)| {
                let model: wire::ModelUsage<'_> = serde_json::from_str(model.get()).ok()?;
                wire::count(model.window)
            });
            windows.max()
        });
        let usage = Usage {
            input_tokens: Some(read.into_iter().flatten().fold(0, u64::saturating_add)),
            output_tokens: wire::count(counted.output),
            total_tokens: None,
            cached_tokens: cached.filter(|cached| *cached > 0),
            context_tokens: self.context,
            context_window: windows.flatten(),
            cost_micros,
        };
        let spent = usage.input_tokens.unwrap_or(0) > 0 || usage.output_tokens.unwrap_or(0) > 0;
        spent.then_some(usage)
    }
}

impl State {
    /// Something that only a turn of the main conversation brings forth. It is told first whose turn
    /// that is, where no message is known to have opened it.
    pub(super) fn says(&mut self, word: Word, out: &mut Vec<ProviderEvent>) {
        if self.turns.running == Running::No {
            let unnamed = self.turns.waits() && !self.turns.names;
            self.turns.begins(if unnamed { Running::Unclaimed } else { Running::Told });
            out.push(ProviderEvent::Stirred);
        }
        self.prompts.heard(word, out);
    }

    /// The CLI names messages that a turn has taken up.
    pub(super) fn names(&mut self, named: Option<&List<'_>>, out: &mut Vec<ProviderEvent>) {
        self.turns.names |= named.is_some();
        for id in wire::texts(named) {
            self.replayed(&id, out);
        }
    }

    /// The CLI names one message. Says whether it is one of this attempt.
    pub(super) fn replayed(&mut self, id: &str, out: &mut Vec<ProviderEvent>) -> bool {
        let frame = self.frame_of(id);
        if let Some(frame) = frame {
            self.turns.named(frame, out);
        }
        frame.is_some()
    }

    /// The CLI took messages out of its queue.
    pub(super) fn unqueued(&mut self, ids: Option<&List<'_>>, out: &mut Vec<ProviderEvent>) {
        for id in wire::texts(ids) {
            if let Some(frame) = self.frame_of(&id) {
                self.turns.cancelled(frame, out);
            }
        }
    }

    /// How far a message is in the CLI's own queue.
    pub(super) fn lifecycle(&mut self, told: &wire::Lifecycle, out: &mut Vec<ProviderEvent>) {
        let state = told.state.as_deref();
        if told.wakeup.is_some() && state == Some("started") {
            return self.wakes_up(out);
        }
        let frame = told.command.as_deref().and_then(|id| self.frame_of(id));
        if let (Some(frame), Some("cancelled")) = (frame, state) {
            self.turns.cancelled(frame, out);
        }
    }

    /// The end of a turn. Turns of the CLI's own that came to nothing (a notice after a resume, two
    /// tasks that ended together) end without ever having been told of.
    pub(super) fn ended(
        &mut self,
        told: &wire::Result<'_>,
        subtype: Option<&str>,
        named: Option<&List<'_>>,
        out: &mut Vec<ProviderEvent>,
    ) {
        self.names(named, out);
        let own = wire::declared(told.origin);
        if !own && named.is_none() && self.turns.running == Running::No {
            // Older versions name no message: a turn that nobody was told of, and that has no origin of
            // its own, was that of the message in flight.
            let written = |it: &&InFlight| it.way == Way::Written;
            let frame = self.turns.messages.iter().find(written).map(|message| message.frame);
            if let Some(frame) = frame {
                self.turns.named(frame, out);
            }
        }
        let usage = self.turns.usage(told);
        let interrupted = std::mem::take(&mut self.turns.interrupted);
        let running = std::mem::take(&mut self.turns.running);
        let mark = self.turns.spoken.take();
        self.turns.messages.retain(|message| message.way != Way::Taken);
        if running == Running::No {
            return self.end_turn(out);
        }
        let (how, text) = end(told, subtype, interrupted);
        self.end_turn(out);
        let logged_out = std::mem::take(&mut self.turns.logged_out) && how == TurnEnd::Failed;
        if logged_out {
            // The failure says it in words that help.
            out.push(ProviderEvent::TurnEnded { how, usage, text: None, mark });
            let said = text.unwrap_or_default();
            out.push(ProviderEvent::LoginNeeded { text: format!("{said}. {LOG_IN}") });
            return;
        }
        out.push(ProviderEvent::TurnEnded { how, usage, text, mark });
    }
}

fn end(
    told: &wire::Result<'_>,
    subtype: Option<&str>,
    interrupted: Interrupted,
) -> (TurnEnd, Option<String>) {
    let aborted = told.terminal.as_deref().is_some_and(|reason| reason.starts_with("aborted"));
    let failed = is_true(told.failed) || subtype != Some("success");
    if aborted || (failed && interrupted == Interrupted::Yes) {
        return (TurnEnd::Interrupted, None);
    }
    if !failed {
        return (TurnEnd::Completed, None);
    }
    let errors = wire::texts(told.errors.as_ref()).join("\n");
    let text = [told.text.clone(), Some(errors), subtype.map(str::to_owned)];
    let text = text.into_iter().flatten().find(|text| !text.trim().is_empty());
    let text = text.map(|text| head(&text, TEXT_BYTES_MAX).to_owned());
    (TurnEnd::Failed, text)
}
