//! One chat: all its inputs pass here, in one order.

mod core;
mod effects;
pub mod orders;
mod shell;
pub mod work;

pub(crate) use self::core::keeper_events;
pub use self::core::{Core, Prepared};
pub use shell::{Handle, Message, Part, Prepare, spawn};
