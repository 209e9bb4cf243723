//! `cargo xtask demo`: builds the binary, then plays the main job with it: real processes, real
//! kills, judged by the agents' own logs.

use std::process::Command;

use anyhow::Result;

use crate::{run, shell};

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Result<()> {
    let binary = run::build()?;
    shell::must(shell::cargo().args([
        "build",
        "--package",
        "holdfast-testkit",
        "--bin",
        "holdfast-demo",
    ]))?;
    shell::must(Command::new(binary.with_file_name("holdfast-demo")).arg(&binary))
}
