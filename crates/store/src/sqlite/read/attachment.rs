//! Attachments.

use std::collections::BTreeMap;

use holdfast_core::attachment::{Attachment, Attachments, Held};
use holdfast_core::fork::ForkedFile;
use holdfast_core::ids::{AttachmentId, MessageId};
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::rows::AttachmentRow;
use crate::sqlite::fail::Fail;

const COLUMNS: &str = "id, name, media_type, bytes, sha256, at, named";

fn raw(row: &Row<'_>) -> rusqlite::Result<AttachmentRow> {
    let named: Option<[u8; 16]> = row.get(6)?;
    Ok(AttachmentRow {
        attachment: Attachment {
            id: AttachmentId::new(Uuid::from_bytes(row.get(0)?)),
            name: row.get(1)?,
            media_type: row.get(2)?,
            bytes: row.get(3)?,
            sha256: row.get(4)?,
        },
        at: Micros(row.get(5)?),
        named: named.map(|bytes| MessageId::new(Uuid::from_bytes(bytes))),
    })
}

pub(in crate::sqlite) fn attachment(
    db: &Connection,
    key: &[u8],
    id: AttachmentId,
) -> Result<Option<AttachmentRow>, Fail> {
    let sql = format!("SELECT {COLUMNS} FROM attachments WHERE chat = ? AND id = ?");
    let uuid = id.uuid();
    let mut sql = db.prepare_cached(&sql)?;
    Ok(sql.query_row(params![key, uuid.as_bytes().as_slice()], raw).optional()?)
}

/// All of a chat, in the order in which they came.
pub(in crate::sqlite) fn attachments(
    db: &Connection,
    key: &[u8],
) -> Result<Vec<AttachmentRow>, Fail> {
    let sql = format!("SELECT {COLUMNS} FROM attachments WHERE chat = ? ORDER BY n");
    let mut sql = db.prepare_cached(&sql)?;
    let rows = sql.query_map([key], raw)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The files of the messages that are shown up to a place, in the order in which they came, each with
/// the last of those messages.
pub(in crate::sqlite) fn files_until(
    db: &Connection,
    key: &[u8],
    at: u64,
) -> Result<Vec<ForkedFile>, Fail> {
    let sql = "SELECT m.attachment, messages.id FROM messages
        JOIN message_attachments AS m ON m.message = messages.n
        JOIN items ON items.chat = messages.chat AND items.origin = messages.item_origin
            AND items.id = messages.item_n
        WHERE messages.chat = ? AND items.place <= ? ORDER BY items.place";
    let mut sql = db.prepare_cached(sql)?;
    let told = sql.query_map(params![key, i64::try_from(at).unwrap_or(i64::MAX)], |row| {
        Ok((Uuid::from_bytes(row.get(0)?), MessageId::new(Uuid::from_bytes(row.get(1)?))))
    })?;
    // Of several the last counts.
    let told = told.collect::<Result<BTreeMap<Uuid, MessageId>, _>>()?;
    let file = |row: AttachmentRow| {
        let Attachment { id, bytes, .. } = row.attachment;
        Some(ForkedFile { id, bytes, named: *told.get(&id.uuid())? })
    };
    Ok(attachments(db, key)?.into_iter().filter_map(file).collect())
}

/// What a decision needs to know of them.
pub(super) fn held(db: &Connection, key: &[u8]) -> Result<Attachments, Fail> {
    let mut sql = db.prepare_cached("SELECT id, bytes, named FROM attachments WHERE chat = ?")?;
    let rows = sql.query_map([key], |row| {
        let named: Option<[u8; 16]> = row.get(2)?;
        let named = named.map(|bytes| MessageId::new(Uuid::from_bytes(bytes)));
        let id = AttachmentId::new(Uuid::from_bytes(row.get(0)?));
        Ok((id, Held { bytes: row.get(1)?, named }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What goes with a message, in order.
pub(in crate::sqlite) fn of_message(
    db: &Connection,
    key: &[u8],
    message: MessageId,
) -> Result<Vec<Attachment>, Fail> {
    let sql = format!(
        "SELECT {} FROM messages JOIN message_attachments AS m ON m.message = messages.n
        JOIN attachments AS a ON a.chat = messages.chat AND a.id = m.attachment
        WHERE messages.chat = ? AND messages.id = ? ORDER BY m.place",
        COLUMNS.split(", ").map(|column| format!("a.{column}")).collect::<Vec<_>>().join(", ")
    );
    let uuid = message.uuid();
    let mut sql = db.prepare_cached(&sql)?;
    let rows = sql.query_map(params![key, uuid.as_bytes().as_slice()], raw)?;
    rows.map(|row| Ok(row?.attachment)).collect()
}
