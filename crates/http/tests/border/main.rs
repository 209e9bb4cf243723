//! The border over a host without agents: what clients send and what they are told.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says where")]

mod attachments;
mod auth;
mod back;
mod client;
mod conform;
mod cursors;
mod document;
mod fake;
mod flood;
mod heartbeats;
mod metrics;
mod offers;
mod operations;
mod prompts;
mod queue;
mod refusals;
mod search;
mod serving;
mod sessions;
mod shapes;
mod sign_in;
mod slots;
mod slow;
mod streams;
mod texts;
