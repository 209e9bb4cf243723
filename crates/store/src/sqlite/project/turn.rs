//! Turns and tasks.

use holdfast_core::fact::{Evidence, Fact};
use holdfast_core::fork::TurnPlace;
use holdfast_core::ids::{ItemId, Seq, TaskId, TurnId};
use holdfast_core::provider::{TaskEnd, TurnEnd};
use rusqlite::params;

use super::Projection;
use crate::change::What;
use crate::journal::CommitError;
use crate::sqlite::fail::Fail;
use crate::sqlite::words::word;

impl Projection<'_> {
    pub(super) fn turn_fact(&mut self, seq: Seq, fact: &Fact) -> Result<(), Fail> {
        match fact {
            Fact::TurnOpened { turn, message } => {
                let sql = "INSERT INTO turns (chat, id, seq, message, started_at)
                    VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
                let uuid = message.map(|message| *message.uuid().as_bytes());
                let mut sql = self.db.prepare_cached(sql)?;
                if sql.execute(params![self.key, turn.0, seq.0, uuid, self.at.0])? == 0 {
                    let text = format!("{turn} was opened before");
                    return Err(CommitError::Refused(text).into());
                }
                self.touched.add(What::Turn(*turn));
                if let Some(message) = message {
                    self.message_turn(*message, turn.0)?;
                }
            }
            Fact::TurnClaimed { turn, message } => {
                let sql = "UPDATE turns SET message = ? WHERE chat = ? AND id = ?";
                let uuid = *message.uuid().as_bytes();
                self.db.prepare_cached(sql)?.execute(params![uuid, self.key, turn.0])?;
                self.touched.add(What::Turn(*turn));
                self.message_turn(*message, turn.0)?;
            }
            Fact::TurnEnded { turn, how, evidence, usage } => {
                let usage = usage.as_ref().map(serde_json::to_string).transpose()?;
                let sql = "UPDATE turns SET how = ?, evidence = ?, ended_at = ?, usage = ?
                    WHERE chat = ? AND id = ? AND how IS NULL";
                let ended = self.db.prepare_cached(sql)?.execute(params![
                    word(how)?,
                    word(evidence)?,
                    self.at.0,
                    usage,
                    self.key,
                    turn.0
                ])?;
                if ended > 0 {
                    self.touched.add(What::Turn(*turn));
                }
            }
            Fact::TurnMarked(place) => {
                let sql = "UPDATE turns SET mark = ?, ends = ?, holds = ?
                    WHERE chat = ? AND id = ?";
                let TurnPlace { turn, at, mark, messages } = place;
                let mut sql = self.db.prepare_cached(sql)?;
                sql.execute(params![mark, at, messages, self.key, turn.0])?;
                self.touched.add(What::Turn(*turn));
                self.touch_place(*at)?;
            }
            Fact::ChatRewound { to, .. } => {
                let sql = "UPDATE turns SET left_behind = 1 WHERE chat = ? AND id > ?";
                self.db.prepare_cached(sql)?.execute(params![self.key, to.turn.0])?;
            }
            Fact::InterruptRequested { turn } => self.touched.add(What::Turn(*turn)),
            _ => {}
        }
        Ok(())
    }

    /// What is shown of the item at this place is another.
    fn touch_place(&mut self, place: u64) -> Result<(), Fail> {
        let sql = "SELECT origin, id FROM items WHERE chat = ? AND place = ?";
        let mut sql = self.db.prepare_cached(sql)?;
        let mut found = sql.query(params![self.key, place])?;
        if let Some(row) = found.next()? {
            self.touched.add(What::Item(ItemId::new(row.get(0)?, row.get(1)?)));
        }
        Ok(())
    }

    /// Ends the turns that still run with their attempt.
    pub(super) fn end_turns(&mut self) -> Result<(), Fail> {
        let sql = "UPDATE turns SET how = ?, evidence = ?, ended_at = ?
            WHERE chat = ? AND how IS NULL RETURNING id";
        let mut sql = self.db.prepare_cached(sql)?;
        let (how, evidence) = (word(&TurnEnd::Lost)?, word(&Evidence::Death)?);
        let ended = sql.query_map(params![how, evidence, self.at.0, self.key], |row| row.get(0))?;
        let mut ended = ended.collect::<Result<Vec<u32>, _>>()?;
        ended.sort_unstable();
        for id in ended {
            self.touched.add(What::Turn(TurnId(id)));
        }
        Ok(())
    }

    pub(super) fn task_fact(&mut self, fact: &Fact) -> Result<(), Fail> {
        match fact {
            Fact::TaskStarted { task, kind, label, foreground } => {
                let sql = "INSERT INTO tasks (chat, origin, id, kind, label, foreground,
                    started_at) VALUES (?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (chat, origin, id) DO UPDATE SET kind = excluded.kind,
                    label = excluded.label, foreground = excluded.foreground,
                    started_at = excluded.started_at, how = NULL, ended_at = NULL";
                self.db.prepare_cached(sql)?.execute(params![
                    self.key,
                    task.origin,
                    task.n,
                    word(kind)?,
                    label,
                    foreground,
                    self.at.0
                ])?;
                self.touched.add(What::Task(*task));
            }
            Fact::TaskDetached { task } => {
                let sql = "UPDATE tasks SET foreground = 0
                    WHERE chat = ? AND origin = ? AND id = ? AND how IS NULL";
                let mut sql = self.db.prepare_cached(sql)?;
                if sql.execute(params![self.key, task.origin, task.n])? > 0 {
                    self.touched.add(What::Task(*task));
                }
            }
            Fact::TaskEnded { task, how } => {
                let sql = "UPDATE tasks SET how = ?, ended_at = ?
                    WHERE chat = ? AND origin = ? AND id = ? AND how IS NULL";
                let how = word(how)?;
                let mut sql = self.db.prepare_cached(sql)?;
                let ended = sql.execute(params![how, self.at.0, self.key, task.origin, task.n])?;
                if ended > 0 {
                    self.touched.add(What::Task(*task));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the tasks that still live with their attempt.
    pub(super) fn end_tasks(&mut self) -> Result<(), Fail> {
        let sql = "UPDATE tasks SET how = ?, ended_at = ?
            WHERE chat = ? AND how IS NULL RETURNING origin, id";
        let mut sql = self.db.prepare_cached(sql)?;
        let how = word(&TaskEnd::Lost)?;
        let ended = sql.query_map(params![how, self.at.0, self.key], |row| {
            Ok(TaskId::new(row.get(0)?, row.get(1)?))
        })?;
        let mut ended = ended.collect::<Result<Vec<_>, _>>()?;
        ended.sort_unstable();
        for id in ended {
            self.touched.add(What::Task(id));
        }
        Ok(())
    }
}
