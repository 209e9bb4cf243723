use super::{ATTEMPTS_DIR, AttemptDir, LOCK_FILE, LOG_FILE, Spec, UNBORN_PREFIX, files};
use crate::record::ProcessId;
use crate::tree;
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::ffi::OsStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use thiserror::Error;
use uuid::Uuid;

/// An attempt that is on disk, locked, and has no keeper yet.
#[derive(Debug)]
pub struct Born {
    dir: AttemptDir,
    lock: File,
}

impl Born {
    /// Its folder.
    #[must_use]
    pub fn dir(&self) -> &AttemptDir {
        &self.dir
    }
}

/// An attempt whose keeper was started.
#[derive(Debug)]
pub struct Spawned {
    /// Its folder.
    pub dir: AttemptDir,
    /// Its keeper, which may not have written its record yet.
    pub keeper: Option<ProcessId>,
}

/// An attempt could not be put on disk.
#[derive(Debug, Error)]
pub enum CreateError {
    /// There is one with this id.
    #[error("attempt {0} exists")]
    Exists(Uuid),
    /// An error of the file system.
    #[error("cannot create attempt {attempt}")]
    Io {
        /// Which.
        attempt: Uuid,
        /// The error.
        source: io::Error,
    },
}

/// A keeper could not be started; the attempt is off the disk again.
#[derive(Debug, Error)]
#[error("cannot start the keeper of attempt {attempt}")]
pub struct SpawnError {
    attempt: Uuid,
    source: io::Error,
}

/// Puts an attempt on disk: folder, lock, spec. The folder appears under its name only once the lock is
/// held, so that nobody sees it between and takes it for dead.
///
/// # Errors
/// [`CreateError`]; nothing is left behind.
pub fn create(data_dir: &Path, spec: &Spec) -> Result<Born, CreateError> {
    let attempt = spec.attempt;
    let dir = AttemptDir::of(data_dir, attempt);
    let root = data_dir.join(ATTEMPTS_DIR);
    let unborn = root.join(format!("{UNBORN_PREFIX}{}", attempt.hyphenated()));
    let io_error = |source| CreateError::Io { attempt, source };
    DirBuilder::new().recursive(true).mode(0o700).create(&root).map_err(io_error)?;
    if dir.path.exists() {
        return Err(CreateError::Exists(attempt));
    }
    let born = lock_and_specify(&unborn, spec).and_then(|lock| {
        std::fs::rename(&unborn, &dir.path)?;
        Ok(lock)
    });
    match born {
        Ok(lock) => Ok(Born { dir, lock }),
        Err(source) => {
            let _ = std::fs::remove_dir_all(&unborn);
            Err(io_error(source))
        }
    }
}

fn lock_and_specify(unborn: &Path, spec: &Spec) -> io::Result<File> {
    match std::fs::remove_dir_all(unborn) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    DirBuilder::new().mode(0o700).create(unborn)?;
    let lock = files::create_private(&unborn.join(LOCK_FILE))?;
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
    files::write_spec(unborn, spec)?;
    Ok(lock)
}

/// Starts the keeper of an attempt: `exe args…`, which has to enter [`crate::serve::main`].
///
/// The lock travels as the keeper's stdin; this process keeps no copy of it. The keeper makes itself the
/// leader of its own session, so nothing that happens to this process reaches it. Its environment is
/// empty but for a fault point that is meant for keepers. It is waited for in a task of its own, so that
/// it leaves no zombie while this process lives.
///
/// # Errors
/// [`SpawnError`]; the attempt is removed again.
///
/// # Panics
/// Outside a tokio runtime.
pub fn spawn(
    born: Born,
    exe: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> Result<Spawned, SpawnError> {
    let Born { dir, lock } = born;
    match spawn_keeper(&dir.path, lock, exe, args) {
        Ok(mut child) => {
            // It is not waited for yet: whatever has become of it, its id is its own.
            let keeper = child.id().and_then(tree::process_id);
            tokio::spawn(async move {
                let _ = child.wait().await;
            });
            Ok(Spawned { dir, keeper })
        }
        Err(source) => {
            let _ = std::fs::remove_dir_all(&dir.path);
            Err(SpawnError { attempt: dir.attempt, source })
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "this is where keepers are started")]
fn spawn_keeper(
    dir: &Path,
    lock: File,
    exe: &Path,
    args: impl IntoIterator<Item = impl AsRef<OsStr>>,
) -> io::Result<tokio::process::Child> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC;
    let log = rustix::fs::open(dir.join(LOG_FILE), flags, Mode::RUSR | Mode::WUSR)?;
    let exe: PathBuf = std::path::absolute(exe)?;
    let mut command = tokio::process::Command::new(exe);
    command
        .args(args)
        .current_dir(dir)
        .env_clear()
        .envs(holdfast_fault::environment_for("keeper"))
        .stdin(Stdio::from(lock))
        .stdout(Stdio::null())
        .stderr(Stdio::from(log))
        .kill_on_drop(false);
    command.spawn()
}
