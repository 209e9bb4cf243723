//! `cargo xtask real`: builds the binary, then plays five chats with a real agent and kills everything;
//! judged by the log of the model that the agent talks to.

use std::process::Command;

use anyhow::Result;

use crate::{run, shell};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The agent; it is installed where it is not.
    #[arg(long, value_enum)]
    agent: Agent,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Agent {
    Claude,
    Codex,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let binary = run::build()?;
    let name = match args.agent {
        Agent::Claude => "claude",
        Agent::Codex => "codex",
    };
    let package = ["build", "--package", "holdfast-testkit", "--bin", "holdfast-real"];
    shell::must(shell::cargo().args(package))?;
    shell::must(Command::new(binary.with_file_name("holdfast-real")).arg(&binary).arg(name))
}
