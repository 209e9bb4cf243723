//! The commands everyone relies on: run, test, tidy, sim, ablate, fuzz, bench, demo, real.
//!
//! A command is a file here with a `run` function. It prints each program it starts, so that a
//! person can repeat any part by hand.
#![allow(
    clippy::disallowed_methods,
    reason = "a developer's tool starts programs and reads the environment; it is no part of the product"
)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its output is its purpose")]

mod ablate;
mod bench;
mod contract;
mod copy;
mod demo;
mod fuzz;
mod openapi;
mod real;
mod run;
mod setup;
mod shell;
mod sim;
mod test;
mod tidy;
mod web;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use setup::tools::Install;

/// Commands for working on Holdfast.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build Holdfast and serve; what follows `--` goes to `holdfast serve`.
    Run(run::Args),
    /// Install what the tests need, then check everything.
    Test(test::Args),
    /// Check the house rules that a machine can check.
    Tidy,
    /// Run the deterministic simulation.
    Sim(sim::Args),
    /// Take out the line of each proven rule and see its test fail.
    Ablate(ablate::Args),
    /// Run the fuzz targets; needs a nightly toolchain.
    Fuzz(fuzz::Args),
    /// Call the running program with all that its document allows and much that it does not.
    Contract(contract::Args),
    /// Write the document of the API to where it is kept.
    Openapi(openapi::Args),
    /// Measure, beside what bounds each figure in the same run.
    Bench(bench::Args),
    /// Show what Holdfast keeps when processes are killed.
    Demo(demo::Args),
    /// Play five chats with a real agent, kill everything, and show what becomes of them.
    Real(real::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Run(args) => run::run(&args),
        Task::Test(args) => test::run(&args),
        Task::Tidy => tidy::run(),
        Task::Sim(args) => sim::run(&args),
        Task::Ablate(args) => ablate::run(&args),
        Task::Fuzz(args) => fuzz::run(&args),
        Task::Contract(args) => contract::run(&args, Install::Missing),
        Task::Openapi(args) => openapi::run(&args),
        Task::Bench(args) => bench::run(&args),
        Task::Demo(args) => demo::run(&args),
        Task::Real(args) => real::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
