//! Attempts on disk: `DATA_DIR/attempts/UUID/`.
//!
//! | file | what it is | written by |
//! |---|---|---|
//! | `lock` | held by the keeper as long as it lives | host, once |
//! | `spec` | the secret, the incarnation, the limits; gone once read | host, once |
//! | `record` | who the keeper and the agent are | keeper |
//! | `sock` | the keeper's socket | keeper |
//! | `spool/` | the attempt's records | keeper |
//! | `frames/` | frames that wait and are too big for memory | keeper |
//! | `stderr`, `stderr.old` | the last of the agent's stderr | keeper |
//! | `keeper.log` | what a keeper says when it fails | keeper |

mod birth;
mod dead;
mod files;
mod spec;

pub use birth::{Born, CreateError, SpawnError, Spawned, create, spawn};
pub use dead::{ReadDeadError, read_dead};
pub use files::{FileError, KeeperRecord};
pub use spec::{Limits, Secret, Spec};

pub(crate) use files::{read_spec, stderr_tail, write_record};

use rustix::fs::{FlockOperation, Mode, OFlags};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;
use uuid::Uuid;

/// The folder of all attempts in a data directory.
pub const ATTEMPTS_DIR: &str = "attempts";
pub(crate) const LOCK_FILE: &str = "lock";
pub(crate) const SPEC_FILE: &str = "spec";
pub(crate) const RECORD_FILE: &str = "record";
pub(crate) const SOCKET_FILE: &str = "sock";
pub(crate) const STDERR_FILE: &str = "stderr";
pub(crate) const STDERR_OLD_FILE: &str = "stderr.old";
pub(crate) const LOG_FILE: &str = "keeper.log";
/// Attempts that are not completely born carry this in front of their id.
const UNBORN_PREFIX: &str = ".new-";

/// The folder of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptDir {
    path: PathBuf,
    attempt: Uuid,
}

impl AttemptDir {
    /// The folder that `attempt` has in `data_dir`, whether or not it is there.
    #[must_use]
    pub fn of(data_dir: &Path, attempt: Uuid) -> Self {
        let path = data_dir.join(ATTEMPTS_DIR).join(attempt.hyphenated().to_string());
        Self { path, attempt }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whose it is.
    #[must_use]
    pub fn attempt(&self) -> Uuid {
        self.attempt
    }

    /// Whether the attempt's keeper lives: whether its lock is held.
    ///
    /// # Errors
    /// [`ProbeError`] when the lock cannot be asked. An attempt without a lock file has no keeper.
    pub fn is_alive(&self) -> Result<bool, ProbeError> {
        let probe = |source: io::Error| ProbeError { attempt: self.attempt, source };
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let lock = match rustix::fs::open(self.path.join(LOCK_FILE), flags, Mode::empty()) {
            Ok(lock) => lock,
            Err(rustix::io::Errno::NOENT) => return Ok(false),
            Err(errno) => return Err(probe(errno.into())),
        };
        // A shared lock, so that two that ask at once do not take each other for the keeper.
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
            Err(errno) => Err(probe(errno.into())),
        }
    }

    /// Who the keeper and its agent are, or `None` before the keeper has said so.
    ///
    /// # Errors
    /// [`FileError`] when the file is there and cannot be read.
    pub fn record(&self) -> Result<Option<KeeperRecord>, FileError> {
        files::read_record(&self.path)
    }

    /// The last of what the agent wrote to stderr, also of a dead attempt; at most `max` bytes.
    ///
    /// # Errors
    /// Those of reading the files; files that are not there are empty.
    pub fn stderr_tail(&self, max: usize) -> io::Result<Vec<u8>> {
        stderr_tail(&self.path, max)
    }
}

/// The lock of an attempt could not be asked.
#[derive(Debug, Error)]
#[error("cannot ask whether the keeper of attempt {attempt} lives")]
pub struct ProbeError {
    attempt: Uuid,
    source: io::Error,
}

/// All attempts of a data directory, dead or alive, in the order of their ids. Births that a crash cut
/// short are removed, so this is for the start of a host, before it bears any itself.
///
/// # Errors
/// Those of reading the folder; a folder that is not there is empty.
pub fn list(data_dir: &Path) -> io::Result<Vec<AttemptDir>> {
    read(data_dir, Unborn::Removed)
}

/// As [`list`], while a host bears attempts: nothing is removed.
///
/// # Errors
/// Those of reading the folder; a folder that is not there is empty.
pub fn look(data_dir: &Path) -> io::Result<Vec<AttemptDir>> {
    read(data_dir, Unborn::Kept)
}

/// What becomes of births that seem to be cut short.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unborn {
    Removed,
    Kept,
}

fn read(data_dir: &Path, cut_short: Unborn) -> io::Result<Vec<AttemptDir>> {
    let root = data_dir.join(ATTEMPTS_DIR);
    let entries = match std::fs::read_dir(&root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if let Some(unborn) = name.strip_prefix(UNBORN_PREFIX) {
            if let Ok(attempt) = Uuid::try_parse(unborn)
                && cut_short == Unborn::Removed
            {
                let dir = AttemptDir { path: entry.path(), attempt };
                if matches!(dir.is_alive(), Ok(false)) {
                    std::fs::remove_dir_all(&dir.path)?;
                }
            }
        } else if let Ok(attempt) = Uuid::try_parse(name) {
            found.push(AttemptDir { path: entry.path(), attempt });
        }
    }
    found.sort_by_key(|dir| dir.attempt);
    Ok(found)
}

/// An attempt's folder could not be removed.
#[derive(Debug, Error)]
pub enum RemoveError {
    /// Its keeper lives.
    #[error("the keeper of attempt {0} lives")]
    Alive(Uuid),
    /// An error of the file system.
    #[error("cannot remove attempt {attempt}")]
    Io {
        /// Whose folder.
        attempt: Uuid,
        /// The error.
        source: io::Error,
    },
}

/// Removes a dead attempt with all that it left. One that is not there is removed already.
///
/// # Errors
/// [`RemoveError`]; a folder whose keeper lives is not touched.
pub fn remove(dir: &AttemptDir) -> Result<(), RemoveError> {
    let attempt = dir.attempt;
    match dir.is_alive() {
        Ok(false) => {}
        Ok(true) => return Err(RemoveError::Alive(attempt)),
        Err(error) => return Err(RemoveError::Io { attempt, source: error.source }),
    }
    match std::fs::remove_dir_all(&dir.path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(RemoveError::Io { attempt, source })
        }
        _ => Ok(()),
    }
}
