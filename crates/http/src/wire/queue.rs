//! The messages that wait.

use holdfast_core::ids::{ChatId, MessageId};
use holdfast_core::limits::ITEM_TEXT_HEAD_BYTES;
use holdfast_core::queue::Held;
use holdfast_store::MessageRow;
use serde::Serialize;

use crate::limits::QUEUE_PAGE_BYTES_MAX;
use crate::wire::text::{Full, head};
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
    /// The page that begins with the message `from`, or with the first; none if no such message
    /// waits. A page ends where its texts reach a bound.
    pub(crate) fn of(
        chat: ChatId,
        rows: Vec<MessageRow>,
        held: Option<Held>,
        from: Option<MessageId>,
    ) -> Option<Self> {
        let first = match from {
            None => 0,
            Some(from) => rows.iter().position(|row| row.id == from)?,
        };
        let mut bytes = 0;
        let mut items = Vec::new();
        let mut next = None;
        for row in rows.into_iter().skip(first) {
            let waiting = Waiting::of(chat, &row);
            bytes += waiting.text.len();
            if bytes > QUEUE_PAGE_BYTES_MAX && !items.is_empty() {
                next = Some(row.id);
                break;
            }
            items.push(waiting);
        }
        Some(Self { items, next, paused: held.is_some(), reason: held.map(words::held) })
    }
}

impl Waiting {
    fn of(chat: ChatId, row: &MessageRow) -> Self {
        let text = head(&row.text, ITEM_TEXT_HEAD_BYTES);
        let cut = text.len() < row.text.len();
        Self {
            message: row.id,
            text: text.to_owned(),
            full: cut.then(|| Full::of_message(chat, row.id, row.bytes)),
            by: words::author(row.by),
            state: row.state.word(),
            at: rfc3339(row.accepted_at),
        }
    }
}
