//! The messages that wait.

use holdfast_core::ids::{ChatId, MessageId};
use holdfast_core::queue::Held;
use holdfast_store::{MessageRow, QueuePage};
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::attachment::Attachment;
use crate::wire::ids;
use crate::wire::text::Full;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// A page of the queue of a chat, in order.
#[derive(Serialize, ToSchema)]
pub(crate) struct Queue {
    /// The messages, the next one first.
    items: Vec<Waiting>,
    /// The message before which the next page begins.
    #[schema(value_type = Option<ids::MessageId>)]
    next: Option<MessageId>,
    /// Whether they are held.
    paused: bool,
    /// What holds them.
    reason: Option<words::HeldBy>,
}

/// A message that waits.
#[derive(Serialize, ToSchema)]
#[schema(as = QueuedMessage)]
struct Waiting {
    #[schema(value_type = ids::MessageId)]
    message: MessageId,
    /// Its text, or the beginning of it.
    text: String,
    /// Where all of the text is, if that is more.
    full: Option<Full>,
    /// Who wrote it.
    by: words::Author,
    /// How far it is.
    state: words::MessageState,
    /// When it was accepted.
    at: Time,
    /// What goes with it, in order.
    attachments: Vec<Attachment>,
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
            state: words::message_state(&row.state),
            at: rfc3339(row.accepted_at),
            attachments: Attachment::all(chat, row.attachments),
        }
    }
}
