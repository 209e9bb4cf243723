//! Opening: the directory, the file, the connection's settings, the schema.

use std::fs::{DirBuilder, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use uuid::Uuid;

use super::damage::Damage;
use super::fail::{Class, class};

/// The file within the data directory.
pub const FILE: &str = "journal.db";

/// How long a connection waits for another before it gives up.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Prepared statements that a connection keeps.
const STATEMENTS_MAX: usize = 160;
/// KiB of pages that the writer and each reader keep.
const WRITER_CACHE_KIB: i64 = 8 * 1024;
const READER_CACHE_KIB: i64 = 2 * 1024;
/// Bytes that the write-ahead log keeps on disk after it was folded back.
const WAL_KEPT_BYTES: i64 = 16 * 1024 * 1024;

/// The scripts that lead from each version of the schema to the next.
const MIGRATIONS: [&str; 8] = [
    include_str!("schema/001.sql"),
    include_str!("schema/002.sql"),
    include_str!("schema/003.sql"),
    include_str!("schema/004.sql"),
    include_str!("schema/005.sql"),
    include_str!("schema/006.sql"),
    include_str!("schema/007.sql"),
    include_str!("schema/008.sql"),
];

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The directory cannot be made or looked at.
    #[error("the directory {path} cannot be used: {source}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The directory is on a network: locks and syncs cannot be trusted there.
    #[error("{path} is on a network file system ({kind}); a store needs a local one")]
    NotLocal {
        /// The directory.
        path: PathBuf,
        /// What it is on.
        kind: String,
    },
    /// A newer Holdfast wrote it.
    #[error(
        "{path} has the schema version {found}, written by a newer Holdfast; this one reads up to \
        {known}. Start the newer version, or restore a backup from before the update."
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// What this build reads.
        known: i64,
    },
    /// The file is not a store, or its first pages are damaged.
    #[error("{path} cannot be read as a store: {source}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        source: rusqlite::Error,
    },
    /// A thread could not be started.
    #[error("a thread of the store could not be started: {0}")]
    Thread(std::io::Error),
}

/// Makes the directory where it is missing, for its owner alone, and checks that it is local.
pub(super) fn prepare(dir: &Path) -> Result<PathBuf, OpenError> {
    let directory = |source| OpenError::Directory { path: dir.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(directory)?;
    if let Some(kind) = network_file_system(dir).map_err(|e| directory(e.into()))? {
        return Err(OpenError::NotLocal { path: dir.to_owned(), kind });
    }
    let file = dir.join(FILE);
    // SQLite gives its other files the mode of this one.
    let made = OpenOptions::new().append(true).create(true).mode(0o600).open(&file);
    let made = made.map_err(directory)?;
    let mode = made.metadata().map_err(directory)?.permissions().mode();
    if mode & 0o077 != 0 {
        made.set_permissions(PermissionsExt::from_mode(0o600)).map_err(directory)?;
    }
    Ok(file)
}

/// The name of the network file system that a directory is on, if it is on one.
#[cfg(target_os = "linux")]
fn network_file_system(dir: &Path) -> rustix::io::Result<Option<String>> {
    const NAMES: [(u64, &str); 11] = [
        (0x6969, "nfs"),
        (0xFF53_4D42, "cifs"),
        (0xFE53_4D42, "smb2"),
        (0x517B, "smb"),
        (0x564C, "ncp"),
        (0x5346_414F, "afs"),
        (0x7375_7245, "coda"),
        (0x0102_1997, "9p"),
        (0x00C3_6400, "ceph"),
        (0x0BD0_0BD0, "lustre"),
        (0x4750_4653, "gpfs"),
    ];
    let kind = rustix::fs::statfs(dir)?.f_type;
    let name = NAMES.iter().find(|(magic, _)| same_magic(kind, *magic));
    Ok(name.map(|(_, name)| (*name).to_owned()))
}

/// The kernel's word for it is signed on some machines: only 32 bits count.
#[cfg(target_os = "linux")]
fn same_magic(kind: impl TryInto<i128>, magic: u64) -> bool {
    kind.try_into().is_ok_and(|kind| kind & 0xFFFF_FFFF == i128::from(magic))
}

#[cfg(not(target_os = "linux"))]
fn network_file_system(dir: &Path) -> rustix::io::Result<Option<String>> {
    let name: Vec<u8> = rustix::fs::statfs(dir)?
        .f_fstypename
        .iter()
        .map(|c| c.to_ne_bytes()[0])
        .take_while(|c| *c != 0)
        .collect();
    let name = String::from_utf8_lossy(&name).into_owned();
    let remote = ["nfs", "smbfs", "afpfs", "webdav", "ftp"].contains(&name.as_str());
    Ok(remote.then_some(name))
}

/// The one connection that writes. `pages_max` bounds the file, for tests.
pub(super) fn writer(file: &Path, pages_max: Option<u32>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    common(&db, WRITER_CACHE_KIB)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    // A power cut takes nothing back that a commit has answered.
    db.pragma_update(None, "synchronous", "FULL")?;
    if cfg!(target_vendor = "apple") {
        db.pragma_update(None, "fullfsync", true)?;
        db.pragma_update(None, "checkpoint_fullfsync", true)?;
    }
    db.pragma_update(None, "journal_size_limit", WAL_KEPT_BYTES)?;
    // The writer folds the log back itself, after its callers have their answers.
    db.pragma_update(None, "wal_autocheckpoint", 0)?;
    if let Some(pages) = pages_max {
        db.pragma_update(None, "max_page_count", pages)?;
    }
    Ok(db)
}

/// A connection that only reads.
pub(super) fn reader(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags)?;
    common(&db, READER_CACHE_KIB)?;
    Ok(db)
}

fn common(db: &Connection, cache_kib: i64) -> rusqlite::Result<()> {
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    db.pragma_update(None, "cache_size", -cache_kib)?;
    db.pragma_update(None, "foreign_keys", false)?;
    db.pragma_update(None, "trusted_schema", false)?;
    // A damaged cell is an error where it is read, not a crash later on.
    db.pragma_update(None, "cell_size_check", true)
}

/// What the store says of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identity {
    pub(super) incarnation: Uuid,
    pub(super) generation: u64,
}

/// Brings the schema up to date and counts this opening.
pub(super) fn migrate(
    db: &mut Connection,
    file: &Path,
    damage: &Damage,
) -> Result<Identity, OpenError> {
    let damaged = |source| OpenError::Damaged { path: file.to_owned(), source };
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let found: i64 =
        db.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(damaged)?;
    if found > known {
        return Err(OpenError::Newer { path: file.to_owned(), found, known });
    }
    for (version, script) in (1_i64..).zip(MIGRATIONS) {
        if version > found {
            let step = db.transaction_with_behavior(TransactionBehavior::Immediate);
            let step = step.map_err(damaged)?;
            step.execute_batch(script).map_err(damaged)?;
            step.pragma_update(None, "user_version", version).map_err(damaged)?;
            step.commit().map_err(damaged)?;
        }
    }
    match count_opening(db) {
        Ok(identity) => Ok(identity),
        // A full disk is no reason not to show what is there.
        Err(error) if class(&error) == Class::Full => {
            damage.note("The disk is full: the store can be read but takes nothing.");
            let incarnation = read_incarnation(db).map_err(damaged)?.unwrap_or_default();
            let generation = read_generation(db).map_err(damaged)?.saturating_add(1);
            Ok(Identity { incarnation, generation })
        }
        Err(error) => Err(damaged(error)),
    }
}

fn read_incarnation(db: &Connection) -> rusqlite::Result<Option<Uuid>> {
    meta::<[u8; 16]>(db, "incarnation").map(|bytes| bytes.map(Uuid::from_bytes))
}

fn read_generation(db: &Connection) -> rusqlite::Result<u64> {
    meta::<[u8; 8]>(db, "generation").map(|n| u64::from_be_bytes(n.unwrap_or_default()))
}

fn meta<T: rusqlite::types::FromSql>(db: &Connection, name: &str) -> rusqlite::Result<Option<T>> {
    use rusqlite::OptionalExtension;
    let sql = "SELECT value FROM meta WHERE name = ?";
    db.query_row(sql, [name], |row| row.get(0)).optional()
}

fn count_opening(db: &mut Connection) -> rusqlite::Result<Identity> {
    let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let incarnation = match read_incarnation(&step)? {
        Some(incarnation) => incarnation,
        None => Uuid::new_v4(),
    };
    let generation = read_generation(&step)?.saturating_add(1);
    let set = "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)";
    step.execute(set, ("incarnation", incarnation.as_bytes().as_slice()))?;
    step.execute(set, ("generation", generation.to_be_bytes().as_slice()))?;
    step.commit()?;
    Ok(Identity { incarnation, generation })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_network_file_system_is_told_by_its_number() {
        assert!(same_magic(0x6969_i64, 0x6969));
        // Some machines say it in 32 signed bits.
        assert!(same_magic(0xFF53_4D42_u32 as i32, 0xFF53_4D42));
        assert!(same_magic(0xFF53_4D42_u64, 0xFF53_4D42));
        assert!(!same_magic(0xEF53_i64, 0x6969));
    }

    #[test]
    fn a_local_directory_is_taken() {
        assert_eq!(network_file_system(&std::env::temp_dir()).unwrap(), None);
    }
}
