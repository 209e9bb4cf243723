//! A message's life (delivery.md): accepted, handed over, taken, settled, refused, in doubt. When
//! a message is written to an agent is decided here, in [`advance`]; which one, in [`crate::queue`].

use super::{Draft, attempt, offer, queue, steer, turn};
use crate::attachment::nameable;
use crate::digest;
use crate::effect::{asks, forks, rests};
use crate::fact::{
    Author, Evidence, Fact, OfferEnd, Paused, Place, RefusedWhy, StopWhy, WithdrawnWhy,
};
use crate::frame::Outgoing;
use crate::head::{Delivery, Life, Outstanding, Phase, Queued, Strand};
use crate::ids::{AttachmentId, FrameNo, MessageId, Subject, TurnId};
use crate::input::{Choice, Reply, Send};
use crate::item::{Body, ItemKind, Notice, Role, Row, Steered};
use crate::limits::{MESSAGE_BYTES_MAX, QUEUE_MESSAGES_MAX};
use crate::provider::{Proof, TurnEnd};
use crate::queue::next;
use crate::refusal::{Code, Refusal};

/// Accepts a message.
pub(super) fn send(
    d: &mut Draft<'_>,
    (message, by, send): (MessageId, Author, Send),
    text: String,
    attachments: Vec<AttachmentId>,
) -> Result<Reply, Refusal> {
    // What is attached may be all that there is to say.
    check_text("text", &text, if attachments.is_empty() { Empty::Refused } else { Empty::Taken })?;
    may_accept(d)?;
    nameable(&d.chat.aside.attachments, &attachments)?;
    let running = d.chat.head.turn.is_some() || d.chat.head.outstanding.is_some();
    let (place, note) = match send {
        Send::Queue => (Place::Tail, None),
        Send::Interrupt => (Place::Head, None),
        Send::Steer if running => match steer::may(d) {
            steer::Wish::Granted => (Place::Head, None),
            steer::Wish::Not(why) => (Place::Head, Some(why.to_owned())),
        },
        Send::Steer => (Place::Head, None),
    };
    let steers = send == Send::Steer && running && note.is_none();
    // After a Stop, and in a chat that was closed, a person's next message runs first and alone: none
    // of the two paused the queue for it. What follows it waits with the rest rather than overtaking
    // it.
    let head = &d.chat.head;
    let alone = head.exempt.is_none() || head.offer.is_some();
    let stopped = matches!(head.paused, Some(Paused::Stop | Paused::Close));
    let next_after_stop = stopped && by.is_person() && alone;
    let place = if next_after_stop { Place::Head } else { place };
    accept(d, message, text, by, place, attachments);
    if by.is_person() {
        offer::end(d, OfferEnd::Progress);
        if next_after_stop || send == Send::Interrupt {
            d.push(Fact::QueueExempted { message });
        }
    }
    if send == Send::Interrupt {
        turn::request_end(d);
    }
    if steers {
        steer::wish(d, message);
    }
    let receipt = d.receipt(Subject::Message(message));
    Ok(Reply::Accepted { receipt, message, note })
}

/// Whether a text may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    /// It may: something goes with it.
    Taken,
    /// It may not.
    Refused,
}

/// Refuses a text that no agent is given.
pub(super) fn check_text(field: &str, text: &str, empty: Empty) -> Result<(), Refusal> {
    if empty == Empty::Refused && text.trim().is_empty() {
        return Err(Refusal::new(Code::EmptyField, format!("{field} is empty.")).field(field));
    }
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(super::chat::too_long(field, MESSAGE_BYTES_MAX, "bytes"));
    }
    Ok(())
}

pub(super) fn may_accept(d: &Draft<'_>) -> Result<(), Refusal> {
    if d.chat.head.life != Life::Open {
        let text = "The chat is closed. Open it again to send a message.";
        return Err(Refusal::new(Code::ChatClosed, text));
    }
    if d.chat.aside.queue.len() >= QUEUE_MESSAGES_MAX {
        let text = format!("The queue holds {QUEUE_MESSAGES_MAX} messages. Nothing was stored.");
        return Err(Refusal::new(Code::QueueFull, text).limit(QUEUE_MESSAGES_MAX));
    }
    queue::few_in_doubt(d)
}

/// Makes a message durable; whether it may be is decided before.
pub(super) fn accept(
    d: &mut Draft<'_>,
    message: MessageId,
    text: String,
    by: Author,
    place: Place,
    attachments: Vec<AttachmentId>,
) {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    let digest = digest(&text);
    d.push(Fact::MessageAccepted { message, by, bytes, digest, place, attachments });
    d.row(Row::MessageText { message, text });
}

/// Does what the chat owes and can do now: starts an agent for a message that may run, hands that
/// message over once the agent is ready and nothing else is at it. The whole answer to "when is a
/// message written to an agent".
pub(super) fn advance(d: &mut Draft<'_>) {
    if d.chat.head.life != Life::Open {
        return;
    }
    steer::advance(d);
    let queued = next(d.chat).cloned();
    let Some(attempt) = &d.chat.head.attempt else {
        if queued.is_some() || asks(d.chat) || forks(d.chat) {
            attempt::start(d);
        }
        return;
    };
    if d.chat.head.tuned && rests(d.chat) {
        let (attempt, why) = (attempt.id, StopWhy::Ordered);
        d.push(Fact::StopRequested { attempt, why });
        return;
    }
    let Some(queued) = queued else { return };
    let ready = attempt.phase == Phase::Ready && attempt.stop.is_none();
    if !ready || !d.has_room(1) || d.chat.head.at_agent().next().is_some() {
        return;
    }
    // ACP tells no end of a turn that the agent opened by itself: a message does not wait for it.
    let waits = d
        .chat
        .head
        .turn
        .is_some_and(|turn| turn.message.is_some() || attempt.capabilities.own_turns_end);
    if waits {
        return;
    }
    turn::close_own(d, Evidence::Message);
    hand_over(d, &queued, None);
}

/// Hands a message over: into the turn that runs, or to open one.
pub(super) fn hand_over(d: &mut Draft<'_>, queued: &Queued, into: Option<TurnId>) {
    let Some(frame) = d.next_frame() else { return };
    let Some(attempt) = d.serving().map(|attempt| attempt.id) else { return };
    let message = queued.message;
    let item = queued.item.unwrap_or_else(|| d.next_host_item());
    if queued.item.is_none() {
        let turn = into.unwrap_or(TurnId(d.chat.head.turns.saturating_add(1)));
        let wished = d.chat.head.steers.iter().any(|steer| steer.message == message);
        let steer = match into {
            Some(_) => Some(Steered::Given),
            // The turn that it was for ended before it could be given to it.
            None => wished.then_some(Steered::OwnTurn),
        };
        let body = Body::Message { message, steer };
        d.add_item(item, ItemKind::Message, Role::User, Some(turn), body);
        d.row(Row::ItemClosed { item });
    } else if into.is_some() {
        steer::show(d, item, message, Steered::Given);
    }
    d.push(Fact::MessageHanded { message, attempt, frame, item, into });
    let out = match into {
        Some(_) => Outgoing::Steer { message },
        None => Outgoing::Message { message },
    };
    d.push(Fact::FrameIssued { frame, out });
}

/// The agent provably has the message in this frame.
pub(super) fn taken(d: &mut Draft<'_>, frame: FrameNo) {
    let Some(outstanding) = d.chat.head.at_agent().find(|o| o.frame == frame) else {
        return;
    };
    if outstanding.state == Delivery::Taken {
        return;
    }
    let (message, item, into) = (outstanding.message, outstanding.item, outstanding.into);
    d.push(Fact::MessageTaken { message, evidence: Evidence::Agent });
    if into.is_some() {
        let own = d.chat.head.turn.is_none();
        let steered = if own { Steered::OwnTurn } else { Steered::TakenUp };
        steer::show(d, item, message, steered);
    }
    if d.chat.head.turn.is_none() {
        turn::open(d, Some(message));
    }
    offer::taken(d, message);
}

/// The turn that runs was opened by the message in this frame, as the agent tells only now.
pub(super) fn claims(d: &mut Draft<'_>, frame: FrameNo) {
    let taken = |o: &&Outstanding| o.frame == frame && o.state == Delivery::Taken;
    let message = d.chat.head.at_agent().find(taken).map(|o| (o.message, o.item, o.into));
    let own = d.chat.head.turn.filter(|turn| turn.message.is_none()).map(|turn| turn.id);
    if let (Some((message, item, into)), Some(turn)) = (message, own) {
        d.push(Fact::TurnClaimed { turn, message });
        if into.is_some() {
            steer::show(d, item, message, Steered::OwnTurn);
        }
    }
}

/// The agent answered a message with an error before any proof of taking.
pub(super) fn failed(d: &mut Draft<'_>, frame: FrameNo, proof: Proof, text: String) {
    let Some(outstanding) = d.chat.head.at_agent().find(|o| o.frame == frame) else {
        return;
    };
    if outstanding.state == Delivery::Taken {
        // After the take-up an error is a failed turn, not a refusal.
        turn::ended(d, TurnEnd::Failed, None, Some(text), None);
        return;
    }
    let (message, item) = (outstanding.message, outstanding.item);
    if outstanding.into.is_some() {
        return steer::failed(d, message, item, proof);
    }
    turn::end_foreground(d);
    if proof != Proof::TakenBack {
        d.say(Notice::TurnFailed, &text);
    }
    match proof {
        Proof::TakenBack => {
            d.push(Fact::MessageRefused { message, why: RefusedWhy::Rejected { text } });
            // What waits behind it waits for the person who stopped it.
            return offer::stop_resume(d);
        }
        Proof::NotTaken => {
            let why = RefusedWhy::Rejected { text: text.clone() };
            d.push(Fact::MessageRefused { message, why });
        }
        Proof::Nothing => d.push(Fact::MessageDoubted { message, asking: false }),
    }
    // What waits behind it would most likely fare no better: it waits for a person.
    offer::resume_failed(d, crate::provider::StartFault::AgentRefused, &text);
}

/// A person decides about a message without an outcome.
pub(super) fn resolve(
    d: &mut Draft<'_>,
    message: MessageId,
    choice: Choice,
) -> Result<Reply, Refusal> {
    let stranded = d.chat.head.stranded.iter().find(|stranded| stranded.message == message);
    let Some(why) = stranded.map(|stranded| stranded.why) else {
        let text = "This message is neither refused nor of unknown outcome.";
        return Err(Refusal::new(Code::NotInDoubt, text));
    };
    if d.chat.head.offer.as_ref().is_some_and(|offer| offer.continuation == message) {
        let text = "This message carries on with an offer: resume or dismiss the offer.";
        return Err(Refusal::new(Code::NotInDoubt, text));
    }
    match (choice, why) {
        (Choice::Arrived, Strand::Refused) => {
            let text = "The agent provably did not take this message: send it again or discard it.";
            return Err(Refusal::new(Code::NotInDoubt, text).field("choice"));
        }
        (Choice::Arrived, Strand::Unknown { .. }) => {
            d.push(Fact::MessageSettled { message, evidence: Evidence::Person });
        }
        (Choice::SendAgain, _) => {
            if d.chat.head.life != Life::Open {
                let text = "The chat is closed. Open it again to send a message.";
                return Err(Refusal::new(Code::ChatClosed, text));
            }
            steer::comes_back(d, message);
            d.push(Fact::MessageRequeued { message, place: Place::Head });
            if d.chat.head.offer.is_none() {
                offer::clear_failure(d);
                d.push(Fact::QueueExempted { message });
            }
        }
        (Choice::Discard, _) => {
            d.push(Fact::MessageWithdrawn { message, why: WithdrawnWhy::Discarded });
        }
    }
    let receipt = d.receipt(Subject::Message(message));
    Ok(Reply::Accepted { receipt, message, note: None })
}
