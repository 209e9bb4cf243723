//! The keeper process: single-threaded, a poll loop around [`KeeperCore`].
//!
//! The program's `main` enters here before any runtime is made ([`main`]); everything the process is told
//! comes by its working directory (the attempt's folder) and its stdin (the attempt's lock).

mod agent;
mod connection;
mod effects;
mod signals;
mod socket;
mod stderr;

mod shell;

use crate::clock::now;
use crate::core::KeeperCore;
use crate::protocol::PROTOCOL_VERSION;
use crate::record::ProcessId;
use crate::registry::{FileError, KeeperRecord, LOCK_FILE, Spec, read_spec, write_record};
use crate::spool::{AppendError, DirFs};
use crate::tree;
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitCode;
use thiserror::Error;

/// Everything is below the working directory.
const HERE: &str = ".";
/// Copies of inherited descriptors go above the three standard ones.
const FIRST_OWN_FD: i32 = 3;

/// Why a keeper could not begin or go on. It is written to the attempt's `keeper.log`.
#[derive(Debug, Error)]
enum ServeError {
    #[error(
        "stdin is not the lock of the attempt in this directory: a keeper is started by its host"
    )]
    NotTheLock,
    #[error("there is no spec to read")]
    NoSpec,
    #[error(transparent)]
    File(#[from] FileError),
    #[error("cannot begin the spool")]
    Spool(#[from] AppendError),
    #[error("an error of the operating system")]
    Io(#[from] io::Error),
    #[error("no randomness")]
    Random(getrandom::Error),
}

impl From<rustix::io::Errno> for ServeError {
    fn from(errno: rustix::io::Errno) -> Self {
        Self::Io(errno.into())
    }
}

/// Keeps one attempt, from the folder that is the working directory, until it is over.
///
/// To be called first in `main`: it closes every descriptor but the three, and no thread may run beside it.
#[must_use]
pub fn main() -> ExitCode {
    tree::shed_inherited();
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log(&error);
            ExitCode::FAILURE
        }
    }
}

/// Writes an error and its causes to stderr, which is `keeper.log`.
fn log(error: &dyn std::error::Error) {
    let mut text = format!("holdfast keeper: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    let _ = writeln!(io::stderr(), "{text}");
}

fn serve() -> Result<(), ServeError> {
    // Held, not used: it is free when this process is gone.
    let _lock = take_lock()?;
    detach()?;
    let signals = signals::Signals::install()?;
    let here = Path::new(HERE);
    let spec = read_spec(here)?.ok_or(ServeError::NoSpec)?;
    let record = this_keeper(&spec)?;
    write_record(here, &record)?;
    let core = KeeperCore::new(spec, DirFs::create(here)?, salt()?, now())?;
    let socket = socket::Socket::bind()?;
    holdfast_fault::point("keeper.sock.bound");
    let outcome = shell::Shell::new(core, record, signals, socket).run();
    socket::remove();
    Ok(outcome?)
}

/// Takes the lock from stdin, where the agent would inherit it, and leaves `/dev/null` there.
fn take_lock() -> Result<OwnedFd, ServeError> {
    let stdin = rustix::stdio::stdin();
    let there = rustix::fs::fstat(stdin)?;
    let expected = rustix::fs::stat(LOCK_FILE).map_err(|_| ServeError::NotTheLock)?;
    if (there.st_dev, there.st_ino) != (expected.st_dev, expected.st_ino) {
        return Err(ServeError::NotTheLock);
    }
    let lock = rustix::io::fcntl_dupfd_cloexec(stdin, FIRST_OWN_FD)?;
    // Held since before this process was started: this only succeeds for the holder.
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)
        .map_err(|_| ServeError::NotTheLock)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let null = rustix::fs::open("/dev/null", flags, Mode::empty())?;
    rustix::stdio::dup2_stdin(&null)?;
    Ok(lock)
}

/// Out of the host's session, and the parent of whatever loses its own below.
fn detach() -> io::Result<()> {
    match rustix::process::setsid() {
        // Already the leader of a group: of its own, since the host starts it as a plain child.
        Ok(_) | Err(rustix::io::Errno::PERM) => {}
        Err(errno) => return Err(errno.into()),
    }
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

fn this_keeper(spec: &Spec) -> io::Result<KeeperRecord> {
    let pid = std::process::id();
    Ok(KeeperRecord {
        attempt: spec.attempt,
        boot_id: tree::boot_id()?,
        keeper: tree::process_id(pid).unwrap_or(ProcessId { pid, start_time: 0 }),
        agent: None,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL_VERSION,
    })
}

fn salt() -> Result<u64, ServeError> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(ServeError::Random)?;
    Ok(u64::from_le_bytes(bytes))
}
