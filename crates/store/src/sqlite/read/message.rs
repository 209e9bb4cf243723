//! Messages and the queue.

use holdfast_core::fact::Author;
use holdfast_core::ids::{AttemptId, ItemId, MessageId, TurnId};
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::{attachment, bad, is_here};
use crate::derive::valid_head;
use crate::rows::{MessageRow, QueueBounds, QueuePage};
use crate::sqlite::fail::Fail;
use crate::sqlite::words::{from_word, message_state};

const COLUMNS: &str = "id, author, state, detail, bytes, digest, item_origin, item_n, turn,
    attempt, accepted_at,
    (SELECT COUNT(*) FROM message_attachments WHERE message = messages.n)";

/// The row as it is stored, with its words unread.
struct Raw {
    row: MessageRow,
    author: String,
    state: String,
    detail: Option<String>,
    attached: u32,
}

/// A row of [`COLUMNS`] and then the text.
fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    let item: (Option<u32>, Option<u32>) = (row.get(6)?, row.get(7)?);
    let attempt: Option<[u8; 16]> = row.get(9)?;
    let text: Option<Vec<u8>> = row.get(12)?;
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
        attachments: Vec::new(),
    };
    let (author, state, detail) = (row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(Raw { row: read, author, state, detail, attached: row.get(11)? })
}

fn read(db: &Connection, key: &[u8], raw: Raw) -> Result<MessageRow, Fail> {
    let by = from_word(&raw.author).ok_or_else(|| bad("an author", &raw.author))?;
    let state = message_state(&raw.state, raw.detail.as_deref())
        .ok_or_else(|| bad("the state of a message", &raw.state))?;
    let attachments = match raw.attached {
        0 => Vec::new(),
        _ => attachment::of_message(db, key, raw.row.id)?,
    };
    Ok(MessageRow { by, state, attachments, ..raw.row })
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
    let Some(raw) = found else { return Ok(None) };
    let mut row = read(db, key, raw)?;
    if !is_here(db, key)? {
        row.text.clear();
        row.attachments.clear();
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
    found.map(|raw| read(db, key, raw)).transpose()
}

/// None where no such message waits. Of each text only its beginning is held, one text at a time.
pub(in crate::sqlite) fn queue(
    db: &Connection,
    key: &[u8],
    from: Option<MessageId>,
    bounds: QueueBounds,
) -> Result<Option<QueuePage>, Fail> {
    if !is_here(db, key)? {
        return Ok(from.is_none().then(QueuePage::default));
    }
    let first = match from {
        None => i64::MIN,
        Some(from) => match place(db, key, from)? {
            Some(place) => place,
            None => return Ok(None),
        },
    };
    let sql = format!(
        "SELECT {COLUMNS}, NULL,
            (SELECT substr(text, 1, ?) FROM message_texts WHERE message = messages.n)
        FROM messages WHERE chat = ? AND place IS NOT NULL AND place >= ? ORDER BY place"
    );
    let mut sql = db.prepare_cached(&sql)?;
    let mut waiting = sql.query(params![bounds.head_bytes, key, first])?;
    let mut page = QueuePage::default();
    let mut bytes = 0;
    while let Some(row) = waiting.next()? {
        let head: Option<Vec<u8>> = row.get(13)?;
        let text = valid_head(&head.unwrap_or_default(), bounds.head_bytes).to_owned();
        let row = MessageRow { text, ..read(db, key, raw(row)?)? };
        bytes += row.text.len();
        if bounds.is_full(page.rows.len(), bytes) {
            page.next = Some(row.id);
            break;
        }
        page.rows.push(row);
    }
    Ok(Some(page))
}

/// Where a message waits, if it does.
fn place(db: &Connection, key: &[u8], id: MessageId) -> Result<Option<i64>, Fail> {
    let sql = "SELECT place FROM messages WHERE chat = ? AND id = ? AND place IS NOT NULL";
    let uuid = id.uuid();
    let mut sql = db.prepare_cached(sql)?;
    Ok(sql.query_row(params![key, uuid.as_bytes().as_slice()], |row| row.get(0)).optional()?)
}

/// The messages that wait, in order, without their texts.
pub(super) fn waiting(db: &Connection, key: &[u8]) -> Result<Vec<MessageRow>, Fail> {
    let sql = format!(
        "SELECT {COLUMNS}, NULL FROM messages WHERE chat = ? AND place IS NOT NULL ORDER BY place"
    );
    let mut sql = db.prepare_cached(&sql)?;
    let rows = sql.query_map([key], raw)?;
    rows.map(|row| read(db, key, row?)).collect()
}
