//! `holdfast completions`.

use std::process::ExitCode;

use clap::CommandFactory;

use crate::Cli;

/// What `completions` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell.
    shell: clap_complete::Shell,
}

/// Prints them.
pub(crate) fn run(args: &Args) -> ExitCode {
    clap_complete::generate(args.shell, &mut Cli::command(), "holdfast", &mut std::io::stdout());
    ExitCode::SUCCESS
}
