//! What a chat begins with that goes on with a session which was there before it: one that a person
//! had with the agent's program itself.

use crate::item::{Body, Field, ItemKind, Role};
use crate::provider::Handle;
use crate::time::Micros;

/// A session that was there before the chat, as the agent's own files show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// The session.
    pub handle: Handle,
    /// What it is called.
    pub title: Option<String>,
    /// How many messages of people it holds.
    pub messages: u64,
    /// Its newest entries, oldest first: `FORK_ITEMS_MAX` at most, their texts `FORK_BYTES_MAX`.
    pub entries: Vec<Entry>,
    /// How many there are before those.
    pub older: u64,
    /// Lines of the agent's files that could not be read.
    pub damaged: u64,
    /// When it began.
    pub since: Option<Micros>,
}

/// An entry of a session that was there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: ItemKind,
    /// Whose it is.
    pub role: Role,
    /// What it holds beside its texts.
    pub body: Body,
    /// Its texts.
    pub texts: Vec<(Field, String)>,
    /// When it was written, where the files say so.
    pub at: Option<Micros>,
}

impl Entry {
    /// Bytes of its texts.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let bytes =
            self.texts.iter().map(|(_, text)| u64::try_from(text.len()).unwrap_or(u64::MAX));
        bytes.fold(0, u64::saturating_add)
    }
}
