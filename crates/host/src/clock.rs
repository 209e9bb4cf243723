//! The one home of clock and randomness.

use std::sync::atomic::{AtomicI64, Ordering};

use holdfast_core::fact::Secret;
use holdfast_core::ids::{AttachmentId, AttemptId, ChatId, MessageId};
use holdfast_core::input::Given;
use holdfast_core::time::{Awake, Micros};
use rustix::time::{ClockId, clock_gettime};
use uuid::Uuid;

/// Wall-clock time.
#[must_use]
pub fn wall() -> Micros {
    let now = clock_gettime(ClockId::Realtime);
    Micros(now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1000))
}

/// Monotonic time that stands still while the machine sleeps.
#[must_use]
pub fn awake() -> Awake {
    let now = clock_gettime(ClockId::Monotonic);
    let micros = now.tv_sec.saturating_mul(1_000_000).saturating_add(now.tv_nsec / 1000);
    Awake(u64::try_from(micros).unwrap_or(0))
}

/// The moment that timers are set from.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this is the home of the clock")]
pub fn timer() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// Wall-clock time at which nothing else of this host was decided: two stops of one chat never
/// share a name.
fn unique_wall() -> Micros {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = wall().0;
    let last = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
        Some(if now == last { now + 1 } else { now })
    });
    Micros(if last == Ok(now) { now + 1 } else { now })
}

/// What a decision about this chat may know of the world now.
#[must_use]
pub fn given(chat: ChatId) -> Given {
    Given {
        chat,
        at: unique_wall(),
        awake: awake(),
        attempt: AttemptId::new(Uuid::new_v4()),
        secret: secret(),
    }
}

/// 32 random bytes, as hexadecimal text.
fn secret() -> Secret {
    let random: [Uuid; 2] = [Uuid::new_v4(), Uuid::new_v4()];
    Secret(random.iter().map(|half| half.simple().to_string()).collect())
}

/// The id of a new chat.
#[must_use]
pub fn new_chat() -> ChatId {
    ChatId::new(v7())
}

/// The id of a new message.
#[must_use]
pub fn new_message() -> MessageId {
    MessageId::new(v7())
}

/// The id of a new attachment.
#[must_use]
pub fn new_attachment() -> AttachmentId {
    AttachmentId::new(v7())
}

fn v7() -> Uuid {
    let now = clock_gettime(ClockId::Realtime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u32::try_from(now.tv_nsec).unwrap_or(0);
    Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos))
}
