//! Another chat that begins like this one. An agent copies its session as it is at that moment, so that
//! it is asked only while the chat rests, and the copy is made at once, before this one goes on.

use super::Draft;
use crate::activity::Activity;
use crate::fact::Fact;
use crate::fork::{Fork, ForkedFile};
use crate::input::Reply;
use crate::item::Notice;
use crate::provider::Forks;
use crate::refusal::{Code, Refusal};

/// Says what another chat begins with. This one stays as it is.
pub(super) fn fork(d: &Draft<'_>, at: u64) -> Result<Reply, Refusal> {
    let head = &d.chat.head;
    let Some(handle) = head.handle.clone() else {
        let text = "The chat has no session of its agent yet that could be forked. Wait for its agent, or \
                    send it a message.";
        return Err(Refusal::new(Code::NotSupported, text));
    };
    match head.known.forks {
        Forks::AtTheEnd => {}
        Forks::Nowhere => {
            let text = format!("The sessions of the agent {:?} cannot be forked.", head.agent);
            return Err(Refusal::new(Code::NotSupported, text));
        }
    }
    let busy = if head.turn.is_some() || head.outstanding.is_some() {
        Some("A turn is running. Wait for its end, or stop it.")
    } else if !head.prompts.is_empty() {
        Some("A prompt is open. Answer it first.")
    } else if Activity::of(d.chat).shows_work() {
        Some("Work goes on in the background. Wait for its end, or stop it.")
    } else if !head.stranded.is_empty() {
        Some("A message was refused, or it is not known whether it arrived. Decide about it first.")
    } else {
        None
    };
    if let Some(text) = busy {
        return Err(Refusal::new(Code::ChatBusy, text));
    }
    if at != head.places {
        let text = format!(
            "This agent forks a session only where it is now: at the last entry, which is number {}.",
            head.places
        );
        return Err(Refusal::new(Code::NotSupported, text).field("at"));
    }
    let fork = Fork {
        from: d.given.chat,
        at,
        handle,
        messages: head.session_messages,
        attempts: head.attempts,
        turns: head.turns,
        host_items: head.host_items,
        attachments: named(d),
    };
    Ok(Reply::Forkable { fork: Box::new(fork) })
}

/// What the messages came with that the agent was given: what still waits stays with this chat.
fn named(d: &Draft<'_>) -> Vec<ForkedFile> {
    let waits = |message| d.chat.aside.queue.iter().any(|queued| queued.message == message);
    let held = d.chat.aside.attachments.iter();
    let held = held.filter(|(_, held)| held.named.is_some_and(|message| !waits(message)));
    held.filter_map(|(id, held)| {
        Some(ForkedFile { id: *id, bytes: held.bytes, named: held.named? })
    })
    .collect()
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
