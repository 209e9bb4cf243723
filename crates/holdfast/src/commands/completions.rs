//! `holdfast completions`.

use std::io::Write;
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
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "holdfast", &mut script);
    match std::io::stdout().write_all(&script) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
