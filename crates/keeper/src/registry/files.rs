use super::{RECORD_FILE, SPEC_FILE, STDERR_FILE, STDERR_OLD_FILE, Spec};
use crate::limits::SMALL_FILE_BYTES_MAX;
use crate::record::ProcessId;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use thiserror::Error;
use uuid::Uuid;

/// Who a keeper and its agent are. Only guards signals: whether the keeper lives is said by its lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeeperRecord {
    /// The keeper's attempt.
    pub attempt: Uuid,
    /// The boot in which all of this is true.
    pub boot_id: String,
    /// The keeper.
    pub keeper: ProcessId,
    /// The agent, once it was born.
    pub agent: Option<ProcessId>,
    /// The version of the keeper's program.
    pub version: String,
    /// The version of its protocol.
    pub protocol: u64,
}

/// A small file of an attempt cannot be used.
#[derive(Debug, Error)]
pub enum FileError {
    /// An error of the file system.
    #[error("cannot read or write {file}")]
    Io {
        /// Which file.
        file: &'static str,
        /// The error.
        source: io::Error,
    },
    /// The file is longer than it can be.
    #[error("{file} is longer than {max} bytes")]
    TooLong {
        /// Which file.
        file: &'static str,
        /// What may be, in bytes.
        max: u64,
    },
    /// The file is not what it should be.
    #[error("{file} is damaged")]
    Damaged {
        /// Which file.
        file: &'static str,
        /// The error.
        source: serde_json::Error,
    },
}

/// Creates a file that only its owner may read. It must not be there.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(File::from(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?))
}

fn read_small(dir: &Path, file: &'static str) -> Result<Option<Vec<u8>>, FileError> {
    let io_error = |source: io::Error| FileError::Io { file, source };
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = match rustix::fs::open(dir.join(file), flags, Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(io_error(errno.into())),
    };
    let mut bytes = Vec::new();
    opened.take(SMALL_FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(io_error)?;
    if bytes.len() as u64 > SMALL_FILE_BYTES_MAX {
        return Err(FileError::TooLong { file, max: SMALL_FILE_BYTES_MAX });
    }
    Ok(Some(bytes))
}

pub(super) fn write_spec(dir: &Path, spec: &Spec) -> io::Result<()> {
    let mut file = create_private(&dir.join(SPEC_FILE))?;
    file.write_all(&serde_json::to_vec(spec)?)
}

/// Reads the spec and removes it: a secret does not stay on disk.
pub(crate) fn read_spec(dir: &Path) -> Result<Option<Spec>, FileError> {
    let Some(bytes) = read_small(dir, SPEC_FILE)? else { return Ok(None) };
    let removed = std::fs::remove_file(dir.join(SPEC_FILE));
    removed.map_err(|source| FileError::Io { file: SPEC_FILE, source })?;
    holdfast_fault::point("keeper.spec.removed");
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|source| FileError::Damaged { file: SPEC_FILE, source })
}

pub(super) fn read_record(dir: &Path) -> Result<Option<KeeperRecord>, FileError> {
    let Some(bytes) = read_small(dir, RECORD_FILE)? else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|source| FileError::Damaged { file: RECORD_FILE, source })
}

/// Writes the record so that a reader finds the old or the new one, whole.
pub(crate) fn write_record(dir: &Path, record: &KeeperRecord) -> Result<(), FileError> {
    let io_error = |source: io::Error| FileError::Io { file: RECORD_FILE, source };
    let bytes = serde_json::to_vec(record)
        .map_err(|source| FileError::Damaged { file: RECORD_FILE, source })?;
    let new = dir.join("record.new");
    match std::fs::remove_file(&new) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => return Err(io_error(source)),
        _ => {}
    }
    let mut file = create_private(&new).map_err(io_error)?;
    file.write_all(&bytes).map_err(io_error)?;
    file.sync_data().map_err(io_error)?;
    std::fs::rename(&new, dir.join(RECORD_FILE)).map_err(io_error)?;
    holdfast_fault::point("keeper.record.written");
    Ok(())
}

/// The last `max` bytes of the two files that stderr is kept in.
pub(crate) fn stderr_tail(dir: &Path, max: usize) -> io::Result<Vec<u8>> {
    let mut tail = file_tail(&dir.join(STDERR_FILE), max)?;
    if tail.len() < max {
        let mut old = file_tail(&dir.join(STDERR_OLD_FILE), max - tail.len())?;
        old.append(&mut tail);
        tail = old;
    }
    Ok(tail)
}

fn file_tail(path: &Path, max: usize) -> io::Result<Vec<u8>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let max = max as u64;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(max)))?;
    let mut tail = Vec::new();
    file.take(max).read_to_end(&mut tail)?;
    Ok(tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Limits, Secret};
    use std::os::unix::fs::PermissionsExt;

    fn record(agent: Option<ProcessId>) -> KeeperRecord {
        KeeperRecord {
            attempt: Uuid::from_u128(1),
            boot_id: "b".to_owned(),
            keeper: ProcessId { pid: 2, start_time: 3 },
            agent,
            version: "0.1.0".to_owned(),
            protocol: 1,
        }
    }

    #[test]
    fn a_record_is_replaced_whole() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_record(dir.path()).unwrap(), None);
        for agent in [None, Some(ProcessId { pid: 4, start_time: 5 })] {
            write_record(dir.path(), &record(agent)).unwrap();
            assert_eq!(read_record(dir.path()).unwrap(), Some(record(agent)));
        }
    }

    #[test]
    fn a_damaged_or_endless_file_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(RECORD_FILE);
        std::fs::write(&path, b"{").unwrap();
        assert!(matches!(read_record(dir.path()), Err(FileError::Damaged { .. })));
        std::fs::write(&path, vec![b' '; 70_000]).unwrap();
        assert!(matches!(read_record(dir.path()), Err(FileError::TooLong { .. })));
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("elsewhere", &path).unwrap();
        assert!(matches!(read_record(dir.path()), Err(FileError::Io { .. })));
    }

    #[test]
    fn a_spec_is_private_and_gone_once_read() {
        let dir = tempfile::tempdir().unwrap();
        let spec = Spec {
            attempt: Uuid::from_u128(1),
            secret: Secret::from_bytes([1; 32]),
            incarnation: Uuid::from_u128(2),
            limits: Limits::default(),
        };
        write_spec(dir.path(), &spec).unwrap();
        let mode = std::fs::metadata(dir.path().join(SPEC_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(read_spec(dir.path()).unwrap(), Some(spec));
        assert!(!dir.path().join(SPEC_FILE).exists());
        assert_eq!(read_spec(dir.path()).unwrap(), None);
    }

    #[test]
    fn a_tail_spans_both_files() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(stderr_tail(dir.path(), 10).unwrap(), b"");
        std::fs::write(dir.path().join(STDERR_OLD_FILE), b"abcdef").unwrap();
        std::fs::write(dir.path().join(STDERR_FILE), b"gh").unwrap();
        assert_eq!(stderr_tail(dir.path(), 5).unwrap(), b"defgh");
        assert_eq!(stderr_tail(dir.path(), 1).unwrap(), b"h");
    }
}
