//! Scripted agents and scripted model servers as real processes, and the tools of whole-process
//! tests. Production code never depends on this crate.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "this crate is a part of tests: what goes wrong in it has to fail the test, with words"
)]

pub mod acp;
mod asks;
pub mod claude;
pub mod client;
pub mod codex;
pub mod events;
pub mod evidence;
pub mod five;
pub mod host;
pub mod lines;
pub mod loopback;
pub mod mcp;
pub mod model;
pub mod opencode;
pub mod person;
pub mod powercut;
pub mod proc;
pub mod raw;
pub mod scenario;
pub mod scripted;
pub mod servers;
mod wait;

pub use wait::wait_until;
