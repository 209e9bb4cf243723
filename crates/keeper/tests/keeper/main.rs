//! The keeper as a real process, with real agents.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "these tests start processes, wait for them, and fail by panicking"
)]

mod birth;
mod bounds;
mod common;
mod crashes;
mod endings;
mod faults;
mod frames;
mod hostile;
mod reading;
mod silence;
