//! The messages that wait.

use holdfast_core::ids::{ChatId, MessageId};
use holdfast_core::queue::Held;
use holdfast_store::{MessageRow, QueuePage};
use serde::Serialize;

use crate::wire::text::Full;
use crate::wire::time::rfc3339;
use crate::wire::words::{self, Word};

/// A page of the queue of a chat, in order.
#[derive(Serialize)]
pub(crate) struct Queue {
    items: Vec<Waiting>,
    /// The message before which the next page begins.
    next: Option<MessageId>,
    paused: bool,
    reason: Option<Word>,
}

/// A message that waits.
#[derive(Serialize)]
struct Waiting {
    message: MessageId,
    text: String,
    full: Option<Full>,
    by: Word,
    state: Word,
    at: String,
}

impl Queue {
    /// This page.
    pub(crate) fn of(chat: ChatId, page: QueuePage, held: Option<Held>) -> Self {
        Self {
            items: page.rows.into_iter().map(|row| Waiting::of(chat, row)).collect(),
            next: page.next,
            paused: held.is_some(),
            reason: held.map(words::held),
        }
    }
}

impl Waiting {
    fn of(chat: ChatId, row: MessageRow) -> Self {
        let have = u64::try_from(row.text.len()).unwrap_or(u64::MAX);
        Self {
            message: row.id,
            full: (have < row.bytes).then(|| Full::of_message(chat, row.id, row.bytes)),
            text: row.text,
            by: words::author(row.by),
            state: row.state.word(),
            at: rfc3339(row.accepted_at),
        }
    }
}
