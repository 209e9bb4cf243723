//! The messages at the agent: the one that opened its turn, and those that the turn was given.

use serde::{Deserialize, Serialize};

use super::{Delivery, Head, Outstanding};
use crate::ids::{MessageId, TurnId};

/// A waiting message that is to be given to a turn while that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Steer {
    /// The message.
    pub message: MessageId,
    /// The turn.
    pub turn: TurnId,
}

impl Head {
    /// The messages at the agent, in the order in which they were handed over.
    pub fn at_agent(&self) -> impl Iterator<Item = &Outstanding> {
        self.outstanding.iter().chain(&self.steered)
    }

    /// Whether one that a turn was given is not taken: it may come back to the queue.
    #[must_use]
    pub fn may_come_back(&self) -> bool {
        self.at_agent().any(|o| o.into.is_some() && o.state == Delivery::Handed)
    }

    /// One of them, to be changed.
    pub(crate) fn one_at_agent(
        &mut self,
        is: impl Fn(&Outstanding) -> bool,
    ) -> Option<&mut Outstanding> {
        self.outstanding.iter_mut().chain(&mut self.steered).find(|o| is(o))
    }

    /// Takes a message away from the agent's.
    pub(crate) fn take_from_agent(&mut self, message: MessageId) -> Option<Outstanding> {
        let taken = self.outstanding.take_if(|o| o.message == message).or_else(|| {
            let place = self.steered.iter().position(|o| o.message == message)?;
            Some(self.steered.remove(place))
        });
        self.promote();
        taken
    }

    /// What a turn has left behind is the message at the agent: it is to open the next.
    pub(crate) fn promote(&mut self) {
        if self.turn.is_none() && self.outstanding.is_none() && !self.steered.is_empty() {
            self.outstanding = Some(self.steered.remove(0));
        }
    }
}
