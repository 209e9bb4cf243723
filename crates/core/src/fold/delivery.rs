//! The queue and a message's way: accepted, waiting, at the agent, settled, or without an outcome.

use std::sync::Arc;

use crate::fact::Fact;
use crate::head::{
    Chat, Delivery, Head, Outstanding, Queued, Settled, Steer, Strand, Stranded, Written,
};
use crate::ids::MessageId;

fn remove_queued(chat: &mut Chat, message: MessageId) -> Option<Queued> {
    let at = chat.aside.queue.iter().position(|queued| queued.message == message)?;
    chat.aside.queue.remove(at)
}

pub(super) fn fold_queue(chat: &mut Chat, fact: &Fact) {
    use crate::fact::Place;
    match fact {
        Fact::MessageAccepted { message, by, digest, place, attachments, bytes: _ } => {
            let (message, by, digest, item) = (*message, *by, digest.clone(), None);
            let attached = u32::try_from(attachments.len()).unwrap_or(u32::MAX);
            let queued = Queued { message, by, digest, item, attached };
            if !attachments.is_empty() {
                let held = Arc::make_mut(&mut chat.aside.attachments);
                for id in attachments {
                    if let Some(held) = held.get_mut(id) {
                        held.named = Some(message);
                    }
                }
            }
            match place {
                Place::Tail => chat.aside.queue.push_back(queued),
                Place::Head => chat.aside.queue.push_front(queued),
            }
            chat.head.failed_turn = false;
            if by.is_person() {
                chat.head.user_messages = chat.head.user_messages.saturating_add(1);
            }
        }
        Fact::MessageEdited { message, digest, .. } => {
            if let Some(queued) = chat.aside.queue.iter_mut().find(|q| q.message == *message) {
                queued.digest.clone_from(digest);
            }
        }
        Fact::QueueOrdered { order } => {
            let place = |queued: &Queued| order.iter().position(|id| *id == queued.message);
            chat.aside.queue.make_contiguous().sort_by_key(|q| place(q).unwrap_or(usize::MAX));
        }
        Fact::MessageWithdrawn { message, .. } => {
            let by = match remove_queued(chat, *message) {
                Some(queued) => Some(queued.by),
                None => unstrand(chat, *message).map(|stranded| stranded.by),
            };
            let by = by.or_else(|| chat.head.take_from_agent(*message).map(|here| here.by));
            chat.head.steers.retain(|steer| steer.message != *message);
            if by.is_some_and(|by| by.is_person()) {
                chat.head.user_messages = chat.head.user_messages.saturating_sub(1);
            }
            chat.head.exempt.take_if(|exempt| *exempt == *message);
            chat.head.recap.take_if(|recap| *recap == *message);
        }
        Fact::QueuePaused { by } => {
            chat.head.paused = Some(*by);
            // What was to run in spite of an earlier pause is held by this one; a resume that is in
            // progress is no part of the queue.
            if !chat.head.is_resuming() {
                chat.head.exempt = None;
            }
        }
        Fact::QueueResumed => {
            chat.head.paused = None;
            chat.head.exempt = None;
        }
        Fact::QueueExempted { message } => chat.head.exempt = Some(*message),
        Fact::MessageRequeued { message, place } => {
            let stranded = unstrand(chat, *message).map(|s| (s.by, s.digest, s.item, s.attached));
            let queued = stranded.or_else(|| {
                let here = chat.head.take_from_agent(*message);
                here.map(|o| (o.by, o.digest, o.item, o.attached))
            });
            let queued = queued.map(|(by, digest, item, attached)| Queued {
                message: *message,
                by,
                digest,
                item: Some(item),
                attached,
            });
            if let Some(queued) = queued {
                match place {
                    Place::Tail => chat.aside.queue.push_back(queued),
                    Place::Head => chat.aside.queue.push_front(queued),
                }
            }
        }
        _ => {}
    }
}

fn unstrand(chat: &mut Chat, message: MessageId) -> Option<Stranded> {
    let at = chat.head.stranded.iter().position(|stranded| stranded.message == message)?;
    Some(chat.head.stranded.remove(at))
}

pub(super) fn fold_delivery(chat: &mut Chat, fact: &Fact) {
    match fact {
        Fact::MessageHanded { message, frame, item, into, attempt: _ } => {
            if let Some(queued) = remove_queued(chat, *message) {
                let handed = Outstanding {
                    message: *message,
                    by: queued.by,
                    digest: queued.digest,
                    frame: *frame,
                    item: *item,
                    state: Delivery::Handed,
                    written: Written::No,
                    withdrawing: false,
                    into: *into,
                    attached: queued.attached,
                };
                match into {
                    Some(_) => chat.head.steered.push(handed),
                    None => chat.head.outstanding = Some(handed),
                }
                chat.head.steers.retain(|steer| steer.message != *message);
                chat.head.exempt.take_if(|exempt| *exempt == *message);
            }
        }
        Fact::SteerWished { message, turn } => {
            chat.head.steers.push(Steer { message: *message, turn: *turn });
        }
        Fact::WithdrawRequested { message } => {
            if let Some(o) = chat.head.one_at_agent(|o| o.message == *message) {
                o.withdrawing = true;
            }
        }
        Fact::MessageTaken { message, .. } => {
            chat.head.recap.take_if(|recap| *recap == *message);
            if let Some(o) = chat.head.one_at_agent(|o| o.message == *message) {
                o.state = Delivery::Taken;
                chat.head.session_messages = chat.head.session_messages.saturating_add(1);
                if let Some(attempt) = &mut chat.head.attempt {
                    attempt.took = true;
                }
            } else if let Some(stranded) =
                chat.head.stranded.iter_mut().find(|s| s.message == *message)
            {
                // Late evidence: it is settled in the same commit. In doubt it was counted already.
                stranded.why = Strand::Unknown { asking: false };
            }
        }
        Fact::MessageSettled { message, .. } => settle(&mut chat.head, *message),
        Fact::SettledSuspected { message } => {
            if let Some(settled) = chat.head.settled.as_mut().filter(|s| s.message == *message) {
                settled.suspect = true;
            }
        }
        Fact::MessageDisproved { message } => {
            let head = &mut chat.head;
            if let Some(lost) = head.settled.take_if(|settled| settled.message == *message) {
                head.session_messages = head.session_messages.saturating_sub(1);
                head.stranded.push(Stranded {
                    message: lost.message,
                    by: lost.by,
                    digest: lost.digest,
                    item: lost.item,
                    why: Strand::Refused,
                    before: lost.before,
                    by_death: false,
                    into: None,
                    attached: lost.attached,
                });
            }
        }
        Fact::MessageRefused { message, .. } => strand(chat, *message, Strand::Refused),
        Fact::MessageDoubted { message, asking } => {
            strand(chat, *message, Strand::Unknown { asking: *asking });
        }
        _ => {}
    }
}

fn settle(head: &mut Head, message: MessageId) {
    let here = head.take_from_agent(message);
    let attempt = head.attempt.as_ref().map(|attempt| attempt.id);
    let handed = attempt.zip(here.as_ref().map(|o| o.frame));
    let before = head.session_messages.saturating_sub(1);
    let here = here.map(|o| (o.by, o.digest, o.item, before, o.attached));
    let stranded = head.stranded.iter().position(|stranded| stranded.message == message);
    let stranded = stranded.map(|at| head.stranded.remove(at));
    let settled = here.or_else(|| stranded.map(|s| (s.by, s.digest, s.item, s.before, s.attached)));
    if let Some((by, digest, item, before, attached)) = settled {
        head.copied_from = None;
        head.settled =
            Some(Settled { message, by, digest, item, before, suspect: false, attached, handed });
    }
}

fn strand(chat: &mut Chat, message: MessageId, why: Strand) {
    let head = &mut chat.head;
    if let Some(stranded) = head.stranded.iter_mut().find(|s| s.message == message) {
        if why == Strand::Refused && stranded.why != Strand::Refused {
            // It was counted while it was in doubt, and is provably not there.
            head.session_messages = head.session_messages.saturating_sub(1);
        }
        stranded.why = why;
        return;
    }
    let Some(o) = head.take_from_agent(message) else { return };
    if o.state == Delivery::Taken {
        head.session_messages = head.session_messages.saturating_sub(1);
    }
    let before = head.session_messages;
    if why != Strand::Refused {
        // The session may hold it, whatever a person makes of it: a later message with the same
        // words is not to be taken for this one.
        head.session_messages = head.session_messages.saturating_add(1);
    }
    head.stranded.push(Stranded {
        message,
        by: o.by,
        digest: o.digest,
        item: o.item,
        why,
        before,
        by_death: head.offer.as_ref().is_some_and(|offer| head.attempt.is_none() || offer.resuming),
        into: o.into,
        attached: o.attached,
    });
}
