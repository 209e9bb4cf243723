//! Sessions that agents keep themselves.

use holdfast_core::ids::ChatId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::port::SessionInfo;
use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};

/// A session that an agent keeps itself: a conversation that was there before any chat, or that a chat goes
/// on with.
#[derive(Serialize, ToSchema)]
pub(crate) struct Session {
    /// The agent's id of it.
    id: String,
    /// What it is called, where somebody or something named it.
    title: Option<String>,
    /// The first words of the person.
    first: Option<String>,
    /// The directory in which it was begun; absent where its file does not say.
    cwd: Option<String>,
    /// Whether that directory is there: without it the session cannot be gone on with.
    cwd_exists: bool,
    /// When it changed last.
    changed_at: Time,
    /// Bytes of its file.
    bytes: u64,
    /// Whether another process seems to have it open. That it does not is no proof that none has.
    open_elsewhere: bool,
    /// The chat that goes on with it.
    #[schema(value_type = Option<ids::ChatId>)]
    chat: Option<ChatId>,
}

impl Session {
    pub(crate) fn of(info: SessionInfo) -> Self {
        Self {
            id: info.id,
            title: info.title,
            first: info.first,
            cwd: info.cwd,
            cwd_exists: info.cwd_is_there,
            changed_at: rfc3339(info.changed),
            bytes: info.bytes,
            open_elsewhere: info.open_elsewhere,
            chat: info.chat,
        }
    }
}
