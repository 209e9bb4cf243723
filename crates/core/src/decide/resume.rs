//! Carrying on with an offer: one continuation, through the ordinary path of a message.

use super::{Draft, message, offer};
use crate::continuation;
use crate::fact::{Author, Evidence, Fact, OfferEnd, Place, WithdrawnWhy};
use crate::head::{Life, Strand, Stranded};
use crate::ids::{MessageId, ReceiptId, Subject};
use crate::input::{Anyway, Choice, NotResumed, Reply};
use crate::provider::StartFault;
use crate::refusal::Refusal;
use crate::summary::needs_choice;
use crate::time::Micros;

pub(super) fn resume(
    d: &mut Draft<'_>,
    recorded_at: Option<Micros>,
    choice: Option<Choice>,
    anyway: Anyway,
) -> Result<Reply, Refusal> {
    let not = |why| Ok(Reply::NotResumed { why });
    let Some(offer) = d.chat.head.shown_offer().cloned() else { return not(NotResumed::NoOffer) };
    if recorded_at.is_some_and(|at| at != offer.recorded_at) {
        return not(NotResumed::Superseded);
    }
    if d.chat.head.life != Life::Open {
        return not(NotResumed::NoOffer);
    }
    if offer.resuming {
        // A second click, another client, a retry after a lost reply: the same resume.
        return Ok(Reply::Resuming { receipt: receipt(d) });
    }
    if choice.is_none() && needs_choice(&d.chat.head) {
        return not(NotResumed::NeedsChoice);
    }
    if d.chat.head.may_live {
        match anyway {
            Anyway::No => {
                let failure = offer::failure(StartFault::AgentMayLive, "");
                return not(NotResumed::Failed { failure });
            }
            Anyway::Yes => d.push(Fact::StartedAnyway),
        }
    }
    if d.chat.head.failure.is_some() {
        d.push(Fact::FailureCleared);
    }
    d.push(Fact::ResumeStarted { recorded_at: offer.recorded_at, choice });
    requeue_refused(d);
    let waiting = d.chat.aside.queue.front().map(|queued| queued.message);
    let first = match waiting {
        Some(message) if offer.starting => message,
        _ => {
            bring_continuation(d, offer.continuation);
            offer.continuation
        }
    };
    d.push(Fact::QueueExempted { message: first });
    if asked(&d.chat.head.stranded) {
        settle(d);
    }
    Ok(Reply::Resuming { receipt: receipt(d) })
}

fn receipt(d: &Draft<'_>) -> Option<ReceiptId> {
    let message =
        d.chat.head.exempt.or_else(|| d.chat.head.outstanding.as_ref().map(|o| o.message));
    message.map(|id| ReceiptId { chat: d.given.chat, subject: Subject::Message(id) })
}

/// Puts the continuation at the queue's head. One that is there, or was refused, is the same
/// message again.
fn bring_continuation(d: &mut Draft<'_>, id: MessageId) {
    if d.chat.aside.queue.iter().any(|queued| queued.message == id) {
        return;
    }
    if d.chat.head.stranded.iter().any(|stranded| stranded.message == id) {
        d.push(Fact::MessageRequeued { message: id, place: Place::Head });
        return;
    }
    let text = continuation::TEXT.to_owned();
    message::accept(d, id, text, Author::Host, Place::Head);
}

/// What the dead attempt provably did not take goes back to the queue's head, to be sent right
/// after the continuation.
fn requeue_refused(d: &mut Draft<'_>) {
    let refused = d.chat.head.stranded.iter().filter(|s| s.by_death && s.why == Strand::Refused);
    let refused: Vec<MessageId> = refused.map(|stranded| stranded.message).collect();
    for message in refused.into_iter().rev() {
        d.push(Fact::MessageRequeued { message, place: Place::Head });
    }
}

fn asked(stranded: &[Stranded]) -> bool {
    !stranded.iter().any(|stranded| match stranded.why {
        Strand::Unknown { asking } => asking,
        Strand::Refused => false,
    })
}

/// The agent's own store was asked as far as it can be: what is still in doubt follows the
/// person's choice; without one the resume is taken back, and nothing is sent.
pub(super) fn settle(d: &mut Draft<'_>) {
    let Some(offer) = d.chat.head.offer.clone().filter(|offer| offer.resuming) else { return };
    let doubts: Vec<MessageId> =
        d.chat.head.stranded.iter().filter(|s| s.in_doubt()).map(|s| s.message).collect();
    for message in doubts.iter().rev().copied() {
        match offer.choice {
            Some(Choice::Arrived) => {
                d.push(Fact::MessageSettled { message, evidence: Evidence::Person });
            }
            Some(Choice::SendAgain) => {
                d.push(Fact::MessageRequeued { message, place: Place::Head });
            }
            Some(Choice::Discard) => {
                d.push(Fact::MessageWithdrawn { message, why: WithdrawnWhy::Discarded });
            }
            None => {}
        }
    }
    if offer.choice.is_none() && !doubts.is_empty() {
        d.push(Fact::ResumeStopped { recorded_at: offer.recorded_at });
        return;
    }
    requeue_refused(d);
    // A continuation that was itself in doubt and turned out to have arrived has resumed it.
    let waits = d.chat.aside.queue.iter().any(|queued| queued.message == offer.continuation);
    if !waits && !offer.starting {
        offer::end(d, OfferEnd::Resumed);
    }
}
