//! Chats as lists show them, and the counts of the host.

use holdfast_core::head::Life;
use holdfast_core::ids::{ChatId, Seq};
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::derive::stand_in;
use crate::query::QUERY_ROWS_MAX;
use crate::rows::{ChatFilter, ChatPage, ChatRow, Counts};
use crate::sqlite::fail::Fail;
use crate::sqlite::project::HEAD_VERSION;
use crate::sqlite::words::{CLOSED, OPEN, from_json, life};

const COLUMNS: &str = "chat, slot, title, project, created_at, updated_at, last_prompt, seq, life,
    version, summary, first_prompt";

fn row(row: &Row<'_>) -> rusqlite::Result<ChatRow> {
    let updated_at = Micros(row.get(5)?);
    let (seq, life): (Seq, Life) = (Seq(row.get(7)?), life(row.get(8)?));
    let version: i64 = row.get(9)?;
    let stored: String = row.get(10)?;
    let summary: Option<Summary> = from_json(&stored).filter(|_| version == HEAD_VERSION);
    let unreadable = summary.is_none().then(|| format!("its state has the form {version}"));
    let row = ChatRow {
        id: ChatId::new(Uuid::from_bytes(row.get(0)?)),
        slot: row.get(1)?,
        title: row.get(2)?,
        project: row.get(3)?,
        created_at: Micros(row.get(4)?),
        updated_at,
        last_prompt: row.get(6)?,
        first_prompt: row.get(11)?,
        summary: summary.unwrap_or_else(|| stand_in(seq, life, updated_at)),
        unreadable,
    };
    Ok(row.told())
}

pub(in crate::sqlite) fn chat(db: &Connection, id: ChatId) -> Result<Option<ChatRow>, Fail> {
    let sql = format!("SELECT {COLUMNS} FROM chats WHERE chat = ?");
    let uuid = id.uuid();
    Ok(db.prepare_cached(&sql)?.query_row([uuid.as_bytes().as_slice()], row).optional()?)
}

pub(in crate::sqlite) fn chat_by_slot(
    db: &Connection,
    slot: &str,
) -> Result<Option<ChatRow>, Fail> {
    let sql = format!("SELECT {COLUMNS} FROM chats WHERE slot = ? AND life = 1");
    Ok(db.prepare_cached(&sql)?.query_row([slot], row).optional()?)
}

/// The chats that go on with these sessions.
pub(in crate::sqlite) fn by_sessions(
    db: &Connection,
    sessions: &[String],
) -> Result<Vec<(String, ChatId)>, Fail> {
    let sql = "SELECT chat FROM chats WHERE session = ? AND (life <> 3 OR owes = 1)
        ORDER BY touched DESC LIMIT 1";
    let mut sql = db.prepare_cached(sql)?;
    let mut found = Vec::new();
    for session in sessions.iter().take(QUERY_ROWS_MAX) {
        let chat = sql.query_row([session], |row| row.get(0)).optional()?;
        let chat = chat.map(|chat| ChatId::new(Uuid::from_bytes(chat)));
        found.extend(chat.map(|chat| (session.clone(), chat)));
    }
    Ok(found)
}

/// Whether there is such a chat and it is not deleted.
pub(in crate::sqlite) fn is_here(db: &Connection, key: &[u8]) -> Result<bool, Fail> {
    let sql = "SELECT 1 FROM chats WHERE chat = ? AND life <> 3";
    Ok(db.prepare_cached(sql)?.exists([key])?)
}

/// None where the page begins nowhere. A chat whose row is damaged is listed as such: the others
/// do not suffer for it.
pub(in crate::sqlite) fn chats(
    db: &Connection,
    filter: ChatFilter,
    before: Option<&str>,
    limit: usize,
) -> Result<Option<ChatPage>, Fail> {
    let before = match before {
        Some(text) => match text.parse::<i64>() {
            Ok(before) if before > 0 => before,
            Ok(_) | Err(_) => return Ok(None),
        },
        None => i64::MAX,
    };
    let limit = limit.clamp(1, QUERY_ROWS_MAX);
    let (sql, life) = match filter {
        ChatFilter::Open => ("life = ?", OPEN),
        ChatFilter::Closed => ("life = ?", CLOSED),
        // The sign keeps the planner on the index of `touched`: nothing is sorted.
        ChatFilter::All => ("+life <= ?", CLOSED),
    };
    let sql = format!(
        "SELECT chat, touched FROM chats WHERE {sql} AND touched < ?
        ORDER BY touched DESC LIMIT ?"
    );
    let mut sql = db.prepare_cached(&sql)?;
    let found = sql.query_map(params![life, before, limit + 1], |row| {
        Ok((ChatId::new(Uuid::from_bytes(row.get(0)?)), row.get(1)?))
    })?;
    let mut found = found.collect::<Result<Vec<(ChatId, i64)>, _>>()?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(_, touched)| touched.to_string());
    let rows = found.into_iter().filter_map(|(id, _)| match chat(db, id) {
        Ok(row) => row,
        Err(error) => Some(damaged(id, filter, &error)),
    });
    Ok(Some(ChatPage { rows: rows.collect(), next }))
}

fn damaged(id: ChatId, filter: ChatFilter, error: &Fail) -> ChatRow {
    let life = match filter {
        ChatFilter::Open | ChatFilter::All => Life::Open,
        ChatFilter::Closed => Life::Closed,
    };
    ChatRow {
        id,
        slot: None,
        title: None,
        project: None,
        created_at: Micros(0),
        updated_at: Micros(0),
        last_prompt: None,
        first_prompt: None,
        summary: stand_in(Seq(0), life, Micros(0)),
        unreadable: Some(error.to_string()),
    }
}

pub(in crate::sqlite) fn owing(db: &Connection) -> Result<Vec<ChatId>, Fail> {
    let sql = "SELECT chat FROM chats WHERE owes = 1 ORDER BY n";
    let mut sql = db.prepare_cached(sql)?;
    let owing = sql.query_map([], |row| Ok(ChatId::new(Uuid::from_bytes(row.get(0)?))))?;
    Ok(owing.collect::<Result<_, _>>()?)
}

/// Read from the index `chats_counts` alone, so that ten thousand chats are a few pages.
pub(in crate::sqlite) fn counts(db: &Connection) -> Result<Counts, Fail> {
    let sql = "SELECT COALESCE(SUM(running), 0), COALESCE(SUM(to_resume), 0),
        COALESCE(SUM(to_check), 0), COALESCE(SUM(queued), 0), COALESCE(SUM(life = 1), 0)
        FROM chats WHERE life <= 2";
    let read = |row: &Row<'_>| {
        Ok(Counts {
            running: row.get(0)?,
            to_resume: row.get(1)?,
            to_check: row.get(2)?,
            queued: row.get(3)?,
            open: row.get(4)?,
        })
    };
    Ok(db.prepare_cached(sql)?.query_row([], read)?)
}
