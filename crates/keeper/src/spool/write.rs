use super::format::{SEGMENT_HEADER_BYTES, SegmentHeader, write_record};
use super::fs::{FileName, SpoolFs};
use super::line::LineState;
use super::read::{Filled, RawReader, SegmentMap, SegmentMeta};
use crate::limits::{
    LINE_PART_BYTES_MAX, PREALLOCATE_STEP_BYTES, RESERVE_BYTES, RESERVE_FOR_DEATH_BYTES,
    SEGMENT_BYTES,
};
use crate::record::{Mark, kind};
use std::io;
use thiserror::Error;
use uuid::Uuid;

/// Bytes of records that are put together before they are written.
const BATCH_BYTES: usize = LINE_PART_BYTES_MAX;

/// Records could not be written. The spool is as it was before.
#[derive(Debug, Error)]
pub enum AppendError {
    /// No space is left for them.
    #[error("no space is left")]
    Full,
    /// Another error of the file system.
    #[error("cannot write the spool")]
    Io(#[from] io::Error),
}

/// Which space the agent's output may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// That in front of the reserve.
    Lines,
    /// Also the reserve, but for what the records of the death need: the agent is dead, this is its last.
    LastBytes,
}

/// The writing end of a spool, and the one reader that its keeper serves.
#[derive(Debug)]
pub struct Spool<F> {
    fs: F,
    attempt: Uuid,
    salt: u64,
    map: SegmentMap,
    end: u64,
    line: LineState,
    /// Size at which a segment is closed.
    segment_bytes: u64,
    /// Bytes of the last segment that are allocated.
    reserved: u64,
    /// Segments from this one on may hold unsynced bytes; `None`: all are synced.
    unsynced: Option<u64>,
    unsynced_names: bool,
    batch: Vec<u8>,
    payload: Vec<u8>,
}

impl<F: SpoolFs> Spool<F> {
    /// Begins the spool of an attempt. `salt` has to be unknown to the agent.
    ///
    /// # Errors
    /// [`AppendError`]: without its reserve a spool is not begun.
    pub fn create(fs: F, attempt: Uuid, salt: u64) -> Result<Self, AppendError> {
        let mut spool = Self {
            fs,
            attempt,
            salt,
            map: SegmentMap::default(),
            end: 0,
            line: LineState::default(),
            segment_bytes: SEGMENT_BYTES,
            reserved: 0,
            unsynced: None,
            unsynced_names: false,
            batch: Vec::new(),
            payload: Vec::new(),
        };
        spool.roll()?;
        Ok(spool)
    }

    /// The position behind the last record.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The first record kept.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.map.first()
    }

    /// Bytes that the records kept take on disk.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.map.bytes()
    }

    /// The files, for what else the keeper keeps in them.
    pub(crate) fn fs(&mut self) -> &mut F {
        &mut self.fs
    }

    /// The files, as the spool has left them.
    pub fn into_fs(self) -> F {
        self.fs
    }

    /// Appends a record of the keeper's own.
    pub(crate) fn append(&mut self, mark: &Mark) -> Result<(), AppendError> {
        self.refill();
        self.payload.clear();
        let kind = mark.encode(&mut self.payload);
        self.append_record(kind)
    }

    /// Ends the line that is open where stdout has ended, if one is.
    pub(crate) fn end_torn_line(&mut self) -> Result<(), AppendError> {
        self.payload.clear();
        if self.line.oversized {
            crate::record::encode_oversized_end(self.line.bytes, &mut self.payload);
            self.append_record(kind::OVERSIZED_END)?;
        } else if self.line.first.is_some() {
            self.append_record(kind::TORN)?;
        }
        self.line = LineState::default();
        Ok(())
    }

    fn append_record(&mut self, kind: u8) -> Result<(), AppendError> {
        self.batch.clear();
        let back = self.back(self.end);
        write_record(&mut self.batch, self.salt, self.end, back, (kind, 0), &self.payload);
        self.write_batch()?;
        self.end += 1;
        Ok(())
    }

    /// Appends what the agent wrote and says how many of its bytes are in the spool.
    ///
    /// # Errors
    /// [`AppendError`] when not one of them could be written.
    pub fn append_output(&mut self, output: &[u8], room: Room) -> Result<usize, AppendError> {
        let mut taken = 0;
        while taken < output.len() {
            match self.append_some(output.get(taken..).unwrap_or_default(), room) {
                Ok(more) => taken += more,
                Err(_) if taken > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(taken)
    }

    /// Appends one batch from the head of `output`.
    fn append_some(&mut self, output: &[u8], room: Room) -> Result<usize, AppendError> {
        let before = (self.line, self.end);
        self.batch.clear();
        let mut taken = 0;
        while taken < output.len() && self.batch.len() < BATCH_BYTES {
            let (more, pieces) = self.line.take(output.get(taken..).unwrap_or_default());
            taken += more;
            for piece in pieces.into_iter().flatten() {
                self.payload.clear();
                piece.payload(&mut self.payload);
                let (kind, flags) = piece.kind();
                let back = self.back(self.end);
                let number = self.end;
                write_record(
                    &mut self.batch,
                    self.salt,
                    number,
                    back,
                    (kind, flags),
                    &self.payload,
                );
                self.line.follow(number, kind, flags);
                self.end += 1;
            }
        }
        let written = self.make_room(room).and_then(|()| self.write_batch());
        if let Err(error) = written {
            (self.line, self.end) = before;
            return Err(error);
        }
        Ok(taken)
    }

    fn back(&self, number: u64) -> u32 {
        let first = self.line.first.unwrap_or(number);
        u32::try_from(number.saturating_sub(first)).unwrap_or(u32::MAX)
    }

    /// Makes sure that the batch leaves the reserve alone.
    fn make_room(&mut self, room: Room) -> Result<(), AppendError> {
        let batch = self.batch.len() as u64;
        if batch == 0 {
            return Ok(());
        }
        let rolled = if self.tail_bytes() >= self.segment_bytes {
            // Numbers of the batch are given already; the new segment begins with the first of them.
            self.roll_for_batch()
        } else {
            Ok(())
        };
        match room {
            Room::Lines => rolled.and_then(|()| self.extend(self.tail_bytes() + batch)),
            // Without space for another segment the old one's reserve is still there.
            Room::LastBytes => {
                let within = self.tail_bytes() + batch + RESERVE_FOR_DEATH_BYTES <= self.reserved;
                if within { Ok(()) } else { self.extend(self.tail_bytes() + batch) }
            }
        }
    }

    /// Allocates the last segment up to `bytes` and the reserve behind.
    fn extend(&mut self, bytes: u64) -> Result<(), AppendError> {
        let wanted = bytes + RESERVE_BYTES;
        if wanted <= self.reserved {
            return Ok(());
        }
        let target = wanted + PREALLOCATE_STEP_BYTES;
        let file = self.tail_file();
        self.fs.reserve(file, target).map_err(sort)?;
        self.reserved = target;
        Ok(())
    }

    /// Brings the reserve back to its size where there is space again; without, it serves as it is.
    fn refill(&mut self) {
        let _ = self.extend(self.tail_bytes());
    }

    fn write_batch(&mut self) -> Result<(), AppendError> {
        let (file, offset) = (self.tail_file(), self.tail_bytes());
        if let Err(error) = self.fs.write_at(file, offset, &self.batch) {
            // A part of it may be there: cut, so that the next attempt writes behind whole records. Should
            // the cut fail too, the next write overwrites the same place.
            let _ = self.fs.truncate(file, offset);
            self.reserved = self.reserved.min(offset);
            return Err(sort(error));
        }
        if let Some(tail) = self.map.0.last_mut() {
            tail.bytes += self.batch.len() as u64;
        }
        self.unsynced.get_or_insert(self.map.0.last().map_or(0, |tail| tail.first));
        Ok(())
    }

    /// For tests with many segments.
    #[cfg(test)]
    pub(super) fn with_segments_of(mut self, bytes: u64) -> Self {
        self.segment_bytes = bytes;
        self
    }

    /// For tests of a disk that takes nothing at all.
    #[cfg(test)]
    pub(crate) fn break_reserve(&mut self) {
        let (file, bytes) = (self.tail_file(), self.tail_bytes());
        let _ = self.fs.truncate(file, bytes);
        self.reserved = bytes;
    }

    fn tail_bytes(&self) -> u64 {
        self.map.0.last().map_or(0, |tail| tail.bytes)
    }

    fn tail_file(&self) -> FileName {
        FileName::Segment(self.map.0.last().map_or(0, |tail| tail.first))
    }

    /// Begins a segment at the current end.
    fn roll(&mut self) -> Result<(), AppendError> {
        self.begin_segment(self.end, self.back(self.end))
    }

    /// Begins a segment for the records that are in the batch already.
    fn roll_for_batch(&mut self) -> Result<(), AppendError> {
        let head = super::format::RecordHeader::decode(&self.batch);
        let (first, back) = head.map_or((self.end, 0), |head| (head.number, head.back));
        self.begin_segment(first, back)
    }

    fn begin_segment(&mut self, first: u64, back: u32) -> Result<(), AppendError> {
        let file = FileName::Segment(first);
        let header = SegmentHeader { attempt: self.attempt, first, back, salt: self.salt };
        let reserved = SEGMENT_HEADER_BYTES as u64 + PREALLOCATE_STEP_BYTES + RESERVE_BYTES;
        self.fs.create(file).map_err(sort)?;
        let begun = self
            .fs
            .reserve(file, reserved)
            .and_then(|()| self.fs.write_at(file, 0, &header.encode()));
        if let Err(error) = begun {
            let _ = self.fs.remove(file);
            return Err(sort(error));
        }
        if let Some(old) = self.map.0.last().copied() {
            // Gives back the reserve of the segment that is closed; if it does not, it costs only space.
            let _ = self.fs.truncate(FileName::Segment(old.first), old.bytes);
        }
        self.reserved = reserved;
        self.unsynced_names = true;
        self.unsynced.get_or_insert(first);
        self.map.0.push(SegmentMeta {
            first,
            back,
            bytes: SEGMENT_HEADER_BYTES as u64,
            salt: Some(self.salt),
        });
        holdfast_fault::point("keeper.segment.rolled");
        Ok(())
    }

    /// Deletes the segments that lie wholly before `position`, and before the line in which it lies.
    pub fn acknowledge(&mut self, position: u64) {
        let segment = self.map.0.get(self.map.index_of(position));
        let Some(needed) = segment.map(|meta| meta.first.saturating_sub(meta.back.into())) else {
            return;
        };
        while let [old, next, ..] = self.map.0.as_slice() {
            if next.first > needed {
                break;
            }
            let first = old.first;
            match self.fs.remove(FileName::Segment(first)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => break,
                _ => drop(self.map.0.remove(0)),
            }
        }
    }

    /// Whether something was written that is not durable.
    #[must_use]
    pub fn has_unsynced(&self) -> bool {
        self.unsynced.is_some() || self.unsynced_names
    }

    /// Makes everything written durable.
    ///
    /// # Errors
    /// Those of the file system; the next call tries again.
    pub fn sync(&mut self) -> io::Result<()> {
        if let Some(from) = self.unsynced {
            for segment in self.map.0.iter().filter(|segment| segment.first >= from) {
                self.fs.sync(FileName::Segment(segment.first))?;
            }
            self.unsynced = None;
        }
        if self.unsynced_names {
            self.fs.sync_names()?;
            self.unsynced_names = false;
        }
        Ok(())
    }

    /// A reader at `position`, or at the beginning of the line in which that lies.
    pub(crate) fn seek(&mut self, position: u64) -> io::Result<RawReader> {
        // Behind the last record no record says whether a line is open.
        let position = match self.line.first {
            Some(first) if position >= self.end => first,
            _ => position,
        };
        RawReader::seek(&mut self.fs, &self.map, position, &mut self.batch)
    }

    /// Appends records for `reader` to `out`, at most `max` bytes but at least one record.
    pub(crate) fn read(
        &mut self,
        reader: &mut RawReader,
        out: &mut Vec<u8>,
        max: usize,
    ) -> io::Result<Filled> {
        let filled = reader.fill(&mut self.fs, &self.map, out, max)?;
        if let Filled::End { .. } = filled
            && reader.position < self.end
        {
            // What was written is not there any more: damage up to the end.
            *reader = self.reader_at_end();
            return Ok(Filled::Damaged { next: self.end });
        }
        Ok(filled)
    }

    fn reader_at_end(&self) -> RawReader {
        RawReader::at_offset(self.end, self.map.0.last().map(|tail| (tail.first, tail.bytes)))
    }
}

/// Tells a lack of space from other errors.
fn sort(error: io::Error) -> AppendError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => AppendError::Full,
        _ => AppendError::Io(error),
    }
}
