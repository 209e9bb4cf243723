//! A thread with a connection to the index.

use std::thread::JoinHandle;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::{mpsc, oneshot};

use crate::journal::Pending;
use crate::query::QueryError;

/// Calls that may wait.
const CALLS_WAITING_MAX: usize = 64;

type Call = Box<dyn FnOnce(&mut Connection) + Send>;

/// Why a call was not answered.
#[derive(Debug)]
pub(super) enum Fault {
    Overloaded,
    Stopped,
    /// The file is damaged; it can be made anew.
    Damaged,
    Sql(String),
}

impl Fault {
    pub(super) fn of(error: &rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        match (error, error.sqlite_error_code()) {
            (_, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)) => Self::Damaged,
            // Within a page that looks whole: what was stored had its type.
            (
                FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..),
                _,
            ) => Self::Damaged,
            (_, Some(_) | None) => Self::Sql(error.to_string()),
        }
    }
}

/// What SQLite says of a damaged file.
pub(super) fn corrupt() -> rusqlite::Error {
    let error = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    rusqlite::Error::SqliteFailure(error, None)
}

impl From<Fault> for QueryError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Overloaded => Self::Overloaded,
            Fault::Stopped => Self::Stopped,
            Fault::Damaged => Self::Unreadable("the search index is damaged".to_owned()),
            Fault::Sql(text) => Self::Unreadable(text),
        }
    }
}

/// The queue before the thread, which ends with it.
#[derive(Debug)]
pub(super) struct Worker {
    calls: Option<mpsc::Sender<Call>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(super) fn start(name: &str, mut db: Connection) -> std::io::Result<Self> {
        let (calls, mut waiting) = mpsc::channel::<Call>(CALLS_WAITING_MAX);
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            while let Some(call) = waiting.blocking_recv() {
                call(&mut db);
            }
        })?;
        Ok(Self { calls: Some(calls), thread: Some(thread) })
    }

    pub(super) fn ask<T: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Pending<T, Fault> {
        let (answer, answered) = oneshot::channel();
        let call: Call = Box::new(move |db| {
            let found = call(db).map_err(|error| Fault::of(&error));
            drop(answer.send(found));
        });
        let asked = self.calls.as_ref().map(|calls| calls.try_send(call));
        Box::pin(async move {
            match asked {
                Some(Ok(())) => answered.await.unwrap_or(Err(Fault::Stopped)),
                Some(Err(mpsc::error::TrySendError::Full(_))) => Err(Fault::Overloaded),
                Some(Err(mpsc::error::TrySendError::Closed(_))) | None => Err(Fault::Stopped),
            }
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.calls = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
