//! Offers: one for each chat that showed work at a stop that makes offers, with what it showed, and
//! none ends but by an act.

use holdfast_core::activity::Lead;
use holdfast_core::fact::{Death, Fact, OfferEnd, StopWhy};
use holdfast_core::head::Phase;
use holdfast_core::ids::{AttemptId, PromptId};
use holdfast_core::input::{Choice, Command};
use holdfast_core::offer::Snapshot;
use holdfast_store::Unit;

use super::Before;
use super::messages::wish;
use crate::evidence::{Attempt, Live};
use crate::journal::Cause;
use crate::people::Wish;
use crate::world::World;

/// The fact at this place of a unit was stored.
pub(super) fn happened(w: &mut World, unit: &Unit, at: usize, before: &Before, cause: Cause) {
    match unit.facts.get(at) {
        Some(Fact::OfferRecorded { snapshot, .. }) => {
            recorded(w, unit, at, snapshot, before, cause);
        }
        Some(Fact::OfferEnded { how, .. }) => ended(w, unit, at, *how, before, cause),
        Some(Fact::StopRequested { why: StopWhy::Offered(_), attempt }) => {
            let position = stop_position(w, unit, *attempt, before, cause);
            not_forgotten(w, unit, *attempt, position, before);
        }
        Some(Fact::StopRequested { why: StopWhy::Idle, attempt }) => {
            let position = stop_position(w, unit, *attempt, before, Cause::Stop);
            was_idle(w, unit, *attempt, position, before);
        }
        Some(Fact::AttemptEnded { attempt, death }) => died(w, unit, *attempt, *death, before),
        _ => {}
    }
}

/// Up to where the agent's words count for a stop that is recorded in this unit.
fn stop_position(w: &World, unit: &Unit, attempt: AttemptId, before: &Before, cause: Cause) -> u64 {
    match cause {
        Cause::Stop | Cause::Request(_) => {
            let progress = unit.progress.as_ref();
            let progress =
                progress.or_else(|| before.loaded.as_ref().and_then(|l| l.progress.as_ref()));
            progress.map_or(0, |progress| progress.position.0)
        }
        Cause::World => {
            w.evidence.attempts.get(&attempt).and_then(|seen| seen.signalled_at).unwrap_or(u64::MAX)
        }
    }
}

/// What the agent itself showed to be going on, as far as its words count.
struct Shown {
    prompts: Vec<String>,
    tasks: Vec<String>,
    /// A message was with the agent, and its end was not told.
    message: bool,
}

fn shown(w: &World, unit: &Unit, attempt: AttemptId, position: u64, before: &Before) -> Shown {
    let Some(seen) = w.evidence.attempts.get(&attempt) else {
        return Shown { prompts: Vec::new(), tasks: Vec::new(), message: false };
    };
    let live = seen.live(position);
    let open = |request: &u64| {
        let n = seen.asks.iter().position(|ask| ask.request == *request)?;
        let id = PromptId::new(seen.origin, u32::try_from(n + 1).ok()?);
        let known =
            before.head().is_some_and(|head| head.prompts.get(&id).is_some_and(|p| p.is_open()));
        let opened = unit
            .facts
            .iter()
            .any(|fact| matches!(fact, Fact::PromptOpened { prompt, .. } if *prompt == id));
        (known || opened).then(|| seen.asks.get(n).map(|ask| ask.label.clone())).flatten()
    };
    Shown {
        prompts: live.asks.iter().filter_map(open).collect(),
        tasks: live.tasks.iter().map(|(_, label, _)| label.clone()).collect(),
        message: has_message(seen, &live, unit, attempt, before),
    }
}

fn has_message(
    seen: &Attempt,
    live: &Live,
    unit: &Unit,
    attempt: AttemptId,
    before: &Before,
) -> bool {
    let handed = unit.facts.iter().filter_map(|fact| match fact {
        Fact::MessageHanded { attempt: of, frame, .. } if *of == attempt => Some(frame.0),
        _ => None,
    });
    let was = before.head().and_then(|head| head.outstanding.as_ref()).map(|o| o.frame.0);
    let last = was.into_iter().chain(handed).last();
    let back = |message| {
        unit.facts.iter().any(|fact| match fact {
            Fact::MessageWithdrawn { message: of, .. }
            | Fact::MessageRequeued { message: of, .. } => *of == message,
            _ => false,
        })
    };
    let last = last.filter(|frame| !seen.handed.get(frame).is_some_and(|id| back(*id)));
    last.is_some_and(|frame| seen.handed.contains_key(&frame) && !live.ended.contains(&frame))
}

fn recorded(
    w: &mut World,
    unit: &Unit,
    at: usize,
    snapshot: &Snapshot,
    before: &Before,
    cause: Cause,
) {
    let attempt = before.head().and_then(|head| head.attempt.clone());
    let Some(attempt) = attempt else {
        return w.fail(format!("an offer of {} without an attempt", unit.chat));
    };
    let dies = unit.facts.iter().skip(at).find_map(|fact| match fact {
        Fact::StopRequested { why: StopWhy::Offered(_), .. } => Some(false),
        Fact::AttemptEnded { .. } => Some(true),
        _ => None,
    });
    let position = match dies {
        Some(false) => stop_position(w, unit, attempt.id, before, cause),
        Some(true) | None => u64::MAX,
    };
    let shown = shown(w, unit, attempt.id, position, before);
    let tasks: Vec<String> = snapshot.tasks.iter().map(|task| task.label.clone()).collect();
    let prompts: Vec<String> = snapshot.prompts.iter().map(|one| one.label.clone()).collect();
    if tasks != shown.tasks || prompts != shown.prompts {
        let (wanted, wants) = (shown.tasks, shown.prompts);
        w.fail(format!(
            "the offer of {} says {tasks:?} {prompts:?}, the agent showed {wanted:?} {wants:?}",
            unit.chat
        ));
        return;
    }
    let lead = if shown.prompts.is_empty() { Lead::Working } else { Lead::Blocked };
    let busy = shown.message || !shown.prompts.is_empty();
    if busy && snapshot.lead != lead {
        w.fail(format!("the offer of {} says {:?}, not {lead:?}", unit.chat, snapshot.lead));
    }
    let own = before.head().is_some_and(|head| head.turn.is_some_and(|t| t.message.is_none()))
        || unit.facts.iter().any(|fact| matches!(fact, Fact::TurnOpened { message: None, .. }));
    if !busy && shown.tasks.is_empty() && !own && !snapshot.starting {
        w.fail(format!("{} is offered, and was doing nothing", unit.chat));
    }
}

/// A stop with offers of a chat that shows work makes one, or finds one.
fn not_forgotten(w: &mut World, unit: &Unit, attempt: AttemptId, position: u64, before: &Before) {
    let offered = before.head().is_some_and(|head| head.offer.is_some())
        || unit.facts.iter().any(|fact| matches!(fact, Fact::OfferRecorded { .. }));
    if offered {
        return;
    }
    let shown = shown(w, unit, attempt, position, before);
    if shown.message || !shown.prompts.is_empty() || !shown.tasks.is_empty() {
        let (tasks, prompts) = (shown.tasks, shown.prompts);
        w.fail(format!("no offer of {}, which showed {tasks:?} {prompts:?}", unit.chat));
    }
}

/// Nothing that works is released for idleness.
fn was_idle(w: &mut World, unit: &Unit, attempt: AttemptId, position: u64, before: &Before) {
    let shown = shown(w, unit, attempt, position, before);
    if shown.message || !shown.prompts.is_empty() || !shown.tasks.is_empty() {
        let (tasks, prompts) = (shown.tasks, shown.prompts);
        w.fail(format!("{} is released, and shows {tasks:?} {prompts:?}", unit.chat));
    }
}

fn died(w: &mut World, unit: &Unit, attempt: AttemptId, death: Death, before: &Before) {
    let Some(seen) = w.evidence.attempts.get(&attempt) else { return };
    if seen.lives {
        return w.fail(format!("{attempt} is called dead, and its agent lives"));
    }
    let exited = matches!(death, Death::Exited { .. });
    if seen.exited && !exited {
        return w.fail(format!("{attempt} has its end on record, and is called {death:?}"));
    }
    let stop = before.head().and_then(|head| head.attempt.as_ref()).and_then(|a| a.stop);
    let stopped = unit.facts.iter().any(|fact| matches!(fact, Fact::StopRequested { .. }));
    let phase = before.head().and_then(|head| head.attempt.as_ref()).map(|a| a.phase);
    if stop.is_none() && !stopped && phase == Some(Phase::Ready) {
        not_forgotten(w, unit, attempt, u64::MAX, before);
    }
}

fn ended(w: &mut World, unit: &Unit, at: usize, how: OfferEnd, before: &Before, cause: Cause) {
    let offer = before.head().and_then(|head| head.offer.as_ref());
    let newer = unit.facts.iter().take(at).any(|f| matches!(f, Fact::OfferRecorded { .. }));
    let shown = !newer && offer.is_some_and(|offer| offer.shown);
    let resuming = offer.is_some_and(|offer| offer.resuming)
        || unit.facts.iter().any(|fact| matches!(fact, Fact::ResumeStarted { .. }));
    let continued = unit.facts.iter().any(|fact| match fact {
        Fact::MessageTaken { message, .. } => {
            offer.is_some_and(|offer| offer.continuation == *message)
        }
        _ => false,
    });
    let choice = offer.and_then(|offer| offer.choice);
    let command = match wish(w, cause) {
        Some(Wish::Plain(command)) => Some(command),
        Some(Wish::Open { .. } | Wish::Send { .. } | Wish::Attach { .. }) | None => None,
    };
    let right = match how {
        // A resume that was stopped is one all the same if its continuation was taken.
        OfferEnd::Resumed => resuming || continued,
        OfferEnd::Dismissed => {
            matches!(command, Some(Command::Dismiss { .. } | Command::Resume { .. }))
                || choice == Some(Choice::Discard)
        }
        OfferEnd::Progress => match wish(w, cause) {
            Some(Wish::Send { by, .. }) => by.is_person(),
            Some(Wish::Plain(Command::SendNow { .. } | Command::ResumeQueue)) => true,
            Some(Wish::Open { .. } | Wish::Attach { .. } | Wish::Plain(_)) | None => false,
        },
        OfferEnd::Answered => matches!(command, Some(Command::Answer { .. })),
        OfferEnd::Rewound => unit.facts.iter().any(|f| matches!(f, Fact::AttemptReady { .. })),
        OfferEnd::Closed => matches!(command, Some(Command::Close { .. } | Command::Delete)),
        OfferEnd::Finished => !shown,
        OfferEnd::Replaced => {
            unit.facts.iter().any(|fact| matches!(fact, Fact::OfferRecorded { .. }))
        }
    };
    if !right {
        w.fail(format!("the offer of {} ended ({how:?}), and by no act", unit.chat));
    }
}
