//! A share of the simulation as an ordinary test; `cargo xtask sim` runs the whole.

use holdfast_sim::{Telling, run, stop_or_kill};

/// Histories of the share.
const SEEDS: u64 = 300;
/// Histories that are stopped and killed at the same point.
const TWINS: u64 = 100;

#[test]
fn every_promise_is_kept_in_every_history() {
    for seed in 0..SEEDS {
        let history = run(seed, Telling::No);
        assert_eq!(history.violation, None, "cargo run -p holdfast-sim -- --seed {seed}");
    }
}

#[test]
fn a_seed_tells_the_same_history_each_time() {
    let [first, second] = [run(7, Telling::Yes), run(7, Telling::Yes)];
    assert_eq!(first, second);
    assert!(!first.trace.is_empty());
    assert_ne!(first.trace, run(8, Telling::Yes).trace);
}

#[test]
fn a_stop_and_a_kill_of_everything_leave_the_same_offers() {
    let mut offers = 0;
    for seed in 0..TWINS {
        let (stopped, killed) = stop_or_kill(seed);
        assert_eq!(stopped, killed, "seed {seed}");
        offers += stopped.len();
    }
    assert!(offers > 20, "{offers} offers in {TWINS} histories prove little");
}
