//! Chat actors, attempts, start and stop.
//!
//! | module | what it is |
//! |---|---|
//! | [`actor`] | one chat: `step` without I/O ([`actor::Core`]), and the task around it |
//! | [`attachments`] | what people attach: taken in, let go, given to agents |
//! | [`attempt`] | one attempt: from the committed intent to the proven death, over its keeper |
//! | [`found`] | sessions that agents keep: listed, and gone on with by a chat |
//! | [`host`] | the handle that everybody else has: submit, open, stop |
//! | [`start`] | what a host does first: load what owes something, clear what is left over |
//! | [`stop`] | one commit of all snapshots, then the keepers, then the deaths |
//! | [`agents`] | the agents of the configuration |
//! | [`clock`] | the one home of clock and randomness |
//!
//! **Invariants.** Nothing is answered, shown or done before it is committed: the shell acts on
//! [`holdfast_store::Committed`] units only, live `delta` frames excepted. All inputs of a chat pass
//! its actor, in one order. What is to be done for an agent is read from the head
//! ([`holdfast_core::effect::owed`]), after a commit and after a start alike.

pub mod actor;
pub mod agents;
pub mod attachments;
pub mod attempt;
pub mod clock;
mod fork;
pub mod found;
pub mod host;
mod slot;
pub mod start;
pub mod stop;

pub use host::{Host, HostOptions};
