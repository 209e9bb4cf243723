//! Items and their texts.

use std::ops::Range;

use holdfast_core::ids::{ItemId, TurnId};
use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::limits::{ITEM_TEXT_HEAD_BYTES, PAGE_ITEMS_MAX};
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{live, message};
use crate::derive::text_head;
use crate::rows::{ItemRow, PageFrom, TEXT_RANGE_BYTES_MAX, TextHead, TextRange};
use crate::sqlite::fail::Fail;
use crate::sqlite::project::PIECE_BYTES_MAX;
use crate::sqlite::words::{FIELDS, field_number, from_json, from_word};

const COLUMNS: &str = "n, origin, id, place, turn, kind, role, at, body, closed, version,
    text_bytes, input_bytes, output_bytes, EXISTS (SELECT 1 FROM turns WHERE turns.chat = items.chat
        AND turns.id = items.turn AND turns.ends = items.place AND turns.left_behind = 0)";

/// The row as it is stored, with the bytes of its texts.
struct Raw {
    n: i64,
    row: ItemRow,
    bytes: [u64; 3],
}

fn raw(row: &Row<'_>) -> rusqlite::Result<Raw> {
    let (kind, role): (String, String) = (row.get(5)?, row.get(6)?);
    let body: String = row.get(8)?;
    // What cannot be read of one item is shown as such in its place.
    let unreadable = || Body::Unrecognised { reason: "unreadable".to_owned() };
    Ok(Raw {
        n: row.get(0)?,
        row: ItemRow {
            id: ItemId::new(row.get(1)?, row.get(2)?),
            place: row.get(3)?,
            turn: row.get::<_, Option<u32>>(4)?.map(TurnId),
            kind: from_word(&kind).unwrap_or(ItemKind::Unrecognised),
            role: from_word(&role).unwrap_or(Role::Host),
            at: Micros(row.get(7)?),
            body: from_json(&body).unwrap_or_else(unreadable),
            texts: Vec::new(),
            closed: row.get(9)?,
            message: None,
            prompt: None,
            version: row.get(10)?,
            ends_turn: row.get(14)?,
        },
        bytes: [row.get(11)?, row.get(12)?, row.get(13)?],
    })
}

/// Adds the beginnings of its texts, its message and its prompt.
fn whole(db: &Connection, key: &[u8], raw: Raw) -> Result<ItemRow, Fail> {
    let Raw { n, mut row, bytes } = raw;
    for (field, bytes) in FIELDS.into_iter().zip(bytes) {
        // The text of a message is its own row.
        let of_message = matches!(row.body, Body::Message { .. }) && field == Field::Text;
        if bytes > 0 && !of_message {
            row.texts.push(head(db, n, field, bytes)?);
        }
    }
    match &row.body {
        Body::Message { message: id, .. } => {
            if let Some(shown) = message::without_text(db, key, *id)? {
                row.message = Some(shown.brief());
                let (bytes, total) = message_bytes(db, key, *id, 0, HEAD_BYTES)?;
                if total > 0 {
                    row.texts.insert(0, text_head(Field::Text, &bytes, total));
                }
            }
        }
        Body::Prompt { prompt } => row.prompt = live::prompt(db, key, *prompt)?,
        Body::Text | Body::Within { .. } | Body::Call(_) | Body::Plan { .. } | Body::Notice(_) => {}
        Body::Unrecognised { .. } => {}
    }
    Ok(row)
}

/// [`ITEM_TEXT_HEAD_BYTES`], as a position.
const HEAD_BYTES: u64 = ITEM_TEXT_HEAD_BYTES as u64;

fn head(db: &Connection, item: i64, field: Field, total: u64) -> Result<TextHead, Fail> {
    let bytes = pieces(db, item, field, 0..HEAD_BYTES)?;
    Ok(text_head(field, &bytes, total))
}

/// The bytes of a range of a text, from its pieces.
fn pieces(db: &Connection, item: i64, field: Field, range: Range<u64>) -> Result<Vec<u8>, Fail> {
    let sql = "SELECT at, bytes FROM item_pieces
        WHERE item = ? AND field = ? AND at > ? AND at < ? ORDER BY at";
    let longest = i64::try_from(PIECE_BYTES_MAX).unwrap_or(i64::MAX);
    let start = i64::try_from(range.start).unwrap_or(i64::MAX);
    let mut sql = db.prepare_cached(sql)?;
    let mut rows =
        sql.query(params![item, field_number(field), start.saturating_sub(longest), range.end])?;
    let mut bytes = Vec::new();
    while let Some(row) = rows.next()? {
        let at: u64 = row.get(0)?;
        let piece = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
        let index = |n: u64| usize::try_from(n.saturating_sub(at)).unwrap_or(usize::MAX);
        let (from, to) = (index(range.start), index(range.end).min(piece.len()));
        bytes.extend_from_slice(piece.get(from..to).unwrap_or_default());
    }
    Ok(bytes)
}

/// The bytes of a range of a message's text, and of the whole.
fn message_bytes(
    db: &Connection,
    key: &[u8],
    id: holdfast_core::ids::MessageId,
    start: u64,
    most: u64,
) -> Result<(Vec<u8>, u64), Fail> {
    let sql = "SELECT substr(text, ?, ?), length(text) FROM message_texts
        WHERE message = (SELECT n FROM messages WHERE chat = ? AND id = ?)";
    let uuid = id.uuid();
    let mut sql = db.prepare_cached(sql)?;
    let id = uuid.as_bytes().as_slice();
    let found = sql
        .query_row(params![start.saturating_add(1), most, key, id], |row| {
            // A piece of what is empty is nothing at all.
            let piece: Option<Vec<u8>> = row.get(0)?;
            Ok((piece.unwrap_or_default(), row.get(1)?))
        })
        .optional()?;
    Ok(found.unwrap_or_default())
}

pub(in crate::sqlite) fn items(
    db: &Connection,
    key: &[u8],
    from: PageFrom,
    limit: usize,
) -> Result<Vec<ItemRow>, Fail> {
    let limit = limit.clamp(1, PAGE_ITEMS_MAX);
    let bounded = |place: u64| i64::try_from(place).unwrap_or(i64::MAX);
    let (place, way) = match from {
        PageFrom::Newest => (i64::MAX, "place < ? ORDER BY place DESC"),
        PageFrom::Before(place) => (bounded(place), "place < ? ORDER BY place DESC"),
        PageFrom::After(place) => (bounded(place), "place > ? ORDER BY place"),
    };
    let sql = format!("SELECT {COLUMNS} FROM items WHERE chat = ? AND {way} LIMIT ?");
    let mut sql = db.prepare_cached(&sql)?;
    let rows = sql.query_map(params![key, place, limit], raw)?;
    let mut page = rows.map(|row| whole(db, key, row?)).collect::<Result<Vec<_>, Fail>>()?;
    page.sort_by_key(|row| row.place);
    Ok(page)
}

fn find(db: &Connection, key: &[u8], id: ItemId) -> Result<Option<Raw>, Fail> {
    let sql = format!("SELECT {COLUMNS} FROM items WHERE chat = ? AND origin = ? AND id = ?");
    let mut sql = db.prepare_cached(&sql)?;
    Ok(sql.query_row(params![key, id.origin, id.n], raw).optional()?)
}

pub(in crate::sqlite) fn item(
    db: &Connection,
    key: &[u8],
    id: ItemId,
) -> Result<Option<ItemRow>, Fail> {
    find(db, key, id)?.map(|raw| whole(db, key, raw)).transpose()
}

pub(in crate::sqlite) fn item_text(
    db: &Connection,
    key: &[u8],
    id: ItemId,
    field: Field,
    range: Range<u64>,
) -> Result<Option<TextRange>, Fail> {
    let Some(Raw { n, row, bytes }) = find(db, key, id)? else { return Ok(None) };
    let cut = |total: u64| {
        let start = range.start.min(total);
        let most = start.saturating_add(TEXT_RANGE_BYTES_MAX);
        start..range.end.min(total).min(most).max(start)
    };
    if let (Body::Message { message, .. }, Field::Text) = (&row.body, field) {
        let (_, total) = message_bytes(db, key, *message, 0, 0)?;
        let range = cut(total);
        let length = range.end - range.start;
        let (bytes, _) = message_bytes(db, key, *message, range.start, length)?;
        return Ok(Some(TextRange { start: range.start, bytes, total }));
    }
    let [text, input, output] = bytes;
    let total = match field {
        Field::Text => text,
        Field::Input => input,
        Field::Output => output,
    };
    let range = cut(total);
    let start = range.start;
    Ok(Some(TextRange { start, bytes: pieces(db, n, field, range)?, total }))
}
