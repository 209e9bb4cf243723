use super::format::{RECORD_HEADER_BYTES, RecordHeader, SEGMENT_HEADER_BYTES, SegmentHeader};
use super::fs::{FileName, SpoolFs};
use crate::limits::{PUSH_BYTES_MAX, RECORD_PAYLOAD_BYTES_MAX};
use std::io;
use uuid::Uuid;

/// Room for reading: a push and the largest record.
const WINDOW_BYTES: usize = PUSH_BYTES_MAX;
const _: () = assert!(WINDOW_BYTES >= RECORD_PAYLOAD_BYTES_MAX + RECORD_HEADER_BYTES);

/// A segment that may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentMeta {
    pub(crate) first: u64,
    /// See [`SegmentHeader::back`].
    pub(crate) back: u32,
    /// Bytes that may be read of it.
    pub(crate) bytes: u64,
    /// `None`: its header is damaged, and so is all of it.
    pub(crate) salt: Option<u64>,
}

/// The segments of a spool, ascending.
#[derive(Debug, Clone, Default)]
pub(crate) struct SegmentMap(pub(crate) Vec<SegmentMeta>);

impl SegmentMap {
    /// Looks at the segments of a spool that nobody writes.
    pub(crate) fn load(fs: &mut impl SpoolFs, attempt: Uuid) -> io::Result<Self> {
        let mut map = Vec::new();
        for first in fs.segments()? {
            let file = FileName::Segment(first);
            let bytes = fs.length(file)?;
            let mut head = [0; SEGMENT_HEADER_BYTES];
            let read = fs.read_at(file, 0, &mut head)?;
            let header = SegmentHeader::decode(head.get(..read).unwrap_or_default())
                .filter(|header| header.attempt == attempt && header.first == first);
            let (back, salt) = header.map_or((0, None), |header| (header.back, Some(header.salt)));
            map.push(SegmentMeta { first, back, bytes, salt });
        }
        Ok(Self(map))
    }

    /// The first record kept.
    pub(crate) fn first(&self) -> u64 {
        self.0.first().map_or(0, |segment| segment.first)
    }

    /// The index of the segment in which `position` lies, or of the first if it lies before all.
    pub(crate) fn index_of(&self, position: u64) -> usize {
        self.0.partition_point(|segment| segment.first <= position).saturating_sub(1)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().map(|segment| segment.bytes).sum()
    }
}

/// What reading has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Filled {
    /// Whole records, from this one on, were appended to the buffer.
    Records { first: u64 },
    /// The records before this one cannot be read.
    Damaged { next: u64 },
    /// No record is there yet.
    End {
        /// Bytes behind the last whole record that are none.
        torn_bytes: u64,
    },
}

/// A place in a spool that whole, checked records are read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawReader {
    /// The next record.
    pub(crate) position: u64,
    /// The segment it is read from, by its first record, and the place in it.
    at: Option<(u64, u64)>,
}

impl RawReader {
    /// Reads from the first record of the segment in which `position` lies.
    fn at_segment_of(map: &SegmentMap, position: u64) -> Self {
        let first = map.0.get(map.index_of(position)).map_or(0, |segment| segment.first);
        Self { position: first, at: None }
    }

    /// Reads the record `position` at a place in a segment.
    pub(crate) fn at_offset(position: u64, at: Option<(u64, u64)>) -> Self {
        Self { position, at }
    }

    /// Reads from `position`, or, where that lies inside a line, from the beginning of the line. `scratch`
    /// is used and left empty.
    pub(crate) fn seek(
        fs: &mut impl SpoolFs,
        map: &SegmentMap,
        position: u64,
        scratch: &mut Vec<u8>,
    ) -> io::Result<Self> {
        let found = Self::find(fs, map, position, scratch)?;
        let back = found.back.unwrap_or(0);
        if back == 0 {
            return Ok(found.reader);
        }
        Ok(Self::find(fs, map, position.saturating_sub(back.into()), scratch)?.reader)
    }

    fn find(
        fs: &mut impl SpoolFs,
        map: &SegmentMap,
        position: u64,
        scratch: &mut Vec<u8>,
    ) -> io::Result<Found> {
        let mut reader = Self::at_segment_of(map, position);
        loop {
            scratch.clear();
            let before = reader;
            match reader.fill(fs, map, scratch, WINDOW_BYTES)? {
                Filled::Records { first } if reader.position > position => {
                    // The record lies in this window, unless damage before the window has swallowed it.
                    let mut number = first;
                    let mut offset = 0;
                    let mut back = None;
                    while let Some(header) =
                        RecordHeader::decode(scratch.get(offset..).unwrap_or_default())
                    {
                        if number >= position {
                            back = Some(header.back).filter(|_| number == position);
                            break;
                        }
                        offset += header.record_bytes();
                        number += 1;
                    }
                    scratch.clear();
                    let (segment, end) = reader.at.unwrap_or((first, 0));
                    let begin =
                        before.at.filter(|(at, _)| *at == segment).map(|(_, offset)| offset);
                    let begin = begin.unwrap_or(SEGMENT_HEADER_BYTES as u64);
                    let at = Some((segment, (begin + offset as u64).min(end)));
                    return Ok(Found { reader: Self { position: number, at }, back });
                }
                Filled::Records { .. } | Filled::Damaged { .. } => {}
                Filled::End { .. } => return Ok(Found { reader, back: None }),
            }
        }
    }

    /// Whether no record is to be read any more.
    pub(crate) fn is_at_end(&self, fs: &mut impl SpoolFs, map: &SegmentMap) -> io::Result<bool> {
        let mut ahead = *self;
        Ok(matches!(ahead.fill(fs, map, &mut Vec::new(), 1)?, Filled::End { .. }))
    }

    /// Appends whole records to `out`, as many as fit into `max` bytes but at least one.
    pub(crate) fn fill(
        &mut self,
        fs: &mut impl SpoolFs,
        map: &SegmentMap,
        out: &mut Vec<u8>,
        max: usize,
    ) -> io::Result<Filled> {
        loop {
            let index = match self.at {
                Some((first, _)) => map.0.partition_point(|segment| segment.first < first),
                None => map.index_of(self.position),
            };
            let Some(segment) = map.0.get(index) else { return Ok(Filled::End { torn_bytes: 0 }) };
            let offset = match self.at {
                Some((first, offset)) if first == segment.first => offset,
                _ => SEGMENT_HEADER_BYTES as u64,
            };
            if segment.first > self.position {
                self.position = segment.first;
                self.at = Some((segment.first, SEGMENT_HEADER_BYTES as u64));
                return Ok(Filled::Damaged { next: segment.first });
            }
            let next = map.0.get(index + 1);
            let read = self.fill_from(fs, segment, offset, out, max)?;
            match read {
                Read::Records { first, offset } => {
                    self.at = Some((segment.first, offset));
                    return Ok(Filled::Records { first });
                }
                Read::Resumes { number, offset } => {
                    self.position = number;
                    self.at = Some((segment.first, offset));
                    return Ok(Filled::Damaged { next: number });
                }
                Read::Nothing { torn_bytes } => match next {
                    Some(next) => {
                        self.at = Some((next.first, SEGMENT_HEADER_BYTES as u64));
                        if next.first > self.position {
                            self.position = next.first;
                            return Ok(Filled::Damaged { next: next.first });
                        }
                    }
                    None => return Ok(Filled::End { torn_bytes }),
                },
            }
        }
    }

    fn fill_from(
        &mut self,
        fs: &mut impl SpoolFs,
        segment: &SegmentMeta,
        offset: u64,
        out: &mut Vec<u8>,
        max: usize,
    ) -> io::Result<Read> {
        let left = segment.bytes.saturating_sub(offset);
        let Some(salt) = segment.salt else {
            return Ok(Read::Nothing { torn_bytes: segment.bytes });
        };
        if left == 0 {
            return Ok(Read::Nothing { torn_bytes: 0 });
        }
        let start = out.len();
        let window = usize::try_from(left).unwrap_or(WINDOW_BYTES).min(WINDOW_BYTES);
        out.resize(start + window, 0);
        let file = FileName::Segment(segment.first);
        let read = fs.read_at(file, offset, out.get_mut(start..).unwrap_or_default())?;
        out.truncate(start + read);
        let mut good = 0;
        let first = self.position;
        loop {
            let rest = out.get(start + good..).unwrap_or_default();
            let Some(header) = RecordHeader::decode(rest) else { break };
            let fits = good == 0 || good + header.record_bytes() <= max;
            if !fits || header.number != self.position || !header.is_sound(rest, salt) {
                break;
            }
            good += header.record_bytes();
            self.position += 1;
        }
        out.truncate(start + good);
        if good > 0 {
            return Ok(Read::Records { first, offset: offset + good as u64 });
        }
        self.search(fs, segment, salt, offset, out)
    }

    /// Searches for the next whole record behind damaged bytes. `out` is used as a window and left as it
    /// was.
    fn search(
        &self,
        fs: &mut impl SpoolFs,
        segment: &SegmentMeta,
        salt: u64,
        damaged: u64,
        out: &mut Vec<u8>,
    ) -> io::Result<Read> {
        let start = out.len();
        let mut offset = damaged;
        let mut found = None;
        while found.is_none() && offset < segment.bytes {
            let left = usize::try_from(segment.bytes - offset).unwrap_or(WINDOW_BYTES);
            out.resize(start + left.min(WINDOW_BYTES), 0);
            let file = FileName::Segment(segment.first);
            let read = fs.read_at(file, offset, out.get_mut(start..).unwrap_or_default())?;
            out.truncate(start + read);
            let window = out.get(start..).unwrap_or_default();
            let last = offset + read as u64 >= segment.bytes || read == 0;
            // A record of any size that begins in the first part of the window lies in it whole.
            let whole = read.saturating_sub(RECORD_PAYLOAD_BYTES_MAX + RECORD_HEADER_BYTES);
            let beginnings = if last { read } else { whole.max(1) };
            found = (0..beginnings).find_map(|at| {
                let rest = window.get(at..)?;
                let header = RecordHeader::decode(rest)?;
                // The record at the damaged place itself was found wanting; a later one has a later number.
                let later = header.number > self.position;
                (later && header.is_sound(rest, salt))
                    .then_some(Read::Resumes { number: header.number, offset: offset + at as u64 })
            });
            if last {
                break;
            }
            offset += beginnings as u64;
        }
        out.truncate(start);
        Ok(found.unwrap_or(Read::Nothing { torn_bytes: segment.bytes.saturating_sub(damaged) }))
    }
}

#[derive(Debug)]
struct Found {
    reader: RawReader,
    /// [`RecordHeader::back`] of the record at the position, if it is there.
    back: Option<u32>,
}

#[derive(Debug)]
enum Read {
    /// Records were appended; reading goes on at `offset`.
    Records { first: u64, offset: u64 },
    /// Nothing can be read before the record `number` at `offset`.
    Resumes { number: u64, offset: u64 },
    /// Nothing more is in this segment.
    Nothing { torn_bytes: u64 },
}
