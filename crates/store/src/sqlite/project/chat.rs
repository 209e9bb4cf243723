//! The chat's own row: what lists show of it.

use holdfast_core::fact::Fact;
use holdfast_core::head::Life;
use holdfast_core::ids::{ChatId, Seq};
use holdfast_core::slash::SlashCommand;
use holdfast_core::summary::Summary;
use holdfast_core::time::Micros;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::Projection;
use crate::change::What;
use crate::derive::{counted, owes};
use crate::journal::{CommitError, Unit};
use crate::rows::Counts;
use crate::sqlite::fail::Fail;
use crate::sqlite::words::{life_number, word};

/// The version of the JSON of heads and summaries. Another one is not read but folded anew.
pub(in crate::sqlite) const HEAD_VERSION: i64 = 1;

/// The row of a chat, but for its summary.
pub(super) struct Record {
    pub(super) seq: Seq,
    pub(super) slot: Option<String>,
    pub(super) title: Option<String>,
    pub(super) project: Option<String>,
    created_at: Micros,
    pub(super) updated_at: Micros,
    /// The number of the change to its row that counted last: the order of lists.
    pub(super) touched: u64,
    pub(super) last_prompt: Option<String>,
    /// The uuid of the message that `last_prompt` is of.
    pub(super) last_message: Option<[u8; 16]>,
    pub(super) first_prompt: Option<String>,
    /// The uuid of the message that `first_prompt` is of.
    pub(super) first_message: Option<[u8; 16]>,
    counts: Counts,
    pub(super) held: Option<String>,
}

impl Record {
    pub(super) const fn new(at: Micros) -> Self {
        Self {
            seq: Seq(0),
            slot: None,
            title: None,
            project: None,
            created_at: at,
            updated_at: at,
            touched: 0,
            last_prompt: None,
            last_message: None,
            first_prompt: None,
            first_message: None,
            counts: Counts { running: 0, to_resume: 0, to_check: 0, queued: 0, open: 0 },
            held: None,
        }
    }

    pub(super) fn read(db: &Connection, key: &[u8]) -> Result<Option<Self>, Fail> {
        let sql = "SELECT seq, slot, title, project, created_at, touched, last_prompt,
            last_message, running, to_resume, to_check, queued, life = 1, held, first_prompt,
            first_message, updated_at
            FROM chats WHERE chat = ?";
        let read = |row: &rusqlite::Row<'_>| {
            let (running, to_resume, to_check) = (row.get(8)?, row.get(9)?, row.get(10)?);
            let (queued, open) = (row.get(11)?, row.get(12)?);
            Ok(Self {
                seq: Seq(row.get(0)?),
                slot: row.get(1)?,
                title: row.get(2)?,
                project: row.get(3)?,
                created_at: Micros(row.get(4)?),
                touched: row.get(5)?,
                last_prompt: row.get(6)?,
                last_message: row.get(7)?,
                counts: Counts { running, to_resume, to_check, queued, open },
                held: row.get(13)?,
                first_prompt: row.get(14)?,
                first_message: row.get(15)?,
                updated_at: Micros(row.get(16)?),
            })
        };
        Ok(db.prepare_cached(sql)?.query_row([key], read).optional()?)
    }

    /// What others see of it beside its row.
    pub(super) fn shown(&self) -> (Counts, Option<String>) {
        (self.counts, self.held.clone())
    }

    /// Takes over what the unit's summary says.
    pub(super) fn follow(&mut self, unit: &Unit) -> Result<(), Fail> {
        self.seq = unit.head.seq;
        self.counts = counted(&unit.summary);
        self.held = unit.summary.held.as_ref().map(word).transpose()?;
        Ok(())
    }

    pub(super) fn check_slot(&self, db: &Connection, key: &[u8], open: bool) -> Result<(), Fail> {
        let Some(slot) = self.slot.as_ref().filter(|_| open) else { return Ok(()) };
        let sql = "SELECT 1 FROM chats WHERE slot = ? AND life = 1 AND chat <> ?";
        if db.prepare_cached(sql)?.exists(params![slot, key])? {
            return Err(CommitError::SlotTaken { slot: slot.clone() }.into());
        }
        Ok(())
    }

    pub(super) fn write(&self, db: &Connection, key: &[u8], unit: &Unit) -> Result<(), Fail> {
        let (head, summary) = (&unit.head, &unit.summary);
        // An agent that is still being stopped may write to its items until it has ended.
        let reap = head.life == Life::Deleted && head.attempt.is_none();
        let sql = "INSERT INTO chats (chat, seq, life, slot, title, project, created_at,
                updated_at, touched, last_prompt, last_message, owes, running, to_resume, to_check,
                queued, held, reap, version, summary, first_prompt, first_message, session)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (chat) DO UPDATE SET seq = excluded.seq, life = excluded.life,
                slot = excluded.slot, title = excluded.title, project = excluded.project,
                updated_at = excluded.updated_at, touched = excluded.touched,
                last_prompt = excluded.last_prompt, last_message = excluded.last_message,
                owes = excluded.owes, running = excluded.running, to_resume = excluded.to_resume,
                to_check = excluded.to_check, queued = excluded.queued, held = excluded.held,
                reap = excluded.reap, version = excluded.version, summary = excluded.summary,
                first_prompt = excluded.first_prompt, first_message = excluded.first_message,
                session = excluded.session";
        db.prepare_cached(sql)?.execute(params![
            key,
            self.seq.0,
            life_number(head.life),
            self.slot,
            self.title,
            self.project,
            self.created_at.0,
            self.updated_at.0,
            self.touched,
            self.last_prompt,
            self.last_message,
            owes(head, summary),
            self.counts.running,
            self.counts.to_resume,
            self.counts.to_check,
            self.counts.queued,
            self.held,
            reap,
            HEAD_VERSION,
            serde_json::to_string(summary)?,
            self.first_prompt,
            self.first_message,
            head.handle.as_ref().map(|handle| handle.leaf.as_str()),
        ])?;
        let sql = "INSERT INTO heads (chat, version, head) VALUES (?, ?, ?)
            ON CONFLICT (chat) DO UPDATE SET version = excluded.version, head = excluded.head";
        let json = serde_json::to_string(head)?;
        db.prepare_cached(sql)?.execute(params![key, HEAD_VERSION, json])?;
        Ok(())
    }
}

impl Projection<'_> {
    /// Refuses a session that another chat goes on with, or that the agent of a deleted one may still
    /// write.
    pub(super) fn session_is_free(&self, session: &str) -> Result<(), Fail> {
        let sql = "SELECT chat FROM chats
            WHERE session = ? AND (life <> 3 OR owes = 1) AND chat <> ? LIMIT 1";
        let mut sql = self.db.prepare_cached(sql)?;
        let other = sql.query_row(params![session, self.key], |row| row.get(0)).optional()?;
        match other {
            Some(other) => {
                let chat = ChatId::new(Uuid::from_bytes(other));
                Err(CommitError::SessionTaken { chat }.into())
            }
            None => Ok(()),
        }
    }

    pub(super) fn chat_fact(&mut self, fact: &Fact) -> Result<(), Fail> {
        match fact {
            Fact::ChatOpened { project, title, slot, .. } => {
                self.record.project.clone_from(project);
                self.record.title.clone_from(title);
                self.record.slot.clone_from(slot);
            }
            Fact::ChatTitled { title, .. } => self.record.title = Some(title.clone()),
            Fact::SlotBound { slot } => self.record.slot.clone_from(slot),
            Fact::ChatDeleted => {
                self.delete_messages()?;
                self.drop_offer()?;
                self.drop_failure()?;
                for table in ["drafts", "grants", "commands"] {
                    let sql = format!("DELETE FROM {table} WHERE chat = ?");
                    self.db.prepare_cached(&sql)?.execute([self.key])?;
                }
                self.touched.add(What::Removed);
            }
            _ => {}
        }
        Ok(())
    }
    /// Keeps what the agent's commands are; the newest word of all has the highest number. Nothing is
    /// kept for a chat that is deleted.
    pub(super) fn commands(&self, commands: &[SlashCommand]) -> Result<(), Fail> {
        if self.unit.head.life == Life::Deleted {
            return Ok(());
        }
        let Summary { agent, cwd, .. } = &self.unit.summary;
        let sql = "INSERT OR REPLACE INTO commands (chat, agent, cwd, body) VALUES (?, ?, ?, ?)";
        let body = serde_json::to_string(commands)?;
        self.db.prepare_cached(sql)?.execute(params![self.key, agent, cwd, body])?;
        Ok(())
    }
}
