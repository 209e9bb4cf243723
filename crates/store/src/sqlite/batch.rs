//! One transaction for many calls, each of which fails by itself.
//!
//! A call that contradicts what is stored is rolled back to its savepoint, and the rest goes on.
//! After a full disk, a failing one or a lack of memory SQLite may have rolled back everything,
//! savepoints included: then the batch is void and each call is tried again alone. Only where
//! the commit itself fails at the disk is the outcome open.

use holdfast_core::ids::ChatId;
use holdfast_core::limits::DRAFT_BYTES_MAX;
use holdfast_fault::point;
use rusqlite::{Connection, params};
use std::ops::Range;

use super::fail::{Class, Fail, class};
use super::operations;
use super::project;
use super::read;
use super::writer::{Answered, Call};
use crate::derive::missing;
use crate::journal::{CommitError, Committed, Unit};
use crate::rows::Draft;

/// What has become of a batch.
pub(super) struct Written {
    /// The newest change that is committed now.
    pub(super) newest: u64,
    /// What the callers are told.
    pub(super) answers: Vec<Reply>,
    pub(super) outcome: Outcome,
}

/// Whether it is known what is stored.
pub(super) enum Outcome {
    Known,
    /// The connection has to be opened anew before it can be said.
    Open(String),
}

/// An answer that waits to be given.
pub(super) enum Reply {
    Commit(Answered<Vec<Committed<Unit>>>, Result<Vec<Committed<Unit>>, CommitError>),
    Plain(Answered<()>, Result<(), CommitError>),
}

impl Reply {
    /// Gives it; whoever asked may be gone.
    pub(super) fn send(self) {
        match self {
            Self::Commit(to, answer) => drop(to.send(answer)),
            Self::Plain(to, answer) => drop(to.send(answer)),
        }
    }
}

/// The numbers of the changes that a call made, one range for each of its units.
type Done = Vec<Range<u64>>;

/// Why a transaction as a whole did not come about.
enum Void {
    /// Nothing of it is stored.
    Nothing(rusqlite::Error),
    /// Its commit failed at the disk.
    Open(rusqlite::Error),
}

/// Stores these calls after the change `newest`.
pub(super) fn write(db: &mut Connection, batch: Vec<Call>, newest: u64) -> Written {
    let calls: Vec<&Call> = batch.iter().collect();
    match transaction(db, &calls, newest) {
        Ok((done, newest)) => {
            Written { newest, answers: answer(batch, done), outcome: Outcome::Known }
        }
        Err(Void::Open(error)) => open_end(batch, newest, &error),
        Err(Void::Nothing(error)) if batch.len() == 1 => {
            let error = Fail::Sql(error).of_commit();
            let done = batch.iter().map(|_| Err(error.clone())).collect();
            Written { newest, answers: answer(batch, done), outcome: Outcome::Known }
        }
        Err(Void::Nothing(_)) => one_by_one(db, batch, newest),
    }
}

fn one_by_one(db: &mut Connection, batch: Vec<Call>, newest: u64) -> Written {
    let mut all = Written { newest, answers: Vec::new(), outcome: Outcome::Known };
    let mut batch = batch.into_iter();
    for call in batch.by_ref() {
        let one = write(db, vec![call], all.newest);
        all.newest = one.newest;
        all.answers.extend(one.answers);
        if let Outcome::Open(_) = one.outcome {
            all.outcome = one.outcome;
            break;
        }
    }
    // Behind an open end nothing is tried on this connection.
    let failed = CommitError::Failed("the disk failed at a commit before this one".to_owned());
    let rest: Vec<Call> = batch.collect();
    let done = rest.iter().map(|_| Err(failed.clone())).collect();
    all.answers.extend(answer(rest, done));
    all
}

fn open_end(batch: Vec<Call>, newest: u64, error: &rusqlite::Error) -> Written {
    let text = error.to_string();
    let uncertain = CommitError::Uncertain(text.clone());
    let done = batch.iter().map(|_| Err(uncertain.clone())).collect();
    Written { newest, answers: answer(batch, done), outcome: Outcome::Open(text) }
}

/// What each call is told: in the order of the calls.
fn answer(batch: Vec<Call>, done: Vec<Result<Done, CommitError>>) -> Vec<Reply> {
    let pairs = batch.into_iter().zip(done);
    let replies = pairs.filter_map(|(call, done)| match call {
        Call::Commit { units, answer } => {
            let committed = done.map(|numbers| {
                units.into_iter().zip(numbers).map(|(unit, n)| Committed::new(unit, n)).collect()
            });
            Some(Reply::Commit(answer, committed))
        }
        Call::Draft { answer, .. } | Call::Remember { answer, .. } => {
            Some(Reply::Plain(answer, done.map(|_| ())))
        }
        Call::Stop => None,
    });
    replies.collect()
}

/// Runs all calls in one transaction.
fn transaction(
    db: &mut Connection,
    calls: &[&Call],
    newest: u64,
) -> Result<(Vec<Result<Done, CommitError>>, u64), Void> {
    db.execute_batch("BEGIN IMMEDIATE").map_err(Void::Nothing)?;
    let mut done = Vec::with_capacity(calls.len());
    let mut at = newest;
    for call in calls {
        match savepoint(db, call, &mut at) {
            Ok(result) => done.push(result),
            Err(error) => {
                roll_back(db);
                return Err(Void::Nothing(error));
            }
        }
    }
    point("host.commit.before");
    if let Err(error) = db.execute_batch("COMMIT") {
        // A full disk rolls back by itself; what did not, is rolled back here. A failing disk may
        // have taken all of it before it failed.
        let io = class(&error) == Class::Io;
        roll_back(db);
        return Err(if io { Void::Open(error) } else { Void::Nothing(error) });
    }
    point("host.commit.after");
    Ok((done, at))
}

fn roll_back(db: &Connection) {
    if !db.is_autocommit() {
        // It fails only where there is nothing left to roll back.
        drop(db.execute_batch("ROLLBACK"));
    }
}

/// Runs one call within the transaction. The outer error voids the transaction.
fn savepoint(
    db: &Connection,
    call: &Call,
    newest: &mut u64,
) -> Result<Result<Done, CommitError>, rusqlite::Error> {
    db.prepare_cached("SAVEPOINT call")?.execute([])?;
    let before = *newest;
    match run(db, call, newest) {
        Ok(done) => {
            db.prepare_cached("RELEASE call")?.execute([])?;
            Ok(Ok(done))
        }
        Err(error) => match (error.class(), error) {
            (Class::Full | Class::Io | Class::Other, Fail::Sql(error)) => Err(error),
            (_, error) => {
                db.execute_batch("ROLLBACK TO call; RELEASE call")?;
                *newest = before;
                Ok(Err(error.of_commit()))
            }
        },
    }
}

fn run(db: &Connection, call: &Call, newest: &mut u64) -> Result<Done, Fail> {
    match call {
        Call::Commit { units, .. } => {
            units.iter().map(|unit| project::apply(db, unit, newest)).collect()
        }
        Call::Draft { chat, principal, draft, operation, .. } => {
            if let Some(operation) = operation {
                operations::take(db, Some(*chat), draft.at, operation)?;
            }
            put_draft(db, *chat, principal, draft)?;
            Ok(Vec::new())
        }
        Call::Remember { chat, operation, at, .. } => {
            operations::take(db, *chat, *at, operation)?;
            if let Some(chat) = chat {
                operations::show(db, *chat, operation)?;
            }
            Ok(Vec::new())
        }
        Call::Stop => Ok(Vec::new()),
    }
}

fn put_draft(db: &Connection, chat: ChatId, principal: &str, draft: &Draft) -> Result<(), Fail> {
    if draft.text.len() > DRAFT_BYTES_MAX {
        let text = format!("a draft is over {DRAFT_BYTES_MAX} bytes");
        return Err(CommitError::Refused(text).into());
    }
    let uuid = chat.uuid();
    let key = uuid.as_bytes().as_slice();
    if !read::is_here(db, key)? {
        return Err(missing(chat, "rows").into());
    }
    if draft.text.is_empty() {
        let sql = "DELETE FROM drafts WHERE chat = ? AND principal = ?";
        db.prepare_cached(sql)?.execute(params![key, principal])?;
    } else {
        let sql = "INSERT OR REPLACE INTO drafts (chat, principal, text, at) VALUES (?, ?, ?, ?)";
        db.prepare_cached(sql)?.execute(params![key, principal, draft.text, draft.at.0])?;
    }
    Ok(())
}
