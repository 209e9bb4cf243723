//! Items and their texts.

use holdfast_core::fact::Fact;
use holdfast_core::ids::ItemId;
use holdfast_core::item::{Body, CallState, Field};
use holdfast_core::time::Micros;
use rusqlite::{OptionalExtension, params};

use super::Projection;
use crate::change::What;
use crate::derive::{abandoned, fresh, missing};
use crate::journal::CommitError;
use crate::sqlite::fail::Fail;
use crate::sqlite::words::{FIELDS, field_number, from_json, word};

/// Bytes of one stored piece of a text.
pub(in crate::sqlite) const PIECE_BYTES_MAX: usize = 64 * 1024;
/// Small pieces of one text that one commit merges; what is beyond stays in small pieces.
const MERGE_PIECES_MAX: usize = 4096;

impl Projection<'_> {
    pub(super) fn item_fact(&mut self, fact: &Fact) -> Result<(), Fail> {
        match fact {
            Fact::ItemAdded { item, place, kind, role, turn } => {
                let sql = "INSERT INTO items (chat, origin, id, place, turn, kind, role, at, body,
                    running, closed, version, text_bytes, input_bytes, output_bytes)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING";
                let new = self.db.prepare_cached(sql)?.execute(params![
                    self.key,
                    item.origin,
                    item.n,
                    place,
                    turn.map(|turn| turn.0),
                    word(kind)?,
                    word(role)?,
                    self.at.0,
                    serde_json::to_string(&Body::Text)?,
                ])?;
                if new == 0 {
                    let text = format!("{item} or its place was there before");
                    return Err(CommitError::Refused(text).into());
                }
                self.touched.add(What::Item(*item));
            }
            Fact::CallsAbandoned { origin } => self.abandon_calls(*origin)?,
            _ => {}
        }
        Ok(())
    }

    fn abandon_calls(&mut self, origin: u32) -> Result<(), Fail> {
        let sql = "SELECT n, id, body FROM items WHERE chat = ? AND origin = ? AND running = 1
            ORDER BY place";
        let mut sql = self.db.prepare_cached(sql)?;
        let running = sql.query_map(params![self.key, origin], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        let running = running.collect::<Result<Vec<(i64, u32, String)>, _>>()?;
        let set = "UPDATE items SET body = ?, running = 0 WHERE n = ?";
        let mut set = self.db.prepare_cached(set)?;
        for (n, id, body) in running {
            let body: Option<Body> = from_json(&body);
            let Some(body) = body.as_ref().and_then(abandoned) else { continue };
            set.execute(params![serde_json::to_string(&body)?, n])?;
            self.touched.add(What::Item(ItemId::new(origin, id)));
        }
        Ok(())
    }

    pub(super) fn item_body(&mut self, item: ItemId, body: &Body) -> Result<(), Fail> {
        let running = match body {
            Body::Call(call) => call.state == CallState::Running,
            Body::Text
            | Body::Within { .. }
            | Body::Message { .. }
            | Body::Prompt { .. }
            | Body::Plan { .. }
            | Body::Notice(_)
            | Body::Unrecognised { .. } => false,
        };
        let sql = "UPDATE items SET body = ?, running = ?
            WHERE chat = ? AND origin = ? AND id = ?";
        let body = serde_json::to_string(body)?;
        let mut sql = self.db.prepare_cached(sql)?;
        let found = sql.execute(params![body, running, self.key, item.origin, item.n])?;
        if found == 0 {
            return Err(missing(self.chat, item).into());
        }
        self.touched.add(What::Item(item));
        Ok(())
    }

    pub(super) fn item_dated(&mut self, item: ItemId, at: Micros) -> Result<(), Fail> {
        let sql = "UPDATE items SET at = ? WHERE chat = ? AND origin = ? AND id = ?";
        let mut sql = self.db.prepare_cached(sql)?;
        if sql.execute(params![at.0, self.key, item.origin, item.n])? == 0 {
            return Err(missing(self.chat, item).into());
        }
        self.touched.add(What::Item(item));
        Ok(())
    }

    /// The item's number in its table and the bytes that are there of each text.
    fn item_bytes(&self, item: ItemId) -> Result<(i64, [u64; 3]), Fail> {
        let sql = "SELECT n, text_bytes, input_bytes, output_bytes FROM items
            WHERE chat = ? AND origin = ? AND id = ?";
        let mut sql = self.db.prepare_cached(sql)?;
        let found = sql
            .query_row(params![self.key, item.origin, item.n], |row| {
                Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
            })
            .optional()?;
        Ok(found.ok_or_else(|| missing(self.chat, item))?)
    }

    pub(super) fn item_text(
        &mut self,
        item: ItemId,
        field: Field,
        at: u64,
        text: &str,
    ) -> Result<(), Fail> {
        let (n, [text_bytes, input_bytes, output_bytes]) = self.item_bytes(item)?;
        let (have, sql) = match field {
            Field::Text => (text_bytes, "UPDATE items SET text_bytes = ? WHERE n = ?"),
            Field::Input => (input_bytes, "UPDATE items SET input_bytes = ? WHERE n = ?"),
            Field::Output => (output_bytes, "UPDATE items SET output_bytes = ? WHERE n = ?"),
        };
        let new = fresh(have, at, text)?.as_bytes();
        if new.is_empty() {
            return Ok(());
        }
        let mut end = have;
        for piece in new.chunks(PIECE_BYTES_MAX) {
            self.piece(n, field, end, piece)?;
            end += u64::try_from(piece.len()).unwrap_or(u64::MAX);
        }
        self.db.prepare_cached(sql)?.execute(params![end, n])?;
        self.touched.add(What::Item(item));
        Ok(())
    }

    fn piece(&self, n: i64, field: Field, at: u64, bytes: &[u8]) -> Result<(), Fail> {
        let sql = "INSERT INTO item_pieces (item, field, at, bytes) VALUES (?, ?, ?, ?)";
        self.db.prepare_cached(sql)?.execute(params![n, field_number(field), at, bytes])?;
        Ok(())
    }

    pub(super) fn item_closed(&mut self, item: ItemId) -> Result<(), Fail> {
        let (n, bytes) = self.item_bytes(item)?;
        let sql = "UPDATE items SET closed = 1 WHERE n = ? AND closed = 0";
        if self.db.prepare_cached(sql)?.execute([n])? == 0 {
            return Ok(());
        }
        for (field, bytes) in FIELDS.into_iter().zip(bytes) {
            if bytes > 0 {
                self.merge(n, field)?;
            }
        }
        self.touched.add(What::Item(item));
        Ok(())
    }

    /// Makes large pieces of the small ones of a text.
    fn merge(&self, n: i64, field: Field) -> Result<(), Fail> {
        let sql = "SELECT n, at, length(bytes) FROM item_pieces
            WHERE item = ? AND field = ? ORDER BY at LIMIT ?";
        let mut sql = self.db.prepare_cached(sql)?;
        let pieces = sql.query_map(params![n, field_number(field), MERGE_PIECES_MAX], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
        let pieces = pieces.collect::<Result<Vec<(i64, u64, usize)>, _>>()?;
        let mut run: Vec<i64> = Vec::new();
        let (mut start, mut size) = (0, 0);
        for (piece, at, bytes) in pieces {
            if size + bytes > PIECE_BYTES_MAX {
                self.merge_run(n, field, start, &run)?;
                run.clear();
                size = 0;
            }
            if run.is_empty() {
                start = at;
            }
            run.push(piece);
            size += bytes;
        }
        self.merge_run(n, field, start, &run)
    }

    fn merge_run(&self, n: i64, field: Field, start: u64, run: &[i64]) -> Result<(), Fail> {
        if run.len() < 2 {
            return Ok(());
        }
        let mut whole = Vec::with_capacity(PIECE_BYTES_MAX);
        let mut read = self.db.prepare_cached("SELECT bytes FROM item_pieces WHERE n = ?")?;
        let mut drop = self.db.prepare_cached("DELETE FROM item_pieces WHERE n = ?")?;
        for piece in run {
            let bytes: Vec<u8> = read.query_row([piece], |row| row.get(0))?;
            whole.extend_from_slice(&bytes);
            drop.execute([piece])?;
        }
        self.piece(n, field, start, &whole)
    }
}
