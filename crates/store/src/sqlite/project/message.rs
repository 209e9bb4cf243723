//! Messages and the queue.

use holdfast_core::fact::{Fact, Place, WithdrawnWhy};
use holdfast_core::ids::{ItemId, MessageId};
use rusqlite::{OptionalExtension, params};

use super::Projection;
use crate::change::What;
use crate::derive::{last_prompt, message_after, missing, text_of};
use crate::journal::CommitError;
use crate::rows::MessageState;
use crate::sqlite::fail::Fail;
use crate::sqlite::read::of_message;
use crate::sqlite::words::{detail, message_state, word};

/// What a transition needs of a message.
struct Known {
    n: i64,
    state: MessageState,
    item: Option<ItemId>,
}

impl Projection<'_> {
    pub(super) fn message_fact(&mut self, fact: &Fact) -> Result<(), Fail> {
        match fact {
            Fact::MessageAccepted { message, by, bytes, digest, place, attachments } => {
                let at = self.queue_end(*place)?;
                let sql = "INSERT INTO messages (chat, id, author, state, bytes, digest,
                    accepted_at, place) VALUES (?, ?, ?, 'queued', ?, ?, ?, ?)
                    ON CONFLICT DO NOTHING";
                let uuid = message.uuid();
                let new = self.db.prepare_cached(sql)?.execute(params![
                    self.key,
                    uuid.as_bytes().as_slice(),
                    word(by)?,
                    bytes,
                    digest,
                    self.at.0,
                    at,
                ])?;
                if new == 0 {
                    let text = format!("{message} was accepted before");
                    return Err(CommitError::Refused(text).into());
                }
                self.name(*message, attachments)?;
                if by.is_person() {
                    let text = text_of(self.unit, *message).unwrap_or_default();
                    let named = || of_message(self.db, self.key, *message);
                    self.record.last_prompt = Some(last_prompt(text, named)?);
                    self.record.last_message = Some(*uuid.as_bytes());
                }
                self.touched.add(What::Queue);
            }
            Fact::MessageEdited { message, bytes, digest } => {
                self.edit(*message, *bytes, digest)?
            }
            Fact::QueueOrdered { order } => self.order(order)?,
            Fact::QueuePaused { .. } | Fact::QueueResumed | Fact::QueueExempted { .. } => {
                self.touched.add(What::Queue);
            }
            Fact::MessageHanded { message, .. }
            | Fact::MessageTaken { message, .. }
            | Fact::MessageSettled { message, .. }
            | Fact::MessageRefused { message, .. }
            | Fact::MessageDisproved { message }
            | Fact::MessageDoubted { message, .. }
            | Fact::MessageRequeued { message, .. }
            | Fact::MessageWithdrawn { message, .. } => self.move_message(*message, fact)?,
            _ => {}
        }
        Ok(())
    }

    /// The place before or behind all that wait.
    fn queue_end(&self, place: Place) -> Result<i64, Fail> {
        let sql = match place {
            Place::Tail => "SELECT COALESCE(MAX(place), 0) + 1 FROM messages",
            Place::Head => "SELECT COALESCE(MIN(place), 0) - 1 FROM messages",
        };
        let sql = format!("{sql} WHERE chat = ? AND place IS NOT NULL");
        Ok(self.db.prepare_cached(&sql)?.query_row([self.key], |row| row.get(0))?)
    }

    fn edit(&mut self, message: MessageId, bytes: u64, digest: &str) -> Result<(), Fail> {
        let sql = "UPDATE messages SET bytes = ?, digest = ?
            WHERE chat = ? AND id = ? AND state = 'queued'";
        let uuid = message.uuid();
        let id = uuid.as_bytes().as_slice();
        let edited = self.db.prepare_cached(sql)?.execute(params![bytes, digest, self.key, id])?;
        if edited == 0 {
            return Ok(());
        }
        if self.record.last_message.as_ref() == Some(uuid.as_bytes())
            && let Some(text) = text_of(self.unit, message)
        {
            let named = || of_message(self.db, self.key, message);
            self.record.last_prompt = Some(last_prompt(text, named)?);
        }
        self.touched.add(What::Queue);
        Ok(())
    }

    fn order(&mut self, order: &[MessageId]) -> Result<(), Fail> {
        let sql = "SELECT n, id FROM messages WHERE chat = ? AND place IS NOT NULL ORDER BY place";
        let mut sql = self.db.prepare_cached(sql)?;
        let waiting = sql.query_map([self.key], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut waiting = waiting.collect::<Result<Vec<(i64, [u8; 16])>, _>>()?;
        let place = |id: &[u8; 16]| order.iter().position(|o| o.uuid().as_bytes() == id);
        waiting.sort_by_key(|(_, id)| place(id).unwrap_or(usize::MAX));
        let mut set = self.db.prepare_cached("UPDATE messages SET place = ? WHERE n = ?")?;
        for (place, (n, _)) in (1_i64..).zip(waiting) {
            set.execute(params![place, n])?;
        }
        self.touched.add(What::Queue);
        Ok(())
    }

    fn known(&self, message: MessageId) -> Result<Option<Known>, Fail> {
        let sql = "SELECT n, state, detail, item_origin, item_n FROM messages
            WHERE chat = ? AND id = ?";
        let uuid = message.uuid();
        let mut sql = self.db.prepare_cached(sql)?;
        let found = sql
            .query_row(params![self.key, uuid.as_bytes().as_slice()], |row| {
                let state: (String, Option<String>) = (row.get(1)?, row.get(2)?);
                let item: (Option<u32>, Option<u32>) = (row.get(3)?, row.get(4)?);
                Ok((row.get(0)?, state, item.0.zip(item.1)))
            })
            .optional()?;
        let Some((n, (state, detail), item)) = found else { return Ok(None) };
        let state = message_state(&state, detail.as_deref())
            .ok_or_else(|| Fail::Bad(format!("{message} has the unknown state {state:?}")))?;
        Ok(Some(Known { n, state, item: item.map(|(origin, n)| ItemId::new(origin, n)) }))
    }

    fn move_message(&mut self, message: MessageId, fact: &Fact) -> Result<(), Fail> {
        let Some(known) = self.known(message)? else { return Ok(()) };
        let Some(state) = message_after(&known.state, fact) else { return Ok(()) };
        let waited = known.state == MessageState::Queued;
        let place = match fact {
            Fact::MessageRequeued { place, .. } => Some(self.queue_end(*place)?),
            _ => None,
        };
        let sql = "UPDATE messages SET state = ?, detail = ?, place = ? WHERE n = ?";
        let mut sql = self.db.prepare_cached(sql)?;
        sql.execute(params![state.word(), detail(&state)?, place, known.n])?;
        let mut item = known.item;
        if let Fact::MessageHanded { attempt, item: shown, .. } = fact {
            let sql = "UPDATE messages SET attempt = ?, item_origin = ?, item_n = ? WHERE n = ?";
            let uuid = attempt.uuid();
            let attempt = uuid.as_bytes().as_slice();
            let mut sql = self.db.prepare_cached(sql)?;
            sql.execute(params![attempt, shown.origin, shown.n, known.n])?;
            item = Some(*shown);
        }
        if waited || place.is_some() {
            self.touched.add(What::Queue);
        }
        if let Some(item) = item {
            self.touched.add(What::Item(item));
        }
        Ok(())
    }

    pub(super) fn message_text(&mut self, message: MessageId, text: &str) -> Result<(), Fail> {
        let known = self.known(message)?.ok_or_else(|| missing(self.chat, message))?;
        let sql = "INSERT INTO message_texts (message, text) VALUES (?, ?)
            ON CONFLICT (message) DO UPDATE SET text = excluded.text";
        self.db.prepare_cached(sql)?.execute(params![known.n, text.as_bytes()])?;
        if let Some(item) = known.item {
            self.touched.add(What::Item(item));
        }
        Ok(())
    }

    /// The message's turn is this; the item that shows it is touched.
    pub(super) fn message_turn(&mut self, message: MessageId, turn: u32) -> Result<(), Fail> {
        let Some(known) = self.known(message)? else { return Ok(()) };
        let mut sql = self.db.prepare_cached("UPDATE messages SET turn = ? WHERE n = ?")?;
        sql.execute(params![turn, known.n])?;
        if let Some(item) = known.item {
            self.touched.add(What::Item(item));
        }
        Ok(())
    }

    /// The chat is deleted: what waited or was in doubt is withdrawn.
    pub(super) fn delete_messages(&self) -> Result<(), Fail> {
        let state = MessageState::Withdrawn(WithdrawnWhy::ChatDeleted);
        let sql = "UPDATE messages SET state = ?, detail = ?, place = NULL
            WHERE chat = ? AND state IN ('queued', 'refused', 'unknown')";
        let mut sql = self.db.prepare_cached(sql)?;
        sql.execute(params![state.word(), detail(&state)?, self.key])?;
        Ok(())
    }
}
