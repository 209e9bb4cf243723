//! What is heard of an agent: taken in as a batch, committed at once where it holds facts and a moment
//! later where it is text alone, and taken in again until it is committed.

use std::time::Duration;

use holdfast_core::ids::AttemptId;
use holdfast_core::input::KeeperEvent;
use holdfast_keeper::Record;
use holdfast_store::CommitError;

use super::{AfterLoad, AfterReconcile, Doing, Moment, Next, ROOM_RETRY, Work, later};
use crate::attempt::{Origin, Word};

/// How long text alone waits to be committed, so that many pieces share one commit.
const TEXT_COMMIT_DELAY: Duration = Duration::from_millis(50);
/// Bytes of records that one batch holds; one record at least.
const BATCH_BYTES_MAX: usize = 1024 * 1024;
/// Records that one batch holds.
const BATCH_RECORDS_MAX: usize = 512;
/// How often a record that cannot be stored is tried before it is passed over.
const RECORD_TRIES: u32 = 3;

impl Work {
    /// Takes one word in. [`Self::is_full`] says whether another one may follow; then comes
    /// [`Self::heard`].
    pub fn hear(&mut self, attempt: AttemptId, word: Word, moment: Moment<'_>) {
        self.take_in(attempt, &word, moment);
        self.heard_bytes += match &word {
            Word::Record(Record::Line(line), _) => line.len(),
            Word::Record(..) | Word::Event(_) => 64,
        };
        self.heard.push_back((attempt, word));
    }

    /// Whether the batch is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.heard_bytes >= BATCH_BYTES_MAX || self.heard.len() >= BATCH_RECORDS_MAX
    }

    /// What was there was taken in.
    pub fn heard(&mut self, moment: Moment<'_>) -> Next {
        if self.core.is_urgent() || self.heard_bytes >= BATCH_BYTES_MAX {
            return self.commit_heard(moment);
        }
        if self.core.is_dirty() {
            let due = later(moment().awake, TEXT_COMMIT_DELAY);
            self.due.get_or_insert(due);
        } else {
            self.forget_heard();
        }
        Next::Rest
    }

    /// The moment that was waited for has come.
    pub fn wake(&mut self, moment: Moment<'_>) -> Next {
        self.blocked = None;
        if !self.core.is_dirty() {
            // Takes in again what was heard and not committed.
            let heard = std::mem::take(&mut self.heard);
            for (attempt, word) in &heard {
                self.take_in(*attempt, word, moment);
            }
            self.heard = heard;
        }
        if self.core.is_dirty() {
            return self.commit_heard(moment);
        }
        self.forget_heard();
        Next::Rest
    }

    fn take_in(&mut self, attempt: AttemptId, word: &Word, moment: Moment<'_>) {
        let given = moment();
        self.last_word = given.awake;
        match word {
            Word::Record(record, next) => {
                self.deltas.extend(self.core.record(attempt, record, *next, &given));
            }
            Word::Event(event) => {
                if let KeeperEvent::Dead { .. } = event {
                    holdfast_fault::point("host.death.before");
                }
                self.core.keeper(attempt, event.clone(), &given);
            }
        }
    }

    /// Commits what was heard.
    pub(super) fn commit_heard(&mut self, moment: Moment<'_>) -> Next {
        self.due = None;
        match self.core.prepare(moment().at, None).unit {
            Some(unit) => {
                self.doing = Doing::Heard;
                Next::Commit(Box::new(unit))
            }
            None => {
                self.forget_heard();
                self.rest(moment)
            }
        }
    }

    /// What was heard is committed, or made nothing to commit.
    pub(super) fn forget_heard(&mut self) {
        self.heard.clear();
        self.heard_bytes = 0;
    }

    /// What was heard is not committed.
    pub(super) fn heard_not_stored(&mut self, error: CommitError, moment: Moment<'_>) -> Next {
        tracing::warn!(chat = %self.id, "what the agent said is not stored yet: {error}");
        self.core.abandon();
        match error {
            CommitError::StorageFull | CommitError::Failed(_) | CommitError::Stopped => {
                self.block(ROOM_RETRY, moment);
                self.rest(moment)
            }
            CommitError::Uncertain(_) | CommitError::Fenced { .. } => self.load(AfterLoad::Retake),
            CommitError::Refused(_)
            | CommitError::OperationExists
            | CommitError::SlotTaken { .. }
            | CommitError::SourceGone { .. }
            | CommitError::SessionTaken { .. } => self.one_by_one(moment),
        }
    }

    /// No further word is heard before these are taken in again: the position would pass them.
    pub(super) fn block(&mut self, retry: Duration, moment: Moment<'_>) {
        self.blocked = Some(later(moment().awake, retry));
    }

    /// Takes in each word by itself; one that fails [`RECORD_TRIES`] times is passed over, visibly.
    fn one_by_one(&mut self, moment: Moment<'_>) -> Next {
        while !self.heard.is_empty() {
            if let Some(commit) = self.try_first(1, moment) {
                return commit;
            }
            self.heard.pop_front();
        }
        self.heard_bytes = 0;
        self.reconcile(Origin::Fresh, AfterReconcile::Nothing)
    }

    /// Takes in the first word; none if there is nothing to commit of it.
    fn try_first(&mut self, tries: u32, moment: Moment<'_>) -> Option<Next> {
        let (attempt, word) = self.heard.front().cloned()?;
        match &word {
            Word::Record(_, next) if tries >= RECORD_TRIES => {
                self.core.skip(attempt, *next, "it could not be stored", &moment());
            }
            // What the keeper says, a death above all, is never passed over.
            Word::Record(..) | Word::Event(_) => self.take_in(attempt, &word, moment),
        }
        let unit = self.core.prepare(moment().at, None).unit?;
        self.doing = Doing::First { tries };
        Some(Next::Commit(Box::new(unit)))
    }

    /// The first of what was heard was stored by itself, or not.
    pub(super) fn first_stored(
        &mut self,
        outcome: Result<(), CommitError>,
        tries: u32,
        moment: Moment<'_>,
    ) -> Next {
        match outcome {
            Ok(()) => {
                self.core.committed();
                self.heard.pop_front();
                self.one_by_one(moment)
            }
            Err(CommitError::Refused(why)) if tries < RECORD_TRIES => {
                tracing::error!(chat = %self.id, "a record was refused: {why}");
                self.core.abandon();
                match self.try_first(tries + 1, moment) {
                    Some(commit) => commit,
                    None => {
                        self.heard.pop_front();
                        self.one_by_one(moment)
                    }
                }
            }
            Err(error) => {
                tracing::error!(chat = %self.id, "a record cannot be passed over: {error}");
                self.core.abandon();
                self.block(ROOM_RETRY, moment);
                self.rest(moment)
            }
        }
    }
}
