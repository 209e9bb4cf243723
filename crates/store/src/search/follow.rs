//! The indexer: follows the change feed, and walks over all chats where that does not reach.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::ids::{ChatId, ItemId};
use holdfast_core::item::{Body, Field};
use holdfast_core::limits::PAGE_ITEMS_MAX;

use super::index::{self, Doc, Step};
use super::worker::Fault;
use super::{SEARCHED_BYTES_MAX, Search};
use crate::change::What;
use crate::query::{Answer, QUERY_ROWS_MAX, QueryError, Store};
use crate::rows::{ChatFilter, ChatPage, ItemRow, PageFrom};

/// How long changes gather before they are taken in: a text that streams changes many times.
const GATHER: Duration = Duration::from_millis(200);
/// How long it waits where the store, or the disk, is in trouble.
const RETRY: Duration = Duration::from_secs(1);
/// Changes of one step.
const STEP_CHANGES: usize = QUERY_ROWS_MAX;
/// Bytes of text in one step of a walk.
const STEP_BYTES: usize = 4 * 1024 * 1024;

/// Follows the store until it is stopped. It is behind by what is being gathered, and catches up
/// from its own cursor whatever happened in between.
pub async fn follow(search: Search, store: Arc<dyn Store>) {
    let follower = Follower { search, store };
    loop {
        match follower.run().await {
            Err(Trouble::Stopped) => return,
            Err(Trouble::Damaged) => {
                if follower.search.renew().await.is_err() {
                    tokio::time::sleep(RETRY).await;
                }
            }
            // A disk that is full or a busy store: what is not taken in is taken in later.
            Err(Trouble::Passing) => tokio::time::sleep(RETRY).await,
            Ok(never) => match never {},
        }
    }
}

/// Why it does not go on.
#[derive(Debug)]
pub(super) enum Trouble {
    Stopped,
    Damaged,
    Passing,
}

impl From<QueryError> for Trouble {
    fn from(error: QueryError) -> Self {
        match error {
            QueryError::Stopped => Self::Stopped,
            QueryError::Overloaded | QueryError::Unreadable(_) | QueryError::InvalidPage => {
                Self::Passing
            }
        }
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Stopped => Self::Stopped,
            Fault::Damaged => Self::Damaged,
            Fault::Overloaded | Fault::Sql(_) => Self::Passing,
        }
    }
}

pub(super) struct Follower {
    pub(super) search: Search,
    pub(super) store: Arc<dyn Store>,
}

enum Never {}

impl Follower {
    async fn run(&self) -> Result<Never, Trouble> {
        let mut newest = self.store.subscribe();
        let mut damaged = self.search.damaged.subscribe();
        loop {
            if *damaged.borrow() {
                return Err(Trouble::Damaged);
            }
            let bounds = self.store.change_bounds().await?;
            let cursor = self.search.writer.ask(|db| index::cursor(db)).await?;
            // A cursor from the future is of a store that was put back.
            let whole = bounds.complete_after..=bounds.newest;
            let Some(cursor) = cursor.filter(|cursor| whole.contains(cursor)) else {
                self.walk(bounds.newest).await?;
                continue;
            };
            newest.mark_unchanged();
            let changes = self.store.changes(cursor, STEP_CHANGES).await?;
            let Some(last) = changes.last().map(|change| change.n) else {
                tokio::select! {
                    changed = newest.changed() => changed.map_err(|_| Trouble::Stopped)?,
                    _ = damaged.wait_for(|damaged| *damaged) => return Err(Trouble::Damaged),
                }
                tokio::time::sleep(GATHER).await;
                continue;
            };
            let mut step = Step { cursor: Some(last), ..Step::default() };
            // In the order in which they came: it is that in which they are found.
            let (mut seen, mut items) = (HashSet::new(), Vec::new());
            for change in changes {
                match (change.what, change.chat) {
                    (What::Item(item), Some(chat)) if seen.insert((chat, item)) => {
                        items.push((chat, item));
                    }
                    (What::Removed, Some(chat)) => step.removed.push(chat),
                    _ => {}
                }
            }
            for (chat, item) in items {
                self.read(&mut step, chat, item).await?;
            }
            self.apply(step).await?;
        }
    }

    async fn read(&self, step: &mut Step, chat: ChatId, item: ItemId) -> Result<(), Trouble> {
        match self.store.item(chat, item).await? {
            Some(row) => step.docs.extend(self.doc(chat, row).await?),
            None => step.gone.push((chat, item)),
        }
        Ok(())
    }

    /// Fills the index from all chats. What changes meanwhile is behind the place from which the feed
    /// is read then.
    async fn walk(&self, cursor: u64) -> Result<(), Trouble> {
        let store = Arc::clone(&self.store);
        self.walk_pages(cursor, move |before| store.chats(ChatFilter::All, before, QUERY_ROWS_MAX))
            .await
    }

    pub(super) async fn walk_pages(
        &self,
        cursor: u64,
        mut page_of: impl FnMut(Option<String>) -> Answer<ChatPage>,
    ) -> Result<(), Trouble> {
        self.search.writer.ask(move |db| index::empty(db, cursor)).await?;
        let mut before = None;
        let mut chats = Vec::new();
        loop {
            let page = page_of(before).await?;
            chats.extend(page.rows.into_iter().map(|row| row.id));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        // The last changed last, so that it is found first.
        chats.reverse();
        let listed: HashSet<ChatId> = chats.iter().copied().collect();
        chats.extend(self.moved(cursor, &listed).await?);
        let mut step = Step::default();
        for chat in chats {
            self.walk_chat(chat, &mut step).await?;
        }
        self.apply(Step { complete: true, ..step }).await
    }

    /// The chats that no page had: one that changes between two pages goes before the first of them.
    async fn moved(
        &self,
        mut cursor: u64,
        listed: &HashSet<ChatId>,
    ) -> Result<Vec<ChatId>, Trouble> {
        let (mut moved, mut seen) = (Vec::new(), HashSet::new());
        let bounds = self.store.change_bounds().await?;
        while cursor < bounds.newest {
            let changes = self.store.changes(cursor, STEP_CHANGES).await?;
            let Some(last) = changes.last() else { break };
            cursor = last.n;
            let chats = changes.iter().filter_map(|change| change.chat);
            moved.extend(chats.filter(|chat| !listed.contains(chat) && seen.insert(*chat)));
        }
        Ok(moved)
    }

    async fn walk_chat(&self, chat: ChatId, step: &mut Step) -> Result<(), Trouble> {
        let mut after = 0;
        loop {
            let from = PageFrom::After(after);
            let rows = self.store.items(chat, from, PAGE_ITEMS_MAX).await?;
            let Some(last) = rows.last().map(|row| row.place) else { return Ok(()) };
            after = last;
            for row in rows {
                step.docs.extend(self.doc(chat, row).await?);
            }
            if step.docs.iter().map(|doc| doc.text.len()).sum::<usize>() > STEP_BYTES {
                self.apply(std::mem::take(step)).await?;
            }
        }
    }

    async fn apply(&self, step: Step) -> Result<(), Trouble> {
        Ok(self.search.writer.ask(move |db| index::apply(db, &step)).await?)
    }

    /// What is searched of an item; none where there is nothing.
    async fn doc(&self, chat: ChatId, row: ItemRow) -> Result<Option<Doc>, Trouble> {
        let mut parts = Vec::new();
        if let Body::Call(call) = &row.body {
            parts.push(call.name.clone());
        }
        if let Body::Plan { entries } = &row.body {
            parts.extend(entries.iter().map(|entry| entry.text.clone()));
        }
        for text in &row.texts {
            let whole = u64::try_from(text.head.len()).is_ok_and(|length| length >= text.bytes);
            let text = match whole {
                true => text.head.clone(),
                false => self.text(chat, row.id, text.field, text.bytes).await?,
            };
            parts.push(text);
        }
        let text = parts.join("\n");
        Ok((!text.trim().is_empty()).then_some(Doc {
            chat,
            item: row.id,
            place: row.place,
            kind: row.kind,
            role: row.role,
            at: row.at,
            text,
        }))
    }

    async fn text(
        &self,
        chat: ChatId,
        item: ItemId,
        field: Field,
        bytes: u64,
    ) -> Result<String, Trouble> {
        let end = bytes.min(SEARCHED_BYTES_MAX);
        let (mut all, mut at) = (Vec::new(), 0);
        while at < end {
            let range = self.store.item_text(chat, item, field, at..end).await?;
            let piece = range.map(|range| range.bytes).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            at = at.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
            all.extend(piece);
        }
        Ok(String::from_utf8_lossy(&all).into_owned())
    }
}
