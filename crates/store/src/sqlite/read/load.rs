//! Loading a chat to decide about it. A head that cannot be read is folded again from the facts;
//! a chat with facts that this build cannot read can only be looked at.

use std::collections::VecDeque;
use std::sync::Arc;

use holdfast_core::activity::Leftover;
use holdfast_core::fact::Fact;
use holdfast_core::fold::fold;
use holdfast_core::head::{Aside, Chat, Head, Life, Queued};
use holdfast_core::ids::{AttemptId, ChatId, Position, Seq};
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::{attachment, live, message};
use crate::journal::Progress;
use crate::query::QUERY_ROWS_MAX;
use crate::rows::{FactRow, Loaded, StoredFact};
use crate::sqlite::fail::Fail;
use crate::sqlite::project::HEAD_VERSION;
use crate::sqlite::words::{KINDS, from_json};

/// What is damaged of a chat makes it read-only; it never fails the caller for the others' sake.
pub(in crate::sqlite) fn load(db: &Connection, id: ChatId) -> Result<Option<Loaded>, Fail> {
    match try_load(db, id) {
        Ok(loaded) => Ok(loaded),
        Err(error) if !error.is_damage() => Err(error),
        Err(error) => {
            let mut chat = Chat::default();
            chat.head.life = Life::Open;
            let read_only = Some(format!("What is stored of {id} is damaged: {error}."));
            Ok(Some(Loaded { chat, progress: None, read_only }))
        }
    }
}

/// Whether deciding about this chat is possible.
pub(super) fn is_readable(db: &Connection, id: ChatId) -> bool {
    matches!(load(db, id), Ok(Some(Loaded { read_only: None, .. })))
}

fn try_load(db: &Connection, id: ChatId) -> Result<Option<Loaded>, Fail> {
    let uuid = id.uuid();
    let key = uuid.as_bytes().as_slice();
    let sql = "SELECT seq FROM chats WHERE chat = ?";
    let seq: Option<u64> = db.prepare_cached(sql)?.query_row([key], |row| row.get(0)).optional()?;
    let Some(seq) = seq.map(Seq) else { return Ok(None) };
    let progress = progress(db, key)?;
    if let Some(kind) = unknown_kind(db, key)? {
        let (chat, _) = refold(db, key, seq)?;
        let read_only = Some(format!(
            "{id} has facts of the kind {kind:?}, which this version of Holdfast cannot read: a \
            newer one wrote them."
        ));
        return Ok(Some(Loaded { chat, progress, read_only }));
    }
    if let Some(head) = head(db, key, seq)
        && let Ok(aside) = aside(db, key, &head)
    {
        let chat = Chat { head, aside };
        return Ok(Some(Loaded { chat, progress, read_only: None }));
    }
    let (chat, unreadable) = refold(db, key, seq)?;
    let read_only = unreadable.map(|what| format!("The history of {id} is damaged: {what}."));
    Ok(Some(Loaded { chat, progress, read_only }))
}

/// The stored head, if it can be read and belongs to the last fact.
fn head(db: &Connection, key: &[u8], seq: Seq) -> Option<Head> {
    let sql = "SELECT version, head FROM heads WHERE chat = ?";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (version, json): (i64, String) =
        db.prepare_cached(sql).ok()?.query_row([key], read).ok()?;
    let head: Head = from_json(&json).filter(|_| version == HEAD_VERSION)?;
    (head.seq == seq).then_some(head)
}

/// What outlived its tool call, as last shown.
fn leftovers(db: &Connection, key: &[u8]) -> Result<Vec<Leftover>, Fail> {
    let sql = "SELECT summary FROM chats WHERE chat = ?";
    let stored: String = db.prepare_cached(sql)?.query_row([key], |row| row.get(0))?;
    let summary: Summary = from_json(&stored).ok_or_else(|| super::bad("a summary", &stored))?;
    Ok(summary.activity.leftovers)
}

fn aside(db: &Connection, key: &[u8], head: &Head) -> Result<Aside, Fail> {
    let queue: VecDeque<Queued> =
        message::waiting(db, key)?.into_iter().map(|row| row.queued()).collect();
    let attachments = match head.life {
        Life::Deleted => Arc::default(),
        Life::Unborn | Life::Open | Life::Closed => Arc::new(attachment::held(db, key)?),
    };
    let leftovers = leftovers(db, key)?;
    let mut aside = Aside { queue, leftovers, attachments, ..Aside::default() };
    aside.grants = live::grants(db, key)?.into_iter().map(|row| (row.id, row.deed)).collect();
    for id in head.tasks.keys() {
        if let Some(row) = live::task(db, key, *id)? {
            aside.tasks.insert(*id, row.label);
        }
    }
    for id in head.prompts.keys() {
        if let Some(row) = live::prompt(db, key, *id)? {
            aside.prompts.insert(*id, row.asked);
        }
    }
    Ok(aside)
}

fn progress(db: &Connection, key: &[u8]) -> Result<Option<Progress>, Fail> {
    let sql = "SELECT attempt, position, codec FROM progress WHERE chat = ?";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Progress {
            attempt: AttemptId::new(Uuid::from_bytes(row.get(0)?)),
            position: Position(row.get(1)?),
            codec: row.get(2)?,
        })
    };
    Ok(db.prepare_cached(sql)?.query_row([key], read).optional()?)
}

/// A kind among the facts of this chat that this build does not know. Where the whole store has
/// none, as is usual, no fact is looked at.
fn unknown_kind(db: &Connection, key: &[u8]) -> Result<Option<String>, Fail> {
    let mut sql = db.prepare_cached("SELECT kind FROM kinds")?;
    let kinds = sql.query_map([], |row| row.get::<_, String>(0))?;
    for kind in kinds {
        let kind = kind?;
        if KINDS.contains(&kind.as_str()) {
            continue;
        }
        let sql = "SELECT 1 FROM facts WHERE chat = ? AND kind = ?";
        if db.prepare_cached(sql)?.exists(params![key, kind])? {
            return Ok(Some(kind));
        }
    }
    Ok(None)
}

/// The chat as its facts tell it, and what of them could not be read.
fn refold(db: &Connection, key: &[u8], end: Seq) -> Result<(Chat, Option<String>), Fail> {
    let sql = "SELECT seq, at, body FROM facts WHERE chat = ? ORDER BY seq";
    let mut sql = db.prepare_cached(sql)?;
    let mut rows = sql.query([key])?;
    let (mut chat, mut unreadable) = (Chat::default(), None);
    let mut next = 1;
    while let Some(row) = rows.next()? {
        let (seq, at): (u64, i64) = (row.get(0)?, row.get(1)?);
        if seq != next {
            unreadable.get_or_insert_with(|| format!("fact {next} is missing"));
        }
        next = seq + 1;
        // Facts are text in UTF-8, but a damaged one may be anything.
        let body = row.get_ref(2)?.as_str().ok();
        match body.and_then(from_json::<Fact>) {
            Some(fact) => fold(&mut chat, &fact, Micros(at)),
            None => {
                unreadable.get_or_insert_with(|| format!("fact {seq} cannot be read"));
            }
        }
    }
    if chat.head.seq != end && unreadable.is_none() {
        unreadable = Some(format!("its facts end at {} and not at {}", chat.head.seq.0, end.0));
    }
    chat.head.seq = end;
    Ok((chat, unreadable))
}

pub(in crate::sqlite) fn facts(
    db: &Connection,
    key: &[u8],
    after: Seq,
    limit: usize,
) -> Result<Vec<FactRow>, Fail> {
    let sql = "SELECT seq, at, kind, body FROM facts WHERE chat = ? AND seq > ?
        ORDER BY seq LIMIT ?";
    let after = i64::try_from(after.0).unwrap_or(i64::MAX);
    let mut sql = db.prepare_cached(sql)?;
    let rows = sql.query_map(params![key, after, limit.clamp(1, QUERY_ROWS_MAX)], |row| {
        let body = String::from_utf8_lossy(row.get_ref(3)?.as_bytes()?).into_owned();
        let fact = match from_json(&body) {
            Some(fact) => StoredFact::Known(fact),
            None => StoredFact::Unreadable { kind: row.get(2)?, body },
        };
        Ok(FactRow { seq: Seq(row.get(0)?), at: Micros(row.get(1)?), fact })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
