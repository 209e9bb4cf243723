//! Sans-IO codecs, one module per kind of agent, and the built-in demo agent.

pub mod demo;
