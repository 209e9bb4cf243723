//! The queue: edit, withdraw, order, send now, pause, resume.

use super::{Draft, message, offer};
use crate::digest;
use crate::fact::{Author, Fact, OfferEnd, Paused, WithdrawnWhy};
use crate::head::{Queued, Written};
use crate::ids::MessageId;
use crate::input::Reply;
use crate::item::Row;
use crate::limits::STRANDED_MESSAGES_MAX;
use crate::refusal::{Code, Refusal};

fn queued<'a>(d: &'a Draft<'_>, message: MessageId) -> Result<&'a Queued, Refusal> {
    let found = d.chat.aside.queue.iter().find(|queued| queued.message == message);
    found.ok_or_else(|| {
        let text = "This message does not wait in the queue: it was handed over, withdrawn, or \
                    never was in it.";
        Refusal::new(Code::NotQueued, text)
    })
}

pub(super) fn edit(d: &mut Draft<'_>, id: MessageId, text: String) -> Result<Reply, Refusal> {
    let queued = queued(d, id)?;
    let empty = if queued.attached > 0 { message::Empty::Taken } else { message::Empty::Refused };
    own(queued)?;
    message::check_text("text", &text, empty)?;
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    d.push(Fact::MessageEdited { message: id, bytes, digest: digest(&text) });
    d.row(Row::MessageText { message: id, text });
    Ok(Reply::Done)
}

/// Takes a message back. One that was handed over can be had back as long as its frame has not
/// begun: the keeper is asked, and what it says is what happened.
pub(super) fn withdraw(d: &mut Draft<'_>, message: MessageId) -> Result<Reply, Refusal> {
    let handed = d
        .chat
        .head
        .at_agent()
        .find(|o| o.message == message && o.by != Author::Host && o.written == Written::No);
    if let Some(withdrawing) = handed.map(|outstanding| outstanding.withdrawing) {
        if !withdrawing {
            d.push(Fact::WithdrawRequested { message });
        }
        return Ok(Reply::Done);
    }
    let queued = queued(d, message)?;
    // A recap whose offer is gone is a message that waits.
    if d.chat.head.recap != Some(message) || d.chat.head.offer.is_some() {
        own(queued)?;
    }
    d.push(Fact::MessageWithdrawn { message, why: WithdrawnWhy::Person });
    stop_empty_resume(d);
    Ok(Reply::Done)
}

/// A continuation is its offer's: its bytes are fixed, and it goes when the offer does.
fn own(queued: &Queued) -> Result<(), Refusal> {
    if queued.by == Author::Host {
        let text = "A continuation belongs to its offer: dismiss the offer to take it back.";
        return Err(Refusal::new(Code::NotQueued, text));
    }
    Ok(())
}

/// A resume whose message was taken back has nothing left to do.
fn stop_empty_resume(d: &mut Draft<'_>) {
    let head = &d.chat.head;
    let starting = head.offer.as_ref().is_some_and(|offer| offer.starting);
    if starting && head.exempt.is_none() && head.outstanding.is_none() {
        offer::stop_resume(d);
    }
}

pub(super) fn order(d: &mut Draft<'_>, order: &[MessageId]) -> Result<Reply, Refusal> {
    let mut wanted = order.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let mut there: Vec<MessageId> = d.chat.aside.queue.iter().map(|q| q.message).collect();
    there.sort_unstable();
    if wanted.len() != order.len() || wanted != there {
        let text = "The order must name every waiting message once. Read the queue anew.";
        return Err(Refusal::new(Code::NotQueued, text).field("messages"));
    }
    d.push(Fact::QueueOrdered { order: order.to_vec() });
    Ok(Reply::Done)
}

/// Runs one message next, whatever holds the queue. It is a person's own progress.
pub(super) fn send_now(d: &mut Draft<'_>, message: MessageId) -> Result<Reply, Refusal> {
    own(queued(d, message)?)?;
    few_in_doubt(d)?;
    let mut order: Vec<MessageId> = d.chat.aside.queue.iter().map(|q| q.message).collect();
    order.retain(|id| *id != message);
    order.insert(0, message);
    d.push(Fact::QueueOrdered { order });
    offer::end(d, OfferEnd::Progress);
    d.push(Fact::QueueExempted { message });
    Ok(Reply::Done)
}

pub(super) fn pause(d: &mut Draft<'_>) -> Result<Reply, Refusal> {
    if d.chat.head.paused.is_none() || d.chat.head.exempt.is_some() {
        d.push(Fact::QueuePaused { by: Paused::Person });
    }
    Ok(Reply::Done)
}

/// Lets the queue run again. It is a person's own progress.
pub(super) fn resume(d: &mut Draft<'_>) -> Result<Reply, Refusal> {
    few_in_doubt(d)?;
    offer::end(d, OfferEnd::Progress);
    if d.chat.head.paused.is_some() {
        d.push(Fact::QueueResumed);
    }
    Ok(Reply::Done)
}

/// Each act that lets the queue run may leave one more message without an outcome.
pub(super) fn few_in_doubt(d: &Draft<'_>) -> Result<(), Refusal> {
    if d.chat.head.stranded.len() >= STRANDED_MESSAGES_MAX {
        let text = format!(
            "{STRANDED_MESSAGES_MAX} messages of this chat have no known outcome. Settle one first."
        );
        return Err(Refusal::new(Code::TooManyUnknown, text).limit(STRANDED_MESSAGES_MAX));
    }
    Ok(())
}
