//! The one place where the command line reads a clock.

#![allow(clippy::disallowed_methods, reason = "this is the home of the clock")]

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// The time now, for how long ago something was.
pub(crate) fn now() -> Timestamp {
    Timestamp::now()
}

/// Whole hours since a time as the API writes it; none where it is no time.
#[must_use]
pub fn since_hours(at: &str) -> Option<u64> {
    let seconds = now().as_second().checked_sub(at.parse::<Timestamp>().ok()?.as_second())?;
    u64::try_from(seconds / 3600).ok()
}

/// A time after which nobody waits any more; none = as long as it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// So long from now on.
    pub(crate) fn after(time: Option<Duration>) -> Self {
        Self(time.and_then(|time| Instant::now().checked_add(time)))
    }

    /// What is left of it, at most `most`; none when it is over.
    pub(crate) fn left(self, most: Duration) -> Option<Duration> {
        match self.0 {
            None => Some(most),
            Some(end) => {
                let left = end.saturating_duration_since(Instant::now());
                (!left.is_zero()).then_some(left.min(most))
            }
        }
    }
}
