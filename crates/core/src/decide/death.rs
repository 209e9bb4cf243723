//! The death of an attempt: what it leaves is closed in one commit, and what the chat was doing is
//! offered, if it showed work.

use super::{Draft, offer, prompt};
use crate::activity::Activity;
use crate::effect::asks;
use crate::fact::{Death, Evidence, Fact, RefusedWhy, StopWhy, WithdrawnWhy};
use crate::head::{Attempt, Delivery, Life, Outstanding, Phase, Written};
use crate::ids::{FrameNo, TaskId};
use crate::input::Boot;
use crate::item::Notice;
use crate::limits::{STORE_FRAMES_MAX, cut};
use crate::offer::Cause;
use crate::provider::{StartFault, TaskEnd, TurnEnd};
use crate::queue::next;

/// Characters of stderr that a failure quotes.
const STDERR_CHARS_MAX: usize = 500;

/// The attempt is dead and its spool was read to the end.
pub(super) fn died(d: &mut Draft<'_>, death: Death, boot: Boot, survivors: Vec<u32>, stderr: &str) {
    let Some(attempt) = d.chat.head.attempt.clone() else { return };
    // One that was born and has left nothing on disk was not "never born": a power cut took it, and
    // nothing is proven by what is missing.
    let (death, boot) = match death {
        Death::NeverBorn if attempt.pid.is_some() => (Death::HostLost, Boot::Other),
        Death::NeverBorn | Death::Exited { .. } | Death::KeeperLost | Death::HostLost => {
            (death, boot)
        }
    };
    let verdict = verdict(d, &attempt, death);
    if let Verdict::Offer(cause) = verdict {
        offer::record(d, cause);
    }
    let missing = Missing::of(death, boot);
    close_turn(d, attempt.origin);
    prompt::lost(d, missing);
    let live: Vec<TaskId> = d.chat.head.tasks.keys().copied().collect();
    for task in live {
        d.push(Fact::TaskEnded { task, how: TaskEnd::Lost });
    }
    d.push(Fact::AttemptEnded { attempt: attempt.id, death });
    settle_outstanding(d, &attempt, missing);
    if boot == Boot::Other {
        suspect_settled(d, &attempt);
    }
    offer::show(d);
    if let Verdict::Failed(fault) = verdict {
        offer::resume_failed(d, fault, &cut(stderr, STDERR_CHARS_MAX));
    }
    stop_empty_resume(d);
    if !survivors.is_empty() {
        d.push(Fact::TreeMayLive { attempt: attempt.id, pids: survivors });
        offer::resume_failed(d, StartFault::AgentMayLive, "");
    }
}

/// The dead agent's own store was read; its death is told next.
pub(super) fn store_read(d: &mut Draft<'_>, mut frames: Vec<FrameNo>) {
    let Some(attempt) = d.chat.head.attempt.as_ref().map(|attempt| attempt.id) else { return };
    frames.drain(..frames.len().saturating_sub(STORE_FRAMES_MAX));
    d.push(Fact::StoreRead { attempt, frames });
}

/// A resume that has nothing left to hand over or to ask for is over.
fn stop_empty_resume(d: &mut Draft<'_>) {
    if next(d.chat).is_none() && !asks(d.chat) {
        offer::stop_resume(d);
    }
}

/// What a death means for the person.
#[derive(Clone, Copy)]
enum Verdict {
    /// The chat showed work: it is offered, if nothing was recorded before.
    Offer(Cause),
    /// A start, or a resume, that came to nothing.
    Failed(StartFault),
    /// Nothing.
    Plain,
}

fn verdict(d: &Draft<'_>, attempt: &Attempt, death: Death) -> Verdict {
    let cause = match (attempt.stop, death) {
        // Cut off before it was ready: as if it had died there.
        (Some(StopWhy::Offered(Cause::AgentDied)), _) if attempt.phase == Phase::Starting => {
            Cause::AgentDied
        }
        // What it was doing was recorded when it was told to stop; what it said since changes
        // nothing.
        (Some(StopWhy::Offered(_)), _) if !resumed_in_vain(d, attempt) => return Verdict::Plain,
        (Some(StopWhy::Offered(cause)), _) => cause,
        // Ordered for this one chat, or a failure that was filed when it was seen.
        (
            Some(
                StopWhy::Close
                | StopWhy::CloseLeaving
                | StopWhy::Delete
                | StopWhy::Ordered
                | StopWhy::StartFailed,
            ),
            _,
        )
        | (Some(StopWhy::Idle), Death::Exited { .. } | Death::NeverBorn)
        | (None, Death::NeverBorn) => return Verdict::Plain,
        (None, Death::Exited { .. }) => Cause::AgentDied,
        // A release that had not come about when it was lost: it may have found work to do.
        (None | Some(StopWhy::Idle), Death::KeeperLost) => Cause::KeeperLost,
        (None | Some(StopWhy::Idle), Death::HostLost) => Cause::HostLost,
    };
    // A resume that took nothing makes no offer of its own: the one that is there stays.
    if resumed_in_vain(d, attempt) {
        return Verdict::Failed(StartFault::AgentDied);
    }
    // Nor does a first start that dies by itself: its message waits, and says why.
    if attempt.phase == Phase::Starting && cause == Cause::AgentDied {
        return Verdict::Failed(StartFault::AgentDied);
    }
    if Activity::of(d.chat).shows_work() { Verdict::Offer(cause) } else { Verdict::Plain }
}

fn resumed_in_vain(d: &Draft<'_>, attempt: &Attempt) -> bool {
    attempt.resuming && !attempt.took && d.chat.head.shown_offer().is_some()
}

fn close_turn(d: &mut Draft<'_>, origin: u32) {
    if let Some(turn) = d.chat.head.turn.map(|turn| turn.id) {
        let (how, evidence) = (TurnEnd::Lost, Evidence::Death);
        d.push(Fact::TurnEnded { turn, how, evidence, usage: None });
    }
    d.push(Fact::CallsAbandoned { origin });
}

/// What it proves that the spool has no mark of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// It did not happen: the keeper lived to write it down.
    NotDone,
    /// A frame without a beginning was not begun. One that was begun may have been written whole: the
    /// keeper may have died between the last byte and the mark.
    NotBegun,
    /// Nothing: the machine went, and the spool was not synced.
    Nothing,
}

impl Missing {
    fn of(death: Death, boot: Boot) -> Self {
        match (boot, death) {
            (Boot::Other, _) => Self::Nothing,
            (Boot::Same, Death::Exited { .. } | Death::NeverBorn) => Self::NotDone,
            (Boot::Same, Death::KeeperLost | Death::HostLost) => Self::NotBegun,
        }
    }
}

/// What became of the messages at the agent. A line that was provably not written whole was not
/// taken; of any other the agent's own store is asked, where it can be.
fn settle_outstanding(d: &mut Draft<'_>, attempt: &Attempt, missing: Missing) {
    let all: Vec<Outstanding> = d.chat.head.at_agent().cloned().collect();
    for outstanding in &all {
        settle_one(d, attempt, missing, outstanding);
    }
}

fn settle_one(d: &mut Draft<'_>, attempt: &Attempt, missing: Missing, outstanding: &Outstanding) {
    let message = outstanding.message;
    if d.chat.head.life == Life::Deleted {
        d.push(Fact::MessageWithdrawn { message, why: WithdrawnWhy::ChatDeleted });
        return;
    }
    let not_written = match (outstanding.written, missing) {
        (Written::Done, _) | (_, Missing::Nothing) | (Written::Begun, Missing::NotBegun) => false,
        (Written::No, Missing::NotDone | Missing::NotBegun)
        | (Written::Begun, Missing::NotDone) => outstanding.state != Delivery::Taken,
    };
    if not_written {
        d.push(Fact::MessageRefused { message, why: RefusedWhy::NotWritten });
    } else if let Some(named) = &attempt.store {
        let evidence = Evidence::AgentStore;
        if named.contains(&outstanding.frame) {
            if outstanding.state != Delivery::Taken {
                d.push(Fact::MessageTaken { message, evidence });
            }
            d.push(Fact::MessageSettled { message, evidence });
        } else {
            d.push(Fact::MessageRefused { message, why: RefusedWhy::NotInStore });
        }
    } else {
        let asking = d.chat.head.handle.is_some() && attempt.capabilities.load;
        d.push(Fact::MessageDoubted { message, asking });
    }
}

/// The machine went while the agent lived: what it finished last may not be on its disk. Where that
/// was read it says so at once.
fn suspect_settled(d: &mut Draft<'_>, attempt: &Attempt) {
    let settled = d.chat.head.settled.as_ref().filter(|settled| !settled.suspect);
    let Some((message, handed)) = settled.map(|settled| (settled.message, settled.handed)) else {
        return;
    };
    let frame = handed.filter(|(of, _)| *of == attempt.id).map(|(_, frame)| frame);
    match (&attempt.store, frame) {
        (Some(named), Some(frame)) if named.contains(&frame) => {}
        (Some(_), Some(_)) => {
            d.push(Fact::MessageDisproved { message });
            d.say(Notice::MessageLost, "");
        }
        (None, _) | (_, None) => d.push(Fact::SettledSuspected { message }),
    }
}

/// The line that tells of it in the transcript.
pub(super) fn tell(d: &mut Draft<'_>, cause: Cause) {
    d.say(Notice::Stopped { cause }, "");
}
