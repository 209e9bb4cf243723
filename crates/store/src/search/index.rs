//! The file of the index: opened, filled, emptied.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdfast_core::ids::{ChatId, ItemId};
use holdfast_core::item::{ItemKind, Role};
use holdfast_core::time::Micros;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use uuid::Uuid;

use super::SearchError;
use crate::sqlite::words::word;

/// The version of the schema; an index of another one is made anew.
const VERSION: i64 = 1;
const SCHEMA: &str = include_str!("schema.sql");
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// KiB of pages that a connection keeps.
const CACHE_KIB: i64 = 4 * 1024;

/// What is searched of an item.
#[derive(Clone, Debug)]
pub(super) struct Doc {
    pub(super) chat: ChatId,
    pub(super) item: ItemId,
    pub(super) place: u64,
    pub(super) kind: ItemKind,
    pub(super) role: Role,
    pub(super) at: Micros,
    pub(super) text: String,
}

/// What a piece of the change feed, or a walk over all chats, makes of the index.
#[derive(Debug, Default)]
pub(super) struct Step {
    pub(super) docs: Vec<Doc>,
    /// Items that are not there any more.
    pub(super) gone: Vec<(ChatId, ItemId)>,
    /// Chats that are not there any more.
    pub(super) removed: Vec<ChatId>,
    /// How far the change feed is read by this.
    pub(super) cursor: Option<u64>,
    /// Whether the index holds all there is with this.
    pub(super) complete: bool,
}

/// Opens the index to write it; one that does not fit is replaced.
pub(super) fn open(file: &Path, incarnation: Uuid) -> Result<Connection, SearchError> {
    // One that cannot be read is no loss.
    if let Ok(Some(db)) = existing(file, incarnation) {
        return Ok(db);
    }
    remove(file)?;
    OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    let mut db = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let step = db.transaction()?;
    step.execute_batch(SCHEMA)?;
    let set = "INSERT INTO meta (name, value) VALUES ('incarnation', ?)";
    step.execute(set, [incarnation.as_bytes().as_slice()])?;
    step.pragma_update(None, "user_version", VERSION)?;
    step.commit()?;
    Ok(db)
}

/// Removes the index.
pub(super) fn remove(file: &Path) -> std::io::Result<()> {
    for file in [file.to_owned(), beside(file, "-wal"), beside(file, "-shm")] {
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

fn existing(file: &Path, incarnation: Uuid) -> rusqlite::Result<Option<Connection>> {
    if !file.exists() {
        return Ok(None);
    }
    let db = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != VERSION || meta(&db, "incarnation")? != Some(*incarnation.as_bytes()) {
        return Ok(None);
    }
    Ok(Some(db))
}

fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A connection that only reads.
pub(super) fn finder(file: &Path) -> rusqlite::Result<Connection> {
    connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn connect(file: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let db = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    db.busy_timeout(BUSY_TIMEOUT)?;
    db.pragma_update(None, "cache_size", -CACHE_KIB)?;
    if flags.contains(OpenFlags::SQLITE_OPEN_READ_WRITE) {
        db.pragma_update(None, "journal_mode", "WAL")?;
        // A power cut may take the last steps back: they are made again from the cursor.
        db.pragma_update(None, "synchronous", "NORMAL")?;
    }
    Ok(db)
}

fn meta<const N: usize>(db: &Connection, name: &str) -> rusqlite::Result<Option<[u8; N]>> {
    let sql = "SELECT value FROM meta WHERE name = ?";
    db.prepare_cached(sql)?.query_row([name], |row| row.get(0)).optional()
}

/// How far the change feed is read; none while the index is not complete.
pub(super) fn cursor(db: &Connection) -> rusqlite::Result<Option<u64>> {
    if !is_complete(db)? {
        return Ok(None);
    }
    Ok(meta(db, "cursor")?.map(u64::from_be_bytes))
}

/// Whether the index holds all there is.
pub(super) fn is_complete(db: &Connection) -> rusqlite::Result<bool> {
    Ok(meta(db, "complete")? == Some([1]))
}

/// Empties the index, to be filled anew from all chats and then from this place of the feed.
pub(super) fn empty(db: &mut Connection, cursor: u64) -> rusqlite::Result<()> {
    let step = db.transaction()?;
    step.execute("DELETE FROM meta WHERE name = 'complete'", [])?;
    // Without its triggers: each would look up a text that goes anyway.
    step.execute_batch(
        "INSERT INTO texts (texts) VALUES ('delete-all');
        DROP TRIGGER docs_removed;
        DELETE FROM docs;
        CREATE TRIGGER docs_removed AFTER DELETE ON docs BEGIN
            INSERT INTO texts (texts, rowid, text) VALUES ('delete', old.id, old.text);
        END;",
    )?;
    set_cursor(&step, cursor)?;
    step.commit()
}

fn set_cursor(db: &Connection, cursor: u64) -> rusqlite::Result<()> {
    let set = "INSERT OR REPLACE INTO meta (name, value) VALUES ('cursor', ?)";
    db.prepare_cached(set)?.execute([cursor.to_be_bytes()]).map(drop)
}

/// Takes a step in, all of it or nothing.
pub(super) fn apply(db: &mut Connection, taken: &Step) -> rusqlite::Result<()> {
    let step = db.transaction()?;
    for doc in &taken.docs {
        let sql = "INSERT INTO docs (chat, origin, n, place, kind, role, at, text)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (chat, origin, n) DO UPDATE
            SET text = excluded.text, kind = excluded.kind WHERE text <> excluded.text";
        let bad = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        step.prepare_cached(sql)?.execute(params![
            doc.chat.uuid().as_bytes().as_slice(),
            doc.item.origin,
            doc.item.n,
            doc.place,
            word(&doc.kind).map_err(bad)?,
            word(&doc.role).map_err(bad)?,
            doc.at.0,
            doc.text,
        ])?;
    }
    for (chat, item) in &taken.gone {
        let sql = "DELETE FROM docs WHERE chat = ? AND origin = ? AND n = ?";
        let key = chat.uuid();
        step.prepare_cached(sql)?.execute(params![
            key.as_bytes().as_slice(),
            item.origin,
            item.n
        ])?;
    }
    for chat in &taken.removed {
        let key = chat.uuid();
        let sql = "DELETE FROM docs WHERE chat = ?";
        step.prepare_cached(sql)?.execute([key.as_bytes().as_slice()])?;
    }
    if let Some(cursor) = taken.cursor {
        set_cursor(&step, cursor)?;
    }
    if taken.complete {
        step.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('complete', x'01')", [])?;
    }
    step.commit()
}
