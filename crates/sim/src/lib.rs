//! The deterministic simulation: the production code of core, actor, codec, journal contract and
//! keeper in one thread, under a virtual clock and a seeded scheduler, with everything going wrong
//! that may, and outside evidence to judge it by.
//!
//! What is real: [`holdfast_host::actor::Core`] with `decide` and `fold`, and all that the host's shells
//! decide: [`holdfast_host::actor::work::Work`], the orders of a driver, the
//! [`holdfast_host::attempt::Writer`], what is read of a spool and concluded from it; the ACP codec, the
//! memory backend of the store, `KeeperCore` and the spool over a file system that forgets what was
//! not synced. What is played: the I/O around them (`actor`, `driver`, `host`, `keeper`, each one
//! thing at a time), the agents (`agent`), people and apps (`people`),
//! the machine (`machine`) and the weather. What is known from outside is in `evidence`; the
//! promises are in `check`; `settle` proves that every state has a way out.

mod actor;
mod agent;
mod check;
mod disk;
mod driver;
mod evidence;
mod host;
mod journal;
mod keeper;
mod machine;
mod net;
mod people;
mod rng;
mod settle;
mod trace;
mod twins;
mod weather;
mod world;

pub use crate::twins::stop_or_kill;
use crate::world::World;

/// Steps of a history before the weather clears, at most.
const STEPS_MAX: u32 = 6000;

/// Whether a history is told in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// Step by step.
    Yes,
    /// Only its outcome.
    No,
}

/// What became of one history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// What it follows from.
    pub seed: u64,
    /// The promise that was broken, if one was.
    pub violation: Option<String>,
    /// What happened, one line each, where it was to be told.
    pub trace: Vec<String>,
}

/// Runs the history that follows from `seed`: the same each time.
#[must_use]
pub fn run(seed: u64, telling: Telling) -> History {
    let played = std::panic::catch_unwind(|| play(seed, telling));
    played.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("?");
        History { seed, violation: Some(format!("a panic: {words}")), trace: Vec::new() }
    })
}

fn play(seed: u64, telling: Telling) -> History {
    let mut w = World::new(seed, telling == Telling::Yes);
    for _ in 0..STEPS_MAX {
        if w.violation().is_some() || w.is_over() {
            break;
        }
        w.step();
    }
    if w.violation().is_none() {
        settle::settle(&mut w);
    }
    History { seed, violation: w.violation().cloned(), trace: w.trace.into_lines() }
}
