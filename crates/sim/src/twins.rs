//! One history with two ends: the host stops in order, or everything is killed, at the same point.
//! Offers and their sentences have to be the same; only what stopped them differs.

use holdfast_core::ids::ChatId;
use holdfast_core::offer::{Cause, sentence};

use crate::host;
use crate::machine;
use crate::weather::Weather;
use crate::world::World;

/// Steps before the end, at most.
const STEPS_MAX: usize = 900;
/// Steps until everything has come to rest.
const REST_STEPS_MAX: u32 = 5000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Stop,
    Kill,
}

/// The chats that are offered, in order of their ids, each with its sentence: after a stop, and
/// after a kill of everything at the same point of the history that follows from `seed`.
#[must_use]
pub fn stop_or_kill(seed: u64) -> (Vec<String>, Vec<String>) {
    (offers(seed, End::Stop), offers(seed, End::Kill))
}

fn offers(seed: u64, end: End) -> Vec<String> {
    let mut w = World::new(seed, false);
    w.weather = Weather::fair();
    let steps = w.rng.below(STEPS_MAX);
    for _ in 0..steps {
        w.step();
    }
    // Whatever is under way arrives, and the agents do nothing more.
    w.people.left = 0;
    w.frozen = true;
    rest(&mut w);
    match end {
        End::Stop => host::order_stop(&mut w, Cause::Quit),
        End::Kill => machine::kill_everything(&mut w),
    }
    rest(&mut w);
    let mut found: Vec<(ChatId, String)> = w
        .journal
        .store
        .offers()
        .into_iter()
        .filter(|offer| offer.shown)
        .map(|offer| {
            let said = offer.snapshot.as_ref().map(|it| sentence(it).text).unwrap_or_default();
            (offer.chat, said)
        })
        .collect();
    found.sort();
    let mut lines: Vec<String> =
        found.into_iter().map(|(chat, said)| format!("{chat}: {said}")).collect();
    lines.extend(w.violation().map(|what| format!("violation: {what}")));
    lines
}

fn rest(w: &mut World) {
    for _ in 0..REST_STEPS_MAX {
        w.step();
        let idle = w.clock.awake.saturating_sub(w.last_activity) > 20_000_000;
        if idle && w.is_quiet() && w.host.is_some() {
            return;
        }
    }
}
