//! What can go wrong at SQLite, and what it means for a commit or a query.

use rusqlite::ErrorCode;

use crate::journal::CommitError;
use crate::query::QueryError;

/// Why a unit, or a query, did not come about.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fail {
    /// It contradicts what is stored.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// SQLite said so.
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    /// A value cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A stored value is none that this build knows.
    #[error("{0}")]
    Bad(String),
}

/// What an error of SQLite means for what is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// The statement contradicts what is stored; the transaction goes on.
    Constraint,
    /// No room.
    Full,
    /// The disk failed.
    Io,
    /// Anything else: memory, damage, defects.
    Other,
}

pub(super) fn class(error: &rusqlite::Error) -> Class {
    match error.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig) => Class::Constraint,
        Some(ErrorCode::DiskFull) => Class::Full,
        Some(ErrorCode::SystemIoFailure) => Class::Io,
        Some(_) => Class::Other,
        // Not from SQLite itself: a value that cannot be bound, such as a number over 63 bits.
        None => Class::Constraint,
    }
}

impl Fail {
    pub(super) fn class(&self) -> Class {
        match self {
            Self::Sql(error) => class(error),
            Self::Commit(_) | Self::Json(_) | Self::Bad(_) => Class::Constraint,
        }
    }

    /// Whether it says that what is stored is damaged, and not that the store is in trouble.
    pub(super) fn is_damage(&self) -> bool {
        match self {
            Self::Sql(error) => match error.sqlite_error_code() {
                Some(code) => {
                    matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
                }
                None => true,
            },
            Self::Bad(_) => true,
            Self::Commit(_) | Self::Json(_) => false,
        }
    }

    /// What the caller of a commit is told, where nothing was stored.
    pub(super) fn of_commit(self) -> CommitError {
        match self {
            Self::Commit(error) => error,
            Self::Sql(error) => match class(&error) {
                Class::Constraint => CommitError::Refused(error.to_string()),
                Class::Full => CommitError::StorageFull,
                Class::Io | Class::Other => CommitError::Failed(error.to_string()),
            },
            Self::Json(error) => CommitError::Refused(error.to_string()),
            Self::Bad(text) => CommitError::Failed(text),
        }
    }

    /// What the asker of a query is told.
    pub(super) fn of_query(&self) -> QueryError {
        QueryError::Unreadable(self.to_string())
    }
}
