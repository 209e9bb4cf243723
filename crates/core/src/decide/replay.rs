//! Asking the agent's own store: what its replayed history says of a message whose outcome is not
//! known (delivery.md, "Settling after a death").

use super::Draft;
use crate::fact::{Evidence, Fact, RefusedWhy};
use crate::head::Stranded;
use crate::ids::MessageId;
use crate::item::Notice;

/// What a history proves of a message.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Named,
    Absent,
    Nothing,
}

/// The history of the session was replayed to its end.
pub(super) fn ended(d: &mut Draft<'_>, messages: u64, last: Option<String>) {
    if d.chat.head.fork.is_some() {
        super::fork::compare(d, messages);
    }
    disprove_settled(d, messages, last.as_deref());
    // Only the last message can be the one in doubt: one message at most is at an agent.
    let Some(asking) = d.chat.head.stranded.iter().rev().find(|s| s.is_asking()).cloned() else {
        return;
    };
    let message = asking.message;
    match find(&asking, messages, last.as_deref()) {
        Found::Named => {
            d.push(Fact::MessageTaken { message, evidence: Evidence::AgentStore });
            d.push(Fact::MessageSettled { message, evidence: Evidence::AgentStore });
        }
        Found::Absent => {
            d.push(Fact::MessageRefused { message, why: RefusedWhy::NotInStore });
        }
        Found::Nothing => d.push(Fact::MessageDoubted { message, asking: false }),
    }
}

/// The store was asked for one message by its id: it holds it, or provably does not.
pub(super) fn answered(d: &mut Draft<'_>, message: MessageId, held: bool) {
    let stranded = d.chat.head.stranded.iter().find(|stranded| stranded.message == message);
    let asking = stranded.is_some_and(Stranded::is_asking);
    let settled = d.chat.head.settled.as_ref();
    let suspect = settled.is_some_and(|settled| settled.suspect && settled.message == message);
    match (asking, held) {
        (true, true) => {
            d.push(Fact::MessageTaken { message, evidence: Evidence::AgentStore });
            d.push(Fact::MessageSettled { message, evidence: Evidence::AgentStore });
        }
        (true, false) => {
            d.push(Fact::MessageRefused { message, why: RefusedWhy::NotInStore });
        }
        (false, false) if suspect => {
            d.push(Fact::MessageDisproved { message });
            d.say(Notice::MessageLost, "");
        }
        (false, _) => {}
    }
}

/// A message was settled, then the machine went. A history that ends right before it, with other
/// words, has lost it (delivery.md, "disproof"); any other proves nothing against it.
fn disprove_settled(d: &mut Draft<'_>, messages: u64, last: Option<&str>) {
    let suspect = d.chat.head.settled.as_ref().filter(|settled| settled.suspect);
    let Some(settled) = suspect else { return };
    // Nothing that may be in the session came after it: otherwise the last is not to be this one.
    let newest = d.chat.head.session_messages == settled.before.saturating_add(1);
    let short = messages > 0 && messages == settled.before;
    // Agents may make words of their own of what is attached: other words prove nothing then.
    let other = settled.attached == 0 && last != Some(&*settled.digest);
    let lost = newest && short && other;
    if lost {
        let message = settled.message;
        d.push(Fact::MessageDisproved { message });
        d.say(Notice::MessageLost, "");
    }
}

/// A longer history whose last user message is ours names it. One that is as long as before and
/// ends with our words proves nothing: it may be an earlier message with the same words, and it
/// may be ours behind others that the agent's store has lost. A history that is shorter than what
/// the session is known to hold was shortened by the agent, and its count proves nothing.
fn find(asking: &Stranded, messages: u64, last: Option<&str>) -> Found {
    let same = last == Some(asking.digest.as_str());
    if messages == 0 {
        // An agent that replays nothing at all may know more than it tells.
        return Found::Nothing;
    }
    if !same && asking.attached > 0 {
        // Agents may make words of their own of what is attached: other words prove nothing.
        return Found::Nothing;
    }
    match (same, messages.cmp(&asking.before)) {
        (true, std::cmp::Ordering::Greater) => Found::Named,
        (false, std::cmp::Ordering::Equal | std::cmp::Ordering::Greater) => Found::Absent,
        (true, std::cmp::Ordering::Equal) | (true | false, std::cmp::Ordering::Less) => {
            Found::Nothing
        }
    }
}

/// The session stands: what it did not tell of it will not tell.
pub(super) fn no_more_to_ask(d: &mut Draft<'_>) {
    let left = d.chat.head.stranded.iter().filter(|stranded| stranded.is_asking());
    let left: Vec<MessageId> = left.map(|stranded| stranded.message).collect();
    for message in left {
        d.push(Fact::MessageDoubted { message, asking: false });
    }
}
