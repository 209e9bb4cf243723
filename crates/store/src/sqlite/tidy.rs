//! What is removed in time: the rows of deleted chats, old changes, old operations. In slices, and
//! only while nobody waits.

use holdfast_core::ids::ChatId;
use holdfast_core::limits::OPERATION_KEPT_MICROS;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use uuid::Uuid;

use super::fail::Fail;
use super::writer::Call;
use crate::blobs::Blobs;

/// Rows that one slice removes of one table.
const SLICE_ROWS: i64 = 200;
/// Files that one slice removes.
const SLICE_FILES: usize = 16;
/// For how long things are kept.
pub(super) mod kept {
    /// Changes that are kept however old they are.
    pub(in crate::sqlite) const CHANGES: i64 = 1_000_000;
    /// Age in microseconds up to which every change is kept.
    pub(super) const CHANGES_MICROS: i64 = 7 * 24 * 3600 * 1_000_000;
}
/// For so long after a start, or after the clock jumped, nothing expires.
const SETTLE_MICROS: i64 = 60 * 1_000_000;
/// A step of the clock between two commits that counts as a jump, to either side.
const JUMP_MICROS: u64 = 3600 * 1_000_000;
/// Calls after which expiry is looked at again.
const LOOK_CALLS: usize = 4096;

/// What the writer knows of time: what the units say. It has no clock of its own.
#[derive(Debug)]
pub(super) struct Tidy {
    /// The files of what is attached.
    blobs: Blobs,
    /// Since when the clock has gone on without a jump, and its last word.
    clock: Option<(i64, i64)>,
    calls: usize,
    expiry_due: bool,
    /// Whether a deleted chat may be waiting; at first it is not known.
    reaped: bool,
}

/// Why a slice of a deleted chat stays for now.
#[derive(Debug, thiserror::Error)]
enum Reaping {
    #[error(transparent)]
    Rows(#[from] Fail),
    #[error(transparent)]
    Sql(#[from] rusqlite::Error),
    #[error(transparent)]
    Files(#[from] std::io::Error),
}

impl Tidy {
    pub(super) const fn new(blobs: Blobs) -> Self {
        Self { blobs, clock: None, calls: 0, expiry_due: false, reaped: false }
    }

    /// Takes notice of what is about to be written.
    pub(super) fn saw(&mut self, batch: &[Call]) {
        for call in batch {
            let at = match call {
                Call::Commit { units, .. } => units.last().map(|unit| unit.at),
                Call::Draft { draft, .. } => Some(draft.at),
                Call::Remember { at, .. } => Some(*at),
                Call::Stop => None,
            };
            if let Some(at) = at {
                self.heard(at.0);
            }
        }
        self.calls += batch.len();
        if self.calls >= LOOK_CALLS {
            self.calls = 0;
            self.expiry_due = true;
        }
        self.reaped = false;
    }

    /// Takes notice of the time, in microseconds.
    pub(super) fn heard(&mut self, at: i64) {
        self.clock = Some(match self.clock {
            Some((since, last)) if at.abs_diff(last) <= JUMP_MICROS => (since, at),
            Some(_) | None => (at, at),
        });
    }

    /// The time, once the clock has settled.
    pub(super) fn settled(&self) -> Option<i64> {
        let (since, last) = self.clock?;
        (last.saturating_sub(since) >= SETTLE_MICROS).then_some(last)
    }

    /// Removes a little. Whether there may be more to remove; after a failure there is not, until
    /// the next commit.
    pub(super) fn slice(&mut self, db: &mut Connection) -> bool {
        if !self.reaped {
            let more = reap(db, &self.blobs).unwrap_or(false);
            self.reaped = !more;
            return true;
        }
        if !self.expiry_due {
            return false;
        }
        let more = match self.settled() {
            Some(now) => expire(db, now).unwrap_or(false),
            None => false,
        };
        self.expiry_due = more;
        more
    }
}

/// Removes a slice of the rows of one deleted chat; whether there was one.
fn reap(db: &mut Connection, blobs: &Blobs) -> Result<bool, Reaping> {
    let sql = "SELECT chat FROM chats WHERE reap = 1 LIMIT 1";
    let chat: Option<[u8; 16]> =
        db.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    let Some(chat) = chat else { return Ok(false) };
    // Before the rows: what is left of a chat is found by its row.
    if blobs.reap(ChatId::new(Uuid::from_bytes(chat)), SLICE_FILES)? {
        return Ok(true);
    }
    let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut gone = 0;
    for (table, which) in [
        (
            "item_pieces",
            "SELECT item_pieces.n FROM items JOIN item_pieces ON item_pieces.item = items.n
            WHERE items.chat = ?",
        ),
        (
            "message_texts",
            "SELECT message FROM message_texts JOIN messages ON message = messages.n
            WHERE messages.chat = ?",
        ),
        ("facts", "SELECT n FROM facts WHERE chat = ?"),
        ("prompts", "SELECT n FROM prompts WHERE chat = ?"),
        ("tasks", "SELECT n FROM tasks WHERE chat = ?"),
        ("turns", "SELECT n FROM turns WHERE chat = ?"),
        ("attachments", "SELECT n FROM attachments WHERE chat = ?"),
    ] {
        let sql = format!("DELETE FROM {table} WHERE rowid IN ({which} LIMIT {SLICE_ROWS})");
        gone += step.prepare_cached(&sql)?.execute([chat])?;
    }
    // Without a number of its own: what goes with a message is at most a few.
    let sql = format!(
        "DELETE FROM message_attachments WHERE message IN (SELECT message FROM message_attachments
        JOIN messages ON message = messages.n WHERE messages.chat = ? LIMIT {SLICE_ROWS})"
    );
    gone += step.prepare_cached(&sql)?.execute([chat])?;
    if gone == 0 {
        // Items go last: their pieces are found by them.
        let sql = format!(
            "DELETE FROM items WHERE n IN (SELECT n FROM items WHERE chat = ? LIMIT {SLICE_ROWS})"
        );
        gone = step.prepare_cached(&sql)?.execute([chat])?;
    }
    if gone == 0 {
        let sql = "UPDATE chats SET reap = 0, title = NULL, last_prompt = NULL WHERE chat = ?";
        step.prepare_cached(sql)?.execute([chat])?;
    }
    step.commit()?;
    Ok(true)
}

/// Removes a slice of what has expired at `now`; whether there may be more.
pub(super) fn expire(db: &mut Connection, now: i64) -> Result<bool, Fail> {
    let step = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let newest = "SELECT MAX(n) FROM changes";
    let newest: Option<i64> = step.query_row(newest, [], |row| row.get(0))?;
    let spared = newest.unwrap_or(0).saturating_sub(kept::CHANGES);
    // Only from the front, so that what is kept is without gaps.
    let sql = "SELECT n, at FROM changes ORDER BY n LIMIT ?";
    let old = now.saturating_sub(kept::CHANGES_MICROS);
    let mut last = None;
    {
        let mut sql = step.prepare_cached(sql)?;
        let rows = sql.query_map([SLICE_ROWS], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for row in rows {
            let (n, at): (i64, i64) = row?;
            if n > spared || at >= old {
                break;
            }
            last = Some(n);
        }
    }
    let mut gone = 0;
    if let Some(last) = last {
        gone += step.execute("DELETE FROM changes WHERE n <= ?", [last])?;
        let sql = "INSERT OR REPLACE INTO meta (name, value) VALUES ('changes_pruned', ?)";
        step.execute(sql, [last.to_be_bytes()])?;
    }
    let sql = "DELETE FROM operations WHERE rowid IN
        (SELECT rowid FROM operations WHERE at < ? LIMIT ?)";
    let old = now.saturating_sub(OPERATION_KEPT_MICROS);
    gone += step.execute(sql, params![old, SLICE_ROWS])?;
    step.commit()?;
    Ok(gone > 0)
}
