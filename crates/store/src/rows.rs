//! What queries answer: the rows of a chat, in the words of core.

use holdfast_core::attachment::Attachment;
use holdfast_core::fact::{Author, Evidence, Fact, RefusedWhy, WithdrawnWhy};
use holdfast_core::fork::TurnPlace;
use holdfast_core::frame::Answer;
use holdfast_core::head::{Chat, Life, Queued};
use holdfast_core::ids::{
    AttemptId, ChatId, GrantId, ItemId, MessageId, PromptId, Seq, TaskId, TurnId,
};
use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::offer::{Action, Cause, Snapshot};
use holdfast_core::provider::{Asked, TaskEnd, TaskKind, TurnEnd, Usage};
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;
use serde::{Deserialize, Serialize};

use crate::journal::{Operation, Progress};

/// A chat as whoever decides about it needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// Its head, and what decisions need of its rows.
    pub chat: Chat,
    /// How far its agent's words are read.
    pub progress: Option<Progress>,
    /// Why nothing may be decided about it: it has facts that this build cannot read.
    pub read_only: Option<String>,
}

/// Which chats a list shows; deleted ones are in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChatFilter {
    /// Those that take messages.
    #[default]
    Open,
    /// Those that are history.
    Closed,
    /// Both.
    All,
}

/// A page of chats, the one in which something happened last first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatPage {
    /// The chats.
    pub rows: Vec<ChatRow>,
    /// What to ask the next page with; none at the end. Opaque.
    pub next: Option<String>,
}

/// A chat as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatRow {
    /// Its id.
    pub id: ChatId,
    /// The name under which apps address it.
    pub slot: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// When it was opened.
    pub created_at: Micros,
    /// When something last happened in it, which is not when its last fact was stored.
    pub updated_at: Micros,
    /// The beginning of the last message of a person: at most [`LAST_PROMPT_CHARS_MAX`].
    pub last_prompt: Option<String>,
    /// The same of the first one, by which a chat without a title is known for good.
    #[serde(default)]
    pub first_prompt: Option<String>,
    /// Its state.
    pub summary: Summary,
    /// Why the state cannot be read, if so; `summary` then is a stand-in.
    pub unreadable: Option<String>,
}

impl ChatRow {
    /// The row as it is told: what a deleted chat was about is gone with it, also before the store has
    /// taken its rows away.
    pub(crate) fn told(mut self) -> Self {
        if self.summary.life == Life::Deleted {
            (self.title, self.first_prompt, self.last_prompt) = (None, None, None);
        }
        self
    }
}

/// Characters of a message that a chat's row shows.
pub const LAST_PROMPT_CHARS_MAX: usize = 200;

/// Where a page of items begins. Pages are in order of place whichever way they are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageFrom {
    /// The newest items.
    #[default]
    Newest,
    /// Those just before this place.
    Before(u64),
    /// Those just after this place.
    After(u64),
}

/// An entry of a transcript.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemRow {
    /// Its id.
    pub id: ItemId,
    /// Its place in the transcript, from 1.
    pub place: u64,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// What it is.
    pub kind: ItemKind,
    /// Whose it is.
    pub role: Role,
    /// When it was added.
    pub at: Micros,
    /// What it holds beside its texts.
    pub body: Body,
    /// Its texts that are not empty, by field. The text of a message is among them.
    pub texts: Vec<TextHead>,
    /// Whether no more text comes to it.
    pub closed: bool,
    /// The message that it shows, if it shows one.
    pub message: Option<MessageBrief>,
    /// The prompt that it shows, if it shows one.
    pub prompt: Option<PromptRow>,
    /// The number of the change that last touched it.
    pub version: u64,
    /// Whether a turn ends with it that the agent has a name of its own for, and that was not left
    /// behind: another chat can begin there.
    pub ends_turn: bool,
}

/// The beginning of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextHead {
    /// Which text.
    pub field: Field,
    /// At most `ITEM_TEXT_HEAD_BYTES`, cut at a character.
    pub head: String,
    /// Bytes of the whole text.
    pub bytes: u64,
}

/// A range of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRange {
    /// Where it begins.
    pub start: u64,
    /// The bytes; fewer than asked where the text ends or [`TEXT_RANGE_BYTES_MAX`] is met. They
    /// may begin or end within a character.
    pub bytes: Vec<u8>,
    /// Bytes of the whole text.
    pub total: u64,
}

/// Bytes that one query answers of a text.
pub const TEXT_RANGE_BYTES_MAX: u64 = 1024 * 1024;

/// Where a message is in its life (delivery.md).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageState {
    /// It waits.
    Queued,
    /// Its frame is the keeper's.
    Handed,
    /// The agent provably has it.
    Taken,
    /// Its turn is over.
    Settled,
    /// The agent provably did not take it up.
    Refused(RefusedWhy),
    /// Whether the agent has it is not known.
    Unknown {
        /// Whether the agent's own store has yet to be asked.
        asking: bool,
    },
    /// It was taken back.
    Withdrawn(WithdrawnWhy),
}

impl MessageState {
    /// The word for it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Handed => "handed",
            Self::Taken => "taken",
            Self::Settled => "settled",
            Self::Refused(_) => "refused",
            Self::Unknown { .. } => "unknown",
            Self::Withdrawn(_) => "withdrawn",
        }
    }

    /// Whether the agent's own store has yet to be asked.
    #[must_use]
    pub const fn asking(&self) -> bool {
        matches!(self, Self::Unknown { asking: true })
    }
}

/// What a person allowed for good in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantRow {
    /// Its id.
    pub id: GrantId,
    /// The digest of what the agent wants to do.
    pub deed: String,
    /// What that is, in one line.
    pub label: String,
    /// Who allowed it.
    pub by: String,
    /// When.
    pub at: Micros,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// Its id.
    pub id: MessageId,
    /// Who wrote it.
    pub by: Author,
    /// Where it is in its life.
    pub state: MessageState,
    /// Its text; empty once its chat is deleted.
    pub text: String,
    /// Bytes of its text.
    pub bytes: u64,
    /// The digest of its text.
    pub digest: String,
    /// The item that shows it, once it was handed over.
    pub item: Option<ItemId>,
    /// The turn that it opened.
    pub turn: Option<TurnId>,
    /// The attempt that it was last handed to.
    pub attempt: Option<AttemptId>,
    /// When it was accepted.
    pub accepted_at: Micros,
    /// What goes with it, in order; nothing once its chat is deleted.
    pub attachments: Vec<Attachment>,
}

impl MessageRow {
    /// It as whoever decides about the queue has it.
    #[must_use]
    pub fn queued(&self) -> Queued {
        Queued {
            message: self.id,
            by: self.by,
            digest: self.digest.clone(),
            item: self.item,
            attached: u32::try_from(self.attachments.len()).unwrap_or(u32::MAX),
        }
    }

    /// It without its text.
    #[must_use]
    pub fn brief(&self) -> MessageBrief {
        MessageBrief {
            id: self.id,
            by: self.by,
            state: self.state.clone(),
            bytes: self.bytes,
            turn: self.turn,
            accepted_at: self.accepted_at,
            attachments: self.attachments.clone(),
        }
    }
}

/// How much of a queue one page holds. It has one message at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueBounds {
    /// Messages.
    pub messages: usize,
    /// Bytes of the beginning of each text.
    pub head_bytes: usize,
    /// Bytes of all those beginnings.
    pub bytes: usize,
}

impl QueueBounds {
    /// Whether a page of so many messages has no room for one more, with which its texts are so
    /// many bytes.
    pub(crate) const fn is_full(&self, messages: usize, bytes: usize) -> bool {
        messages > 0 && (messages >= self.messages || bytes > self.bytes)
    }
}

/// An attachment of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachmentRow {
    /// What is known of it.
    pub attachment: Attachment,
    /// When it was kept.
    pub at: Micros,
    /// A message that names it, if one does.
    pub named: Option<MessageId>,
}

/// A page of the messages that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuePage {
    /// The messages, in order. Of each text only the beginning is there; `bytes` counts all of it.
    pub rows: Vec<MessageRow>,
    /// The message with which the next page begins; none at the end.
    pub next: Option<MessageId>,
}

/// A message without its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageBrief {
    /// Its id.
    pub id: MessageId,
    /// Who wrote it.
    pub by: Author,
    /// Where it is in its life.
    pub state: MessageState,
    /// Bytes of its text.
    pub bytes: u64,
    /// The turn that it opened.
    pub turn: Option<TurnId>,
    /// When it was accepted.
    pub accepted_at: Micros,
    /// What goes with it, in order.
    pub attachments: Vec<Attachment>,
}

/// Where a prompt is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptStatus {
    /// It waits for a person.
    Open,
    /// It has its one answer.
    Answered,
    /// Nobody waits for an answer any more, and none was given.
    Gone,
}

impl PromptStatus {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Answered => "answered",
            Self::Gone => "gone",
        }
    }
}

/// Where an answer is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerLife {
    /// It is committed.
    Answered,
    /// Its frame is written.
    Written,
    /// The agent has it.
    Taken,
    /// The attempt died before any of it was written.
    NotUsed,
    /// The attempt died, and whether it had the answer is not known.
    Unknown,
}

impl AnswerLife {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Written => "written",
            Self::Taken => "taken",
            Self::NotUsed => "not_used",
            Self::Unknown => "unknown",
        }
    }
}

/// An answer that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The answer.
    pub answer: Answer,
    /// Who gave it.
    pub by: String,
    /// On which device.
    pub device: Option<String>,
    /// When.
    pub at: Micros,
    /// Where it is in its life.
    pub life: AnswerLife,
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptRow {
    /// Its id.
    pub id: PromptId,
    /// The item that shows it.
    pub item: ItemId,
    /// What is asked.
    pub asked: Asked,
    /// When it was opened.
    pub at: Micros,
    /// Where it is in its life.
    pub state: PromptStatus,
    /// Its answer, if it has one.
    pub given: Option<Given>,
}

/// A background task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRow {
    /// Its id.
    pub id: TaskId,
    /// Its kind.
    pub kind: TaskKind,
    /// What it is called.
    pub label: String,
    /// Whether it ends with the turn.
    pub foreground: bool,
    /// When it began.
    pub started_at: Micros,
    /// How and when it ended; none while it lives.
    pub ended: Option<(TaskEnd, Micros)>,
}

/// A turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRow {
    /// Its id.
    pub id: TurnId,
    /// The fact that opened it.
    pub seq: Seq,
    /// The message that opened it; none where the agent did by itself.
    pub message: Option<MessageId>,
    /// When it was opened.
    pub started_at: Micros,
    /// Its end; none while it runs.
    pub ended: Option<TurnEnded>,
    /// Where it ended, where the agent has a name of its own for that.
    pub place: Option<TurnPlace>,
    /// Whether the chat went back to an earlier place since.
    pub left_behind: bool,
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnEnded {
    /// How.
    pub how: TurnEnd,
    /// By what it is known.
    pub evidence: Evidence,
    /// When.
    pub at: Micros,
    /// What it cost.
    pub usage: Option<Usage>,
}

/// An offer, whether it is shown yet or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferRow {
    /// The chat.
    pub chat: ChatId,
    /// Why its agent stopped; none if the word for it cannot be read.
    pub cause: Option<Cause>,
    /// When it was recorded, which is also its name.
    pub recorded_at: Micros,
    /// What the chat was doing; none if it cannot be read.
    pub snapshot: Option<Snapshot>,
    /// Whether the death is proven, so that it is listed.
    pub shown: bool,
    /// The message that resumes it; none if it cannot be read.
    pub continuation: Option<MessageId>,
    /// Whether a resume is in progress.
    pub resuming: bool,
    /// Whether a message is in doubt, and a person has to choose before it is resumed.
    pub needs_choice: bool,
    /// Whether the chat itself can be read.
    pub readable: bool,
}

/// A start or a resume that did not come about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureRow {
    /// The chat.
    pub chat: ChatId,
    /// A stable code.
    pub code: String,
    /// A sentence.
    pub text: String,
    /// What a person may do.
    pub actions: Vec<Action>,
    /// When it was filed.
    pub at: Micros,
}

/// A write that its caller named, as it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredOperation {
    /// The chat that it went to; none where it was about several.
    pub chat: Option<ChatId>,
    /// When.
    pub at: Micros,
    /// The write and its answer.
    pub operation: Operation,
    /// The row that its caller was shown: the chat as this write left it. None where the answer
    /// shows none, and where it cannot be read.
    pub row: Option<ChatRow>,
}

/// What a person was writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The text; at most `DRAFT_BYTES_MAX`.
    pub text: String,
    /// When it was put there.
    pub at: Micros,
}

/// The counts of a host (delivery.md, Counts). Deleted chats count nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Chats that show work.
    pub running: u64,
    /// Offers that are shown.
    pub to_resume: u64,
    /// Chats with a failure or an unknown delivery.
    pub to_check: u64,
    /// Messages that wait.
    pub queued: u64,
    /// Open chats.
    pub open: u64,
}

/// A fact as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct FactRow {
    /// Its number within its chat.
    pub seq: Seq,
    /// When it was stored.
    pub at: Micros,
    /// The fact.
    pub fact: StoredFact,
}

/// What a stored fact says.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredFact {
    /// A fact of this build.
    Known(Fact),
    /// One that this build cannot read.
    Unreadable {
        /// The word for its kind.
        kind: String,
        /// Its text as stored.
        body: String,
    },
}
