//! The spool: one totally ordered, append-only, checksummed log per attempt.
//!
//! *Records* are numbered from 0; a *position* is the number of the next record to read. They lie in
//! *segments*, files that carry the number of their first record in their name and their header, so that
//! what was acknowledged is deleted file by file. A line of the agent is a *chain* of part records, so
//! that no line is ever held whole; marks of frames and signals may lie between the parts, and every
//! record says how far back the chain begins that is open at it, so that reading may begin anywhere.
//!
//! Space for the marks is preallocated behind the end: on a full disk lines wait, but what was done to
//! the agent and how it died is still recorded.
//!
//! All files are reached through [`SpoolFs`], with [`DirFs`] over a folder and [`PowerCutFs`] in memory,
//! which forgets what was not synced.

mod assemble;
mod format;
mod fs;
mod line;
mod power_cut;
mod read;
mod reader;
mod write;

pub use assemble::Assembler;
pub use format::{RECORD_HEADER_BYTES, SEGMENT_HEADER_BYTES};
pub use fs::{DirFs, FileName, SpoolFs};
pub use power_cut::PowerCutFs;
pub use reader::{OpenError, SpoolEnd, SpoolReader};
pub use write::{AppendError, Room, Spool};

pub(crate) use format::{SegmentHeader, write_record};
pub(crate) use read::{Filled, RawReader};

#[cfg(test)]
mod tests;
