//! Runs seeded histories: `holdfast-sim --seeds N [--from S]`, or one with its trace: `--seed S`.
#![allow(clippy::print_stdout, reason = "its output is its purpose")]
#![allow(clippy::disallowed_methods, reason = "it says how long it took")]

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Parser;
use holdfast_sim::{History, Telling, run};

/// The deterministic simulation of Holdfast.
#[derive(Parser)]
struct Args {
    /// How many histories to run.
    #[arg(long, default_value_t = 1000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Run this one history, and tell it.
    #[arg(long)]
    seed: Option<u64>,
    /// Go on after a failure, and list all of them.
    #[arg(long)]
    all: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if let Some(seed) = args.seed {
        let history = run(seed, Telling::Yes);
        for line in &history.trace {
            println!("{line}");
        }
        return judge(&[history]);
    }
    let begun = Instant::now();
    let failed = run_all(&args);
    let seconds = begun.elapsed().as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = args.seeds as f64 / seconds;
    println!("{} histories in {seconds:.1} s, {rate:.0} a second", args.seeds);
    judge(&failed)
}

/// Runs the seeds on all cores; each history is a thread's own.
fn run_all(args: &Args) -> Vec<History> {
    let (next, end) = (AtomicU64::new(args.from), args.from.saturating_add(args.seeds));
    let stop = AtomicU64::new(end);
    let work = || {
        let mut failed = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= stop.load(Ordering::Relaxed) {
                return failed;
            }
            let history = run(seed, Telling::No);
            if history.violation.is_some() {
                failed.push(history);
                if !args.all {
                    stop.store(0, Ordering::Relaxed);
                }
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut failed: Vec<History> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    failed.sort_by_key(|history| history.seed);
    failed
}

fn judge(histories: &[History]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for history in histories {
        match &history.violation {
            Some(what) => {
                println!("seed {} fails: {what}", history.seed);
                code = ExitCode::FAILURE;
            }
            None => println!("seed {} holds", history.seed),
        }
    }
    if code == ExitCode::FAILURE {
        println!("repeat with: cargo run -p holdfast-sim -- --seed SEED");
    }
    code
}
