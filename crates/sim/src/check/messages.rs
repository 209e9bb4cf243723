//! A message's life: what was accepted is always somewhere, and each step of it is true.

use holdfast_core::fact::{Author, Evidence, Fact, RefusedWhy, WithdrawnWhy};
use holdfast_core::head::{Head, Life, Outstanding};
use holdfast_core::ids::{ChatId, MessageId};
use holdfast_core::input::{Choice, Command, Session};
use holdfast_core::item::Row;
use holdfast_store::{MessageState, Unit};

use super::{Accepted, Before};
use crate::journal::Cause;
use crate::people::Wish;
use crate::world::World;

/// A fact was stored.
pub(super) fn happened(w: &mut World, unit: &Unit, fact: &Fact, before: &Before, cause: Cause) {
    let chat = unit.chat;
    match fact {
        Fact::MessageAccepted { message, by, .. } => {
            let accepted = Accepted { chat, cause, acknowledged_at: None };
            w.checks.messages.insert(*message, accepted);
            let text = text_of(unit, *message).unwrap_or_default().to_owned();
            let unique = *by != Author::Host && text.starts_with('<');
            if unique && !w.checks.texts.insert(text.clone()) {
                w.fail(format!("one request made two messages: {text}"));
            }
        }
        Fact::MessageHanded { message, attempt, frame, .. } => {
            if let Some(seen) = w.evidence.attempts.get_mut(attempt) {
                seen.handed.insert(frame.0, *message);
            }
            w.checks.handed.insert(*message, (*attempt, frame.0));
        }
        // A word of an agent's own that comes between the frame and its reading counts as proof.
        Fact::MessageTaken { message, evidence: Evidence::Agent } if has_stirred(w, *message) => {}
        Fact::MessageTaken { message, evidence } | Fact::MessageSettled { message, evidence } => {
            is_evident(w, unit, *message, *evidence, before, cause);
        }
        Fact::MessageRefused { message, why } => refused(w, *message, why),
        Fact::MessageDisproved { message } => refused(w, *message, &RefusedWhy::NotInStore),
        Fact::MessageWithdrawn { message, why } => {
            withdrawn(w, *message, *why, before, cause);
        }
        Fact::MessageRequeued { message, .. } => requeued(w, unit, *message, before, cause),
        _ => {}
    }
}

fn text_of(unit: &Unit, message: MessageId) -> Option<&str> {
    unit.rows.iter().find_map(|row| match row {
        Row::MessageText { message: of, text } if *of == message => Some(text.as_str()),
        _ => None,
    })
}

/// What a request asked for.
pub(super) fn wish(w: &World, cause: Cause) -> Option<&Wish> {
    match cause {
        Cause::Request(number) => w.people.requests.get(number).map(|request| &request.wish),
        Cause::World | Cause::Stop => None,
    }
}

fn command(w: &World, cause: Cause) -> Option<&Command> {
    match wish(w, cause) {
        Some(Wish::Plain(command)) => Some(command),
        Some(Wish::Open { .. } | Wish::Send { .. } | Wish::Attach { .. }) | None => None,
    }
}

/// The choice that a person made: in this request, or with the resume that is under way.
fn choice(w: &World, before: &Before, cause: Cause) -> Option<Choice> {
    match command(w, cause) {
        Some(Command::Resolve { choice, .. }) => Some(*choice),
        Some(Command::Resume { choice, .. }) => *choice,
        _ => before.head().and_then(|head| head.offer.as_ref()).and_then(|offer| offer.choice),
    }
}

fn is_evident(
    w: &mut World,
    unit: &Unit,
    message: MessageId,
    evidence: Evidence,
    before: &Before,
    cause: Cause,
) {
    let last = w.checks.handed.get(&message).copied();
    let seen = last.is_some_and(|(attempt, frame)| {
        w.evidence.of(message).any(|(of, one)| of == attempt && one.frame == frame)
    });
    let held =
        || w.evidence.of(message).any(|(of, one)| w.homes.holds(&one.session, of, one.frame));
    let wrong = match evidence {
        Evidence::Agent | Evidence::Message | Evidence::Quiet | Evidence::Death => !seen,
        // What was told before a power cut was true then.
        Evidence::AgentStore => {
            let attempt = before.head().and_then(|head| head.attempt.as_ref());
            let cut = attempt.and_then(|attempt| w.evidence.attempts.get(&attempt.id));
            !held() && !cut.is_some_and(|seen| seen.cut)
        }
        Evidence::Person => choice(w, before, cause) != Some(Choice::Arrived),
    };
    if wrong {
        w.fail(format!("{message} of {} is not known by {evidence:?}", unit.chat));
    }
}

fn has_stirred(w: &World, message: MessageId) -> bool {
    let attempt = w.checks.handed.get(&message).map(|(attempt, _)| attempt);
    attempt.and_then(|id| w.evidence.attempts.get(id)).is_some_and(|seen| seen.stirred)
}

fn refused(w: &mut World, message: MessageId, why: &RefusedWhy) {
    let Some((attempt, frame)) = w.checks.handed.get(&message).copied() else {
        return w.fail(format!("{message} was refused and never handed over"));
    };
    let sighting = w.evidence.of(message).find(|(of, one)| *of == attempt && one.frame == frame);
    let sighting = sighting.map(|(_, one)| one.clone());
    let wrong = match (why, &sighting) {
        (RefusedWhy::NotWritten, seen) => seen.is_some(),
        (RefusedWhy::Rejected { .. }, seen) => seen.as_ref().is_none_or(|seen| !seen.rejected),
        (RefusedWhy::NotInStore, Some(seen)) => {
            w.homes.holds(&seen.session, attempt, frame) && !seen.rejected
        }
        (RefusedWhy::NotInStore, None) => false,
    };
    if wrong {
        w.fail(format!("{message} is called refused ({why:?}), and the agent has it"));
    }
}

fn withdrawn(w: &mut World, message: MessageId, why: WithdrawnWhy, before: &Before, cause: Cause) {
    let asked = command(w, cause);
    let right = match why {
        WithdrawnWhy::Person => {
            let mut outstanding = before.head().into_iter().flat_map(Head::at_agent);
            matches!(asked, Some(Command::WithdrawQueued { message: of }) if *of == message)
                || outstanding.any(|o| o.message == message && o.withdrawing)
        }
        WithdrawnWhy::Discarded => choice(w, before, cause) == Some(Choice::Discard),
        WithdrawnWhy::StartedFresh => matches!(
            command(w, cause),
            Some(Command::Resume { session: Session::Fresh { .. }, .. })
        ),
        WithdrawnWhy::OfferEnded => {
            let offer = before.head().and_then(|head| head.offer.as_ref());
            offer.is_some_and(|offer| offer.continuation == message)
        }
        WithdrawnWhy::ChatDeleted => {
            matches!(asked, Some(Command::Delete))
                || before.head().is_some_and(|head| head.life == Life::Deleted)
        }
    };
    if !right {
        w.fail(format!("{message} was withdrawn ({why:?}), and nobody asked for it"));
    }
}

/// A message goes back to the queue: a person asked, or it was provably not taken.
fn requeued(w: &mut World, unit: &Unit, message: MessageId, before: &Before, cause: Cause) {
    if choice(w, before, cause) == Some(Choice::SendAgain) {
        w.evidence.excuse(message);
        return;
    }
    let state = before.loaded.as_ref().and_then(|loaded| {
        loaded.chat.head.stranded.iter().find(|stranded| stranded.message == message)
    });
    let refused = state.is_some_and(|s| s.why == holdfast_core::head::Strand::Refused)
        || unit
            .facts
            .iter()
            .any(|fact| matches!(fact, Fact::MessageRefused { message: of, .. } if *of == message));
    let cancelled = unit.facts.iter().any(|fact| matches!(fact, Fact::FrameCancelled { .. }));
    if !refused && !cancelled {
        w.fail(format!("{message} waits again, and nobody asked for it"));
    }
}

/// Every accepted message of a chat is in exactly the place that its state says.
pub(super) fn are_somewhere(w: &mut World, chat: ChatId) {
    let Some(loaded) = w.journal.store.load(chat) else { return };
    let (head, queue) = (&loaded.chat.head, &loaded.chat.aside.queue);
    let at_agent = |o: &Outstanding, id: MessageId| o.message == id;
    let mut wrong = None;
    for (id, _) in w.checks.messages.iter().filter(|(_, accepted)| accepted.chat == chat) {
        let Some(row) = w.journal.store.message(chat, *id) else {
            wrong = Some(format!("{id} was accepted and is gone"));
            break;
        };
        let queued = queue.iter().filter(|queued| queued.message == *id).count();
        let outstanding = head.at_agent().filter(|o| at_agent(o, *id)).count();
        let stranded = head.stranded.iter().filter(|s| s.message == *id).count();
        let places = (queued, outstanding, stranded);
        let right = match row.state {
            MessageState::Queued => (1, 0, 0),
            MessageState::Handed | MessageState::Taken => (0, 1, 0),
            MessageState::Refused(_) | MessageState::Unknown { .. } => (0, 0, 1),
            MessageState::Settled | MessageState::Withdrawn(_) => (0, 0, 0),
        };
        if places != right {
            wrong = Some(format!("{id} is {:?}, and stands in {places:?}", row.state));
        }
    }
    if let Some(wrong) = wrong {
        w.fail(wrong);
    }
}

/// Everything has come to rest: whatever was accepted was given to an agent, or taken back.
pub(super) fn are_settled(w: &mut World) {
    let mut wrong = None;
    for (id, accepted) in &w.checks.messages {
        let Some(row) = w.journal.store.message(accepted.chat, *id) else { continue };
        let over = match row.state {
            MessageState::Settled | MessageState::Withdrawn(_) => true,
            MessageState::Queued
            | MessageState::Handed
            | MessageState::Taken
            | MessageState::Refused(_)
            | MessageState::Unknown { .. } => false,
        };
        let deleted = w
            .journal
            .store
            .load(accepted.chat)
            .is_some_and(|loaded| loaded.chat.head.life == Life::Deleted);
        if !over && !deleted {
            wrong = Some(format!("{id} is {:?} when everything is over", row.state));
        }
    }
    if let Some(wrong) = wrong {
        w.fail(wrong);
    }
}
