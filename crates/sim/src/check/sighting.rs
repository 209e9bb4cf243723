//! What an agent reads: only what was committed for it, each message once unless a person asked
//! again or it provably had it not, and in the order of the queue.

use holdfast_core::head::Life;
use holdfast_core::ids::{AttemptId, ChatId, MessageId};
use holdfast_store::MessageState;

use crate::evidence::Sighting;
use crate::journal::Cause;
use crate::world::World;

/// An agent read a whole message.
pub(crate) fn saw(w: &mut World, attempt: AttemptId, frame: u64, text: &str, session: &str) {
    let Some(seen) = w.evidence.attempts.get(&attempt) else { return };
    let (chat, again) = (seen.chat, seen.sightings.iter().any(|one| one.frame == frame));
    let Some(message) = seen.handed.get(&frame).copied() else {
        return w.fail(format!("frame {frame} gave {text:?}, and no commit had handed it over"));
    };
    if again {
        return w.fail(format!("frame {frame} with {message} was read twice"));
    }
    let row = w.journal.store.message(chat, message);
    let deleted = w.journal.store.load(chat).is_none_or(|l| l.chat.head.life == Life::Deleted);
    if !deleted && row.is_none_or(|row| row.text != text) {
        w.fail(format!("{message} was read as {text:?}"));
    }
    let first = w.evidence.of(message).next().is_none();
    let twice = w.evidence.of(message).find(|(of, one)| {
        !one.excused && !one.rejected && w.homes.holds(&one.session, *of, one.frame)
    });
    if let Some((of, one)) = twice {
        let before = format!("frame {} of {of}", one.frame);
        w.fail(format!("{message} was given again, though the agent has it from {before}"));
    }
    if first {
        is_in_order(w, chat, message);
    }
    let session = session.to_owned();
    let sighting = Sighting { frame, message, session, rejected: false, excused: false };
    if let Some(seen) = w.evidence.attempts.get_mut(&attempt) {
        seen.sightings.push(sighting);
    }
}

/// No message that was acknowledged before this one was sent still waits.
fn is_in_order(w: &mut World, chat: ChatId, message: MessageId) {
    if w.people.chats.get(&chat).is_none_or(|known| known.disordered) {
        return;
    }
    let Some(Cause::Request(number)) = w.checks.messages.get(&message).map(|one| one.cause) else {
        return;
    };
    let Some(sent_at) = w.people.requests.get(number).map(|request| request.sent_at) else {
        return;
    };
    let overtaken = w.checks.messages.iter().find(|(id, earlier)| {
        let known = earlier.acknowledged_at.is_some_and(|at| at < sent_at);
        let row = || w.journal.store.message(chat, **id);
        earlier.chat == chat && known && row().is_some_and(|row| row.state == MessageState::Queued)
    });
    if let Some((earlier, _)) = overtaken {
        let earlier = *earlier;
        w.fail(format!("{message} was given before {earlier}, which was there first"));
    }
}
