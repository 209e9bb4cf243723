//! The queries: everything that is read from a store, each keyed by chat where it is about one.
//! Of a deleted chat only its row, its messages without text, its facts' end and its changes are
//! answered.

use std::ops::Range;

use holdfast_core::fork::{ForkedFile, TurnPlace};
use holdfast_core::ids::{AttachmentId, ChatId, ItemId, MessageId, PromptId, Seq, TaskId, TurnId};
use holdfast_core::item::Field;
use holdfast_core::slash::SlashCommand;
use holdfast_core::time::Micros;
use tokio::sync::watch;
use uuid::Uuid;

use crate::change::{Change, ChangeBounds};
use crate::figures::Figures;
use crate::journal::{CommitError, Journal, Operation, Pending};
use crate::rows::{
    AttachmentRow, ChatFilter, ChatPage, ChatRow, Counts, Draft, FactRow, FailureRow, GrantRow,
    ItemRow, Loaded, MessageRow, OfferRow, PageFrom, PromptRow, QueueBounds, QueuePage,
    StoredOperation, TaskRow, TextRange, TurnRow,
};

/// Why a query was not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// More queries wait than the store takes.
    #[error("too many queries wait at the store")]
    Overloaded,
    /// What is stored could not be read.
    #[error("the store could not be read: {0}")]
    Unreadable(String),
    /// The text that names where a page begins is not one that a page before it gave.
    #[error("not a place where a page begins")]
    InvalidPage,
    /// The store is stopped.
    #[error("the store is stopped")]
    Stopped,
}

/// What a query gives.
pub type Answer<T> = Pending<T, QueryError>;

/// Rows of one answer, whatever was asked: a larger limit is taken for this.
pub const QUERY_ROWS_MAX: usize = 1000;

/// A journal that can also be asked. A query sees every commit that was answered before it.
pub trait Store: Journal {
    /// What deciding about this chat needs. A head that cannot be read is folded again from the
    /// facts.
    fn load(&self, chat: ChatId) -> Answer<Option<Loaded>>;
    /// The chats that a host has to load at start: those that owe something, and those whose
    /// offer is not shown yet.
    fn owing(&self) -> Answer<Vec<ChatId>>;

    /// A page of chats, the last changed first; `before` is the `next` of the page before it.
    fn chats(&self, filter: ChatFilter, before: Option<String>, limit: usize) -> Answer<ChatPage>;
    /// One chat, a deleted one too.
    fn chat(&self, chat: ChatId) -> Answer<Option<ChatRow>>;
    /// The open chat with this slot.
    fn chat_by_slot(&self, slot: String) -> Answer<Option<ChatRow>>;
    /// Of these sessions of agents those that a chat goes on with, by the agents' own ids, each with
    /// that chat; at most [`QUERY_ROWS_MAX`] are looked at.
    fn chats_by_sessions(&self, sessions: Vec<String>) -> Answer<Vec<(String, ChatId)>>;

    /// A page of a transcript, at most `PAGE_ITEMS_MAX` items, newest last.
    fn items(&self, chat: ChatId, from: PageFrom, limit: usize) -> Answer<Vec<ItemRow>>;
    /// One item.
    fn item(&self, chat: ChatId, item: ItemId) -> Answer<Option<ItemRow>>;
    /// A range of a text of an item, in bytes; none if there is no such item.
    fn item_text(
        &self,
        chat: ChatId,
        item: ItemId,
        field: Field,
        range: Range<u64>,
    ) -> Answer<Option<TextRange>>;
    /// The newest turns before this one, newest last.
    fn turns(&self, chat: ChatId, before: Option<TurnId>, limit: usize) -> Answer<Vec<TurnRow>>;
    /// One turn.
    fn turn(&self, chat: ChatId, turn: TurnId) -> Answer<Option<TurnRow>>;
    /// The last turn that ends at or before this place by a name of the agent's own, and was not left
    /// behind.
    fn turn_place(&self, chat: ChatId, at: u64) -> Answer<Option<TurnPlace>>;
    /// The files of the messages that are shown up to this place, each with the last of them.
    fn files_until(&self, chat: ChatId, at: u64) -> Answer<Vec<ForkedFile>>;
    /// One message.
    fn message(&self, chat: ChatId, message: MessageId) -> Answer<Option<MessageRow>>;
    /// A page of the messages that wait, in order, from this message on or from the first; none if
    /// no such message waits.
    fn queue(
        &self,
        chat: ChatId,
        from: Option<MessageId>,
        bounds: QueueBounds,
    ) -> Answer<Option<QueuePage>>;
    /// One attachment.
    fn attachment(&self, chat: ChatId, id: AttachmentId) -> Answer<Option<AttachmentRow>>;
    /// All attachments of a chat, in the order in which they came; at most `CHAT_ATTACHMENTS_MAX`.
    fn attachments(&self, chat: ChatId) -> Answer<Vec<AttachmentRow>>;
    /// One prompt.
    fn prompt(&self, chat: ChatId, prompt: PromptId) -> Answer<Option<PromptRow>>;
    /// The commands that the chat's agent told last; before it told any, those that another chat's with
    /// the same agent and directory did.
    fn commands(&self, chat: ChatId) -> Answer<Vec<SlashCommand>>;
    /// What is allowed for good, in the order in which it was.
    fn grants(&self, chat: ChatId) -> Answer<Vec<GrantRow>>;
    /// One task.
    fn task(&self, chat: ChatId, task: TaskId) -> Answer<Option<TaskRow>>;
    /// The facts of a chat after this one, oldest first.
    fn facts(&self, chat: ChatId, after: Seq, limit: usize) -> Answer<Vec<FactRow>>;

    /// All offers, in the order in which they were recorded; also those not shown yet.
    fn offers(&self) -> Answer<Vec<OfferRow>>;
    /// The offer of one chat.
    fn offer(&self, chat: ChatId) -> Answer<Option<OfferRow>>;
    /// All failures, oldest first.
    fn failures(&self) -> Answer<Vec<FailureRow>>;
    /// The write that was stored under this key.
    fn operation(&self, principal: String, key: String) -> Answer<Option<StoredOperation>>;
    /// The counts of the host.
    fn counts(&self) -> Answer<Counts>;

    /// The changes after this number, in order.
    fn changes(&self, after: u64, limit: usize) -> Answer<Vec<Change>>;
    /// The ends of the change feed.
    fn change_bounds(&self) -> Answer<ChangeBounds>;
    /// The number of the newest committed change, whenever it moves.
    fn subscribe(&self) -> watch::Receiver<u64>;

    /// What this principal was writing in this chat.
    fn draft(&self, chat: ChatId, principal: String) -> Answer<Option<Draft>>;
    /// Keeps what this principal is writing; an empty text removes it. The operation is stored with
    /// it, in the same transaction.
    ///
    /// The answer is [`CommitError::Refused`] for a text over `DRAFT_BYTES_MAX` and for a chat that
    /// does not exist, and [`CommitError::OperationExists`] for a key that is spent.
    fn put_draft(
        &self,
        chat: ChatId,
        principal: String,
        text: String,
        at: Micros,
        operation: Option<Operation>,
    ) -> Pending<(), CommitError>;
    /// Keeps an operation that changes no chat by itself: one about several chats, or one that found
    /// nothing to change in this one.
    ///
    /// The answer is [`CommitError::OperationExists`] for a key that is spent.
    fn remember(
        &self,
        chat: Option<ChatId>,
        operation: Operation,
        at: Micros,
    ) -> Pending<(), CommitError>;

    /// The random id of this life of the store.
    fn incarnation(&self) -> Uuid;
    /// How many times the store was opened.
    fn generation(&self) -> u64;
    /// How its work goes.
    fn figures(&self) -> Figures {
        Figures::default()
    }
    /// What was found damaged, one sentence each.
    fn damage(&self) -> Vec<String>;
}
