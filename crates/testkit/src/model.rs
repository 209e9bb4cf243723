//! Scripted model servers: what an agent's model says is decided by the test.

pub mod openai;
mod script;
