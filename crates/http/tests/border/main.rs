//! The border over a host without agents: what clients send and what they are told.

mod auth;
mod client;
mod cursors;
mod fake;
mod flood;
mod heartbeats;
mod offers;
mod operations;
mod prompts;
mod queue;
mod refusals;
mod shapes;
mod slow;
mod streams;
mod texts;
