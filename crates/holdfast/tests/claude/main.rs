//! The real Claude Code under a real host, against a scripted model: what the API shows, held against
//! what the model was told and against what the CLI has written down.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

mod asks;
mod back;
mod effort;
mod found;
mod lab;
mod lives;
mod odds;
mod shown;
mod steer;
mod talks;
mod whole;
mod work;
