//! Time as an argument: nothing in this crate reads a clock.

use serde::{Deserialize, Serialize};

/// Wall-clock time, in microseconds since 1970-01-01 UTC. For people; never for order.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub i64);

/// Monotonic time that does not run while the machine sleeps, in microseconds since an arbitrary
/// start. It is what durations are measured with, and is never stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Awake(pub u64);

impl Awake {
    /// Microseconds from `earlier` to here; 0 if it is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}
