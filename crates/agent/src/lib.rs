//! Sans-IO codecs, one module per kind of agent, and the built-in demo agent.

pub mod acp;
pub mod codec;
pub mod codex;
pub mod demo;
mod faults;
pub mod fuzz;
pub mod jsonrpc;
mod noise;
mod ordinals;
mod tasks;
#[cfg(test)]
mod told;
mod tolerant;
