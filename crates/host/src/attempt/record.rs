//! What the records of a spool mean to whoever sees an attempt through, without any I/O: the driver
//! and the simulation read them alike.

use holdfast_core::fact::Death;
use holdfast_core::ids::Position;
use holdfast_keeper::Record;
use holdfast_keeper::record::{Exit, TreeEnd};

use super::Word;
use crate::actor::keeper_events;

/// How far the spool of an attempt was read.
#[derive(Clone, Debug)]
pub struct Reading {
    position: u64,
    /// Where it ended when its keeper was attached to.
    end_then: u64,
    born: bool,
    end: Option<(Death, Vec<u32>)>,
}

impl Reading {
    /// Begins with the record at this position.
    #[must_use]
    pub fn from(position: u64) -> Self {
        Self { position, end_then: u64::MAX, born: false, end: None }
    }

    /// The next record to read.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Its keeper was attached to, and the spool ended there.
    pub fn attached(&mut self, end_then: u64) {
        self.end_then = end_then;
    }

    /// Takes a record in: what the actor is told of it. The last one is never passed by the position:
    /// it is told as what it says, so that whoever comes after a crash reads it again, until the
    /// death is committed.
    pub fn take(&mut self, record: Record, next: u64) -> Vec<Word> {
        self.position = next;
        self.born |= matches!(record, Record::Started(_));
        match death_of(&record) {
            Some(end) => {
                self.end = Some(end);
                keeper_events(&record).into_iter().map(Word::Event).collect()
            }
            None => vec![Word::Record(record, Position(next))],
        }
    }

    /// Whether the attempt lives, as far as it was known when its keeper was attached to.
    #[must_use]
    pub fn finds_life(&self) -> bool {
        self.end.is_none() && self.position >= self.end_then
    }

    /// Whether the birth of the agent was read.
    #[must_use]
    pub fn is_born(&self) -> bool {
        self.born
    }

    /// How the attempt ended and what lived on then, if that was read.
    #[must_use]
    pub fn end(&self) -> Option<&(Death, Vec<u32>)> {
        self.end.as_ref()
    }
}

/// How an attempt ended, if this is the record that says so, and what may live on.
#[must_use]
pub fn death_of(record: &Record) -> Option<(Death, Vec<u32>)> {
    match record {
        Record::Exited { exit, tree } => {
            let death = match exit {
                Exit::Code(code) => Death::Exited { code: Some(*code), signal: None },
                Exit::Signal(signal) => Death::Exited { code: None, signal: Some(*signal) },
            };
            let survivors = match tree {
                TreeEnd::Clear | TreeEnd::Left { .. } => Vec::new(),
                TreeEnd::Survivors { named, .. } => {
                    named.iter().map(|survivor| survivor.process.pid).collect()
                }
            };
            Some((death, survivors))
        }
        Record::SpawnFailed { .. } => {
            Some((Death::Exited { code: None, signal: None }, Vec::new()))
        }
        Record::Started(_)
        | Record::Line(_)
        | Record::Oversized { .. }
        | Record::OversizedEnd { .. }
        | Record::Torn(_)
        | Record::FrameBegun(_)
        | Record::FrameDone(_)
        | Record::FrameCancelled(_)
        | Record::Signalled { .. }
        | Record::StdoutClosed { .. }
        | Record::CutOff(_)
        | Record::Damaged
        | Record::Unknown { .. } => None,
    }
}
