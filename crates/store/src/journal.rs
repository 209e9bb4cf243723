//! The journal: the one way by which anything is stored. A decision about a chat is a [`Unit`];
//! only a journal can make a [`Committed`] of it, and only that may be shown or acted upon.

use std::future::Future;
use std::ops::{Deref, Range};
use std::pin::Pin;

use holdfast_core::fact::Fact;
use holdfast_core::head::Head;
use holdfast_core::ids::{AttemptId, ChatId, Position, Seq};
use holdfast_core::input::{Caller, OperationKey, Reply};
use holdfast_core::item::Row;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;

/// A boxed future, so that the traits of this crate can be used behind `Arc<dyn …>`.
pub type Pending<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

/// One decision about one chat: stored as a whole or not at all.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The chat.
    pub chat: ChatId,
    /// The `seq` of the head that it was decided on; with another in the store it is fenced.
    pub after: Seq,
    /// When it was decided.
    pub at: Micros,
    /// What happened, in order.
    pub facts: Vec<Fact>,
    /// What goes with the facts and is too long for them; applied after them, in order.
    pub rows: Vec<Row>,
    /// The head after the facts.
    pub head: Head,
    /// What lists show of it.
    pub summary: Summary,
    /// How far the agent's words are read, if that moved.
    pub progress: Option<Progress>,
    /// The caller's idempotency key and what it is answered, if there is one.
    pub operation: Option<Operation>,
    /// The principal whose draft an accepted message clears.
    pub clear_draft: Option<String>,
}

/// How far the words of an attempt are read, and what its codec holds between two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The attempt.
    pub attempt: AttemptId,
    /// The codec's state; at most `CODEC_STATE_BYTES_MAX`.
    pub codec: Vec<u8>,
    /// The next record of its spool.
    pub position: Position,
}

/// A write that its caller named, so that a repeat gets the first answer again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Whose key it is; keys of two principals never meet.
    pub principal: String,
    /// The key.
    pub key: String,
    /// SHA-256 of what was asked.
    pub body: [u8; 32],
    /// What was answered. Where that shows a chat's row, the row as the write left it is kept too.
    pub reply: Reply,
}

impl Operation {
    /// What this caller named and is answered so; none if it named nothing.
    #[must_use]
    pub fn of(caller: &Caller, reply: Reply) -> Option<Self> {
        let OperationKey { key, body } = caller.operation.clone()?;
        Some(Self { principal: caller.principal.clone(), key, body, reply })
    }
}

/// What is stored for good. Only a store of this crate can make one.
#[derive(Clone, Debug, PartialEq)]
pub struct Committed<T> {
    stored: T,
    changes: Range<u64>,
}

impl<T> Committed<T> {
    pub(crate) const fn new(stored: T, changes: Range<u64>) -> Self {
        Self { stored, changes }
    }

    /// The numbers of the changes that it brought to the change feed; empty if nobody sees any.
    #[must_use]
    pub const fn changes(&self) -> &Range<u64> {
        &self.changes
    }
}

impl<T> Deref for Committed<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.stored
    }
}

/// Why a commit did not come about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// Somebody else wrote this chat: whoever decided has to load it again.
    #[error("{chat} is at {} in the store and was decided upon at {}", .found.0, .decided.0)]
    Fenced {
        /// The chat.
        chat: ChatId,
        /// Where the decision stood.
        decided: Seq,
        /// Where the store stands.
        found: Seq,
    },
    /// The key was used before; [`crate::Store::operation`] has the first answer.
    #[error("the operation key was used before")]
    OperationExists,
    /// The slot belongs to another open chat.
    #[error("the slot {slot:?} belongs to another open chat")]
    SlotTaken {
        /// The slot.
        slot: String,
    },
    /// The chat that this one was to begin as is deleted.
    #[error("{from}, which it begins as, is deleted")]
    SourceGone {
        /// That chat.
        from: ChatId,
    },
    /// Another chat goes on with this session.
    #[error("{chat} goes on with this session")]
    SessionTaken {
        /// That chat.
        chat: ChatId,
    },
    /// There is no room; nothing was stored.
    #[error("the disk is full: nothing was stored")]
    StorageFull,
    /// It may have been stored and may not: what the store holds has to be read again.
    #[error("it is not known whether this was stored: {0}")]
    Uncertain(String),
    /// The store could not read or write what it needed, and nothing was stored.
    #[error("the store failed, and nothing was stored: {0}")]
    Failed(String),
    /// It contradicts what is stored; a defect of the caller. Nothing was stored.
    #[error("the store refused this: {0}")]
    Refused(String),
    /// The store takes no more.
    #[error("the store is stopped")]
    Stopped,
}

impl CommitError {
    /// What whoever wanted the write is told.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        match self {
            Self::StorageFull => Refusal::new(
                Code::StorageFull,
                "The disk is full: nothing was stored. Make room and try again.",
            ),
            Self::SlotTaken { slot } => {
                let text = format!("The slot {slot:?} belongs to another open chat.");
                Refusal::new(Code::SlotTaken, text).field("slot")
            }
            Self::SourceGone { from } => {
                Refusal::new(Code::ChatNotFound, format!("There is no chat {from} any more."))
            }
            Self::SessionTaken { chat } => {
                let text =
                    format!("The chat {chat} goes on with this session already: open that one.");
                Refusal::new(Code::SessionTaken, text).field("adopt.session")
            }
            Self::OperationExists => Refusal::new(
                Code::OperationConflict,
                "This Idempotency-Key was used for another request.",
            ),
            Self::Uncertain(_) | Self::Fenced { .. } => Refusal::new(
                Code::NotDurable,
                "This may have been stored and may not. Try again with the same Idempotency-Key.",
            ),
            Self::Failed(_) => {
                Refusal::new(Code::NotDurable, "The store failed: nothing was stored. Try again.")
            }
            Self::Stopped => Refusal::new(
                Code::Stopping,
                "The host is stopping: nothing was stored. Try again when it is back.",
            ),
            Self::Refused(_) => {
                Refusal::new(Code::Internal, "The host could not store this. It is in the log.")
            }
        }
    }
}

/// What stores decisions.
pub trait Journal: Send + Sync {
    /// Stores all of these units or none of them, in order, and answers when a power cut cannot
    /// take them back. Units of several chats may go together; calls that wait at the same time
    /// share one transaction and fail each by itself. Nothing happens before the answer is first
    /// waited for; giving up waiting after that takes nothing back.
    ///
    /// # Errors
    /// See [`CommitError`]; in all cases but [`CommitError::Uncertain`] nothing was stored.
    fn commit(&self, units: Vec<Unit>) -> Pending<Vec<Committed<Unit>>, CommitError>;
}
