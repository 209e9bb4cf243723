//! Messages that are given to the running turn (delivery.md): wished for, handed over, left behind.
//! One at a time is on its way there; what a turn has left behind is the message at the agent, and
//! what the agent would not have waits at the queue's head.

use super::{Draft, message};
use crate::fact::{Fact, Place};
use crate::ids::{ItemId, MessageId, TurnId};
use crate::item::{Body, Row, Steered};
use crate::limits::STEERS_WAITING_MAX;
use crate::provider::Proof;
use crate::queue::steered;

/// What came of the wish to give a message to the running turn, where something is to be said of it.
pub(super) enum Wish {
    /// It is given to the turn as soon as it can be.
    Granted,
    /// It runs next, for this reason.
    Not(&'static str),
}

/// Whether a message can be given to what runs.
pub(super) fn may(d: &Draft<'_>) -> Wish {
    let steers = d.serving().is_some_and(|attempt| attempt.capabilities.steer);
    let ends = d.chat.head.turn.is_some_and(|turn| turn.interrupted.is_some());
    if !steers {
        Wish::Not("This agent cannot be steered: the message runs next.")
    } else if ends {
        Wish::Not("The turn is being stopped: the message runs next.")
    } else if d.chat.head.steers.len() >= STEERS_WAITING_MAX {
        Wish::Not("Too many messages wait for the running turn: this one runs after it.")
    } else {
        Wish::Granted
    }
}

/// A message at the queue's head is to be given to the turn, behind those that are to be before it.
pub(super) fn wish(d: &mut Draft<'_>, message: MessageId) {
    let head = &d.chat.head;
    // A message that is on its way to the agent opens the next turn.
    let turn = head.turn.map_or(TurnId(head.turns.saturating_add(1)), |turn| turn.id);
    let before = head.steers.iter().filter(|steer| steer.turn == turn);
    let before: Vec<MessageId> = before.map(|steer| steer.message).collect();
    if !before.is_empty() {
        let queue = d.chat.aside.queue.iter().map(|queued| queued.message);
        let waits = |id: &MessageId| before.contains(id) || *id == message;
        let rest: Vec<MessageId> = queue.filter(|id| !waits(id)).collect();
        let order = before.into_iter().chain([message]).chain(rest).collect();
        d.push(Fact::QueueOrdered { order });
    }
    d.push(Fact::SteerWished { message, turn });
}

/// Gives the next message to the running turn, if one is to be and can be.
pub(super) fn advance(d: &mut Draft<'_>) {
    if !d.has_room(1) {
        return;
    }
    let Some((queued, turn)) = steered(d.chat).map(|(queued, turn)| (queued.clone(), turn)) else {
        return;
    };
    message::hand_over(d, &queued, Some(turn));
}

/// The agent did not take what was given to its turn. It waits at the queue's head where that is
/// proven; otherwise nobody knows.
pub(super) fn failed(d: &mut Draft<'_>, message: MessageId, item: ItemId, proof: Proof) {
    match proof {
        Proof::NotTaken | Proof::TakenBack => {
            d.push(Fact::MessageRequeued { message, place: Place::Head });
            show(d, item, message, Steered::Returned);
        }
        Proof::Nothing => d.push(Fact::MessageDoubted { message, asking: false }),
    }
}

/// A message without an outcome waits again: where it was given to a turn, that did not take it.
pub(super) fn comes_back(d: &mut Draft<'_>, message: MessageId) {
    let stranded = d.chat.head.stranded.iter().find(|stranded| stranded.message == message);
    let item = stranded.filter(|stranded| stranded.into.is_some()).map(|stranded| stranded.item);
    if let Some(item) = item {
        show(d, item, message, Steered::Returned);
    }
}

/// Shows in the transcript what became of it.
pub(super) fn show(d: &mut Draft<'_>, item: ItemId, message: MessageId, steer: Steered) {
    d.row(Row::ItemBody { item, body: Body::Message { message, steer: Some(steer) } });
}
