//! The event stream: what changed, told to whoever listens.
//!
//! One publisher reads the change feed of the store, resolves each change to the current state of
//! what it names, serialises it once and keeps the frames in a bounded ring that all subscribers
//! share. A subscriber that is behind the ring reads the store for itself.
//!
//! **Invariant:** only committed changes are published; live text is a courtesy beside them.
//!
//! **Invariant:** a snapshot and what follows it have no seam: the number of the newest change is
//! read first, then the snapshot, and the stream goes on after that number.

mod batch;
pub(crate) mod cursor;
mod hub;
mod ring;
mod snapshot;
mod socket;
mod sse;
mod subscriber;

pub(crate) use cursor::Cursor;
pub use hub::Hub;
pub(crate) use socket::listen as socket;
pub(crate) use sse::listen as sse;
pub(crate) use subscriber::{Filter, Subscriber};
