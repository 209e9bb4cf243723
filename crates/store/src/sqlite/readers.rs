//! A few threads that answer queries, each with a connection of its own.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::damage::Damage;
use super::fail::Fail;
use super::open::{self, OpenError};
use crate::query::{Answer, QueryError};

/// Threads that read.
const READERS: usize = 4;
/// Queries that may wait for one of them.
const QUERIES_WAITING_MAX: usize = 1024;

/// Bytes of a file that is looked through for damage when it is opened.
const DAMAGE_LOOK_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Damaged places that are named.
const DAMAGE_NAMED_MAX: usize = 8;

type Query = Box<dyn FnOnce(&Connection) + Send>;

/// The queue before the threads. They end when the last clone of it is dropped.
#[derive(Clone, Debug)]
pub(super) struct Readers {
    queries: mpsc::Sender<Query>,
    damage: Damage,
}

impl Readers {
    pub(super) fn start(
        file: &Path,
        damage: &Damage,
    ) -> Result<(Self, Vec<JoinHandle<()>>), OpenError> {
        let (queries, waiting) = mpsc::channel::<Query>(QUERIES_WAITING_MAX);
        let waiting = Arc::new(Mutex::new(waiting));
        let mut threads = Vec::with_capacity(READERS);
        for n in 0..READERS {
            let damaged = |source| OpenError::Damaged { path: file.to_owned(), source };
            let db = open::reader(file).map_err(damaged)?;
            let waiting = Arc::clone(&waiting);
            let thread = std::thread::Builder::new().name(format!("store-read-{n}"));
            threads.push(thread.spawn(move || serve(&db, &waiting)).map_err(OpenError::Thread)?);
        }
        Ok((Self { queries, damage: damage.clone() }, threads))
    }

    /// Looks through the file while the store already serves. A large file is not looked at: what
    /// is damaged there is found when it is read.
    pub(super) fn look_for_damage(&self, file: &Path) {
        let bytes = std::fs::metadata(file).map_or(0, |meta| meta.len());
        if bytes > DAMAGE_LOOK_BYTES_MAX {
            return;
        }
        let damage = self.damage.clone();
        drop(self.ask(move |db| {
            let mut look = db.prepare(&format!("PRAGMA quick_check({DAMAGE_NAMED_MAX})"))?;
            let found = look.query_map([], |row| row.get::<_, String>(0))?;
            for place in found {
                let place = place?;
                if place != "ok" {
                    damage.note(format!("The store is damaged: {}.", place.trim()));
                }
            }
            Ok(())
        }));
    }

    /// Asks; the answer comes from whichever thread is free.
    pub(super) fn ask<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Fail> + Send + 'static,
    ) -> Answer<T> {
        let (answer, answered) = oneshot::channel();
        let damage = self.damage.clone();
        let query: Query = Box::new(move |db| {
            let found = in_one_view(db, query).map_err(|error| {
                if error.is_damage() {
                    damage.note(format!("A query met damage: {error}."));
                }
                error.of_query()
            });
            // Whoever asked may be gone: then nobody needs it.
            drop(answer.send(found));
        });
        let asked = self.queries.try_send(query).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => QueryError::Overloaded,
            mpsc::error::TrySendError::Closed(_) => QueryError::Stopped,
        });
        Box::pin(async move {
            asked?;
            answered.await.unwrap_or(Err(QueryError::Stopped))
        })
    }
}

/// All statements of one query see the same state; the view ends with it, so that the log can be
/// folded back.
fn in_one_view<T>(
    db: &Connection,
    query: impl FnOnce(&Connection) -> Result<T, Fail>,
) -> Result<T, Fail> {
    let view = db.unchecked_transaction()?;
    query(&view)
}

fn serve(db: &Connection, waiting: &Mutex<mpsc::Receiver<Query>>) {
    loop {
        // The lock is held while waiting: the other threads wait for it instead of the queue.
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
        match next {
            Some(query) => query(db),
            None => return,
        }
    }
}
