//! Big texts: a head in lists, and where to get all of it.

use holdfast_core::ids::{ChatId, ItemId, MessageId};
use holdfast_core::item::Field;
use serde::Serialize;
use utoipa::ToSchema;

/// Where a text is that is shown only in part.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Full {
    /// Its bytes.
    pub(crate) bytes: u64,
    /// Its path; `Range` is understood.
    pub(crate) href: String,
}

impl Full {
    /// A text of an item.
    pub(crate) fn of_item(chat: ChatId, item: ItemId, field: Field, bytes: u64) -> Self {
        let field = match field {
            Field::Text => "text",
            Field::Input => "input",
            Field::Output => "output",
        };
        Self { bytes, href: format!("/api/v1/chats/{chat}/items/{item}/text?field={field}") }
    }

    /// The text of a message that waits.
    pub(crate) fn of_message(chat: ChatId, message: MessageId, bytes: u64) -> Self {
        Self { bytes, href: format!("/api/v1/chats/{chat}/messages/{message}/text") }
    }
}
