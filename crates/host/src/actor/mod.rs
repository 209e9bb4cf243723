//! One chat: all its inputs pass here, in one order.

mod answer;
mod core;
mod orders;
mod shell;

pub(crate) use self::core::keeper_events;
pub use self::core::{Core, Delta, Prepared};
pub use shell::{Caller, Handle, Message, OperationKey, Prepare, spawn};
