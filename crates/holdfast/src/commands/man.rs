//! `holdfast man`.

use std::path::PathBuf;

use clap::CommandFactory;
use holdfast_cli::{Exit, Fault, Out};

use crate::Cli;

/// What `man` is told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory; it is made if it is not there.
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Writes a page for each command.
pub(crate) fn run(args: &Args) -> Result<(), Fault> {
    let name = args.dir.display();
    let no =
        |error| Fault::new(Exit::Failed, "output", format!("Cannot write into {name}: {error}."));
    std::fs::create_dir_all(&args.dir).map_err(no)?;
    clap_mangen::generate_to(Cli::command(), &args.dir).map_err(no)?;
    Out::of(false).note(&format!("The pages are in {name}: man -l {name}/holdfast.1"));
    Ok(())
}
