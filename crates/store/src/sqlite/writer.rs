//! The one thread that writes. It takes all that waits into one transaction, answers when that is
//! durable, and folds the write-ahead log back when nobody waits for it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use holdfast_core::ids::ChatId;
use holdfast_core::time::Micros;
use holdfast_fault::point;
use prometheus_client::metrics::histogram::Histogram;
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use super::batch;
use super::damage::Damage;
use super::open;
use super::tidy::Tidy;
use crate::blobs::Blobs;
use crate::journal::{CommitError, Committed, Operation, Unit};
use crate::rows::Draft;

/// Calls that may wait for the writer; a further one waits to be let in.
pub(super) const CALLS_WAITING_MAX: usize = 1024;
/// Calls of one transaction.
const BATCH_CALLS_MAX: usize = 256;
/// Pages of the log after which it is folded back (4 MiB).
const FOLD_PAGES: i32 = 1024;
/// Pages that come to the log before it is tried again after a failure.
const FOLD_AGAIN_PAGES: i32 = 256;
/// Pages of the log after which the writer waits for readers in order to cut it (64 MiB).
const CUT_PAGES: i32 = 16 * 1024;
/// How long the writer waits for readers to let go of the log.
const CUT_PATIENCE: Duration = Duration::from_millis(250);

/// What the damage list says while the log cannot be folded back.
const FOLD_FAILED: &str = "The write-ahead log cannot be folded back into the store: the disk is \
    full or failing.";

/// What a caller gets back.
pub(super) type Answered<T> = oneshot::Sender<Result<T, CommitError>>;

/// One call.
#[derive(Debug)]
pub(super) enum Call {
    /// Units that go together.
    Commit { units: Vec<Unit>, answer: Answered<Vec<Committed<Unit>>> },
    /// A draft.
    Draft {
        chat: ChatId,
        principal: String,
        draft: Draft,
        operation: Option<Operation>,
        answer: Answered<()>,
    },
    /// An operation by itself.
    Remember { chat: Option<ChatId>, operation: Operation, at: Micros, answer: Answered<()> },
    /// Write what waits, then end.
    Stop,
}

/// The thread's state.
pub(super) struct Writer {
    file: PathBuf,
    pages_max: Option<u32>,
    /// None after a failure whose outcome is open, until the file could be opened again.
    db: Option<Connection>,
    log_pages: Arc<AtomicI32>,
    /// Pages of the log at which it is folded back next.
    fold_at: i32,
    /// The newest committed change.
    newest: watch::Sender<u64>,
    damage: Damage,
    tidy: Tidy,
    /// Calls of each transaction.
    batches: Histogram,
}

impl Writer {
    pub(super) fn new(
        file: PathBuf,
        pages_max: Option<u32>,
        db: Connection,
        newest: watch::Sender<u64>,
        damage: Damage,
        batches: Histogram,
    ) -> Self {
        let log_pages = Arc::new(AtomicI32::new(0));
        let dir = file.parent().unwrap_or(&file);
        let (fold_at, tidy) = (FOLD_PAGES, Tidy::new(Blobs::of(dir)));
        let mut this =
            Self { file, pages_max, db: None, log_pages, fold_at, newest, damage, tidy, batches };
        this.adopt(db);
        this
    }

    fn adopt(&mut self, mut db: Connection) {
        let pages = Arc::clone(&self.log_pages);
        let hook = move |_: &mut rusqlite::hooks::Wal, n| {
            pages.store(n, Ordering::Relaxed);
            Ok(())
        };
        if let Err(error) = db.wal_hook(Some(hook)) {
            self.damage.note(format!("The write-ahead log is not watched: {error}."));
        }
        self.db = Some(db);
    }

    /// Runs until the last caller is gone.
    pub(super) fn run(mut self, mut calls: mpsc::Receiver<Call>) {
        while let Some(first) = calls.blocking_recv() {
            let mut batch = vec![first];
            while batch.len() < BATCH_CALLS_MAX
                && let Ok(next) = calls.try_recv()
            {
                batch.push(next);
            }
            let stop = batch.iter().any(|call| matches!(call, Call::Stop));
            point("host.commit.batch.before");
            self.write(batch);
            point("host.commit.batch.after");
            if stop {
                calls.close();
            }
            self.fold_log();
            while calls.is_empty() && self.tidy_up() {}
        }
    }

    fn write(&mut self, batch: Vec<Call>) {
        let Some(mut db) = self.db.take().or_else(|| self.reopen()) else {
            for call in batch {
                call.fail(&CommitError::Failed("the store cannot be opened again".to_owned()));
            }
            return;
        };
        let newest = *self.newest.borrow();
        self.tidy.saw(&batch);
        self.batches.observe(f64::from(u32::try_from(batch.len()).unwrap_or(u32::MAX)));
        let written = batch::write(&mut db, batch, newest);
        match written.outcome {
            batch::Outcome::Known => {
                let newest = written.newest;
                self.newest.send_if_modified(|n| std::mem::replace(n, newest) != newest);
                self.db = Some(db);
            }
            batch::Outcome::Open(error) => {
                // What the file holds is known again only to a connection that reads it anew:
                // before anybody is told to look.
                self.damage.note(format!("A commit failed at the disk: {error}."));
                drop(db);
                self.db = self.reopen();
            }
        }
        for answer in written.answers {
            answer.send();
        }
    }

    fn reopen(&mut self) -> Option<Connection> {
        let db = open::writer(&self.file, self.pages_max).ok()?;
        let newest = super::read::change_bounds(&db).ok()?.newest;
        self.newest.send_if_modified(|n| std::mem::replace(n, newest) != newest);
        self.adopt(db);
        self.db.take()
    }

    /// Folds the log back once it is long. That needs room in the file; without it the log stays
    /// and a later commit tries again.
    fn fold_log(&mut self) {
        let pages = self.log_pages.load(Ordering::Relaxed);
        let Some(db) = self.db.as_ref().filter(|_| pages > self.fold_at) else { return };
        let folded = if pages > CUT_PAGES { cut_log(db) } else { fold(db, "PASSIVE") };
        match folded {
            Ok(()) => {
                self.fold_at = FOLD_PAGES;
                self.damage.over(FOLD_FAILED);
            }
            Err(_) => {
                self.fold_at = pages.saturating_add(FOLD_AGAIN_PAGES);
                self.damage.note(FOLD_FAILED);
            }
        }
    }

    /// Whether there is more to do.
    fn tidy_up(&mut self) -> bool {
        let Some(db) = self.db.as_mut() else { return false };
        self.tidy.slice(db)
    }
}

fn fold(db: &Connection, how: &str) -> rusqlite::Result<()> {
    db.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()))
}

fn cut_log(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(CUT_PATIENCE)?;
    let cut = fold(db, "TRUNCATE");
    db.busy_timeout(open::BUSY_TIMEOUT)?;
    cut
}

impl Call {
    /// Answers that it failed.
    pub(super) fn fail(self, error: &CommitError) {
        // Whoever asked may be gone: then nobody needs the answer.
        match self {
            Self::Commit { answer, .. } => drop(answer.send(Err(error.clone()))),
            Self::Draft { answer, .. } | Self::Remember { answer, .. } => {
                drop(answer.send(Err(error.clone())));
            }
            Self::Stop => {}
        }
    }
}
