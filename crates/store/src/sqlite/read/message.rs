//! Messages and the queue.

use holdfast_core::fact::Author;
use holdfast_core::ids::{AttemptId, ItemId, MessageId, TurnId};
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::{bad, is_here};
use crate::rows::MessageRow;
use crate::sqlite::fail::Fail;
use crate::sqlite::words::{from_word, message_state};

const COLUMNS: &str = "id, author, state, detail, bytes, digest, item_origin, item_n, turn,
    attempt, accepted_at";

/// The row as it is stored, with its words unread.
struct Raw {
    row: MessageRow,
    author: String,
    state: String,
    detail: Option<String>,
}

/// A row of [`COLUMNS`] and then the text.
fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    let item: (Option<u32>, Option<u32>) = (row.get(6)?, row.get(7)?);
    let attempt: Option<[u8; 16]> = row.get(9)?;
    let text: Option<Vec<u8>> = row.get(11)?;
    let text = text.map(String::from_utf8).and_then(Result::ok).unwrap_or_default();
    let read = MessageRow {
        id: MessageId::new(Uuid::from_bytes(row.get(0)?)),
        by: Author::Host,
        state: crate::rows::MessageState::Queued,
        text,
        bytes: row.get(4)?,
        digest: row.get(5)?,
        item: item.0.zip(item.1).map(|(origin, n)| ItemId::new(origin, n)),
        turn: row.get::<_, Option<u32>>(8)?.map(TurnId),
        attempt: attempt.map(|bytes| AttemptId::new(Uuid::from_bytes(bytes))),
        accepted_at: Micros(row.get(10)?),
    };
    Ok(Raw { row: read, author: row.get(1)?, state: row.get(2)?, detail: row.get(3)? })
}

fn read(raw: Raw) -> Result<MessageRow, Fail> {
    let by = from_word(&raw.author).ok_or_else(|| bad("an author", &raw.author))?;
    let state = message_state(&raw.state, raw.detail.as_deref())
        .ok_or_else(|| bad("the state of a message", &raw.state))?;
    Ok(MessageRow { by, state, ..raw.row })
}

pub(in crate::sqlite) fn message(
    db: &Connection,
    key: &[u8],
    id: MessageId,
) -> Result<Option<MessageRow>, Fail> {
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT text FROM message_texts WHERE message = messages.n)
        FROM messages WHERE chat = ? AND id = ?"
    );
    let uuid = id.uuid();
    let mut sql = db.prepare_cached(&sql)?;
    let found = sql.query_row(params![key, uuid.as_bytes().as_slice()], raw).optional()?;
    let Some(mut row) = found.map(read).transpose()? else { return Ok(None) };
    if !is_here(db, key)? {
        row.text.clear();
    }
    Ok(Some(row))
}

/// The message without its text.
pub(super) fn without_text(
    db: &Connection,
    key: &[u8],
    id: MessageId,
) -> Result<Option<MessageRow>, Fail> {
    let sql = format!("SELECT {COLUMNS}, NULL FROM messages WHERE chat = ? AND id = ?");
    let uuid = id.uuid();
    let mut sql = db.prepare_cached(&sql)?;
    let found = sql.query_row(params![key, uuid.as_bytes().as_slice()], raw).optional()?;
    found.map(read).transpose()
}

/// Bytes of texts that one answer carries of a queue: its later messages come without.
const QUEUE_TEXT_BYTES_MAX: usize = 32 * 1024 * 1024;

pub(in crate::sqlite) fn queue(db: &Connection, key: &[u8]) -> Result<Vec<MessageRow>, Fail> {
    let mut rows = waiting(db, key)?;
    let mut room = QUEUE_TEXT_BYTES_MAX;
    for row in &mut rows {
        let bytes = usize::try_from(row.bytes).unwrap_or(usize::MAX);
        let Some(left) = room.checked_sub(bytes) else { break };
        room = left;
        if let Some(whole) = message(db, key, row.id)? {
            row.text = whole.text;
        }
    }
    Ok(rows)
}

/// The messages that wait, in order, without their texts.
pub(super) fn waiting(db: &Connection, key: &[u8]) -> Result<Vec<MessageRow>, Fail> {
    let sql = format!(
        "SELECT {COLUMNS}, NULL FROM messages WHERE chat = ? AND place IS NOT NULL ORDER BY place"
    );
    let mut sql = db.prepare_cached(&sql)?;
    let rows = sql.query_map([key], raw)?;
    rows.map(|row| read(row?)).collect()
}
