//! What holds the queue of a chat, and which message may run next.

use serde::{Deserialize, Serialize};

use crate::fact::Paused;
use crate::head::{Attempt, Chat, Delivery, Life, Outstanding, Phase, Queued};
use crate::ids::TurnId;
use crate::limits::{STEERED_MESSAGES_MAX, STRANDED_MESSAGES_MAX};

/// Why a queue does not run although it is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// A person stopped the turn.
    Stop,
    /// A person paused it.
    Person,
    /// An offer was dismissed.
    Dismiss,
    /// The chat was closed with it.
    Close,
    /// An offer waits.
    Offer,
    /// A start failed.
    StartFailed,
}

/// Why the queue of a chat does not run.
#[must_use]
pub fn held(chat: &Chat) -> Option<Held> {
    let head = &chat.head;
    if head.offer.is_some() {
        Some(Held::Offer)
    } else if head.failure.is_some() {
        Some(Held::StartFailed)
    } else {
        head.paused.map(|paused| match paused {
            Paused::Stop => Held::Stop,
            Paused::Person => Held::Person,
            Paused::Dismiss => Held::Dismiss,
            Paused::Close => Held::Close,
        })
    }
}

/// The message that may be handed over next, if any waits that may. An exemption lifts a pause;
/// beside an offer only its own resume makes one. Nothing lifts a failure but an act that clears it.
/// A session that was left for a new one is told a recap before anything else; by itself, without an
/// exemption, that waits until there is something else.
#[must_use]
pub fn next(chat: &Chat) -> Option<&Queued> {
    let head = &chat.head;
    let queue = &chat.aside.queue;
    if head.failure.is_some() {
        return None;
    }
    let exempt = head.exempt.and_then(|id| queue.iter().find(|q| q.message == id));
    let recap = head.recap.and_then(|id| queue.iter().find(|q| q.message == id));
    let waits = || queue.iter().find(|queued| Some(queued.message) != head.recap);
    let first = exempt.or_else(|| if held(chat).is_none() { waits() } else { None })?;
    Some(recap.unwrap_or(first))
}

/// The message that is to be given to the running turn next, and that turn: what its agent was given
/// before is taken, the turn is not about to end, and there is room for one more without an outcome. A
/// person's own word passes a pause by, as the turn itself runs.
#[must_use]
pub fn steered(chat: &Chat) -> Option<(&Queued, TurnId)> {
    let head = &chat.head;
    let can = |attempt: &Attempt| {
        attempt.phase == Phase::Ready && attempt.stop.is_none() && attempt.capabilities.steer
    };
    let turn = head.turn.filter(|turn| turn.interrupted.is_none())?;
    let all_taken = head.at_agent().all(|o: &Outstanding| o.state == Delivery::Taken);
    let room = head.steered.len() < STEERED_MESSAGES_MAX
        && head.stranded.len() + head.at_agent().count() < STRANDED_MESSAGES_MAX;
    let may = head.life == Life::Open && head.failure.is_none() && all_taken && room;
    if !may || !head.attempt.as_ref().is_some_and(can) {
        return None;
    }
    let passes = |queued: &&Queued| queued.by.is_person() || held(chat).is_none();
    let waiting = |message| chat.aside.queue.iter().find(|q| q.message == message).filter(passes);
    let wished = head.steers.iter().filter(|steer| steer.turn == turn.id);
    wished.map(|steer| steer.message).find_map(waiting).map(|queued| (queued, turn.id))
}
