//! Turns, prompts and tasks.

use holdfast_core::fork::TurnPlace;
use holdfast_core::ids::{GrantId, ItemId, MessageId, PromptId, Seq, TaskId, TurnId};
use holdfast_core::slash::SlashCommand;
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use super::bad;
use crate::query::QUERY_ROWS_MAX;
use crate::rows::{Given, GrantRow, PromptRow, TaskRow, TurnEnded, TurnRow};
use crate::sqlite::fail::Fail;
use crate::sqlite::words::{answer_life, from_json, from_word, prompt_status};

const TURN: &str =
    "id, seq, message, started_at, how, evidence, ended_at, usage, mark, ends, holds,
    left_behind";

fn read_turn(row: &Row<'_>) -> Result<TurnRow, Fail> {
    let message: Option<[u8; 16]> = row.get(2)?;
    let how: Option<String> = row.get(4)?;
    let ended = match how {
        None => None,
        Some(how) => {
            let evidence: String = row.get::<_, Option<String>>(5)?.unwrap_or_default();
            let usage: Option<String> = row.get(7)?;
            Some(TurnEnded {
                how: from_word(&how).ok_or_else(|| bad("the end of a turn", &how))?,
                evidence: from_word(&evidence).ok_or_else(|| bad("an evidence", &evidence))?,
                at: Micros(row.get::<_, Option<i64>>(6)?.unwrap_or_default()),
                usage: usage.as_deref().and_then(from_json),
            })
        }
    };
    let id = TurnId(row.get(0)?);
    let mark: Option<String> = row.get(8)?;
    let place = match mark {
        None => None,
        Some(mark) => Some(TurnPlace { turn: id, at: row.get(9)?, mark, messages: row.get(10)? }),
    };
    Ok(TurnRow {
        id,
        place,
        left_behind: row.get(11)?,
        seq: Seq(row.get(1)?),
        message: message.map(|bytes| MessageId::new(Uuid::from_bytes(bytes))),
        started_at: Micros(row.get(3)?),
        ended,
    })
}

/// What the agent's commands are; before it told any, what one like it told last in the same directory.
pub(in crate::sqlite) fn commands(db: &Connection, key: &[u8]) -> Result<Vec<SlashCommand>, Fail> {
    let sql = "SELECT body FROM commands WHERE chat = ?";
    let own: Option<String> =
        db.prepare_cached(sql)?.query_row([key], |row| row.get(0)).optional()?;
    let told = match own {
        Some(body) => Some(body),
        None => {
            let sql = "SELECT body FROM commands
                WHERE agent = (SELECT summary ->> '$.agent' FROM chats WHERE chat = ?1)
                    AND cwd = (SELECT summary ->> '$.cwd' FROM chats WHERE chat = ?1)
                ORDER BY n DESC LIMIT 1";
            db.prepare_cached(sql)?.query_row([key], |row| row.get(0)).optional()?
        }
    };
    Ok(told.map(|body| serde_json::from_str(&body)).transpose()?.unwrap_or_default())
}

/// What is allowed for good, oldest first.
pub(in crate::sqlite) fn grants(db: &Connection, key: &[u8]) -> Result<Vec<GrantRow>, Fail> {
    let sql = "SELECT id, deed, label, given_by, at FROM grants WHERE chat = ? ORDER BY id";
    let mut sql = db.prepare_cached(sql)?;
    let rows = sql.query_map([key], |row| {
        Ok(GrantRow {
            id: GrantId(row.get(0)?),
            deed: row.get(1)?,
            label: row.get(2)?,
            by: row.get(3)?,
            at: Micros(row.get(4)?),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(in crate::sqlite) fn turn(
    db: &Connection,
    key: &[u8],
    id: TurnId,
) -> Result<Option<TurnRow>, Fail> {
    let sql = format!("SELECT {TURN} FROM turns WHERE chat = ? AND id = ?");
    let mut sql = db.prepare_cached(&sql)?;
    let mut rows = sql.query(params![key, id.0])?;
    rows.next()?.map(read_turn).transpose()
}

pub(in crate::sqlite) fn turns(
    db: &Connection,
    key: &[u8],
    before: Option<TurnId>,
    limit: usize,
) -> Result<Vec<TurnRow>, Fail> {
    let sql =
        format!("SELECT {TURN} FROM turns WHERE chat = ? AND id < ? ORDER BY id DESC LIMIT ?");
    let before = before.map_or(i64::MAX, |turn| i64::from(turn.0));
    let mut sql = db.prepare_cached(&sql)?;
    let mut rows = sql.query(params![key, before, limit.clamp(1, QUERY_ROWS_MAX)])?;
    let mut page = Vec::new();
    while let Some(row) = rows.next()? {
        page.push(read_turn(row)?);
    }
    page.reverse();
    Ok(page)
}

/// The last turn that ends at or before a place by a name of the agent's own, and was not left behind.
pub(in crate::sqlite) fn turn_place(
    db: &Connection,
    key: &[u8],
    at: u64,
) -> Result<Option<TurnPlace>, Fail> {
    let sql = format!(
        "SELECT {TURN} FROM turns WHERE chat = ? AND mark IS NOT NULL AND ends <= ?
            AND left_behind = 0 ORDER BY id DESC LIMIT 1"
    );
    let mut sql = db.prepare_cached(&sql)?;
    let mut rows = sql.query(params![key, i64::try_from(at).unwrap_or(i64::MAX)])?;
    let row = rows.next()?.map(read_turn).transpose()?;
    Ok(row.and_then(|row| row.place))
}

/// What is stored of an answer, with its words unread.
type RawAnswer = (Option<String>, Option<String>, Option<String>, Option<i64>, Option<String>);

fn read_given(raw: RawAnswer) -> Result<Option<Given>, Fail> {
    let (Some(answer), by, device, at, life) = raw else { return Ok(None) };
    let life = life.unwrap_or_default();
    Ok(Some(Given {
        answer: from_json(&answer).ok_or_else(|| bad("an answer", &answer))?,
        by: by.unwrap_or_default(),
        device,
        at: Micros(at.unwrap_or_default()),
        life: answer_life(&life).ok_or_else(|| bad("the life of an answer", &life))?,
    }))
}

pub(in crate::sqlite) fn prompt(
    db: &Connection,
    key: &[u8],
    id: PromptId,
) -> Result<Option<PromptRow>, Fail> {
    let sql = "SELECT item_origin, item_n, asked, at, state, answer, answered_by, device,
        answered_at, answer_life FROM prompts WHERE chat = ? AND origin = ? AND id = ?";
    let mut sql = db.prepare_cached(sql)?;
    let found = sql
        .query_row(params![key, id.origin, id.n], |row| {
            let item = ItemId::new(row.get(0)?, row.get(1)?);
            let words: (String, String) = (row.get(2)?, row.get(4)?);
            let given: RawAnswer =
                (row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?);
            Ok((item, Micros(row.get(3)?), words, given))
        })
        .optional()?;
    let Some((item, at, (asked, state), given)) = found else { return Ok(None) };
    let asked = from_json(&asked).ok_or_else(|| bad("what a prompt asks", &asked))?;
    let state = prompt_status(&state).ok_or_else(|| bad("the state of a prompt", &state))?;
    Ok(Some(PromptRow { id, item, asked, at, state, given: read_given(given)? }))
}

pub(in crate::sqlite) fn task(
    db: &Connection,
    key: &[u8],
    id: TaskId,
) -> Result<Option<TaskRow>, Fail> {
    let sql = "SELECT kind, label, foreground, started_at, how, ended_at FROM tasks
        WHERE chat = ? AND origin = ? AND id = ?";
    let mut sql = db.prepare_cached(sql)?;
    let found = sql
        .query_row(params![key, id.origin, id.n], |row| {
            let ended: (Option<String>, Option<i64>) = (row.get(4)?, row.get(5)?);
            let kind: String = row.get(0)?;
            Ok((kind, row.get(1)?, row.get(2)?, Micros(row.get(3)?), ended))
        })
        .optional()?;
    let Some((kind, label, foreground, started_at, ended)) = found else { return Ok(None) };
    let kind = from_word(&kind).ok_or_else(|| bad("the kind of a task", &kind))?;
    let ended = match ended {
        (Some(how), at) => {
            let end = from_word(&how).ok_or_else(|| bad("the end of a task", &how))?;
            Some((end, Micros(at.unwrap_or_default())))
        }
        (None, _) => None,
    };
    Ok(Some(TaskRow { id, kind, label, foreground, started_at, ended }))
}
