//! Hosts coding-agent chats and keeps what it has acknowledged.
//!
//! One program in three roles: the host (`serve`), the keeper of one attempt (`keeper`, started by
//! the host) and the built-in demo agent (`agent demo`). The keeper and the demo agent are entered
//! before any runtime, database or network is touched.

mod commands;
mod config;
mod data_dir;
mod environment;
mod exit;
mod log;
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
    /// The configuration.
    Config {
        #[command(subcommand)]
        config: commands::config::What,
    },
    /// A host that the person's service manager starts.
    Service {
        #[command(subcommand)]
        service: commands::service::What,
    },
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
    if let Some(role) = std::env::args_os().nth(1) {
        if role == "keeper" {
            return holdfast_keeper::serve::main();
        }
        if let Some(main) = environment::role(&role) {
            return main();
        }
    }
    match Cli::parse().command {
        Command::Serve(args) => commands::serve::run(&args),
        Command::Config { config } => commands::config::run(&config),
        Command::Service { service } => commands::service::run(&service),
        Command::Agent { agent: BuiltIn::Demo } => exit::code(holdfast_agent::demo::main(&[])),
    }
}
