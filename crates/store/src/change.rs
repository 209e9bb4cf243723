//! The change feed: which things changed, in the order of their commits. A change names what
//! changed; its state is read where it lives, so that applying one twice is harmless.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use holdfast_core::head::Life;
use holdfast_core::ids::{ChatId, InvalidId, ItemId, PromptId, TaskId, TurnId};

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// The chat's row.
    Chat,
    /// An item, its texts included.
    Item(ItemId),
    /// A turn.
    Turn(TurnId),
    /// A prompt.
    Prompt(PromptId),
    /// A task.
    Task(TaskId),
    /// The queue: its messages, their order, or whether it runs.
    Queue,
    /// The offer, its end too.
    Offer,
    /// The failure, its clearing too.
    Failure,
    /// The counts of the host.
    Counts,
    /// The chat is deleted.
    Removed,
}

/// One entry of the feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its number, from 1, rising by commit; numbers may be left out.
    pub n: u64,
    /// The chat; none for what is the host's.
    pub chat: Option<ChatId>,
    /// What changed.
    pub what: What,
}

/// The ends of the feed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeBounds {
    /// Every change after this number is kept: a cursor at or above it loses nothing.
    pub complete_after: u64,
    /// The newest number; 0 before the first.
    pub newest: u64,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chat => f.write_str("chat"),
            Self::Item(id) => write!(f, "item {id}"),
            Self::Turn(id) => write!(f, "turn {id}"),
            Self::Prompt(id) => write!(f, "prompt {id}"),
            Self::Task(id) => write!(f, "task {id}"),
            Self::Queue => f.write_str("queue"),
            Self::Offer => f.write_str("offer"),
            Self::Failure => f.write_str("failure"),
            Self::Counts => f.write_str("counts"),
            Self::Removed => f.write_str("removed"),
        }
    }
}

/// A text that names no change that this build knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no change")]
pub struct UnknownChange(String);

impl From<InvalidId> for UnknownChange {
    fn from(error: InvalidId) -> Self {
        Self(error.text)
    }
}

impl FromStr for What {
    type Err = UnknownChange;
    fn from_str(text: &str) -> Result<Self, UnknownChange> {
        Ok(match text.split_once(' ').unwrap_or((text, "")) {
            ("chat", "") => Self::Chat,
            ("item", id) => Self::Item(id.parse()?),
            ("turn", id) => Self::Turn(id.parse()?),
            ("prompt", id) => Self::Prompt(id.parse()?),
            ("task", id) => Self::Task(id.parse()?),
            ("queue", "") => Self::Queue,
            ("offer", "") => Self::Offer,
            ("failure", "") => Self::Failure,
            ("counts", "") => Self::Counts,
            ("removed", "") => Self::Removed,
            _ => return Err(UnknownChange(text.chars().take(80).collect())),
        })
    }
}

/// What one unit changed, each thing once, in the order of its first change.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    order: Vec<What>,
    seen: BTreeSet<What>,
}

impl Touched {
    pub(crate) fn add(&mut self, what: What) {
        if self.seen.insert(what) {
            self.order.push(what);
        }
    }

    /// All of it with the chat that each belongs to: the counts are the host's. Of a deleted chat
    /// only that it went is told, and what went from the lists of the host.
    pub(crate) fn of(
        self,
        chat: ChatId,
        life: Life,
    ) -> impl Iterator<Item = (Option<ChatId>, What)> {
        self.order.into_iter().filter_map(move |what| match what {
            What::Counts => Some((None, what)),
            What::Offer | What::Failure | What::Removed => Some((Some(chat), what)),
            What::Chat
            | What::Item(_)
            | What::Turn(_)
            | What::Prompt(_)
            | What::Task(_)
            | What::Queue => (life != Life::Deleted).then_some((Some(chat), what)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_reads_back_from_its_text() {
        let all = [
            What::Chat,
            What::Item(ItemId::new(1, 2)),
            What::Turn(TurnId(3)),
            What::Prompt(PromptId::new(1, 1)),
            What::Task(TaskId::new(2, 9)),
            What::Queue,
            What::Offer,
            What::Failure,
            What::Counts,
            What::Removed,
        ];
        for what in all {
            assert_eq!(what.to_string().parse(), Ok(what));
        }
        for odd in ["", "chat x", "item", "item p1.1", "context"] {
            assert!(odd.parse::<What>().is_err(), "{odd}");
        }
    }

    #[test]
    fn a_thing_is_told_once_and_in_order() {
        let chat = ChatId::new(uuid::Uuid::from_u128(1));
        let mut touched = Touched::default();
        for what in [What::Queue, What::Chat, What::Queue, What::Counts] {
            touched.add(what);
        }
        let told: Vec<_> = touched.of(chat, Life::Open).collect();
        let chat = Some(chat);
        assert_eq!(told, [(chat, What::Queue), (chat, What::Chat), (None, What::Counts)]);
    }

    #[test]
    fn of_a_deleted_chat_only_the_end_is_told() {
        let chat = ChatId::new(uuid::Uuid::from_u128(1));
        let mut touched = Touched::default();
        for what in [What::Chat, What::Offer, What::Queue, What::Removed] {
            touched.add(what);
        }
        let told: Vec<_> = touched.of(chat, Life::Deleted).map(|(_, what)| what).collect();
        assert_eq!(told, [What::Offer, What::Removed]);
    }
}
