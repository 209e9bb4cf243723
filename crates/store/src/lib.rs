//! The journal and the queries, with a backend on SQLite and one in memory. What is stored is
//! decided elsewhere; this crate keeps it, in order and whole.

pub mod blobs;
pub mod change;
#[cfg(test)]
mod contract;
mod derive;
pub mod figures;
#[cfg(test)]
mod fixtures;
pub mod journal;
pub mod memory;
pub mod query;
pub mod rows;
pub mod search;
pub mod sqlite;

pub use blobs::Blobs;
pub use change::{Change, ChangeBounds, What};
pub use figures::Figures;
pub use journal::{CommitError, Committed, Journal, Operation, Pending, Progress, Unit};
pub use memory::{Memory, MemoryStore};
pub use query::{Answer, QueryError, Store};
pub use rows::*;
pub use sqlite::{FILE, OpenError, Options, Sqlite};
