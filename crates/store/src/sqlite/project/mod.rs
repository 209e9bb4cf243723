//! Facts and rows become tables, one file for each family of them.

mod attachment;
mod chat;
mod fork;
mod item;
mod message;
mod offer;
mod prompt;
mod turn;

use std::ops::Range;

use holdfast_core::fact::Fact;
use holdfast_core::head::Life;
use holdfast_core::ids::{ChatId, Seq};
use holdfast_core::item::Row;
use holdfast_core::time::Micros;
use rusqlite::{Connection, params};

pub(super) use self::chat::HEAD_VERSION;
use self::chat::Record;
pub(super) use self::item::PIECE_BYTES_MAX;
use super::fail::Fail;
use super::operations;
use super::words::kind;
use crate::change::{Touched, What};
use crate::derive::{check, counted, moves};
use crate::journal::{Progress, Unit};

/// A unit on its way into the tables.
struct Projection<'a> {
    db: &'a Connection,
    unit: &'a Unit,
    chat: ChatId,
    /// The chat as SQLite knows it.
    key: &'a [u8],
    at: Micros,
    record: Record,
    touched: Touched,
}

/// Stores a unit within the transaction that is open. `newest` is the number of the newest change
/// before it, and after it; on an error it is of no use, and the savepoint has to be undone.
pub(super) fn apply(db: &Connection, unit: &Unit, newest: &mut u64) -> Result<Range<u64>, Fail> {
    let uuid = unit.chat.uuid();
    let key = uuid.as_bytes().as_slice();
    let stored = Record::read(db, key)?;
    check(unit, stored.as_ref().map_or(Seq(0), |record| record.seq))?;
    if let Some(operation) = &unit.operation {
        operations::take(db, Some(unit.chat), unit.at, operation)?;
    }

    let before = stored.as_ref().map(Record::shown);
    let record = stored.unwrap_or_else(|| Record::new(unit.at));
    let (chat, at, touched) = (unit.chat, unit.at, Touched::default());
    let mut p = Projection { db, unit, chat, key, at, record, touched };
    for (seq, fact) in (unit.after.0 + 1..).zip(&unit.facts) {
        p.journal(seq, fact)?;
        p.fact(Seq(seq), fact)?;
    }
    for row in &unit.rows {
        p.row(row)?;
    }
    if let Some(progress) = &unit.progress {
        p.progress(progress)?;
    }
    if let Some(principal) = &unit.clear_draft {
        let mut sql = db.prepare_cached("DELETE FROM drafts WHERE chat = ? AND principal = ?")?;
        sql.execute(params![key, principal])?;
    }
    if !unit.facts.is_empty() {
        p.touched.add(What::Chat);
        p.offer_choice()?;
        let (counts, held) = before.unwrap_or_default();
        if counts != counted(&unit.summary) {
            p.touched.add(What::Counts);
        }
        p.record.follow(unit)?;
        if unit.after > Seq(0) && held != p.record.held {
            p.touched.add(What::Queue);
        }
    }
    let changes = p.finish(newest)?;
    if let Some(operation) = &unit.operation {
        operations::show(db, unit.chat, operation)?;
    }
    Ok(changes)
}

impl Projection<'_> {
    fn journal(&self, seq: u64, fact: &Fact) -> Result<(), Fail> {
        let sql = "INSERT INTO facts (chat, seq, at, kind, body) VALUES (?, ?, ?, ?, ?)";
        let body = serde_json::to_string(fact)?;
        let mut sql = self.db.prepare_cached(sql)?;
        sql.execute(params![self.key, seq, self.at.0, kind(fact), body])?;
        Ok(())
    }

    fn fact(&mut self, seq: Seq, fact: &Fact) -> Result<(), Fail> {
        match fact {
            Fact::ChatForked(fork) => self.fork(seq, fork),
            Fact::ChatAdopted { handle, .. } => self.session_is_free(&handle.leaf),
            Fact::ChatOpened { .. }
            | Fact::ChatTitled { .. }
            | Fact::SlotBound { .. }
            | Fact::ChatClosed
            | Fact::ChatReopened
            | Fact::ChatDeleted => self.chat_fact(fact),
            Fact::AttachmentAdded(added) => self.attach(added),
            Fact::AttachmentRemoved { attachment } => self.detach(*attachment),
            Fact::MessageAccepted { .. }
            | Fact::MessageEdited { .. }
            | Fact::QueueOrdered { .. }
            | Fact::MessageWithdrawn { .. }
            | Fact::QueuePaused { .. }
            | Fact::QueueResumed
            | Fact::QueueExempted { .. }
            | Fact::MessageHanded { .. }
            | Fact::MessageTaken { .. }
            | Fact::MessageSettled { .. }
            | Fact::MessageRefused { .. }
            | Fact::MessageDisproved { .. }
            | Fact::MessageDoubted { .. }
            | Fact::MessageRequeued { .. } => self.message_fact(fact),
            Fact::TurnOpened { .. }
            | Fact::TurnClaimed { .. }
            | Fact::TurnEnded { .. }
            | Fact::TurnMarked(_)
            | Fact::ChatRewound { .. }
            | Fact::InterruptRequested { .. } => self.turn_fact(seq, fact),
            Fact::ItemAdded { .. } | Fact::CallsAbandoned { .. } => self.item_fact(fact),
            Fact::PromptOpened { .. }
            | Fact::PromptAnswered { .. }
            | Fact::AnswerWritten { .. }
            | Fact::AnswerTaken { .. }
            | Fact::AnswerLost { .. }
            | Fact::PromptGone { .. } => self.prompt_fact(fact),
            Fact::GrantGiven { .. } | Fact::GrantEnded { .. } => self.grant_fact(fact),
            Fact::TaskStarted { .. } | Fact::TaskDetached { .. } | Fact::TaskEnded { .. } => {
                self.task_fact(fact)
            }
            Fact::AttemptStarting { .. } => self.forget_progress(),
            Fact::AttemptEnded { .. } => {
                // With an attempt all that it had going is over, whatever else was told of it.
                self.forget_progress()?;
                self.end_prompts(fact)?;
                self.end_tasks()?;
                self.end_turns()
            }
            // What they change is kept in the head and the summary.
            Fact::ChatPinned { .. }
            | Fact::ChatFiled { .. }
            | Fact::ChatTagged { .. }
            | Fact::ChatMuted { .. }
            | Fact::ChatSeen { .. }
            | Fact::ChatTuned { .. }
            | Fact::SettingDeferred
            | Fact::EffortsTold { .. }
            | Fact::AgentRetuned { .. } => Ok(()),
            // What outlived its tool call is kept in the summary.
            Fact::LeftoversSeen { .. }
            | Fact::AttemptBorn { .. }
            | Fact::AttemptReady { .. }
            | Fact::SessionMoved { .. }
            | Fact::StoreRead { .. }
            | Fact::FrameIssued { .. }
            | Fact::FrameBegun { .. }
            | Fact::FrameDone { .. }
            | Fact::FrameCancelled { .. }
            | Fact::SteerWished { .. }
            | Fact::WithdrawRequested { .. }
            | Fact::SettledSuspected { .. }
            | Fact::StopRequested { .. }
            | Fact::StopWithdrawn { .. }
            | Fact::AttemptStalled { .. }
            | Fact::AttemptGoesOn { .. }
            | Fact::TreeMayLive { .. }
            | Fact::StartedAnyway => Ok(()),
            Fact::OfferRecorded { .. }
            | Fact::OfferShown { .. }
            | Fact::OfferEnded { .. }
            | Fact::ResumeStarted { .. }
            | Fact::SessionLeft { .. }
            | Fact::ResumeStopped { .. }
            | Fact::FailureFiled(_)
            | Fact::FailureCleared => self.offer_fact(fact),
        }
    }

    fn row(&mut self, row: &Row) -> Result<(), Fail> {
        match row {
            Row::MessageText { message, text } => self.message_text(*message, text),
            Row::ItemBody { item, body } => self.item_body(*item, body),
            Row::ItemText { item, field, at, text } => self.item_text(*item, *field, *at, text),
            Row::ItemDated { item, at } => self.item_dated(*item, *at),
            Row::ItemClosed { item } => self.item_closed(*item),
            Row::Commands(commands) => self.commands(commands),
        }
    }

    fn progress(&self, progress: &Progress) -> Result<(), Fail> {
        let sql = "INSERT INTO progress (chat, attempt, position, codec) VALUES (?, ?, ?, ?)
            ON CONFLICT (chat) DO UPDATE SET
            attempt = excluded.attempt, position = excluded.position, codec = excluded.codec";
        let attempt = progress.attempt.uuid();
        let mut sql = self.db.prepare_cached(sql)?;
        sql.execute(params![
            self.key,
            attempt.as_bytes().as_slice(),
            progress.position.0,
            progress.codec
        ])?;
        Ok(())
    }

    fn forget_progress(&self) -> Result<(), Fail> {
        self.db.prepare_cached("DELETE FROM progress WHERE chat = ?")?.execute([self.key])?;
        Ok(())
    }

    /// Writes the changes to the feed and the chat's own rows.
    fn finish(self, newest: &mut u64) -> Result<Range<u64>, Fail> {
        let Self { db, unit, chat, key, at, mut record, touched } = self;
        let first = *newest + 1;
        let sql = "INSERT INTO changes (n, chat, what, at) VALUES (?, ?, ?, ?)";
        let mut insert = db.prepare_cached(sql)?;
        for (of, what) in touched.of(chat, unit.head.life) {
            *newest += 1;
            let n = *newest;
            insert.execute(params![n, of.map(|_| key), what.to_string(), at.0])?;
            if let What::Item(id) = what {
                let sql = "UPDATE items SET version = ? WHERE chat = ? AND origin = ? AND id = ?";
                db.prepare_cached(sql)?.execute(params![n, key, id.origin, id.n])?;
            }
            if what == What::Chat && moves(unit) {
                record.touched = n;
                record.updated_at = at;
            }
        }
        if !unit.facts.is_empty() {
            record.check_slot(db, key, unit.head.life == Life::Open)?;
            record.write(db, key, unit)?;
        }
        Ok(first..*newest + 1)
    }
}
