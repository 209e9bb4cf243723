//! What the records of a spool mean to whoever sees an attempt through, without any I/O: the driver
//! and the simulation read them alike.

use holdfast_core::fact::Death;
use holdfast_keeper::Record;
use holdfast_keeper::record::{Exit, TreeEnd};

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
