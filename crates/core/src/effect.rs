//! What a chat owes the world. Effects are not remembered: they are read from the head, after a
//! commit and after a start alike, so that what a crash kept from being done is done by the same
//! line. Doing one again is harmless: attempts are fenced by their id, frames by their number.

use crate::fact::{Secret, StopWhy};
use crate::frame::Issued;
use crate::head::Chat;
use crate::ids::{AttemptId, FrameNo};

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
        withdraw: chat.head.outstanding.as_ref().filter(|o| o.withdrawing).map(|o| o.frame),
        stop: attempt.stop,
    })
}
