//! `cargo xtask sim`: runs seeded histories of the deterministic simulation.

use anyhow::Result;

use crate::shell;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many histories to run.
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// Passed on to the simulation.
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let seeds = args.seeds.to_string();
    shell::must(
        shell::cargo()
            .args(["run", "--package", "holdfast-sim", "--", "--seeds", &seeds])
            .args(&args.rest),
    )
}
