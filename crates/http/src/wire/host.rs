//! The host itself.

use holdfast_core::ids::ChatId;
use holdfast_core::limits;
use serde::Serialize;
use utoipa::ToSchema;

use crate::port::LeftInfo;
use crate::wire::ids;

use crate::limits as border;

/// The host itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct HostState {
    /// The program's version.
    pub(crate) version: String,
    /// How often this store was opened.
    pub(crate) generation: u64,
    /// The life of the store that cursors belong to.
    pub(crate) incarnation: String,
    /// The kind of store.
    pub(crate) store: String,
    /// The counts.
    pub(crate) counts: Counts,
    /// The limits.
    pub(crate) limits: Limits,
    /// Damage that was found, one sentence each.
    pub(crate) damage: Vec<String>,
    /// What is wrong with the configuration as it was found last; the host goes on with what it had.
    pub(crate) configuration: Option<String>,
}

/// The counts of a host (delivery.md).
#[derive(Serialize, ToSchema)]
pub(crate) struct Counts {
    /// Chats that show work.
    running: u64,
    /// Chats with an offer.
    to_resume: u64,
    /// Chats that a person has to look at.
    to_check: u64,
    /// Open chats.
    open: u64,
    /// Messages that wait.
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
    /// Bytes of the text of a message.
    message_bytes: usize,
    /// Characters of a title.
    title_chars: usize,
    /// Characters of a slot.
    slot_chars: usize,
    /// Characters of a project.
    project_chars: usize,
    /// Bytes of a directory.
    cwd_bytes: usize,
    /// Characters of the name of an agent, a model, a mode or a device.
    name_chars: usize,
    /// Bytes of a body with a message or a draft.
    message_body_bytes: usize,
    /// Bytes of any other body.
    body_bytes: usize,
    /// Bytes of all bodies at once.
    bodies_bytes: usize,
    /// Bytes of an attachment.
    attachment_bytes: usize,
    /// Characters of the name of an attachment.
    attachment_name_chars: usize,
    /// Attachments of a message.
    message_attachments: usize,
    /// Attachments of a chat.
    chat_attachments: usize,
    /// Bytes of all attachments of a chat.
    chat_attachments_bytes: u64,
    /// Messages that wait in a chat.
    queue_messages: usize,
    /// Characters of an idempotency key.
    operation_key_chars: usize,
    /// Bytes of the words of an answer.
    answer_bytes: usize,
    /// Bytes of a draft.
    draft_bytes: usize,
    /// Messages of a chat that are without an outcome.
    unknown_messages: usize,
    /// Items of a page.
    page_items: usize,
    /// Chats of a page.
    page_chats: usize,
    /// Bytes of a text that an item shows.
    item_text_head_bytes: usize,
    /// Event streams at once.
    event_streams: usize,
    /// Chats that an event stream may be narrowed to.
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
            attachment_bytes: limits::ATTACHMENT_BYTES_MAX,
            attachment_name_chars: limits::ATTACHMENT_NAME_CHARS_MAX,
            message_attachments: limits::MESSAGE_ATTACHMENTS_MAX,
            chat_attachments: limits::CHAT_ATTACHMENTS_MAX,
            chat_attachments_bytes: limits::CHAT_ATTACHMENTS_BYTES_MAX,
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
    /// The program's name.
    pub(crate) name: &'static str,
    /// Its version.
    pub(crate) version: String,
}

/// Who is working while the host is told to stop.
#[derive(Serialize, ToSchema)]
pub(crate) struct WorkingChats {
    /// The chats that show work.
    pub(crate) working: Vec<Working>,
}

/// A chat that shows work.
#[derive(Serialize, ToSchema)]
#[schema(as = WorkingChat)]
pub(crate) struct Working {
    #[schema(value_type = ids::ChatId)]
    pub(crate) chat: ChatId,
    /// What a person calls it.
    pub(crate) title: Option<String>,
    /// What it is doing, as a sentence.
    pub(crate) text: String,
}

/// What a chat left running when it was closed, because a person chose so.
#[derive(Serialize, ToSchema)]
#[schema(as = LeftRunning)]
pub(crate) struct Left {
    /// What names it: the life of the agent that started it.
    pub(crate) id: String,
    /// Its processes.
    pub(crate) processes: Vec<LeftProcess>,
}

/// A process that was left running.
#[derive(Serialize, ToSchema)]
pub(crate) struct LeftProcess {
    /// Its process id.
    pid: u32,
    /// Its command line, cut.
    command: String,
    /// The TCP ports that it listens on.
    ports: Vec<u16>,
}

impl Left {
    /// From what the host found.
    pub(crate) fn of(left: LeftInfo) -> Self {
        let process = |(pid, command, ports)| LeftProcess { pid, command, ports };
        let LeftInfo { attempt, processes } = left;
        Self { id: attempt.to_string(), processes: processes.into_iter().map(process).collect() }
    }
}

/// What was ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct LeftEnded {
    /// Of these nothing lives any more.
    pub(crate) ended: Vec<String>,
}
