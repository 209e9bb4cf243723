//! The host itself.

use holdfast_core::ids::ChatId;
use holdfast_core::limits;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;

use crate::limits as border;

/// The host itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct HostState {
    pub(crate) version: String,
    pub(crate) generation: u64,
    pub(crate) incarnation: String,
    pub(crate) store: String,
    pub(crate) counts: Counts,
    pub(crate) limits: Limits,
    pub(crate) damage: Vec<String>,
}

/// The counts of a host (delivery.md).
#[derive(Serialize, ToSchema)]
pub(crate) struct Counts {
    running: u64,
    to_resume: u64,
    to_check: u64,
    open: u64,
    queued: u64,
}

impl Counts {
    /// Counts from the store.
    pub(crate) const fn of(counts: holdfast_store::Counts) -> Self {
        Self {
            running: counts.running,
            to_resume: counts.to_resume,
            to_check: counts.to_check,
            open: counts.open,
            queued: counts.queued,
        }
    }
}

/// The bounds that a caller can meet.
#[derive(Serialize, ToSchema)]
pub(crate) struct Limits {
    message_bytes: usize,
    title_chars: usize,
    slot_chars: usize,
    project_chars: usize,
    cwd_bytes: usize,
    name_chars: usize,
    message_body_bytes: usize,
    body_bytes: usize,
    bodies_bytes: usize,
    queue_messages: usize,
    operation_key_chars: usize,
    answer_bytes: usize,
    draft_bytes: usize,
    unknown_messages: usize,
    page_items: usize,
    page_chats: usize,
    item_text_head_bytes: usize,
    event_streams: usize,
    event_chats: usize,
}

impl Limits {
    /// All of them.
    pub(crate) const fn all() -> Self {
        Self {
            message_bytes: limits::MESSAGE_BYTES_MAX,
            title_chars: limits::TITLE_CHARS_MAX,
            slot_chars: limits::SLOT_CHARS_MAX,
            project_chars: limits::PROJECT_CHARS_MAX,
            cwd_bytes: limits::CWD_BYTES_MAX,
            name_chars: border::NAME_CHARS_MAX,
            message_body_bytes: limits::MESSAGE_BODY_BYTES_MAX,
            body_bytes: limits::BODY_BYTES_MAX,
            bodies_bytes: border::BODIES_BYTES_MAX,
            queue_messages: limits::QUEUE_MESSAGES_MAX,
            operation_key_chars: limits::OPERATION_KEY_CHARS_MAX,
            answer_bytes: limits::ANSWER_BYTES_MAX,
            draft_bytes: limits::DRAFT_BYTES_MAX,
            unknown_messages: limits::STRANDED_MESSAGES_MAX,
            page_items: limits::PAGE_ITEMS_MAX,
            page_chats: border::PAGE_CHATS_MAX,
            item_text_head_bytes: limits::ITEM_TEXT_HEAD_BYTES,
            event_streams: border::EVENT_STREAMS_MAX,
            event_chats: border::EVENT_CHATS_MAX,
        }
    }
}

/// The program's version.
#[derive(Serialize, ToSchema)]
pub(crate) struct Version {
    pub(crate) name: &'static str,
    pub(crate) version: String,
}

/// Who is working while the host is told to stop.
#[derive(Serialize, ToSchema)]
pub(crate) struct WorkingChats {
    pub(crate) working: Vec<Working>,
}

/// A chat that shows work.
#[derive(Serialize, ToSchema)]
#[schema(as = WorkingChat)]
pub(crate) struct Working {
    #[schema(value_type = ids::ChatId)]
    pub(crate) chat: ChatId,
    pub(crate) title: Option<String>,
    pub(crate) text: String,
}
