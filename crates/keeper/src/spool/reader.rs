use super::assemble::Assembler;
use super::fs::SpoolFs;
use super::read::{Filled, RawReader, SegmentMap};
use crate::limits::PUSH_BYTES_MAX;
use crate::record::Record;
use std::io;
use thiserror::Error;
use uuid::Uuid;

/// A spool that nobody writes cannot be read from a position.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The spool does not reach to the position.
    #[error("position {position} is ahead of the spool's end {end}")]
    Ahead {
        /// What was asked for.
        position: u64,
        /// The spool's end.
        end: u64,
    },
    /// An error of the file system.
    #[error("cannot read the spool")]
    Io(#[from] io::Error),
}

/// The records of a spool that nobody writes, read as they are taken: at most one line and one push are in
/// memory.
///
/// Gives each record and the position behind it. A torn tail ends it; damage in the middle is
/// [`Record::Damaged`]. After an error it has ended.
#[derive(Debug)]
pub struct SpoolReader<F> {
    fs: F,
    map: SegmentMap,
    reader: RawReader,
    assembler: Assembler,
    end: Option<SpoolEnd>,
}

/// What was found behind the last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoolEnd {
    /// The spool's end.
    pub position: u64,
    /// Bytes of a line that was not finished.
    pub open_line_bytes: u64,
    /// Bytes of a record that was not finished.
    pub torn_bytes: u64,
}

impl<F: SpoolFs> SpoolReader<F> {
    /// Reads the spool of `attempt` from `position` on. A spool that was never begun is empty. Where it
    /// begins behind `position` its beginning is damage: what was acknowledged nobody reads again, so it was
    /// lost.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(mut fs: F, attempt: Uuid, position: u64) -> Result<Self, OpenError> {
        let map = SegmentMap::load(&mut fs, attempt)?;
        let reader = RawReader::seek(&mut fs, &map, position, &mut Vec::new())?;
        if reader.position < position && reader.is_at_end(&mut fs, &map)? {
            return Err(OpenError::Ahead { position, end: reader.position });
        }
        Ok(Self { fs, map, reader, assembler: Assembler::new(position), end: None })
    }

    /// What lies behind the last record, once that was read.
    #[must_use]
    pub fn end(&self) -> Option<SpoolEnd> {
        self.end
    }

    fn read_more(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        match self.reader.fill(&mut self.fs, &self.map, &mut bytes, PUSH_BYTES_MAX)? {
            Filled::Records { first } => self.assembler.push(first, bytes),
            Filled::Damaged { next } => self.assembler.push(next, bytes),
            Filled::End { torn_bytes } => {
                self.end = Some(SpoolEnd {
                    position: self.reader.position,
                    open_line_bytes: self.assembler.open_line_bytes(),
                    torn_bytes,
                });
            }
        }
        Ok(())
    }
}

impl<F: SpoolFs> Iterator for SpoolReader<F> {
    type Item = io::Result<(Record, u64)>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.assembler.next() {
                return Some(Ok(ready));
            }
            if self.end.is_some() {
                return None;
            }
            if let Err(error) = self.read_more() {
                let position = self.reader.position;
                self.end = Some(SpoolEnd { position, open_line_bytes: 0, torn_bytes: 0 });
                return Some(Err(error));
            }
        }
    }
}
