//! `cargo xtask demo`: builds the binary, then runs one scenario against it.

use anyhow::{Result, bail};

use crate::run;

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Result<()> {
    let binary = run::build()?;
    bail!("no scenario is there yet to run against {}", binary.display())
}
