//! What a store tells of its work, for whoever watches it. Nothing is decided by it.

use std::time::Instant;

use prometheus_client::metrics::histogram::Histogram;

/// Upper ends of the classes of durations, in seconds.
const SECONDS: [f64; 14] =
    [0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1.0, 2.0, 5.0];
/// Upper ends of the classes of batches, in calls.
const CALLS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// The figures of a store. Clones share the histograms.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Seconds from a call to commit until its answer.
    pub append_seconds: Histogram,
    /// Calls that went into one transaction.
    pub batch_calls: Histogram,
    /// Calls that wait for the writer now.
    pub calls_waiting: usize,
    /// Calls that may wait.
    pub calls_waiting_max: usize,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            append_seconds: Histogram::new(SECONDS),
            batch_calls: Histogram::new(CALLS),
            calls_waiting: 0,
            calls_waiting_max: 0,
        }
    }
}

/// A duration that is being taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Since(Instant);

#[allow(clippy::disallowed_methods, reason = "a duration that is shown and decides nothing")]
impl Since {
    pub(crate) fn now() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn observe(self, histogram: &Histogram) {
        histogram.observe(self.0.elapsed().as_secs_f64());
    }
}
