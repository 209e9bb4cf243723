//! The command line as a whole process, against a real host and the demo agent.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod codes;
mod fake;
mod help;
mod names;
mod operation;
mod scene;
mod tail;
mod terminal;
mod wait;
mod words;
mod writes;
