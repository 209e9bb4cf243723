//! The real Codex under a real host, against a scripted model: what the API shows, held against what the
//! model was told and against what runs.

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
mod steer;
mod talks;
mod whole;
mod work;
