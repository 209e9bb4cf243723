//! Sans-IO codecs, one module per kind of agent, and the built-in demo agent.

pub mod acp;
mod attached;
pub mod claude;
pub mod codec;
pub mod codex;
pub mod demo;
pub mod fuzz;
pub mod history;
pub mod jsonrpc;
pub mod versions;

mod faults;
mod forms;
mod noise;
mod ordinals;
mod progress;
#[cfg(test)]
mod said;
mod tasks;
mod tolerant;
