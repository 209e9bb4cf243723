//! Offers and failures.

use holdfast_core::fact::Fact;
use rusqlite::params;

use super::Projection;
use crate::change::What;
use crate::sqlite::fail::Fail;
use crate::sqlite::words::word;

impl Projection<'_> {
    pub(super) fn offer_fact(&mut self, fact: &Fact) -> Result<(), Fail> {
        match fact {
            Fact::OfferRecorded { cause, recorded_at, snapshot, continuation, .. } => {
                let sql = "INSERT INTO offers (chat, cause, recorded_at, snapshot, shown,
                    continuation, resuming, needs_choice) VALUES (?, ?, ?, ?, 0, ?, 0, 0)
                    ON CONFLICT (chat) DO UPDATE SET cause = excluded.cause,
                    recorded_at = excluded.recorded_at, snapshot = excluded.snapshot, shown = 0,
                    continuation = excluded.continuation, resuming = 0, needs_choice = 0";
                let uuid = continuation.uuid();
                self.db.prepare_cached(sql)?.execute(params![
                    self.key,
                    word(cause)?,
                    recorded_at.0,
                    serde_json::to_string(snapshot)?,
                    uuid.as_bytes().as_slice(),
                ])?;
                self.touched.add(What::Offer);
            }
            Fact::OfferShown { .. } => self.mark_offer("UPDATE offers SET shown = 1")?,
            Fact::ResumeStarted { .. } => self.mark_offer("UPDATE offers SET resuming = 1")?,
            Fact::SessionLeft { recap } => {
                let sql = "UPDATE offers SET continuation = ? WHERE chat = ?";
                let uuid = recap.uuid();
                let values = params![uuid.as_bytes().as_slice(), self.key];
                if self.db.prepare_cached(sql)?.execute(values)? > 0 {
                    self.touched.add(What::Offer);
                }
            }
            Fact::ResumeStopped { .. } => self.mark_offer("UPDATE offers SET resuming = 0")?,
            Fact::OfferEnded { .. } => self.drop_offer()?,
            Fact::FailureFiled(failure) => {
                let sql = "INSERT INTO failures (chat, code, text, actions, at)
                    VALUES (?, ?, ?, ?, ?) ON CONFLICT (chat) DO UPDATE SET code = excluded.code,
                    text = excluded.text, actions = excluded.actions, at = excluded.at";
                let actions = serde_json::to_string(&failure.actions)?;
                let mut sql = self.db.prepare_cached(sql)?;
                sql.execute(params![self.key, failure.code, failure.text, actions, self.at.0])?;
                self.touched.add(What::Failure);
            }
            Fact::FailureCleared => self.drop_failure()?,
            _ => {}
        }
        Ok(())
    }

    fn mark_offer(&mut self, set: &str) -> Result<(), Fail> {
        let sql = format!("{set} WHERE chat = ?");
        if self.db.prepare_cached(&sql)?.execute([self.key])? > 0 {
            self.touched.add(What::Offer);
        }
        Ok(())
    }

    pub(super) fn drop_offer(&mut self) -> Result<(), Fail> {
        if self.db.prepare_cached("DELETE FROM offers WHERE chat = ?")?.execute([self.key])? > 0 {
            self.touched.add(What::Offer);
        }
        Ok(())
    }

    pub(super) fn drop_failure(&mut self) -> Result<(), Fail> {
        if self.db.prepare_cached("DELETE FROM failures WHERE chat = ?")?.execute([self.key])? > 0 {
            self.touched.add(What::Failure);
        }
        Ok(())
    }

    /// Whether a person has to choose before the offer is resumed moves with the head.
    pub(super) fn offer_choice(&mut self) -> Result<(), Fail> {
        let needs = self.unit.summary.needs_choice;
        let sql = "UPDATE offers SET needs_choice = ? WHERE chat = ? AND needs_choice <> ?";
        if self.db.prepare_cached(sql)?.execute(params![needs, self.key, needs])? > 0 {
            self.touched.add(What::Offer);
        }
        Ok(())
    }
}
