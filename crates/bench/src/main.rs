//! Benchmarks. What they print are figures of one run on one machine, which is noisy: each is set
//! beside a figure that bounds it, measured in the same run, and none is a test.
//!
//! | part | what it measures | beside |
//! |---|---|---|
//! | `posts` | durable message posts a second, over 1, 16 and 64 connections | syncs a second of a plain file, commits a second in the process |
//! | `start` | from the start of the process to the answer of `GET /chats`, and its memory | an empty host |
//! | `chunks` | from an agent's word to a client | what the agent waits between two words |

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "it measures time, starts programs, and prints what it found"
)]

mod chunks;
mod commits;
mod fill;
mod host;
mod posts;
mod start;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Benchmarks of Holdfast.
#[derive(Debug, Parser)]
struct Cli {
    /// The program that is measured.
    #[arg(long)]
    program: PathBuf,
    /// Where filled data directories are kept for the next run.
    #[arg(long)]
    keep: PathBuf,
    /// Seconds that each figure of a rate is measured for.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    #[command(subcommand)]
    part: Option<Part>,
}

#[derive(Clone, Copy, Debug, Subcommand)]
enum Part {
    /// Durable posts of messages.
    Posts,
    /// Start-up and memory with many chats.
    Start,
    /// The delay that is added to a streamed chunk.
    Chunks,
}

fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let all = cli.part.is_none();
    let wants = |part: fn(&Part) -> bool| all || cli.part.as_ref().is_some_and(part);
    if wants(|part| matches!(part, Part::Posts)) {
        posts::run(&runtime, &cli.program, cli.seconds)?;
    }
    if wants(|part| matches!(part, Part::Start)) {
        start::run(&runtime, &cli.program, &cli.keep)?;
    }
    if wants(|part| matches!(part, Part::Chunks)) {
        chunks::run(&runtime, &cli.program)?;
    }
    Ok(())
}
