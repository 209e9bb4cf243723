//! Prompts and their answers.

use holdfast_core::fact::Fact;
use holdfast_core::ids::PromptId;
use rusqlite::params;

use super::Projection;
use crate::change::What;
use crate::derive::prompt_after;
use crate::journal::CommitError;
use crate::rows::{Given, PromptStatus};
use crate::sqlite::fail::Fail;
use crate::sqlite::read;

impl Projection<'_> {
    pub(super) fn prompt_fact(&mut self, fact: &Fact) -> Result<(), Fail> {
        match fact {
            Fact::PromptOpened { prompt, item, asked } => {
                let sql = "INSERT INTO prompts (chat, origin, id, item_origin, item_n, asked, at,
                    state) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
                let new = self.db.prepare_cached(sql)?.execute(params![
                    self.key,
                    prompt.origin,
                    prompt.n,
                    item.origin,
                    item.n,
                    serde_json::to_string(asked)?,
                    self.at.0,
                    PromptStatus::Open.word(),
                ])?;
                if new == 0 {
                    let text = format!("{prompt} was opened before");
                    return Err(CommitError::Refused(text).into());
                }
                self.touched.add(What::Prompt(*prompt));
                self.touched.add(What::Item(*item));
            }
            Fact::PromptAnswered { prompt, .. }
            | Fact::AnswerWritten { prompt }
            | Fact::AnswerTaken { prompt }
            | Fact::AnswerLost { prompt, .. }
            | Fact::PromptGone { prompt } => self.move_prompt(*prompt, fact)?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn grant_fact(&self, fact: &Fact) -> Result<(), Fail> {
        match fact {
            Fact::GrantGiven { grant, deed, label, by } => {
                let sql = "INSERT INTO grants (chat, id, deed, label, given_by, at)
                    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
                let mut sql = self.db.prepare_cached(sql)?;
                sql.execute(params![self.key, grant.0, deed, label, by, self.at.0])?;
            }
            Fact::GrantEnded { grant } => {
                let sql = "DELETE FROM grants WHERE chat = ? AND id = ?";
                self.db.prepare_cached(sql)?.execute(params![self.key, grant.0])?;
            }
            _ => {}
        }
        Ok(())
    }

    fn move_prompt(&mut self, prompt: PromptId, fact: &Fact) -> Result<(), Fail> {
        let Some(row) = read::prompt(self.db, self.key, prompt)? else { return Ok(()) };
        let Some((state, given)) = prompt_after(row.state, row.given.as_ref(), fact, self.at)
        else {
            return Ok(());
        };
        let answer =
            given.as_ref().map(|given| serde_json::to_string(&given.answer)).transpose()?;
        let (by, device, at, life) = match given {
            Some(Given { by, device, at, life, .. }) => {
                (Some(by), device, Some(at.0), Some(life.word()))
            }
            None => (None, None, None, None),
        };
        let sql = "UPDATE prompts SET state = ?, answer = ?, answered_by = ?, device = ?,
            answered_at = ?, answer_life = ? WHERE chat = ? AND origin = ? AND id = ?";
        self.db.prepare_cached(sql)?.execute(params![
            state.word(),
            answer,
            by,
            device,
            at,
            life,
            self.key,
            prompt.origin,
            prompt.n
        ])?;
        self.touched.add(What::Prompt(prompt));
        self.touched.add(What::Item(row.item));
        Ok(())
    }

    /// Nobody waits any more for what the ended attempt asked.
    pub(super) fn end_prompts(&mut self, fact: &Fact) -> Result<(), Fail> {
        let sql = "SELECT origin, id FROM prompts WHERE chat = ? AND state = 'open'";
        let mut sql = self.db.prepare_cached(sql)?;
        let open = sql.query_map([self.key], |row| Ok(PromptId::new(row.get(0)?, row.get(1)?)))?;
        let mut open = open.collect::<Result<Vec<_>, _>>()?;
        open.sort_unstable();
        for prompt in open {
            self.move_prompt(prompt, fact)?;
        }
        Ok(())
    }
}
