//! Hosts coding-agent chats and keeps what it has acknowledged.
//!
//! One program in four roles: the host (`serve`), the keeper of one attempt (`keeper`, started by
//! the host), the built-in demo agent (`agent demo`) and the client of a host (everything else). The
//! keeper and the demo agent are entered before any runtime, database or network is touched.

mod browser;
mod commands;
mod config;
mod data_dir;
mod detect;
mod environment;
mod exit;
mod listener;
mod log;
mod port;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use holdfast_cli::{Fault, Out, Surroundings};

/// Hosts coding-agent chats and keeps what it has acknowledged.
#[derive(Debug, Parser)]
#[command(name = "holdfast", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Host chats until told to stop.
    Serve(commands::serve::Args),
    #[command(flatten)]
    Client(holdfast_cli::Command),
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
    /// Agents: those that can be chosen, and one that is built in.
    Agent {
        #[command(subcommand)]
        agent: Agent,
    },
    /// Look for what is wrong with this installation, and say what to do.
    Doctor(commands::doctor::Args),
    /// Show where things are.
    Paths(commands::paths::Args),
    /// Print completions for a shell.
    Completions(commands::completions::Args),
    /// Write the manual pages into a directory.
    Man(commands::man::Args),
}

#[derive(Debug, Subcommand)]
enum Agent {
    /// List the agents that can be chosen.
    Ls(holdfast_cli::agents::Args),
    /// List the sessions that agents keep themselves: what was talked about in a terminal, say.
    Sessions(holdfast_cli::sessions::Args),
    /// Show what an agent would run in if it were started now, and where each variable is from.
    Env(holdfast_cli::environment::Args),
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
        Command::Client(command) => end(command.out(), command.run(&surroundings())),
        Command::Config { config } => commands::config::run(&config),
        Command::Service { service } => commands::service::run(&service),
        Command::Agent { agent: Agent::Ls(args) } => end(args.out(), args.run(&surroundings())),
        Command::Agent { agent: Agent::Sessions(args) } => {
            end(args.out(), args.run(&surroundings()))
        }
        Command::Agent { agent: Agent::Env(args) } => end(args.out(), args.run(&surroundings())),
        Command::Agent { agent: Agent::Demo } => exit::code(holdfast_agent::demo::main(&[])),
        Command::Doctor(args) => end(args.out(), commands::doctor::run(&args, &surroundings())),
        Command::Paths(args) => end(args.out(), commands::paths::run(&args, &surroundings())),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => end(Out::of(false), commands::man::run(&args)),
    }
}

/// What a client is told of where it runs.
fn surroundings() -> Surroundings {
    Surroundings {
        data_dir: config::data_dir(),
        host: environment::var("HOLDFAST_HOST"),
        token: environment::var("HOLDFAST_TOKEN"),
        cwd: std::env::current_dir().ok(),
    }
}

fn end(out: Out, ended: Result<(), Fault>) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            out.fault(&fault);
            ExitCode::from(fault.exit as u8)
        }
    }
}
