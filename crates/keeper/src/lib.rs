//! The small process that owns one attempt of an agent, and the host's side of it.
//!
//! An agent outlives the host because neither its pipes nor its process tree belong to the host: a
//! *keeper*, one per attempt, holds them. What the agent writes goes to the keeper's *spool*, what the
//! host sends goes through it as numbered *frames*, and a host that comes back reads on where it was.
//!
//! | module | what it is |
//! |---|---|
//! | [`registry`] | an attempt on disk: its birth, whether its keeper lives, its spec and record, what a dead one left |
//! | [`connect`] | the host's end of the socket: [`connect::Link`] and [`connect::Events`] |
//! | [`protocol`] | the seven calls, their answers and their encoding; frozen |
//! | [`record`] | what a reader of a spool gets |
//! | [`spool`] | the append-only log: format, writer, readers, and the file system below them |
//! | [`core`] | what a keeper decides: a state machine over a spool, without processes, sockets or clock |
//! | [`serve`] | the keeper process: a poll loop around [`core`] |
//! | [`tree`] | process trees: finding, signalling and proving dead |
//! | [`fuzz`] | what fuzzers and their corpora run |
//! | [`limits`] | every bound, with its unit |
//!
//! The host's way through it: [`registry::create`] and [`registry::spawn`]; [`connect::Link::attach`] with
//! what to start; [`connect::Link::read_from`] for the records; at the end [`connect::Link::acknowledge`].
//! After a loss: [`registry::list`], [`registry::AttemptDir::is_alive`], then either attach again or
//! [`tree::end_survivors`] and [`registry::read_dead`].
//!
//! **Invariants.** A keeper lives exactly as long as its lock is held; no pid is taken as proof of life. No
//! byte of a frame reaches the agent before its `FrameBegun` is in the spool. No line is held whole in a
//! keeper's memory. A pid is signalled only after its start time was compared. Nothing here knows what an
//! agent's bytes mean.

mod clock;
pub mod connect;
pub mod core;
pub mod fuzz;
pub mod limits;
pub mod protocol;
pub mod record;
pub mod registry;
pub mod serve;
pub mod spool;
pub mod tree;
pub mod wire;

pub use record::Record;
