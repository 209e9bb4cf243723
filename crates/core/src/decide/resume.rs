//! Carrying on with an offer: one continuation, through the ordinary path of a message.

use super::{Draft, message, offer, replay, steer};
use crate::continuation;
use crate::digest;
use crate::effect::asks;
use crate::fact::{Author, Evidence, Fact, OfferEnd, Place, WithdrawnWhy};
use crate::head::{Chat, Life, Strand, Stranded};
use crate::ids::{MessageId, ReceiptId, Subject};
use crate::input::{Anyway, Choice, NotResumed, Reply, Session};
use crate::item::Notice;
use crate::offer::Failure;
use crate::provider::StartFault;
use crate::queue::next;
use crate::refusal::Refusal;
use crate::time::Micros;

pub(super) fn resume(
    d: &mut Draft<'_>,
    recorded_at: Option<Micros>,
    choice: Option<Choice>,
    session: Session,
    anyway: Anyway,
) -> Result<Reply, Refusal> {
    let not = |why| Ok(Reply::NotResumed { why });
    if let Session::Fresh { recap } = &session {
        message::check_text("recap", recap, message::Empty::Refused)?;
    }
    let Some(offer) = d.chat.head.shown_offer().cloned() else {
        return Ok(retry(d, recorded_at, session, anyway));
    };
    if recorded_at.is_some_and(|at| at != offer.recorded_at) {
        return not(NotResumed::Superseded);
    }
    if offer.resuming {
        // A second click, another client, a retry after a lost reply: the same resume, unless it would
        // tell the agent something else.
        return match is_told(d.chat, &session) {
            true => Ok(Reply::Resuming { receipt: receipt(d) }),
            false => not(NotResumed::Superseded),
        };
    }
    if choice.is_none() && needs_choice(d.chat, &session) {
        return not(NotResumed::NeedsChoice);
    }
    if let Err(failure) = clear_way(d, anyway) {
        return not(NotResumed::Failed { failure });
    }
    d.push(Fact::ResumeStarted { recorded_at: offer.recorded_at, choice });
    requeue_refused(d);
    match session {
        Session::Fresh { recap } => {
            leave_session(d, recap);
        }
        Session::Recorded => {
            // A chat that was only starting carries on with the message that it was starting for.
            let doubted = d.chat.head.stranded.iter().any(|stranded| stranded.by_death);
            if !offer.starting || (d.chat.aside.queue.is_empty() && !doubted) {
                bring_continuation(d, offer.continuation);
            }
        }
    }
    if !asks(d.chat) {
        settle(d);
    }
    Ok(Reply::Resuming { receipt: receipt(d) })
}

/// Whether a person has to say first what became of a message. A new session can be asked nothing
/// of what the old one was given.
fn needs_choice(chat: &Chat, session: &Session) -> bool {
    match session {
        Session::Recorded => chat.head.needs_choice(),
        Session::Fresh { .. } => {
            let doubts = |s: &Stranded| s.by_death && s.why != Strand::Refused;
            chat.head.stranded.iter().any(|s| s.by != Author::Host && doubts(s))
        }
    }
}

/// Whether the resume that runs tells the agent what this one would.
fn is_told(chat: &Chat, session: &Session) -> bool {
    let Session::Fresh { recap } = session else { return true };
    let Some(message) = chat.head.offer.as_ref().map(|offer| offer.continuation) else {
        return false;
    };
    let digest = digest(recap);
    let waits = chat.aside.queue.iter().any(|q| q.message == message && q.digest == digest);
    waits || chat.head.at_agent().any(|o| o.message == message && o.digest == digest)
}

/// Leaves the agent's session for a new one, and puts the recap where the continuation would be. The
/// same recap once more is the same message; what else the host sent, or wanted to, was for the
/// session that is left.
fn leave_session(d: &mut Draft<'_>, recap: String) -> MessageId {
    let digest = digest(&recap);
    let own = |by| by == Author::Host;
    let waiting: Vec<_> = d
        .chat
        .aside
        .queue
        .iter()
        .filter(|q| own(q.by))
        .map(|q| (q.message, q.digest.clone()))
        .collect();
    let refused = d.chat.head.stranded.iter().filter(|s| own(s.by) && s.why == Strand::Refused);
    let refused: Vec<_> = refused.map(|s| (s.message, s.digest.clone())).collect();
    let mut here = None;
    for (message, has) in waiting.into_iter().chain(refused) {
        if has == digest && here.is_none() {
            here = Some(message);
        } else {
            d.push(Fact::MessageWithdrawn { message, why: WithdrawnWhy::StartedFresh });
        }
    }
    let doubtful = d.chat.head.stranded.iter().filter(|s| own(s.by) && s.why != Strand::Refused);
    for message in doubtful.map(|s| s.message).collect::<Vec<_>>() {
        d.push(Fact::MessageWithdrawn { message, why: WithdrawnWhy::StartedFresh });
    }
    let id = here.unwrap_or_else(|| offer::recap(d.given));
    d.push(Fact::SessionLeft { recap: id });
    d.say(Notice::StartedFresh, "");
    replay::no_more_to_ask(d);
    bring(d, id, recap);
    id
}

/// What a failure holds is tried again: that of the last start, whatever it was.
fn clear_way(d: &mut Draft<'_>, anyway: Anyway) -> Result<(), Failure> {
    if d.chat.head.may_live {
        match anyway {
            Anyway::No => return Err(offer::failure(StartFault::AgentMayLive, "")),
            Anyway::Yes => d.push(Fact::StartedAnyway),
        }
    }
    if d.chat.head.failure.is_some() {
        d.push(Fact::FailureCleared);
    }
    Ok(())
}

/// A failed start that has no offer beside it, as that of a chat's first message: what waits is
/// tried again.
fn retry(
    d: &mut Draft<'_>,
    recorded_at: Option<Micros>,
    session: Session,
    anyway: Anyway,
) -> Reply {
    let lone = d.chat.head.offer.is_none() && d.chat.head.life == Life::Open;
    if !lone || d.chat.head.failure.is_none() || recorded_at.is_some() {
        return Reply::NotResumed { why: NotResumed::NoOffer };
    }
    if let Err(failure) = clear_way(d, anyway) {
        return Reply::NotResumed { why: NotResumed::Failed { failure } };
    }
    if let Session::Fresh { recap } = session {
        // It was asked for, whatever else is paused.
        let message = leave_session(d, recap);
        d.push(Fact::QueueExempted { message });
    }
    let message = next(d.chat).map(|queued| queued.message);
    Reply::Resuming { receipt: message.map(|id| d.receipt(Subject::Message(id))) }
}

fn receipt(d: &Draft<'_>) -> Option<ReceiptId> {
    let head = &d.chat.head;
    let message =
        head.exempt.or_else(|| head.outstanding.as_ref().map(|o| o.message)).or_else(|| {
            let offer = head.offer.as_ref()?;
            let doubted = head.stranded.iter().rev().find(|stranded| stranded.by_death);
            let waiting = doubted.map(|stranded| stranded.message);
            if offer.starting { waiting } else { Some(offer.continuation) }
        });
    message.map(|id| d.receipt(Subject::Message(id)))
}

/// Puts the continuation at the queue's head.
fn bring_continuation(d: &mut Draft<'_>, id: MessageId) {
    bring(d, id, continuation::TEXT.to_owned());
}

/// Puts a message of the host's own at the queue's head. One that is there, or was refused, is the
/// same message again; one in doubt is settled first.
fn bring(d: &mut Draft<'_>, id: MessageId, text: String) {
    let waits = d.chat.aside.queue.iter().any(|queued| queued.message == id);
    if waits || d.chat.head.at_agent().any(|o| o.message == id) {
        return;
    }
    if let Some(stranded) = d.chat.head.stranded.iter().find(|stranded| stranded.message == id) {
        match stranded.why {
            Strand::Refused => {
                d.push(Fact::MessageRequeued { message: id, place: Place::Head });
            }
            Strand::Unknown { .. } => {}
        }
        return;
    }
    message::accept(d, id, text, Author::Host, Place::Head, Vec::new());
}

/// What the dead attempt provably did not take goes back to the queue's head, to be sent right
/// after the continuation.
fn requeue_refused(d: &mut Draft<'_>) {
    let refused = d.chat.head.stranded.iter().filter(|s| s.by_death && s.why == Strand::Refused);
    let refused: Vec<MessageId> = refused.map(|stranded| stranded.message).collect();
    for message in refused.into_iter().rev() {
        steer::comes_back(d, message);
        d.push(Fact::MessageRequeued { message, place: Place::Head });
    }
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
                steer::comes_back(d, message);
                d.push(Fact::MessageRequeued { message, place: Place::Head });
            }
            Some(Choice::Discard) => {
                d.push(Fact::MessageWithdrawn { message, why: WithdrawnWhy::Discarded });
            }
            None => {}
        }
    }
    if offer.choice.is_none() && !doubts.is_empty() {
        offer::stop_resume(d);
        return;
    }
    requeue_refused(d);
    if d.chat.head.outstanding.is_some() {
        // What carries on is at an agent already, be it one that is being stopped.
        return;
    }
    let queue = &d.chat.aside.queue;
    let waits = queue.iter().map(|queued| queued.message).find(|id| *id == offer.continuation);
    let first = match waits {
        None if offer.starting => queue.front().map(|queued| queued.message),
        waits => waits,
    };
    match first {
        Some(message) if d.chat.head.exempt == Some(message) => {}
        Some(message) => d.push(Fact::QueueExempted { message }),
        // What was to carry on was itself in doubt: it arrived, or a person let it go.
        None => {
            let how = match offer.choice {
                Some(Choice::Discard) if !doubts.is_empty() => OfferEnd::Dismissed,
                Some(Choice::Arrived | Choice::SendAgain | Choice::Discard) | None => {
                    OfferEnd::Resumed
                }
            };
            offer::end(d, how);
        }
    }
}
