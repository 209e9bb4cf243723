//! A fork: the newest items of another chat, with all that belongs to them, become the new chat's own.

use std::sync::Arc;

use holdfast_core::fork::Fork;
use holdfast_core::ids::{MessageId, Seq};
use holdfast_core::item::Body;
use holdfast_core::limits::{FORK_BYTES_MAX, FORK_ITEMS_MAX};

use super::chat::StoredChat;
use crate::change::{Touched, What};
use crate::derive::abandoned;
use crate::rows::{AttachmentRow, MessageRow, MessageState, PromptStatus, TurnRow};

/// Copies into `chat`, which was just opened, what it shows of `from`.
pub(super) fn copy(chat: &mut StoredChat, from: &StoredChat, fork: &Fork, touched: &mut Touched) {
    // Of what waits there, nobody was told.
    let told = |shown: &Option<(MessageId, String)>| {
        shown.clone().filter(|(message, _)| !from.queue.contains(message))
    };
    chat.first_prompt = told(&from.first_prompt);
    chat.last_prompt = told(&from.last_prompt);
    let shared =
        |row: &&AttachmentRow| fork.attachments.iter().any(|file| file.id == row.attachment.id);
    chat.attachments = from.attachments.iter().filter(shared).cloned().collect();
    let mut bytes = 0_u64;
    for (place, item) in from.items.range(..=fork.at).rev().take(FORK_ITEMS_MAX) {
        let message = match &item.body {
            Body::Message { message, .. } => from.messages.get(message),
            _ => None,
        };
        let texts = item.texts.values().map(|text| u64::try_from(text.len()).unwrap_or(u64::MAX));
        let of_message = message.map_or(0, |message| message.bytes);
        bytes = texts.fold(bytes.saturating_add(of_message), u64::saturating_add);
        if bytes > FORK_BYTES_MAX {
            break;
        }
        let mut copied = item.as_ref().clone();
        copied.version = 0;
        copied.closed = true;
        // A call that still runs does so for the other chat.
        if let Some(body) = abandoned(&copied.body) {
            copied.body = body;
        }
        chat.places.insert(copied.id, *place);
        touched.add(What::Item(copied.id));
        if let Some(turn) = copied.turn.and_then(|turn| from.turns.get(&turn))
            && turn.ended.is_some()
        {
            // The fact that forks is the second of the chat.
            let copied = TurnRow { seq: Seq(2), ..turn.as_ref().clone() };
            chat.turns.insert(turn.id, Arc::new(copied));
        }
        if let Some(message) = message {
            let state = match &message.state {
                state @ MessageState::Withdrawn(_) => state.clone(),
                _ => MessageState::Settled,
            };
            let copied = MessageRow { state, attempt: None, ..message.as_ref().clone() };
            chat.messages.insert(copied.id, Arc::new(copied));
        }
        if let Body::Prompt { prompt } = &copied.body
            && let Some(row) = from.prompts.get(prompt)
        {
            let mut row = row.as_ref().clone();
            if row.state == PromptStatus::Open {
                row.state = PromptStatus::Gone;
            }
            chat.prompts.insert(*prompt, Arc::new(row));
        }
        chat.items.insert(*place, Arc::new(copied));
    }
}
