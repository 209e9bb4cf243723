//! Search over all transcripts. The index is a file of its own beside the journal, fed from the
//! change feed with a cursor of its own: it is never written by a commit, is under a second behind,
//! and is made anew whenever it is missing, damaged, or too far behind.

mod find;
mod follow;
mod index;
mod snippet;
#[cfg(test)]
mod tests;
mod worker;

use std::path::Path;
use std::sync::Arc;

use holdfast_core::ids::{ChatId, ItemId};
use holdfast_core::item::{ItemKind, Role};
use holdfast_core::time::Micros;

use rusqlite::Connection;
use tokio::sync::watch;

pub use find::Terms;
pub use follow::follow;
pub use snippet::Part;

use crate::query::{Answer, QueryError};
use worker::{Fault, Worker};

/// The file within the data directory.
pub const SEARCH_FILE: &str = "search.db";
/// Bytes of one text of an item that are searched; what is behind them is not found.
pub const SEARCHED_BYTES_MAX: u64 = 256 * 1024;
/// Characters of what is searched for.
pub const QUERY_CHARS_MAX: usize = 200;
/// Hits of one page.
pub const HITS_MAX: usize = 100;
/// Chats that a search names for a list.
pub const CHATS_FOUND_MAX: usize = 1000;

/// A found item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its chat.
    pub chat: ChatId,
    /// The item.
    pub item: ItemId,
    /// Its place in the transcript.
    pub place: u64,
    /// What it is.
    pub kind: ItemKind,
    /// Whose it is.
    pub role: Role,
    /// When it was added.
    pub at: Micros,
    /// The text around the first place that was found, in parts.
    pub snippet: Vec<Part>,
}

/// A page of hits, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HitPage {
    /// The hits.
    pub hits: Vec<Hit>,
    /// What to ask the next page with; none at the end. Opaque.
    pub next: Option<String>,
    /// Whether the index holds all there is; while it is made anew it does not.
    pub complete: bool,
}

/// Why there is no index.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// Its file cannot be made or opened.
    #[error("the index cannot be opened: {0}")]
    Open(#[from] rusqlite::Error),
    /// Its file cannot be removed, or a thread not be started.
    #[error("the index cannot be made anew: {0}")]
    Io(#[from] std::io::Error),
}

/// The index. Clones are handles of the same one.
#[derive(Clone, Debug)]
pub struct Search {
    file: Arc<Path>,
    incarnation: uuid::Uuid,
    finder: Arc<Worker>,
    writer: Arc<Worker>,
    /// Whether a search found it damaged: whoever follows the store makes it anew.
    damaged: Arc<watch::Sender<bool>>,
}

impl Search {
    /// Opens the index of a data directory, for the store of this incarnation; an index of another
    /// one, or one that cannot be read, is replaced by an empty one.
    ///
    /// # Errors
    ///
    /// The disk does not let it be made.
    pub fn open(dir: &Path, incarnation: uuid::Uuid) -> Result<Self, SearchError> {
        let file = dir.join(SEARCH_FILE);
        let writer = index::open(&file, incarnation)?;
        let finder = index::finder(&file)?;
        Ok(Self {
            file: file.into(),
            incarnation,
            finder: Arc::new(Worker::start("search-find", finder)?),
            writer: Arc::new(Worker::start("search-write", writer)?),
            damaged: Arc::default(),
        })
    }

    /// Replaces an index that turned out to be damaged by an empty one.
    async fn renew(&self) -> Result<(), Fault> {
        let (file, incarnation) = (Arc::clone(&self.file), self.incarnation);
        let renewed = self.writer.ask(move |db| {
            let failed = |error: &dyn std::fmt::Display| {
                rusqlite::Error::InvalidPath(error.to_string().into())
            };
            index::remove(&file).map_err(|error| failed(&error))?;
            *db = index::open(&file, incarnation).map_err(|error| failed(&error))?;
            Ok(())
        });
        renewed.await?;
        let (file, damaged) = (Arc::clone(&self.file), Arc::clone(&self.damaged));
        let renewed = self.finder.ask(move |db| {
            *db = index::finder(&file)?;
            damaged.send_replace(false);
            Ok(())
        });
        renewed.await
    }

    /// The items with all of these terms, in one chat or in any. An index that cannot be read is
    /// made anew behind the answer, which is [`QueryError::Unreadable`].
    #[must_use]
    pub fn find(
        &self,
        terms: Terms,
        chat: Option<ChatId>,
        before: Option<String>,
        limit: usize,
    ) -> Answer<HitPage> {
        let page = self.look(move |db| find::page(db, &terms, chat, before.as_deref(), limit));
        Box::pin(async move { page.await?.ok_or(QueryError::InvalidPage) })
    }

    /// The chats that hold such an item, at most [`CHATS_FOUND_MAX`], the ones with the newest first.
    #[must_use]
    pub fn chats(&self, terms: Terms) -> Answer<Vec<ChatId>> {
        self.look(move |db| find::chats(db, &terms))
    }

    /// Has the index made anew where this finds it damaged.
    fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Answer<T> {
        let damaged = Arc::clone(&self.damaged);
        let found = self.finder.ask(move |db| {
            // What was found damaged once may look whole, and empty, to the next who looks.
            if *damaged.borrow() {
                return Err(worker::corrupt());
            }
            let found = look(db);
            // Told from the thread on which the file is replaced: never of the one before.
            if let Err(Fault::Damaged) = found.as_ref().map_err(Fault::of) {
                damaged.send_replace(true);
            }
            found
        });
        Box::pin(async move { Ok(found.await?) })
    }
}
