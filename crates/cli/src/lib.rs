//! The client's side of the command line: each command finds a host, calls it as any other client
//! would, and prints what it answered. Whatever a command knows of a chat it has from the API.
//!
//! Data go to stdout and all other words to stderr. The exit codes are in [`Exit`].

mod client;
mod clock;
mod commands;
mod events;
mod fault;
mod out;
mod prefix;
mod reach;
mod rows;
mod text;

pub use client::Client;
pub use clock::since_hours;
pub use commands::{Command, agents, environment, sessions};
pub use fault::{Exit, Fault};
pub use out::Out;
pub use reach::{ENDPOINT, Endpoint, Reach, Surroundings, Target, endpoint};
