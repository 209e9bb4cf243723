//! The store on SQLite: one file, one thread that writes, a few that read.
//!
//! The data directory must belong to one process: its lock is the caller's.

mod batch;
mod damage;
mod fail;
mod open;
mod operations;
mod project;
mod read;
mod readers;
mod store;
#[cfg(test)]
mod tests;
mod tidy;
pub(crate) mod words;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use tokio::sync::{mpsc, watch};

pub use open::{FILE, OpenError};

use self::damage::Damage;
use self::open::Identity;
use self::readers::Readers;
use self::writer::{CALLS_WAITING_MAX, Call, Writer};
use crate::blobs::Blobs;
use crate::figures::Figures;

/// What a store is opened with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The data directory; made if it is missing.
    pub dir: PathBuf,
    /// Pages of 4 KiB that the file may have; none for as many as there is room for.
    pub pages_max: Option<u32>,
}

impl Options {
    /// A store in this directory.
    #[must_use]
    pub fn new(dir: impl AsRef<Path>) -> Self {
        Self { dir: dir.as_ref().to_owned(), pages_max: None }
    }
}

/// A store in a directory. Clones share it; the threads end with the last of them.
#[derive(Clone, Debug)]
pub struct Sqlite {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// None once it is stopped.
    calls: Mutex<Option<mpsc::Sender<Call>>>,
    readers: Mutex<Option<Readers>>,
    reading: Mutex<Vec<JoinHandle<()>>>,
    writing: Mutex<Vec<JoinHandle<()>>>,
    newest: watch::Sender<u64>,
    damage: Damage,
    identity: Identity,
    figures: Figures,
}

impl Sqlite {
    /// Opens the store, making it where there is none. Blocks.
    ///
    /// # Errors
    /// See [`OpenError`]. A full disk is none: the store can then be read.
    pub fn open(options: &Options) -> Result<Self, OpenError> {
        let file = open::prepare(&options.dir)?;
        // Without room for it now, it is made with the first file that comes.
        drop(Blobs::of(&options.dir).prepare());
        let damaged = |source| OpenError::Damaged { path: file.clone(), source };
        let damage = Damage::default();
        let mut db = open::writer(&file, options.pages_max).map_err(damaged)?;
        let identity = open::migrate(&mut db, &file, &damage)?;
        let newest = match read::change_bounds(&db) {
            Ok(bounds) => bounds.newest,
            Err(fail::Fail::Sql(source)) => return Err(damaged(source)),
            Err(error) => {
                damage.note(format!("The change feed is damaged: {error}."));
                0
            }
        };
        let newest = watch::Sender::new(newest);
        let (readers, reading) = Readers::start(&file, &damage)?;
        readers.look_for_damage(&file);
        let (calls, waiting) = mpsc::channel(CALLS_WAITING_MAX);
        let figures = Figures::default();
        let batches = figures.batch_calls.clone();
        let writer =
            Writer::new(file, options.pages_max, db, newest.clone(), damage.clone(), batches);
        let thread = std::thread::Builder::new().name("store-write".to_owned());
        let writing = thread.spawn(move || writer.run(waiting)).map_err(OpenError::Thread)?;
        let inner = Inner {
            calls: Mutex::new(Some(calls)),
            readers: Mutex::new(Some(readers)),
            reading: Mutex::new(reading),
            writing: Mutex::new(vec![writing]),
            newest,
            damage,
            identity,
            figures,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Writes what waits, answers what is asked, and ends the threads. Blocks.
    pub fn stop(&self) {
        self.inner.stop();
    }
}

impl Inner {
    fn calls(&self) -> Option<mpsc::Sender<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn readers(&self) -> Option<Readers> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The readers end first: the last connection to close folds the log back, and only the
    /// writer's can.
    fn stop(&self) {
        drop(self.readers.lock().unwrap_or_else(PoisonError::into_inner).take());
        join(&self.reading);
        if let Some(calls) = self.calls.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A caller that still waits holds a sender too. Where there is no room for this word
            // the writer ends once all of them are gone.
            drop(calls.try_send(Call::Stop));
        }
        join(&self.writing);
    }
}

fn join(threads: &Mutex<Vec<JoinHandle<()>>>) {
    let threads = std::mem::take(&mut *threads.lock().unwrap_or_else(PoisonError::into_inner));
    for thread in threads {
        // A thread that panicked has nothing more to say.
        drop(thread.join());
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop();
    }
}
