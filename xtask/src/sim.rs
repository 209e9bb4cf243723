//! `cargo xtask sim`: runs seeded histories of the deterministic simulation, or shows that it
//! catches hand-made faults of the code it runs.

mod mutations;

use anyhow::Result;

use crate::shell;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many histories to run; of each mutation, at most.
    #[arg(long, default_value_t = 10_000)]
    seeds: u64,
    /// Put each fault of `crates/sim/mutations` into a copy of the code: every one must be caught.
    #[arg(long)]
    mutations: bool,
    /// Of the mutations only those whose names contain this.
    #[arg(long, requires = "mutations")]
    only: Option<String>,
    /// Passed on to the simulation.
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if args.mutations {
        return mutations::run(args.seeds, args.only.as_deref());
    }
    let seeds = args.seeds.to_string();
    shell::must(
        shell::cargo()
            .args(["run", "--package", "holdfast-sim", "--", "--seeds", &seeds])
            .args(&args.rest),
    )
}
