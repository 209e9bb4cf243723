//! What time does: the only places where it does anything. It ends no offer, no task, no failure
//! and no delivery.

use super::{Draft, offer, turn};
use crate::activity::Activity;
use crate::effect::releasable;
use crate::fact::{Evidence, Fact, StopWhy};
use crate::head::{Phase, Prompt};
use crate::limits::QUIET_TURN_MICROS;
use crate::offer::Cause;
use crate::time::Awake;

pub(super) fn tick(
    d: &mut Draft<'_>,
    last_word: Awake,
    release_after: Option<u64>,
    ceiling_after: Option<u64>,
) {
    let quiet = d.given.awake.since(last_word);
    let head = &d.chat.head;
    let tells = d.serving().is_some_and(|attempt| attempt.capabilities.own_turns_end);
    let undisturbed = head.outstanding.is_none() && head.prompts.values().all(Prompt::is_written);
    if !tells && undisturbed && quiet >= QUIET_TURN_MICROS {
        turn::close_own(d, Evidence::Quiet);
    }
    let idle = release_after.is_some_and(|after| quiet >= after);
    if idle && releasable(d.chat) {
        let Some(attempt) = d.serving().map(|attempt| attempt.id) else { return };
        d.push(Fact::StopRequested { attempt, why: StopWhy::Idle });
    }
    // Nothing but an owner's word stops what shows work, and then it is offered.
    let ready = d.serving().is_some_and(|attempt| attempt.phase == Phase::Ready);
    let ceiling = ceiling_after.is_some_and(|after| quiet >= after);
    if ceiling && ready && Activity::of(d.chat).shows_work() {
        offer::signalled(d, Cause::IdleStop);
    }
}
