//! Hosts coding-agent chats and keeps what it has acknowledged.
//!
//! One program in three roles: the host (`serve`), the keeper of one attempt (`keeper`, started by
//! the host) and the built-in demo agent (`agent demo`). The keeper and the demo agent are entered
//! before any runtime, database or network is touched.

mod browser;
mod commands;
mod config;
mod data_dir;
mod environment;
mod exit;
mod port;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Hosts coding-agent chats and keeps what it has acknowledged.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Host chats until told to stop.
    Serve(commands::serve::Args),
    /// Agents that are built in.
    Agent {
        #[command(subcommand)]
        agent: BuiltIn,
    },
}

#[derive(Debug, Subcommand)]
enum BuiltIn {
    /// An ACP agent over stdio that needs no account and no network: it does what the message says.
    Demo,
}

fn main() -> ExitCode {
    // The host starts it; there is nothing to start by hand. Its memory is counted in pages: it does
    // not even parse a command line.
    if std::env::args_os().nth(1).is_some_and(|role| role == "keeper") {
        return holdfast_keeper::serve::main();
    }
    match Cli::parse().command {
        Command::Serve(args) => commands::serve::run(&args),
        Command::Agent { agent: BuiltIn::Demo } => exit::code(holdfast_agent::demo::main(&[])),
    }
}
