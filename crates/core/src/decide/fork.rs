//! Another chat that begins like this one, and this one from an earlier place. An agent that knows no
//! place but the end copies its session as it is at that moment, so that it is asked only while the chat
//! rests, and the copy is made at once, before this one goes on. One that knows the ends of its turns
//! goes back in a copy too: the session that is left stays whole, and asking once more does no harm.

use super::{Draft, message, offer};
use crate::activity::Activity;
use crate::fact::{Author, Fact, OfferEnd, StopWhy};
use crate::fork::{Fork, ForkedFile, TurnPlace};
use crate::head::{Head, Life};
use crate::ids::{MessageId, Subject};
use crate::input::{Reply, Send};
use crate::item::Notice;
use crate::provider::{Forks, Trunk};
use crate::refusal::{Code, Refusal};

/// What a person is told who goes back.
const FILES_STAY: &str = "Files were not changed.";

/// Says what another chat begins with. This one stays as it is.
pub(super) fn fork(
    d: &Draft<'_>,
    at: u64,
    turn: Option<TurnPlace>,
    attachments: Vec<ForkedFile>,
) -> Result<Reply, Refusal> {
    let head = &d.chat.head;
    let whole = trunk(head)?;
    if head.known.forks == Forks::Nowhere {
        let text = format!("The sessions of the agent {:?} cannot be forked.", head.agent);
        return Err(Refusal::new(Code::NotSupported, text));
    }
    at_rest(d)?;
    let place = match head.known.forks {
        Forks::AtTheEnd | Forks::Nowhere if at == head.places => None,
        Forks::AtTheEnd | Forks::Nowhere => {
            let text = format!(
                "This agent forks a session only where it is now: at the last entry, which is number {}.",
                head.places
            );
            return Err(Refusal::new(Code::NotSupported, text).field("at"));
        }
        Forks::AtTurns | Forks::AtTurnsInMemory => {
            // At the end of all, whatever its session holds; by name if it has one right there, as this
            // chat may go on before the copy is made.
            let last = |turn: &TurnPlace| turn.turn.0 == head.turns && turn.at == at;
            let whole = at == head.places && !turn.as_ref().is_some_and(last);
            if whole { None } else { Some(reached(head, at, turn)?) }
        }
    };
    let (until, messages) = match place {
        Some(place) => (Some(place.mark), place.messages),
        None => (whole.until, head.session_messages),
    };
    let fork = Fork {
        from: d.given.chat,
        at,
        handle: whole.session,
        until,
        unreached: head.unreached,
        messages,
        attempts: head.attempts,
        turns: head.turns,
        host_items: head.host_items,
        attachments,
    };
    Ok(Reply::Forkable { fork: Box::new(fork) })
}

/// Goes on from the end of an earlier turn: in a copy of the agent's session up to there, which is made
/// before anything else is handed over.
pub(super) fn rewind(
    d: &mut Draft<'_>,
    at: u64,
    turn: Option<TurnPlace>,
    said: Option<(MessageId, String, Author)>,
) -> Result<Reply, Refusal> {
    let head = &d.chat.head;
    if head.life != Life::Open {
        let text = "The chat is closed. Open it again to go back in it.";
        return Err(Refusal::new(Code::ChatClosed, text));
    }
    let handle = trunk(head)?.session;
    match head.known.forks {
        Forks::AtTurns | Forks::AtTurnsInMemory => {}
        Forks::AtTheEnd | Forks::Nowhere => {
            let text = format!(
                "The sessions of the agent {:?} cannot go back to a place. Nothing was changed.",
                head.agent
            );
            return Err(Refusal::new(Code::NotSupported, text));
        }
    }
    at_rest(d)?;
    let to = reached(head, at, turn)?;
    if to.turn.0 == head.turns {
        let text = "The conversation is there already: no turn came after this entry.";
        return Err(Refusal::new(Code::InvalidField, text).field("at"));
    }
    if let Some((_, text, _)) = &said {
        message::check_text("text", text, message::Empty::Refused)?;
        message::may_accept(d)?;
    }
    offer::end(d, OfferEnd::Rewound);
    let place = to.at;
    d.push(Fact::ChatRewound { to, handle });
    if let Some(attempt) = d.serving().map(|attempt| attempt.id) {
        d.push(Fact::StopRequested { attempt, why: StopWhy::Ordered });
    }
    d.say(Notice::WentBack { to: place }, FILES_STAY);
    let receipt = match said {
        Some((id, text, by)) => {
            message::send(d, (id, by, Send::Queue), text, Vec::new())?;
            Some(d.receipt(Subject::Message(id)))
        }
        None => None,
    };
    Ok(Reply::Rewound { receipt })
}

/// The session that holds what the agent knows. A copy may not be written down yet: then it is the one
/// that it is a copy of.
fn trunk(head: &Head) -> Result<Trunk, Refusal> {
    let copied = head.fork.as_ref().or(head.copied_from.as_ref()).cloned();
    let own = || head.handle.clone().map(|session| Trunk { session, until: None });
    let knows_turns = matches!(head.known.forks, Forks::AtTurns | Forks::AtTurnsInMemory);
    let trunk = if knows_turns { copied.or_else(own) } else { own() };
    trunk.ok_or_else(|| {
        let text = "The chat has no session of its agent yet that could be forked. Wait for its agent, or \
                    send it a message.";
        Refusal::new(Code::NotSupported, text)
    })
}

fn at_rest(d: &Draft<'_>) -> Result<(), Refusal> {
    let head = &d.chat.head;
    let busy = if head.turn.is_some() || head.outstanding.is_some() {
        "A turn is running. Wait for its end, or stop it."
    } else if !head.prompts.is_empty() {
        "A prompt is open. Answer it first."
    } else if Activity::of(d.chat).shows_work() {
        "Work goes on in the background. Wait for its end, or stop it."
    } else if !head.stranded.is_empty() {
        "A message was refused, or it is not known whether it arrived. Decide about it first."
    } else {
        return Ok(());
    };
    Err(Refusal::new(Code::ChatBusy, busy))
}

/// The end of a turn that is at this place, if the agent's session reaches back to it.
fn reached(head: &Head, at: u64, turn: Option<TurnPlace>) -> Result<TurnPlace, Refusal> {
    let left = |place: &TurnPlace| {
        head.left_behind.is_some_and(|(to, last)| place.turn > to && place.turn <= last)
    };
    let known = turn.filter(|place| place.turn.0 > head.unreached && !left(place));
    let text = match known {
        Some(place) if place.at == at => return Ok(place),
        Some(place) => format!(
            "This is not the end of a turn that the agent knows. The nearest one before it is at entry {}.",
            place.at
        ),
        None => "The agent knows no end of a turn here or before it: its session began later, its memory \
                 was shortened since, or this was there before Holdfast kept such places."
            .to_owned(),
    };
    Err(Refusal::new(Code::NotSupported, text).field("at"))
}

/// The chat that was just opened begins as another one is.
pub(super) fn begin(d: &mut Draft<'_>, fork: Fork) {
    let from = fork.from;
    d.push(Fact::ChatForked(fork));
    d.say(Notice::Forked { from }, "");
}

/// What the agent shows of its copy: the other chat may have gone on before it was made.
pub(super) fn compare(d: &mut Draft<'_>, messages: u64) {
    if messages > d.chat.head.session_messages {
        d.say(Notice::ForkHoldsMore, "");
    }
}
