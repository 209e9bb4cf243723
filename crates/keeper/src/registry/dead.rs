use super::{AttemptDir, ProbeError};
use crate::spool::{DirFs, OpenError, SpoolReader};
use thiserror::Error;
use uuid::Uuid;

/// The spool of a dead keeper cannot be read.
#[derive(Debug, Error)]
pub enum ReadDeadError {
    /// The keeper lives: it is the one to ask.
    #[error("the keeper of attempt {0} lives")]
    Alive(Uuid),
    /// Whether it lives cannot be asked.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Its spool cannot be read from there.
    #[error("cannot read what attempt {attempt} has left")]
    Open {
        /// Whose.
        attempt: Uuid,
        /// Why.
        source: OpenError,
    },
}

/// Reads what the keeper of `dir` has spooled, from `position` on, directly from disk.
///
/// # Errors
/// [`ReadDeadError`]; a keeper that lives is not read behind its back.
pub fn read_dead(dir: &AttemptDir, position: u64) -> Result<SpoolReader<DirFs>, ReadDeadError> {
    let attempt = dir.attempt();
    if dir.is_alive()? {
        return Err(ReadDeadError::Alive(attempt));
    }
    SpoolReader::open(DirFs::open(dir.path()), attempt, position)
        .map_err(|source| ReadDeadError::Open { attempt, source })
}
