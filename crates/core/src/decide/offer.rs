//! Offers: recorded at a stop, shown at the proven death, ended by what a person does. What ends
//! an offer is decided here: every ending is a call of [`end`].

use super::{Draft, death};
use crate::activity::Activity;
use crate::fact::{Fact, OfferEnd, Paused, StopWhy, WithdrawnWhy};
use crate::head::Phase;
use crate::ids::MessageId;
use crate::input::{Given, NotResumed, Reply};
use crate::item::Notice;
use crate::offer::{Action, Cause, Failure, Snapshot};
use crate::provider::{StartFault, TurnEnd};
use crate::queue::next;
use crate::refusal::Refusal;
use crate::time::Micros;

/// The namespace of the ids of continuations.
const CONTINUATIONS: uuid::Uuid = uuid::Uuid::from_u128(0x6f0c_77a1_52d4_5c1b_9a35_3f1c_8e24_b7d6);

/// The one message that resumes an offer: its id is a function of the offer. The attempt keeps two
/// offers apart that a clock set back gave the same time.
fn continuation(d: &Draft<'_>, recorded_at: Micros) -> MessageId {
    let name = format!("{} {} {}", d.given.chat, d.chat.head.attempts, recorded_at.0);
    MessageId::new(uuid::Uuid::new_v5(&CONTINUATIONS, name.as_bytes()))
}

/// The message that tells a new session what was said, should one be started by this input.
pub(super) fn recap(given: &Given) -> MessageId {
    MessageId::new(uuid::Uuid::new_v5(&CONTINUATIONS, given.attempt.uuid().as_bytes()))
}

/// Records what the chat is doing, if it shows work. Nothing is shown before the death is proven.
/// Called once for a stop: what the agent says after it changes nothing of what was recorded.
pub(super) fn record(d: &mut Draft<'_>, cause: Cause) {
    let activity = Activity::of(d.chat);
    if !activity.shows_work() {
        return;
    }
    let resumed_in_vain = d.chat.head.attempt.as_ref().is_some_and(|a| a.resuming && !a.took);
    if resumed_in_vain && d.chat.head.offer.is_some() {
        return;
    }
    end(d, OfferEnd::Replaced);
    let recorded_at = d.given.at;
    d.push(Fact::OfferRecorded {
        cause,
        recorded_at,
        snapshot: Box::new(Snapshot::of(&activity)),
        continuation: continuation(d, recorded_at),
        root: d.chat.head.handle.as_ref().map(|handle| handle.root.clone()),
    });
}

/// Somebody other than the host told the keeper to stop: what follows changes no snapshot.
pub(super) fn signalled(d: &mut Draft<'_>, cause: Cause) {
    if let Some(attempt) = d.serving().map(|attempt| attempt.id) {
        record(d, cause);
        // Whoever told it, it is being stopped: it is given nothing more.
        d.push(Fact::StopRequested { attempt, why: StopWhy::Offered(cause) });
    }
}

/// The agent lives, and is of no use any more: for the person it died by itself, and what is left of
/// it is ended. Also in place of a release for idleness, which its keeper may yet refuse.
pub(super) fn cut_off(d: &mut Draft<'_>) {
    let attempt = d.chat.head.attempt.as_ref();
    let attempt = attempt.filter(|attempt| matches!(attempt.stop, None | Some(StopWhy::Idle)));
    let Some((attempt, phase)) = attempt.map(|attempt| (attempt.id, attempt.phase)) else { return };
    match phase {
        Phase::Ready => record(d, Cause::AgentDied),
        // A start that came to nothing makes no offer; its death files the failure.
        Phase::Starting => {}
    }
    d.push(Fact::StopRequested { attempt, why: StopWhy::Offered(Cause::AgentDied) });
}

/// The death is proven: what was recorded is shown.
pub(super) fn show(d: &mut Draft<'_>) {
    let Some(offer) = d.chat.head.offer.as_ref().filter(|offer| !offer.shown) else { return };
    let (recorded_at, cause) = (offer.recorded_at, offer.cause);
    d.push(Fact::OfferShown { recorded_at });
    death::tell(d, cause);
}

/// The agent finished by itself after the stop was ordered, and nothing else was going on: the
/// offer, which was never shown, is dropped.
pub(super) fn finished(d: &mut Draft<'_>, how: TurnEnd) {
    let unshown = d.chat.head.offer.as_ref().filter(|offer| !offer.shown && offer.only_turn);
    if unshown.is_some() && how == TurnEnd::Completed {
        end(d, OfferEnd::Finished);
    }
}

/// Ends the offer and any failure beside it, in the commit of the act that ends it; a continuation
/// that waits is withdrawn.
pub(super) fn end(d: &mut Draft<'_>, how: OfferEnd) {
    if let Some(offer) = d.chat.head.offer.clone() {
        d.push(Fact::OfferEnded { recorded_at: offer.recorded_at, how });
        let message = offer.continuation;
        let waits = d.chat.aside.queue.iter().any(|queued| queued.message == message);
        // What a new session has to be told is told it all the same, before what comes instead.
        if waits && d.chat.head.recap != Some(message) {
            d.push(Fact::MessageWithdrawn { message, why: WithdrawnWhy::OfferEnded });
        }
    }
    clear_failure(d);
}

/// Lets what a failure holds be tried again; what may still live is not settled by that.
pub(super) fn clear_failure(d: &mut Draft<'_>) {
    if d.chat.head.failure.is_some() && !d.chat.head.may_live {
        d.push(Fact::FailureCleared);
    }
}

/// The resume in progress, if there is one, is over without having ended the offer.
pub(super) fn stop_resume(d: &mut Draft<'_>) {
    let resuming = d.chat.head.offer.as_ref().filter(|offer| offer.resuming);
    if let Some(recorded_at) = resuming.map(|offer| offer.recorded_at) {
        d.push(Fact::ResumeStopped { recorded_at });
    }
}

/// A message was taken: is it the one that resumes the offer?
pub(super) fn taken(d: &mut Draft<'_>, message: MessageId) {
    let Some(offer) = &d.chat.head.offer else { return };
    let resumes = offer.continuation == message || (offer.starting && offer.resuming);
    if offer.shown && resumes {
        end(d, OfferEnd::Resumed);
        d.say(Notice::Resumed, "");
    }
}

/// The agent's session stands; one with another root than the offer recorded is a fork, and there
/// is nothing of the offer's to carry on with in it.
pub(super) fn rewound(d: &mut Draft<'_>, root: &str) {
    let recorded = d.chat.head.shown_offer().and_then(|offer| offer.root.as_deref());
    if recorded.is_some_and(|recorded| recorded != root) {
        end(d, OfferEnd::Rewound);
    }
}

/// A person lets an offer go; what waits beside it stays, paused.
pub(super) fn dismiss(d: &mut Draft<'_>, recorded_at: Option<Micros>) -> Result<Reply, Refusal> {
    let Some(offer) = d.chat.head.shown_offer() else {
        let lone = d.chat.head.offer.is_none()
            && d.chat.head.failure.is_some()
            && !d.chat.head.may_live
            && recorded_at.is_none();
        if !lone {
            return Ok(Reply::NotResumed { why: NotResumed::NoOffer });
        }
        return Ok(let_go(d));
    };
    if recorded_at.is_some_and(|at| at != offer.recorded_at) {
        return Ok(Reply::NotResumed { why: NotResumed::Superseded });
    }
    Ok(let_go(d))
}

/// Ends an offer, or a failure without one; what it held is held by a pause.
fn let_go(d: &mut Draft<'_>) -> Reply {
    end(d, OfferEnd::Dismissed);
    let recap = d.chat.head.recap;
    let waits = d.chat.aside.queue.iter().any(|queued| Some(queued.message) != recap);
    if waits && d.chat.head.paused.is_none() {
        d.push(Fact::QueuePaused { by: Paused::Dismiss });
    }
    Reply::Dismissed
}

/// A start or a resume came to nothing: a failure is filed, which holds the queue; an offer stays.
pub(super) fn resume_failed(d: &mut Draft<'_>, fault: StartFault, text: &str) {
    let head = &d.chat.head;
    let waits = next(d.chat).is_some() || head.is_resuming() || head.fork.is_some();
    stop_resume(d);
    if waits || !d.chat.head.stranded.is_empty() || fault == StartFault::AgentMayLive {
        file(d, fault, text);
    }
}

/// Files a failure, which holds the queue until somebody acts.
pub(super) fn file(d: &mut Draft<'_>, fault: StartFault, text: &str) {
    let failure = failure(fault, text);
    d.push(Fact::FailureFiled(failure.clone()));
    d.say(Notice::StartFailed { code: failure.code }, &failure.text);
}

/// The failure that goes with a fault.
#[must_use]
pub(super) fn failure(fault: StartFault, text: &str) -> Failure {
    let (sentence, actions): (&str, &[Action]) = match fault {
        StartFault::SessionNotFound => (
            "The agent no longer knows this session.",
            &[Action::StartFreshWithRecap, Action::Retry, Action::OpenChat],
        ),
        StartFault::NoSession => (
            "The agent stopped before it had a session.",
            &[Action::StartFreshWithRecap, Action::OpenChat],
        ),
        StartFault::DirectoryGone => (
            "The directory of this chat is gone. Bring it back, then try again.",
            &[Action::Retry, Action::OpenChat],
        ),
        StartFault::LoginNeeded => (
            "The agent wants you to log in. Log in with its own program, then try again.",
            &[Action::Retry, Action::OpenChat],
        ),
        StartFault::AgentMissing => (
            "The agent's program was not found. Install it or name it in the configuration.",
            &[Action::Retry, Action::OpenChat],
        ),
        StartFault::AgentMayLive => (
            "Processes of the last agent may still live. Look at them before you start another.",
            &[Action::StartAnyway, Action::OpenChat],
        ),
        StartFault::AgentRefused => ("The agent refused.", &[Action::Retry, Action::OpenChat]),
        StartFault::AgentDied => {
            ("The agent ended before it took the message.", &[Action::Retry, Action::OpenChat])
        }
    };
    let text = match text.trim() {
        "" => sentence.to_owned(),
        words => format!("{sentence} It said: {}", crate::limits::cut(words, 1000)),
    };
    Failure { code: fault_code(fault).to_owned(), text, actions: actions.to_vec() }
}

/// Why an attempt could not begin, as the public code of a failure.
const fn fault_code(fault: StartFault) -> &'static str {
    match fault {
        StartFault::SessionNotFound => "session_not_found",
        StartFault::NoSession => "no_session",
        StartFault::DirectoryGone => "directory_gone",
        StartFault::LoginNeeded => "login_needed",
        StartFault::AgentMissing => "agent_missing",
        StartFault::AgentMayLive => "agent_may_live",
        StartFault::AgentRefused => "agent_refused",
        StartFault::AgentDied => "agent_died",
    }
}
