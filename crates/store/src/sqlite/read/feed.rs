//! What is the host's: offers, failures, the change feed; and drafts.

use holdfast_core::ids::{ChatId, MessageId};
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::load;
use crate::change::{Change, ChangeBounds};
use crate::query::QUERY_ROWS_MAX;
use crate::rows::{Draft, FailureRow, OfferRow};
use crate::sqlite::fail::Fail;
use crate::sqlite::words::{from_json, from_word};

const OFFER: &str = "chat, cause, recorded_at, snapshot, shown, continuation, resuming,
    needs_choice";

fn read_chat(row: &Row<'_>, at: usize) -> rusqlite::Result<ChatId> {
    Ok(ChatId::new(Uuid::from_bytes(row.get(at)?)))
}

/// What cannot be read of an offer is left out: the row itself is never lost.
fn read_offer(row: &Row<'_>) -> rusqlite::Result<OfferRow> {
    let cause: Option<String> = row.get(1).ok();
    let snapshot: Option<String> = row.get(3).ok();
    let continuation: Option<[u8; 16]> = row.get(5).ok();
    Ok(OfferRow {
        chat: read_chat(row, 0)?,
        cause: cause.as_deref().and_then(from_word),
        recorded_at: Micros(row.get(2)?),
        snapshot: snapshot.as_deref().and_then(from_json),
        shown: row.get(4)?,
        continuation: continuation.map(|bytes| MessageId::new(Uuid::from_bytes(bytes))),
        resuming: row.get(6)?,
        needs_choice: row.get(7)?,
        readable: true,
    })
}

pub(in crate::sqlite) fn offers(db: &Connection) -> Result<Vec<OfferRow>, Fail> {
    let sql = format!("SELECT {OFFER} FROM offers ORDER BY recorded_at, chat");
    let mut sql = db.prepare_cached(&sql)?;
    let rows = sql.query_map([], read_offer)?;
    let mut rows = rows.collect::<Result<Vec<_>, _>>()?;
    for row in &mut rows {
        row.readable = load::is_readable(db, row.chat);
    }
    Ok(rows)
}

pub(in crate::sqlite) fn offer(db: &Connection, chat: ChatId) -> Result<Option<OfferRow>, Fail> {
    let sql = format!("SELECT {OFFER} FROM offers WHERE chat = ?");
    let uuid = chat.uuid();
    let mut sql = db.prepare_cached(&sql)?;
    let found = sql.query_row([uuid.as_bytes().as_slice()], read_offer).optional()?;
    Ok(found.map(|row| OfferRow { readable: load::is_readable(db, chat), ..row }))
}

pub(in crate::sqlite) fn failures(db: &Connection) -> Result<Vec<FailureRow>, Fail> {
    let sql = "SELECT chat, code, text, actions, at FROM failures ORDER BY at, chat";
    let mut sql = db.prepare_cached(sql)?;
    let rows = sql.query_map([], |row| {
        let actions: String = row.get(3)?;
        Ok(FailureRow {
            chat: read_chat(row, 0)?,
            code: row.get(1)?,
            text: row.get(2)?,
            actions: from_json(&actions).unwrap_or_default(),
            at: Micros(row.get(4)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Changes of a kind that this build does not know are left out.
pub(in crate::sqlite) fn changes(
    db: &Connection,
    after: u64,
    limit: usize,
) -> Result<Vec<Change>, Fail> {
    let sql = "SELECT n, chat, what FROM changes WHERE n > ? ORDER BY n LIMIT ?";
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut sql = db.prepare_cached(sql)?;
    let rows = sql.query_map(params![after, limit.clamp(1, QUERY_ROWS_MAX)], |row| {
        let chat: Option<[u8; 16]> = row.get(1)?;
        let what: String = row.get(2)?;
        Ok((row.get(0)?, chat.map(|bytes| ChatId::new(Uuid::from_bytes(bytes))), what))
    })?;
    let mut found = Vec::new();
    for row in rows {
        let (n, chat, what) = row?;
        if let Ok(what) = what.parse() {
            found.push(Change { n, chat, what });
        }
    }
    Ok(found)
}

pub(in crate::sqlite) fn change_bounds(db: &Connection) -> Result<ChangeBounds, Fail> {
    let sql = "SELECT value FROM meta WHERE name = 'changes_pruned'";
    let pruned: Option<[u8; 8]> =
        db.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    let complete_after = u64::from_be_bytes(pruned.unwrap_or_default());
    let sql = "SELECT COALESCE(MAX(n), 0) FROM changes";
    let newest: u64 = db.prepare_cached(sql)?.query_row([], |row| row.get(0))?;
    Ok(ChangeBounds { complete_after, newest: newest.max(complete_after) })
}

pub(in crate::sqlite) fn draft(
    db: &Connection,
    key: &[u8],
    principal: &str,
) -> Result<Option<Draft>, Fail> {
    let sql = "SELECT text, at FROM drafts WHERE chat = ? AND principal = ?";
    let mut sql = db.prepare_cached(sql)?;
    let read = |row: &Row<'_>| Ok(Draft { text: row.get(0)?, at: Micros(row.get(1)?) });
    Ok(sql.query_row(params![key, principal], read).optional()?)
}
