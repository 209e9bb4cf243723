//! Facts and rows become what the memory store keeps of a chat.

use std::sync::Arc;

use holdfast_core::attachment::Attachment;
use holdfast_core::fact::{Evidence, Fact, Place, WithdrawnWhy};
use holdfast_core::head::Life;
use holdfast_core::ids::{AttachmentId, MessageId, PromptId, TurnId};
use holdfast_core::item::{Body, Row};
use holdfast_core::provider::{TaskEnd, TurnEnd};
use holdfast_core::time::Micros;

use super::chat::{Item, StoredChat};
use crate::change::{Touched, What};
use crate::derive::{
    abandoned, fresh, last_prompt, message_after, missing, moves, prompt_after, text_of,
};
use crate::journal::{CommitError, Unit};
use crate::rows::{
    AttachmentRow, GrantRow, MessageRow, MessageState, OfferRow, PromptRow, PromptStatus, TaskRow,
    TurnEnded, TurnRow,
};

/// Applies a unit that was checked.
pub(super) fn apply(
    chat: &mut StoredChat,
    unit: &Unit,
    touched: &mut Touched,
) -> Result<(), CommitError> {
    for fact in &unit.facts {
        chat.facts.push(Arc::new((unit.at, fact.clone())));
        apply_fact(chat, unit, fact, touched)?;
    }
    for row in &unit.rows {
        apply_row(chat, unit, row, touched)?;
    }
    if let Some(progress) = &unit.progress {
        chat.progress = Some(progress.clone());
    }
    if let Some(principal) = &unit.clear_draft {
        chat.drafts.remove(principal);
    }
    if !unit.facts.is_empty() {
        if moves(unit) {
            chat.updated_at = unit.at;
        }
        touched.add(What::Chat);
    }
    chat.head = unit.head.clone();
    chat.summary = unit.summary.clone();
    if let Some(offer) = &mut chat.offer {
        let needs = chat.summary.needs_choice;
        if offer.needs_choice != needs {
            offer.needs_choice = needs;
            touched.add(What::Offer);
        }
    }
    if chat.head.life == Life::Deleted && chat.head.attempt.is_none() {
        reap(chat);
    }
    Ok(())
}

fn apply_fact(
    chat: &mut StoredChat,
    unit: &Unit,
    fact: &Fact,
    touched: &mut Touched,
) -> Result<(), CommitError> {
    let at = unit.at;
    match fact {
        Fact::ChatOpened { project, title, slot, .. } => {
            chat.project.clone_from(project);
            chat.title.clone_from(title);
            chat.slot.clone_from(slot);
        }
        // What it shows of the other chat is copied by the store, which knows both.
        Fact::ChatForked(_) | Fact::ChatAdopted { .. } => {}
        Fact::ChatTitled { title, .. } => chat.title = Some(title.clone()),
        Fact::SlotBound { slot } => chat.slot.clone_from(slot),
        Fact::ChatPinned { .. }
        | Fact::ChatFiled { .. }
        | Fact::ChatTagged { .. }
        | Fact::ChatMuted { .. }
        | Fact::ChatSeen { .. }
        | Fact::ChatTuned { .. }
        | Fact::SettingDeferred
        | Fact::AgentRetuned { .. }
        | Fact::EffortsTold { .. }
        | Fact::ChatClosed
        | Fact::ChatReopened => {}
        Fact::ChatDeleted => delete(chat, touched),

        Fact::AttachmentAdded(added) => attach(chat, added, at)?,
        Fact::AttachmentRemoved { attachment } => {
            chat.attachments.retain(|row| row.attachment.id != *attachment);
        }
        Fact::MessageAccepted { message, by, bytes, digest, place, attachments } => {
            let row = MessageRow {
                id: *message,
                by: *by,
                state: MessageState::Queued,
                text: String::new(),
                bytes: *bytes,
                digest: digest.clone(),
                item: None,
                turn: None,
                attempt: None,
                accepted_at: at,
                attachments: name(chat, *message, attachments),
            };
            let named = row.attachments.clone();
            if chat.messages.insert(*message, Arc::new(row)).is_some() {
                return Err(CommitError::Refused(format!("{message} was accepted before")));
            }
            enqueue(chat, *message, *place);
            if by.is_person() {
                let text = text_of(unit, *message).unwrap_or_default();
                let shown = (*message, last_prompt(text, || Ok(named))?);
                chat.first_prompt.get_or_insert_with(|| shown.clone());
                chat.last_prompt = Some(shown);
            }
            touched.add(What::Queue);
        }
        Fact::MessageEdited { message, bytes, digest } => {
            if let Some(row) = chat.messages.get_mut(message)
                && row.state == MessageState::Queued
            {
                let row = Arc::make_mut(row);
                row.bytes = *bytes;
                row.digest.clone_from(digest);
                let named = row.attachments.clone();
                let prompts = [&mut chat.first_prompt, &mut chat.last_prompt];
                for (of, shown) in prompts.into_iter().flatten() {
                    if of == message
                        && let Some(text) = text_of(unit, *message)
                    {
                        *shown = last_prompt(text, || Ok(named.clone()))?;
                    }
                }
                touched.add(What::Queue);
            }
        }
        Fact::QueueOrdered { order } => {
            let place = |id: &MessageId| order.iter().position(|o| o == id).unwrap_or(usize::MAX);
            chat.queue.sort_by_key(place);
            touched.add(What::Queue);
        }
        Fact::QueuePaused { .. } | Fact::QueueResumed | Fact::QueueExempted { .. } => {
            touched.add(What::Queue);
        }
        Fact::MessageHanded { message, .. }
        | Fact::MessageTaken { message, .. }
        | Fact::MessageSettled { message, .. }
        | Fact::MessageRefused { message, .. }
        | Fact::MessageDisproved { message }
        | Fact::MessageDoubted { message, .. }
        | Fact::MessageRequeued { message, .. }
        | Fact::MessageWithdrawn { message, .. } => move_message(chat, *message, fact, touched),

        Fact::TurnOpened { .. }
        | Fact::TurnClaimed { .. }
        | Fact::TurnEnded { .. }
        | Fact::TurnMarked(_)
        | Fact::ChatRewound { .. }
        | Fact::InterruptRequested { .. } => {
            return apply_turn(chat, unit, fact, touched);
        }
        Fact::ItemAdded { item, place, kind, role, turn } => {
            let row = Item {
                id: *item,
                place: *place,
                turn: *turn,
                kind: *kind,
                role: *role,
                at,
                body: Body::Text,
                texts: std::collections::BTreeMap::new(),
                closed: false,
                version: 0,
            };
            let taken = chat.items.insert(*place, Arc::new(row)).is_some();
            if chat.places.insert(*item, *place).is_some() || taken {
                return Err(CommitError::Refused(format!("{item} or its place was there before")));
            }
            touched.add(What::Item(*item));
        }
        Fact::CallsAbandoned { origin } => {
            for item in chat.items.values_mut().filter(|item| item.id.origin == *origin) {
                if let Some(body) = abandoned(&item.body) {
                    Arc::make_mut(item).body = body;
                    touched.add(What::Item(item.id));
                }
            }
        }

        Fact::PromptOpened { prompt, item, asked } => {
            let (id, item, asked) = (*prompt, *item, asked.clone());
            let state = PromptStatus::Open;
            let row = PromptRow { id, item, asked, at, state, given: None };
            if chat.prompts.insert(id, Arc::new(row)).is_some() {
                return Err(CommitError::Refused(format!("{id} was opened before")));
            }
            touched.add(What::Prompt(id));
            touched.add(What::Item(item));
        }
        Fact::PromptAnswered { prompt, .. }
        | Fact::AnswerWritten { prompt }
        | Fact::AnswerTaken { prompt }
        | Fact::AnswerLost { prompt, .. }
        | Fact::PromptGone { prompt } => move_prompt(chat, *prompt, fact, at, touched),
        Fact::GrantGiven { grant, deed, label, by } => {
            let (id, deed, label, by) = (*grant, deed.clone(), label.clone(), by.clone());
            chat.grants.insert(id, GrantRow { id, deed, label, by, at });
        }
        Fact::GrantEnded { grant } => {
            chat.grants.remove(grant);
        }
        Fact::TaskStarted { task, kind, label, foreground } => {
            let row = TaskRow {
                id: *task,
                kind: *kind,
                label: label.clone(),
                foreground: *foreground,
                started_at: at,
                ended: None,
            };
            chat.tasks.insert(*task, Arc::new(row));
            touched.add(What::Task(*task));
        }
        Fact::TaskDetached { task } => {
            if let Some(row) = chat.tasks.get_mut(task).filter(|row| row.ended.is_none()) {
                Arc::make_mut(row).foreground = false;
                touched.add(What::Task(*task));
            }
        }
        Fact::TaskEnded { task, how } => {
            if let Some(row) = chat.tasks.get_mut(task).filter(|row| row.ended.is_none()) {
                Arc::make_mut(row).ended = Some((*how, at));
                touched.add(What::Task(*task));
            }
        }

        Fact::AttemptStarting { .. } => chat.progress = None,
        Fact::AttemptEnded { .. } => end_attempt(chat, fact, at, touched),
        Fact::LeftoversSeen { .. }
        | Fact::AttemptBorn { .. }
        | Fact::AttemptReady { .. }
        | Fact::SessionMoved { .. }
        | Fact::StoreRead { .. }
        | Fact::FrameIssued { .. }
        | Fact::FrameBegun { .. }
        | Fact::FrameDone { .. }
        | Fact::FrameCancelled { .. }
        | Fact::SteerWished { .. }
        | Fact::WithdrawRequested { .. }
        | Fact::SettledSuspected { .. }
        | Fact::StopRequested { .. }
        | Fact::StopWithdrawn { .. }
        | Fact::AttemptStalled { .. }
        | Fact::AttemptGoesOn { .. }
        | Fact::TreeMayLive { .. }
        | Fact::StartedAnyway => {}

        Fact::OfferRecorded { .. }
        | Fact::OfferShown { .. }
        | Fact::OfferEnded { .. }
        | Fact::ResumeStarted { .. }
        | Fact::SessionLeft { .. }
        | Fact::ResumeStopped { .. } => apply_offer(chat, unit, fact, touched),
        Fact::FailureFiled(failure) => {
            chat.failure = Some((failure.clone(), at));
            touched.add(What::Failure);
        }
        Fact::FailureCleared => {
            if chat.failure.take().is_some() {
                touched.add(What::Failure);
            }
        }
    }
    Ok(())
}

fn enqueue(chat: &mut StoredChat, message: MessageId, place: Place) {
    match place {
        Place::Tail => chat.queue.push(message),
        Place::Head => chat.queue.insert(0, message),
    }
}

fn move_message(chat: &mut StoredChat, id: MessageId, fact: &Fact, touched: &mut Touched) {
    let Some(row) = chat.messages.get_mut(&id) else { return };
    let Some(state) = message_after(&row.state, fact) else { return };
    let row = Arc::make_mut(row);
    let waited = std::mem::replace(&mut row.state, state) == MessageState::Queued;
    if let Fact::MessageHanded { attempt, item, .. } = fact {
        row.attempt = Some(*attempt);
        row.item = Some(*item);
    }
    let (item, waits) = (row.item, row.state == MessageState::Queued);
    if waited {
        chat.queue.retain(|waiting| *waiting != id);
    }
    if waits && let Fact::MessageRequeued { place, .. } = fact {
        enqueue(chat, id, *place);
    }
    if waited || waits {
        touched.add(What::Queue);
    }
    if let Some(item) = item {
        touched.add(What::Item(item));
    }
}

fn attach(chat: &mut StoredChat, added: &Attachment, at: Micros) -> Result<(), CommitError> {
    if chat.attachments.iter().any(|row| row.attachment.id == added.id) {
        return Err(CommitError::Refused(format!("{} was attached before", added.id)));
    }
    chat.attachments.push(AttachmentRow { attachment: added.clone(), at, named: None });
    Ok(())
}

/// Notes that a message names these, and gives them.
fn name(chat: &mut StoredChat, message: MessageId, ids: &[AttachmentId]) -> Vec<Attachment> {
    let mut named = Vec::with_capacity(ids.len());
    for id in ids {
        if let Some(row) = chat.attachments.iter_mut().find(|row| row.attachment.id == *id) {
            row.named = Some(message);
            named.push(row.attachment.clone());
        }
    }
    named
}

fn apply_turn(
    chat: &mut StoredChat,
    unit: &Unit,
    fact: &Fact,
    touched: &mut Touched,
) -> Result<(), CommitError> {
    match fact {
        Fact::TurnOpened { turn, message } => {
            let (id, message, started_at) = (*turn, *message, unit.at);
            let seq = holdfast_core::ids::Seq(u64::try_from(chat.facts.len()).unwrap_or(u64::MAX));
            let row = TurnRow {
                id,
                seq,
                message,
                started_at,
                ended: None,
                place: None,
                left_behind: false,
            };
            if chat.turns.insert(id, Arc::new(row)).is_some() {
                return Err(CommitError::Refused(format!("{id} was opened before")));
            }
            touched.add(What::Turn(id));
            if let Some(message) = message {
                turn_of(chat, message, id, touched);
            }
        }
        Fact::TurnClaimed { turn, message } => {
            if let Some(row) = chat.turns.get_mut(turn) {
                Arc::make_mut(row).message = Some(*message);
            }
            touched.add(What::Turn(*turn));
            turn_of(chat, *message, *turn, touched);
        }
        Fact::TurnEnded { turn, how, evidence, usage } => {
            if let Some(row) = chat.turns.get_mut(turn).filter(|row| row.ended.is_none()) {
                let (how, evidence, usage) = (*how, *evidence, usage.clone());
                let end = TurnEnded { how, evidence, at: unit.at, usage };
                Arc::make_mut(row).ended = Some(end);
                touched.add(What::Turn(*turn));
            }
        }
        Fact::TurnMarked(place) => {
            if let Some(row) = chat.turns.get_mut(&place.turn) {
                Arc::make_mut(row).place = Some(place.clone());
            }
            touched.add(What::Turn(place.turn));
            if let Some(item) = chat.items.get(&place.at) {
                touched.add(What::Item(item.id));
            }
        }
        Fact::ChatRewound { to, .. } => {
            for (_, row) in chat.turns.range_mut(TurnId(to.turn.0.saturating_add(1))..) {
                Arc::make_mut(row).left_behind = true;
            }
        }
        Fact::InterruptRequested { turn } => touched.add(What::Turn(*turn)),
        _ => {}
    }
    Ok(())
}

/// A message has this turn.
fn turn_of(chat: &mut StoredChat, message: MessageId, turn: TurnId, touched: &mut Touched) {
    let Some(row) = chat.messages.get_mut(&message) else { return };
    Arc::make_mut(row).turn = Some(turn);
    if let Some(item) = row.item {
        touched.add(What::Item(item));
    }
}

fn move_prompt(
    chat: &mut StoredChat,
    id: PromptId,
    fact: &Fact,
    at: Micros,
    touched: &mut Touched,
) {
    let Some(row) = chat.prompts.get_mut(&id) else { return };
    let Some((state, given)) = prompt_after(row.state, row.given.as_ref(), fact, at) else {
        return;
    };
    let row = Arc::make_mut(row);
    row.state = state;
    row.given = given;
    touched.add(What::Prompt(id));
    touched.add(What::Item(row.item));
}

/// With an attempt all that it had going is over, whatever else was told of it.
fn end_attempt(chat: &mut StoredChat, fact: &Fact, at: Micros, touched: &mut Touched) {
    chat.progress = None;
    let prompts: Vec<PromptId> = chat.prompts.keys().copied().collect();
    for id in prompts {
        move_prompt(chat, id, fact, at, touched);
    }
    for row in chat.tasks.values_mut().filter(|row| row.ended.is_none()) {
        Arc::make_mut(row).ended = Some((TaskEnd::Lost, at));
        touched.add(What::Task(row.id));
    }
    for row in chat.turns.values_mut().filter(|row| row.ended.is_none()) {
        let (how, evidence) = (TurnEnd::Lost, Evidence::Death);
        Arc::make_mut(row).ended = Some(TurnEnded { how, evidence, at, usage: None });
        touched.add(What::Turn(row.id));
    }
}

fn apply_offer(chat: &mut StoredChat, unit: &Unit, fact: &Fact, touched: &mut Touched) {
    if let Fact::OfferRecorded { cause, recorded_at, snapshot, continuation, .. } = fact {
        chat.offer = Some(OfferRow {
            chat: unit.chat,
            cause: Some(*cause),
            recorded_at: *recorded_at,
            snapshot: Some(snapshot.as_ref().clone()),
            shown: false,
            continuation: Some(*continuation),
            resuming: false,
            needs_choice: false,
            readable: true,
        });
    }
    let Some(offer) = &mut chat.offer else { return };
    match fact {
        Fact::OfferShown { .. } => offer.shown = true,
        Fact::OfferEnded { .. } => chat.offer = None,
        Fact::ResumeStarted { .. } => offer.resuming = true,
        Fact::SessionLeft { recap } => offer.continuation = Some(*recap),
        Fact::ResumeStopped { .. } => offer.resuming = false,
        _ => {}
    }
    touched.add(What::Offer);
}

fn delete(chat: &mut StoredChat, touched: &mut Touched) {
    for row in chat.messages.values_mut() {
        match row.state {
            MessageState::Queued | MessageState::Refused(_) | MessageState::Unknown { .. } => {
                Arc::make_mut(row).state = MessageState::Withdrawn(WithdrawnWhy::ChatDeleted);
            }
            MessageState::Handed
            | MessageState::Taken
            | MessageState::Settled
            | MessageState::Withdrawn(_) => {}
        }
    }
    chat.queue.clear();
    chat.drafts.clear();
    chat.grants.clear();
    chat.commands = (0, Vec::new());
    if chat.offer.take().is_some() {
        touched.add(What::Offer);
    }
    if chat.failure.take().is_some() {
        touched.add(What::Failure);
    }
    touched.add(What::Removed);
}

/// Lets go of what a deleted chat held; ids and final states of its messages stay.
fn reap(chat: &mut StoredChat) {
    chat.items.clear();
    chat.places.clear();
    chat.prompts.clear();
    chat.tasks.clear();
    chat.turns.clear();
    chat.first_prompt = None;
    chat.last_prompt = None;
    chat.attachments.clear();
    for row in chat.messages.values_mut().filter(|row| !row.text.is_empty()) {
        Arc::make_mut(row).text = String::new();
    }
}

fn apply_row(
    chat: &mut StoredChat,
    unit: &Unit,
    row: &Row,
    touched: &mut Touched,
) -> Result<(), CommitError> {
    match row {
        Row::MessageText { message, text } => {
            let here = chat.messages.get_mut(message).ok_or_else(|| missing(unit.chat, message))?;
            let here = Arc::make_mut(here);
            here.text.clone_from(text);
            if let Some(item) = here.item {
                touched.add(What::Item(item));
            }
        }
        Row::ItemBody { item, body } => {
            let here = chat.item_mut(*item).ok_or_else(|| missing(unit.chat, item))?;
            here.body = body.clone();
            touched.add(What::Item(*item));
        }
        Row::ItemText { item, field, at, text } => {
            let here = chat.item_mut(*item).ok_or_else(|| missing(unit.chat, item))?;
            let there = here.texts.entry(*field).or_default();
            let new = fresh(u64::try_from(there.len()).unwrap_or(u64::MAX), *at, text)?;
            if !new.is_empty() {
                there.push_str(new);
                touched.add(What::Item(*item));
            }
        }
        Row::ItemDated { item, at } => {
            chat.item_mut(*item).ok_or_else(|| missing(unit.chat, item))?.at = *at;
            touched.add(What::Item(*item));
        }
        Row::ItemClosed { item } => {
            let here = chat.item_mut(*item).ok_or_else(|| missing(unit.chat, item))?;
            if !here.closed {
                here.closed = true;
                touched.add(What::Item(*item));
            }
        }
        // Which of several chats told last is known to the store, which numbers them.
        Row::Commands(commands) => {
            if chat.head.life != Life::Deleted {
                chat.commands.1.clone_from(commands);
            }
        }
    }
    Ok(())
}
