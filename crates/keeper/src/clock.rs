use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Monotonic and awake time since some fixed moment: it stands while the machine sleeps. The crate's one
/// clock.
pub(crate) fn now() -> Duration {
    let time = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}
