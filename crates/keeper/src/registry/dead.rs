use super::{AttemptDir, ProbeError};
use crate::limits::PUSH_BYTES_MAX;
use crate::record::Record;
use crate::spool::{Assembler, DirFs, Filled, RawReader, SegmentMap, SpoolFs};
use std::io;
use thiserror::Error;
use uuid::Uuid;

/// The spool of a dead keeper cannot be read.
#[derive(Debug, Error)]
pub enum ReadDeadError {
    /// The keeper lives: it is the one to ask.
    #[error("the keeper of attempt {0} lives")]
    Alive(Uuid),
    /// Whether it lives cannot be asked.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The records there were acknowledged and deleted.
    #[error("the records before {first} have been acknowledged and deleted")]
    Gone {
        /// The first record kept.
        first: u64,
    },
    /// The spool does not reach to the position.
    #[error("position {position} is ahead of the spool's end {end}")]
    Ahead {
        /// What was asked for.
        position: u64,
        /// The spool's end.
        end: u64,
    },
    /// An error of the file system.
    #[error("cannot read the spool of attempt {attempt}")]
    Io {
        /// Whose.
        attempt: Uuid,
        /// The error.
        source: io::Error,
    },
}

/// The records that a dead keeper has left, read from disk as they are taken: at most one line and one
/// push are in memory.
#[derive(Debug)]
pub struct DeadReader<F = DirFs> {
    attempt: Uuid,
    fs: F,
    map: SegmentMap,
    reader: RawReader,
    assembler: Assembler,
    end: Option<DeadEnd>,
}

/// What was found behind the last record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeadEnd {
    /// The spool's end.
    pub position: u64,
    /// Bytes of a line that was not finished.
    pub open_line_bytes: u64,
    /// Bytes of a record that was not finished.
    pub torn_bytes: u64,
}

/// Reads what the keeper of `dir` has spooled, from `position` on. A spool that was never begun is empty.
///
/// # Errors
/// [`ReadDeadError`]; a keeper that lives is not read behind its back.
pub fn read_dead(dir: &AttemptDir, position: u64) -> Result<DeadReader, ReadDeadError> {
    let attempt = dir.attempt();
    if dir.is_alive()? {
        return Err(ReadDeadError::Alive(attempt));
    }
    DeadReader::over(DirFs::open(dir.path()), attempt, position)
}

impl<F: SpoolFs> DeadReader<F> {
    /// Reads the spool of `attempt` in these files, which nobody writes any more, from `position` on.
    ///
    /// # Errors
    /// [`ReadDeadError`], but for what asking for the keeper gives.
    pub fn over(mut fs: F, attempt: Uuid, position: u64) -> Result<Self, ReadDeadError> {
        let io_error = |source| ReadDeadError::Io { attempt, source };
        let map = SegmentMap::load(&mut fs, attempt).map_err(io_error)?;
        if position < map.first() {
            return Err(ReadDeadError::Gone { first: map.first() });
        }
        let mut scratch = Vec::new();
        let reader = RawReader::seek(&mut fs, &map, position, &mut scratch).map_err(io_error)?;
        if reader.position < position && reader.is_at_end(&mut fs, &map).map_err(io_error)? {
            return Err(ReadDeadError::Ahead { position, end: reader.position });
        }
        let assembler = Assembler::new(position);
        Ok(Self { attempt, fs, map, reader, assembler, end: None })
    }

    /// What lies behind the last record, once that was read.
    #[must_use]
    pub fn end(&self) -> Option<DeadEnd> {
        self.end
    }

    fn read_more(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        match self.reader.fill(&mut self.fs, &self.map, &mut bytes, PUSH_BYTES_MAX)? {
            Filled::Records { first } => self.assembler.push(first, bytes),
            Filled::Damaged { next } => self.assembler.push(next, bytes),
            Filled::End { torn_bytes } => {
                self.end = Some(DeadEnd {
                    position: self.reader.position,
                    open_line_bytes: self.assembler.open_line_bytes(),
                    torn_bytes,
                });
            }
        }
        Ok(())
    }
}

/// Each record and the position behind it. Ends for good after an error.
impl<F: SpoolFs> Iterator for DeadReader<F> {
    type Item = Result<(Record, u64), ReadDeadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(ready) = self.assembler.next() {
                return Some(Ok(ready));
            }
            if self.end.is_some() {
                return None;
            }
            if let Err(source) = self.read_more() {
                let position = self.reader.position;
                self.end = Some(DeadEnd { position, open_line_bytes: 0, torn_bytes: 0 });
                return Some(Err(ReadDeadError::Io { attempt: self.attempt, source }));
            }
        }
    }
}
