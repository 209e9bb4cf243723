//! The writes that their callers named, and what each was answered.

use holdfast_core::ids::ChatId;
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::fail::Fail;
use super::read::{self, bad};
use super::words::from_json;
use crate::journal::{CommitError, Operation};
use crate::rows::StoredOperation;

/// Takes the key of an operation, before anything of its write is looked at: who comes second is
/// told that, and nothing else.
pub(super) fn take(
    db: &Connection,
    chat: Option<ChatId>,
    at: Micros,
    operation: &Operation,
) -> Result<(), Fail> {
    let sql = "INSERT INTO operations (principal, key, chat, at, body, reply)
        VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    let Operation { principal, key, body, reply } = operation;
    let reply = serde_json::to_string(reply)?;
    // The column takes no null: who is about several chats has the nil id.
    let chat = chat.map_or(Uuid::nil(), ChatId::uuid);
    let (chat, body) = (chat.as_bytes().as_slice(), body.as_slice());
    let mut sql = db.prepare_cached(sql)?;
    if sql.execute(params![principal, key, chat, at.0, body, reply])? == 0 {
        return Err(CommitError::OperationExists.into());
    }
    Ok(())
}

/// Keeps the row that the answer shows, if it shows one: the chat as the write has left it.
pub(super) fn show(db: &Connection, chat: ChatId, operation: &Operation) -> Result<(), Fail> {
    if !operation.reply.shows_row() {
        return Ok(());
    }
    let Some(row) = read::chat(db, chat)? else { return Ok(()) };
    let row = serde_json::to_string(&row)?;
    let sql = "UPDATE operations SET shown = ? WHERE principal = ? AND key = ?";
    db.prepare_cached(sql)?.execute(params![row, operation.principal, operation.key])?;
    Ok(())
}

/// The write under this key.
pub(super) fn get(
    db: &Connection,
    principal: String,
    key: String,
) -> Result<Option<StoredOperation>, Fail> {
    let sql = "SELECT chat, at, body, reply, shown FROM operations WHERE principal = ? AND key = ?";
    let mut sql = db.prepare_cached(sql)?;
    let found = sql
        .query_row(params![principal, key], |row| {
            let (body, reply): ([u8; 32], String) = (row.get(2)?, row.get(3)?);
            let shown: Option<String> = row.get(4)?;
            Ok((Uuid::from_bytes(row.get(0)?), Micros(row.get(1)?), body, reply, shown))
        })
        .optional()?;
    let Some((chat, at, body, reply, shown)) = found else { return Ok(None) };
    let reply = from_json(&reply).ok_or_else(|| bad("a reply", &reply))?;
    let operation = Operation { principal, key, body, reply };
    let chat = Some(chat).filter(|chat| !chat.is_nil()).map(ChatId::new);
    let row = shown.as_deref().and_then(from_json);
    Ok(Some(StoredOperation { chat, at, operation, row }))
}
