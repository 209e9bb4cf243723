//! The host's end of a keeper's socket.
//!
//! [`Link::attach`] greets; the handle it gives is cheap to clone and every call on it is answered by the
//! keeper, by [`CallError::Disconnected`], or within a bound by [`CallError::Silent`]. [`Link::read_from`] gives the records of the attempt, lines
//! put together, as [`Events`]; the keeper sends only as far ahead as they are taken, so a host that is
//! slow has the waiting on the agent's disk and not in its memory, and answers to calls never wait behind
//! records. When the connection is lost the events end; whether the keeper still lives is then asked of
//! [`AttemptDir::is_alive`](crate::registry::AttemptDir::is_alive).

mod dial;
mod events;
mod link;

pub use events::Events;
pub use link::{AttachError, CallError, Link};

use crate::protocol::Start;
use crate::registry::Secret;
use uuid::Uuid;

/// With what a host greets a keeper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// The attempt's secret.
    pub secret: Secret,
    /// The incarnation of the host's store.
    pub incarnation: Uuid,
    /// What to start, if the agent was not started yet. Safe to repeat: an agent is started once.
    pub start: Option<Start>,
}
