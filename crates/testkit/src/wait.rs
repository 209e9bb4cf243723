//! Waiting for a condition, with a bound.

use std::thread;
use std::time::{Duration, Instant};

/// How long a look at the condition is put off after one that failed.
const PAUSE: Duration = Duration::from_millis(5);

/// Waits until `condition` holds and fails the test when it does not within `bound`.
///
/// This is the one place where a test sleeps. `what` completes "gave up waiting for …".
///
/// # Panics
///
/// When the bound is over.
#[track_caller]
pub fn wait_until(bound: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + bound;
    while !condition() {
        assert!(Instant::now() < deadline, "gave up waiting for {what} after {bound:?}");
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_when_the_condition_holds() {
        let mut looks = 0;
        wait_until(Duration::from_secs(5), "three looks", || {
            looks += 1;
            looks == 3
        });
    }

    #[test]
    #[should_panic(expected = "gave up waiting for nothing")]
    fn it_gives_up_at_its_bound() {
        wait_until(Duration::from_millis(10), "nothing", || false);
    }
}
