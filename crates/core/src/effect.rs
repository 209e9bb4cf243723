//! What a chat owes the world. Effects are not remembered: they are read from the head, after a
//! commit and after a start alike, so that what a crash kept from being done is done by the same
//! line. Doing one again is harmless: attempts are fenced by their id, frames by their number.

use crate::activity::Activity;
use crate::fact::{Secret, StopWhy};
use crate::frame::Issued;
use crate::head::{Attempt, Chat, Life, Phase, Prompt, Stranded, Written};
use crate::ids::{AttemptId, FrameNo};
use crate::queue::{held, next};

/// What is to be done about the agent of a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct Owed {
    /// The attempt that is to be started, or attached to if it lives.
    pub attempt: AttemptId,
    /// Its secret.
    pub secret: Secret,
    /// Frames that are to be written, in order.
    pub frames: Vec<Issued>,
    /// The frame among them that is to be had back, if it has not begun.
    pub withdraw: Option<FrameNo>,
    /// That it is to be stopped.
    pub stop: Option<StopWhy>,
}

/// What this chat owes.
#[must_use]
pub fn owed(chat: &Chat) -> Option<Owed> {
    let attempt = chat.head.attempt.as_ref()?;
    Some(Owed {
        attempt: attempt.id,
        secret: attempt.secret.clone(),
        frames: attempt.outbox.iter().cloned().collect(),
        withdraw: chat
            .head
            .at_agent()
            .find(|o| o.withdrawing && o.written == Written::No)
            .map(|o| o.frame),
        stop: attempt.stop,
    })
}

/// Whether an agent has to be started for a resume that waits for what its own store knows of a
/// message in doubt.
#[must_use]
pub fn asks(chat: &Chat) -> bool {
    let head = &chat.head;
    head.is_resuming() && head.stranded.iter().any(Stranded::is_asking)
}

/// Whether an agent has to be started to make the chat's session a copy of another chat's, before
/// that one goes on.
#[must_use]
pub fn forks(chat: &Chat) -> bool {
    chat.head.fork.is_some() && held(chat).is_none()
}

/// Whether a host that starts has to load this chat: it has an attempt, or a message that runs.
#[must_use]
pub fn owes(chat: &Chat) -> bool {
    let head = &chat.head;
    let runs = head.life == Life::Open && (next(chat).is_some() || asks(chat));
    head.attempt.is_some() || runs
}

/// Whether the agent may be released for idleness: the chat shows no work and owes nothing
/// (delivery.md, idle release).
#[must_use]
pub fn releasable(chat: &Chat) -> bool {
    rests(chat) && chat.head.leftovers == 0 && next(chat).is_none()
}

/// Whether the agent can be started anew without losing anything: it does nothing, and brings its
/// session back.
#[must_use]
pub fn rests(chat: &Chat) -> bool {
    let head = &chat.head;
    let ready = head.attempt.as_ref().is_some_and(|attempt| {
        attempt.phase == Phase::Ready && attempt.stop.is_none() && comes_back(attempt)
    });
    ready
        && !Activity::of(chat).shows_work()
        && head.turn.is_none()
        && head.prompts.values().all(Prompt::is_written)
        && head.outstanding.is_none()
}

/// Whether an agent can bring its session back; one that cannot would lose what it knows.
#[must_use]
pub const fn comes_back(attempt: &Attempt) -> bool {
    attempt.capabilities.load || attempt.capabilities.resume
}
