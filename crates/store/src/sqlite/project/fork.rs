//! A fork: the newest items of another chat, with all that belongs to them, become the new chat's own.

use holdfast_core::fork::{Fork, ForkedFile};
use holdfast_core::ids::{ItemId, MessageId, PromptId, Seq};
use holdfast_core::item::Body;
use holdfast_core::limits::{FORK_BYTES_MAX, FORK_ITEMS_MAX};
use rusqlite::params;

use super::Projection;
use crate::change::What;
use crate::derive::abandoned;
use crate::journal::CommitError;
use crate::sqlite::fail::Fail;
use crate::sqlite::read::is_here;
use crate::sqlite::words::from_json;

/// What a chat was asked first or last, as rows show it, and by which message.
type Prompt = (Option<String>, Option<[u8; 16]>);

/// An item that is copied.
struct Copied {
    n: i64,
    item: ItemId,
    turn: Option<u32>,
    body: Option<Body>,
    bytes: u64,
}

impl Projection<'_> {
    pub(super) fn fork(&mut self, seq: Seq, fork: &Fork) -> Result<(), Fail> {
        let uuid = fork.from.uuid();
        let from = uuid.as_bytes().as_slice();
        if !is_here(self.db, from)? {
            return Err(CommitError::SourceGone { from: fork.from }.into());
        }
        let sql = "SELECT last_prompt, last_message, first_prompt, first_message
            FROM chats WHERE chat = ?";
        let (last, first): (Prompt, Prompt) =
            self.db.prepare_cached(sql)?.query_row([from], |row| {
                Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?)))
            })?;
        if !self.waits(from, last.1)? {
            (self.record.last_prompt, self.record.last_message) = last;
        }
        if !self.waits(from, first.1)? {
            (self.record.first_prompt, self.record.first_message) = first;
        }
        for ForkedFile { id, named, .. } in &fork.attachments {
            let (id, named) = (id.uuid(), named.uuid());
            let sql =
                "INSERT INTO attachments (chat, id, name, media_type, bytes, sha256, at, named)
                SELECT ?, id, name, media_type, bytes, sha256, at, ? FROM attachments
                WHERE chat = ? AND id = ?";
            let (id, named) = (id.as_bytes().as_slice(), named.as_bytes().as_slice());
            self.db.prepare_cached(sql)?.execute(params![self.key, named, from, id])?;
        }
        for copied in self.newest_of(from, fork.at)?.into_iter().rev() {
            self.copy_item(from, seq, &copied)?;
            self.touched.add(What::Item(copied.item));
        }
        Ok(())
    }

    /// Whether a message waits in the other chat: nobody was told it.
    fn waits(&self, from: &[u8], message: Option<[u8; 16]>) -> Result<bool, Fail> {
        let Some(message) = message else { return Ok(false) };
        let sql = "SELECT 1 FROM messages WHERE chat = ? AND id = ? AND place IS NOT NULL";
        Ok(self.db.prepare_cached(sql)?.exists(params![from, message])?)
    }

    /// The newest items up to a place, newest first, as many as a fork shows.
    fn newest_of(&self, from: &[u8], at: u64) -> Result<Vec<Copied>, Fail> {
        let sql = "SELECT n, origin, id, turn, body, text_bytes + input_bytes + output_bytes
            FROM items WHERE chat = ? AND place <= ? ORDER BY place DESC LIMIT ?";
        let mut sql = self.db.prepare_cached(sql)?;
        let rows = sql.query_map(params![from, at, FORK_ITEMS_MAX], |row| {
            let body: String = row.get(4)?;
            Ok(Copied {
                n: row.get(0)?,
                item: ItemId::new(row.get(1)?, row.get(2)?),
                turn: row.get(3)?,
                body: from_json(&body),
                bytes: row.get(5)?,
            })
        })?;
        let (mut items, mut bytes) = (Vec::new(), 0_u64);
        for copied in rows {
            let copied = copied?;
            let message = match &copied.body {
                Some(Body::Message { message, .. }) => self.message_bytes(from, *message)?,
                _ => 0,
            };
            bytes = bytes.saturating_add(copied.bytes).saturating_add(message);
            if bytes > FORK_BYTES_MAX {
                break;
            }
            items.push(copied);
        }
        Ok(items)
    }

    fn message_bytes(&self, from: &[u8], message: MessageId) -> Result<u64, Fail> {
        let sql = "SELECT COALESCE(MAX(bytes), 0) FROM messages WHERE chat = ? AND id = ?";
        let id = message.uuid();
        let mut sql = self.db.prepare_cached(sql)?;
        Ok(sql.query_row(params![from, id.as_bytes().as_slice()], |row| row.get(0))?)
    }

    fn copy_item(&self, from: &[u8], seq: Seq, copied: &Copied) -> Result<(), Fail> {
        let sql = "INSERT INTO items (chat, origin, id, place, turn, kind, role, at, body, running,
                closed, version, text_bytes, input_bytes, output_bytes)
            SELECT ?, origin, id, place, turn, kind, role, at, body, 0,
                1, 0, text_bytes, input_bytes, output_bytes FROM items WHERE n = ?";
        self.db.prepare_cached(sql)?.execute(params![self.key, copied.n])?;
        let new = self.db.last_insert_rowid();
        let sql = "INSERT INTO item_pieces (item, field, at, bytes)
            SELECT ?, field, at, bytes FROM item_pieces WHERE item = ?";
        self.db.prepare_cached(sql)?.execute(params![new, copied.n])?;
        if let Some(turn) = copied.turn {
            self.copy_turn(from, seq, turn)?;
        }
        match &copied.body {
            Some(Body::Message { message, .. }) => self.copy_message(from, *message)?,
            Some(Body::Prompt { prompt }) => self.copy_prompt(from, *prompt)?,
            Some(body) => {
                // A call that still runs does so for the other chat.
                if let Some(body) = abandoned(body) {
                    let sql = "UPDATE items SET body = ? WHERE n = ?";
                    let body = serde_json::to_string(&body)?;
                    self.db.prepare_cached(sql)?.execute(params![body, new])?;
                }
            }
            None => {}
        }
        Ok(())
    }

    fn copy_turn(&self, from: &[u8], seq: Seq, turn: u32) -> Result<(), Fail> {
        let sql = "INSERT INTO turns (chat, id, seq, message, started_at, how, evidence, ended_at,
                usage, mark, ends, holds, left_behind)
            SELECT ?, id, ?, message, started_at, how, evidence, ended_at, usage, mark, ends, holds,
                left_behind
            FROM turns WHERE chat = ? AND id = ? AND how IS NOT NULL ON CONFLICT DO NOTHING";
        self.db.prepare_cached(sql)?.execute(params![self.key, seq.0, from, turn])?;
        Ok(())
    }

    /// What became of it is the other chat's matter; here it is over.
    fn copy_message(&self, from: &[u8], message: MessageId) -> Result<(), Fail> {
        let id = message.uuid();
        let id = id.as_bytes().as_slice();
        let sql =
            "INSERT INTO messages (chat, id, author, state, detail, bytes, digest, item_origin,
                item_n, turn, accepted_at)
            SELECT ?, id, author, CASE state WHEN 'withdrawn' THEN state ELSE 'settled' END,
                CASE state WHEN 'withdrawn' THEN detail END, bytes, digest, item_origin, item_n,
                turn, accepted_at
            FROM messages WHERE chat = ? AND id = ? ON CONFLICT DO NOTHING";
        if self.db.prepare_cached(sql)?.execute(params![self.key, from, id])? == 0 {
            return Ok(());
        }
        let new = self.db.last_insert_rowid();
        let sql = "INSERT INTO message_texts (message, text)
            SELECT ?, text FROM message_texts JOIN messages ON message = messages.n
            WHERE messages.chat = ? AND messages.id = ?";
        self.db.prepare_cached(sql)?.execute(params![new, from, id])?;
        let sql = "INSERT INTO message_attachments (message, place, attachment)
            SELECT ?, named.place, attachment FROM message_attachments AS named
            JOIN messages ON message = messages.n WHERE messages.chat = ? AND messages.id = ?";
        self.db.prepare_cached(sql)?.execute(params![new, from, id])?;
        Ok(())
    }

    fn copy_prompt(&self, from: &[u8], prompt: PromptId) -> Result<(), Fail> {
        let sql = "INSERT INTO prompts (chat, origin, id, item_origin, item_n, asked, at, state,
                answer, answered_by, device, answered_at, answer_life)
            SELECT ?, origin, id, item_origin, item_n, asked, at,
                CASE state WHEN 'open' THEN 'gone' ELSE state END, answer, answered_by, device,
                answered_at, answer_life
            FROM prompts WHERE chat = ? AND origin = ? AND id = ? ON CONFLICT DO NOTHING";
        let mut sql = self.db.prepare_cached(sql)?;
        sql.execute(params![self.key, from, prompt.origin, prompt.n])?;
        Ok(())
    }
}
