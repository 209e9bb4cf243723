//! What is attached.

use holdfast_core::attachment::Attachment as Known;
use holdfast_core::ids::{AttachmentId, ChatId, MessageId};
use holdfast_store::AttachmentRow;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};

/// A file that goes to an agent with messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct Attachment {
    #[schema(value_type = ids::AttachmentId)]
    id: AttachmentId,
    /// What its sender calls it.
    name: String,
    /// What it is, as its sender says.
    media_type: String,
    /// How many bytes it has.
    bytes: u64,
    /// The SHA-256 of its bytes, in hexadecimal.
    sha256: String,
    /// Its path; `Range` is understood.
    href: String,
}

/// The bytes of a file, as they are.
#[derive(Serialize, ToSchema)]
#[schema(value_type = String, format = Binary)]
pub(crate) struct Bytes(String);

/// An attachment of a chat.
#[derive(Serialize, ToSchema)]
#[schema(as = KeptAttachment)]
pub(crate) struct Kept {
    #[schema(value_type = ids::AttachmentId)]
    id: AttachmentId,
    /// What its sender calls it.
    name: String,
    /// What it is, as its sender says.
    media_type: String,
    /// How many bytes it has.
    bytes: u64,
    /// The SHA-256 of its bytes, in hexadecimal.
    sha256: String,
    /// Its path; `Range` is understood.
    href: String,
    /// A message that names it; one that none names can be deleted.
    #[schema(value_type = Option<ids::MessageId>)]
    message: Option<MessageId>,
    /// When it was kept.
    at: Time,
}

impl Attachment {
    /// What is known of it.
    pub(crate) fn of(chat: ChatId, known: Known) -> Self {
        let Known { id, name, media_type, bytes, sha256 } = known;
        let href = format!("/api/v1/chats/{chat}/attachments/{id}");
        Self { id, name, media_type, bytes, sha256, href }
    }

    /// All of these.
    pub(crate) fn all(chat: ChatId, known: Vec<Known>) -> Vec<Self> {
        known.into_iter().map(|known| Self::of(chat, known)).collect()
    }
}

impl Kept {
    /// An attachment from its row.
    pub(crate) fn of(chat: ChatId, row: AttachmentRow) -> Self {
        let Attachment { id, name, media_type, bytes, sha256, href } =
            Attachment::of(chat, row.attachment);
        let (message, at) = (row.named, rfc3339(row.at));
        Self { id, name, media_type, bytes, sha256, href, message, at }
    }
}
