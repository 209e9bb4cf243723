//! The memory store itself: synchronous, deterministic, cloned as a whole.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use holdfast_core::fact::Fact;
use holdfast_core::head::Life;
use holdfast_core::ids::{ChatId, Seq};
use holdfast_core::item::Row;
use holdfast_core::limits::DRAFT_BYTES_MAX;
use holdfast_core::time::Micros;
use uuid::Uuid;

use super::chat::StoredChat;
use super::{fork, project};
use crate::change::{Change, Touched, What};
use crate::derive::{check, counted, missing, moves, owes};
use crate::journal::{CommitError, Committed, Operation, Unit};
use crate::rows::{Draft, StoredOperation};

/// Changes that the feed keeps.
const CHANGES_MAX: usize = 1_000_000;

/// Everything that is stored. A clone is what a power cut would leave: restoring is assigning it
/// back.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    pub(super) chats: BTreeMap<ChatId, Arc<StoredChat>>,
    pub(super) operations: BTreeMap<(String, String), StoredOperation>,
    pub(super) changes: VecDeque<Change>,
    pub(super) newest: u64,
    incarnation: Uuid,
    generation: u64,
}

/// What a group of units replaced, to be put back if one of them fails.
#[derive(Default)]
struct Undo {
    chats: BTreeMap<ChatId, Option<Arc<StoredChat>>>,
    operations: BTreeSet<(String, String)>,
    changes: usize,
}

impl MemoryStore {
    /// An empty store of this incarnation.
    #[must_use]
    pub const fn new(incarnation: Uuid) -> Self {
        Self {
            chats: BTreeMap::new(),
            operations: BTreeMap::new(),
            changes: VecDeque::new(),
            newest: 0,
            incarnation,
            generation: 1,
        }
    }

    /// The random id of this life of the store.
    #[must_use]
    pub const fn incarnation(&self) -> Uuid {
        self.incarnation
    }

    /// How many times the store was opened.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Counts one more opening, as a host that comes back does.
    pub const fn reopen(&mut self) {
        self.generation += 1;
    }

    /// Stores all of these units or none.
    ///
    /// # Errors
    /// As [`crate::Journal::commit`]; memory is never full and never uncertain.
    pub fn apply(&mut self, units: Vec<Unit>) -> Result<Vec<Committed<Unit>>, CommitError> {
        let (mut undo, newest) = (Undo::default(), self.newest);
        let mut numbers = Vec::with_capacity(units.len());
        for unit in &units {
            match self.apply_one(unit, &mut undo) {
                Ok(range) => numbers.push(range),
                Err(error) => {
                    self.take_back(undo, newest);
                    return Err(error);
                }
            }
        }
        while self.changes.len() > CHANGES_MAX {
            self.changes.pop_front();
        }
        Ok(units.into_iter().zip(numbers).map(|(unit, n)| Committed::new(unit, n)).collect())
    }

    fn take_back(&mut self, undo: Undo, newest: u64) {
        for (id, before) in undo.chats {
            match before {
                Some(chat) => self.chats.insert(id, chat),
                None => self.chats.remove(&id),
            };
        }
        for key in undo.operations {
            self.operations.remove(&key);
        }
        self.changes.truncate(self.changes.len() - undo.changes);
        self.newest = newest;
    }

    fn apply_one(&mut self, unit: &Unit, undo: &mut Undo) -> Result<Range<u64>, CommitError> {
        let before = self.chats.get(&unit.chat).cloned();
        check(unit, before.as_ref().map_or(Seq(0), |chat| chat.head.seq))?;
        if let Some(operation) = &unit.operation {
            undo.operations.insert(self.take_key(Some(unit.chat), operation.clone(), unit.at)?);
        }
        undo.chats.entry(unit.chat).or_insert_with(|| before.clone());

        let was = before.as_deref();
        let mut chat = was
            .cloned()
            .unwrap_or_else(|| StoredChat::new(unit.head.clone(), unit.summary.clone(), unit.at));
        let mut touched = Touched::default();
        for fact in &unit.facts {
            if let Fact::ChatAdopted { handle, .. } = fact
                && let Some(chat) = self.by_session(&handle.leaf)
            {
                return Err(CommitError::SessionTaken { chat });
            }
            if let Fact::ChatForked(fork) = fact {
                let from =
                    self.chats.get(&fork.from).filter(|from| from.head.life != Life::Deleted);
                let from = from.ok_or(CommitError::SourceGone { from: fork.from })?;
                fork::copy(&mut chat, from, fork, &mut touched);
            }
        }
        project::apply(&mut chat, unit, &mut touched)?;
        let told = unit.rows.iter().any(|row| matches!(row, Row::Commands(_)));
        if told && chat.head.life != Life::Deleted {
            chat.commands.0 =
                self.chats.values().map(|chat| chat.commands.0).max().unwrap_or(0) + 1;
        }
        if was.map(|was| counted(&was.summary)).unwrap_or_default() != counted(&chat.summary) {
            touched.add(What::Counts);
        }
        if was.is_some_and(|was| was.summary.held != chat.summary.held) {
            touched.add(What::Queue);
        }
        if let Some(slot) = &chat.slot
            && chat.head.life == Life::Open
            && self.open_slot(slot).is_some_and(|other| other != unit.chat)
        {
            return Err(CommitError::SlotTaken { slot: slot.clone() });
        }

        let first = self.newest + 1;
        for (of, what) in touched.of(unit.chat, chat.head.life) {
            self.newest += 1;
            let n = self.newest;
            self.changes.push_back(Change { n, chat: of, what });
            undo.changes += 1;
            if let What::Item(id) = what
                && let Some(item) = chat.item_mut(id)
            {
                item.version = n;
            }
            if what == What::Chat && moves(unit) {
                chat.touched = n;
            }
        }
        self.chats.insert(unit.chat, Arc::new(chat));
        if let Some(operation) = &unit.operation {
            self.show_row(unit.chat, &(operation.principal.clone(), operation.key.clone()));
        }
        Ok(first..self.newest + 1)
    }

    /// The chat that goes on with this session, or whose agent may still write it though it is deleted;
    /// the last changed of several.
    pub(super) fn by_session(&self, session: &str) -> Option<ChatId> {
        let here = |chat: &StoredChat| {
            let own = chat.head.handle.as_ref().is_some_and(|handle| handle.leaf == session);
            own && (chat.head.life != Life::Deleted || owes(&chat.head, &chat.summary))
        };
        let here = self.chats.iter().filter(|(_, chat)| here(chat));
        here.max_by_key(|(_, chat)| chat.touched).map(|(id, _)| *id)
    }

    /// The open chat with this slot.
    pub(super) fn open_slot(&self, slot: &str) -> Option<ChatId> {
        let here =
            |chat: &StoredChat| chat.head.life == Life::Open && chat.slot.as_deref() == Some(slot);
        self.chats.iter().find(|(_, chat)| here(chat)).map(|(id, _)| *id)
    }

    /// Keeps what this principal is writing; an empty text removes it.
    ///
    /// # Errors
    /// [`CommitError::Refused`] for a text over `DRAFT_BYTES_MAX` and for a chat that is not there,
    /// [`CommitError::OperationExists`] for a key that is spent.
    pub fn put_draft(
        &mut self,
        chat: ChatId,
        principal: String,
        draft: Draft,
        operation: Option<Operation>,
    ) -> Result<(), CommitError> {
        if draft.text.len() > DRAFT_BYTES_MAX {
            return Err(CommitError::Refused(format!("a draft is over {DRAFT_BYTES_MAX} bytes")));
        }
        if self.chats.get(&chat).is_none_or(|chat| chat.head.life == Life::Deleted) {
            return Err(missing(chat, "rows"));
        }
        if let Some(operation) = operation {
            self.take_key(Some(chat), operation, draft.at)?;
        }
        let here = self.chats.get_mut(&chat).map(Arc::make_mut);
        if let Some(here) = here {
            if draft.text.is_empty() {
                here.drafts.remove(&principal);
            } else {
                here.drafts.insert(principal, draft);
            }
        }
        Ok(())
    }

    /// Keeps an operation by itself.
    ///
    /// # Errors
    /// [`CommitError::OperationExists`] for a key that is spent.
    pub fn remember(
        &mut self,
        chat: Option<ChatId>,
        operation: Operation,
        at: Micros,
    ) -> Result<(), CommitError> {
        let key = self.take_key(chat, operation, at)?;
        if let Some(chat) = chat {
            self.show_row(chat, &key);
        }
        Ok(())
    }

    /// Takes a key that is free.
    fn take_key(
        &mut self,
        chat: Option<ChatId>,
        operation: Operation,
        at: Micros,
    ) -> Result<(String, String), CommitError> {
        let key = (operation.principal.clone(), operation.key.clone());
        match self.operations.entry(key.clone()) {
            Entry::Occupied(_) => Err(CommitError::OperationExists),
            Entry::Vacant(free) => {
                free.insert(StoredOperation { chat, at, operation, row: None });
                Ok(key)
            }
        }
    }

    /// Keeps the row that the answer to an operation shows, if it shows one.
    fn show_row(&mut self, chat: ChatId, key: &(String, String)) {
        let row = self.chat(chat);
        if let Some(stored) = self.operations.get_mut(key)
            && stored.operation.reply.shows_row()
        {
            stored.row = row;
        }
    }
}
