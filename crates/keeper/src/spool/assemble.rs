use super::format::{FLAG_FIRST, FLAG_LAST, RECORD_HEADER_BYTES, RecordHeader};
use crate::limits::{LINE_BYTES_MAX, OVERSIZED_HEAD_BYTES};
use crate::record::{self, Record, kind};
use std::collections::VecDeque;

/// Makes records of the bytes of a spool: puts lines together, notices what is missing.
///
/// Bytes are pushed as they come, whole records at a time, beginning where the first line that is wanted
/// begins; what lies before the position that is wanted only serves to put that line together. Nothing
/// comes out twice, and a line comes out only whole.
#[derive(Debug)]
pub struct Assembler {
    /// Records before this one have been taken by the reader before.
    wanted: u64,
    /// The next record, once the first has come.
    expected: Option<u64>,
    line: Line,
    /// Bytes pushed and not worked through: the records of one push.
    input: Vec<u8>,
    input_at: usize,
    ready: VecDeque<(Record, u64)>,
}

#[derive(Debug)]
enum Line {
    None,
    Open(Vec<u8>),
    /// Its beginning is missing: dropped to its end.
    Lost,
}

impl Assembler {
    /// For a reader that wants everything from `position` on.
    #[must_use]
    pub fn new(position: u64) -> Self {
        Self {
            wanted: position,
            expected: None,
            line: Line::None,
            input: Vec::new(),
            input_at: 0,
            ready: VecDeque::new(),
        }
    }

    /// Takes the records that begin with `position`. What was pushed before must have been taken out.
    pub fn push(&mut self, position: u64, bytes: Vec<u8>) {
        self.skip_to(position);
        self.input = bytes;
        self.input_at = 0;
    }

    /// The next record and the position behind it, or `None` until more is pushed.
    ///
    /// Named like an iterator's because it is used like one; it is none, since it may give again after
    /// `None`.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<(Record, u64)> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Some(ready);
            }
            let input = std::mem::take(&mut self.input);
            let rest = input.get(self.input_at..).unwrap_or_default();
            let whole = RecordHeader::decode(rest)
                .and_then(|header| Some((header, rest.get(..header.record_bytes())?)));
            // Whole records are pushed. A rest that is none would be found missing at the next push.
            let (header, record) = whole?;
            self.input_at += record.len();
            self.take(&header, record.get(RECORD_HEADER_BYTES..).unwrap_or_default());
            self.input = input;
        }
    }

    /// Bytes of the line that is open where the input ends.
    #[must_use]
    pub fn open_line_bytes(&self) -> u64 {
        match &self.line {
            Line::Open(bytes) => bytes.len() as u64,
            Line::None | Line::Lost => 0,
        }
    }

    /// Notices that the records up to `number` are missing.
    fn skip_to(&mut self, number: u64) {
        let expected = *self.expected.get_or_insert(number.min(self.wanted));
        if number > expected {
            self.expected = Some(number);
            self.line = match self.line {
                Line::None => Line::None,
                Line::Open(_) | Line::Lost => Line::Lost,
            };
            self.give(Record::Damaged, number);
        }
    }

    fn take(&mut self, header: &RecordHeader, payload: &[u8]) {
        self.skip_to(header.number);
        let next = header.number.saturating_add(1);
        self.expected = Some(next);
        match header.kind {
            kind::LINE_PART => self.take_part(header, payload, next),
            kind::OVERSIZED => {
                if let Some(mut head) = self.end_line(next) {
                    head.truncate(OVERSIZED_HEAD_BYTES);
                    self.give(Record::Oversized { head }, next);
                }
            }
            kind::TORN => {
                if let Some(bytes) = self.end_line(next) {
                    self.give(Record::Torn(bytes), next);
                }
            }
            kind => self.give(record::decode(kind, payload), next),
        }
    }

    fn take_part(&mut self, header: &RecordHeader, payload: &[u8], next: u64) {
        if header.flags & FLAG_FIRST != 0 {
            // A line that was open had no end: its writer is to blame, and it is lost.
            if matches!(self.line, Line::Open(_)) {
                self.give(Record::Damaged, header.number);
            }
            self.line = Line::Open(Vec::new());
        }
        if let Line::Open(line) = &mut self.line {
            if (line.len() + payload.len()) as u64 > LINE_BYTES_MAX {
                self.line = Line::Lost;
                self.give(Record::Damaged, next);
            } else {
                line.extend_from_slice(payload);
            }
        }
        if header.flags & FLAG_LAST != 0
            && let Some(line) = self.end_line(next)
        {
            self.give(Record::Line(line), next);
        }
    }

    /// The bytes of the line that ends with the record before `next`, unless its beginning is missing.
    fn end_line(&mut self, next: u64) -> Option<Vec<u8>> {
        match std::mem::replace(&mut self.line, Line::None) {
            Line::Open(bytes) => Some(bytes),
            // Said when its beginning was missed.
            Line::Lost => None,
            Line::None => {
                self.give(Record::Damaged, next);
                None
            }
        }
    }

    fn give(&mut self, record: Record, next: u64) {
        if next > self.wanted {
            self.ready.push_back((record, next));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::write_record;
    use super::*;
    use crate::limits::RECORD_PAYLOAD_BYTES_MAX;
    use crate::record::Mark;

    const FIRST: u8 = FLAG_FIRST;
    const LAST: u8 = FLAG_LAST;

    fn part(number: u64, flags: u8, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write_record(&mut out, 0, number, 0, (kind::LINE_PART, flags), bytes);
        out
    }

    fn begun(number: u64, frame: u64) -> Vec<u8> {
        let (mut out, mut payload) = (Vec::new(), Vec::new());
        let kind = Mark::FrameBegun(frame).encode(&mut payload);
        write_record(&mut out, 0, number, 0, (kind, 0), &payload);
        out
    }

    fn drain(assembler: &mut Assembler) -> Vec<(Record, u64)> {
        std::iter::from_fn(|| assembler.next()).collect()
    }

    fn line(text: &str) -> Record {
        Record::Line(text.as_bytes().to_vec())
    }

    #[test]
    fn parts_make_a_line_around_a_mark() {
        let mut assembler = Assembler::new(0);
        assembler.push(0, [part(0, FIRST, b"ab"), begun(1, 7), part(2, LAST, b"c")].concat());
        let expected = [(Record::FrameBegun(7), 2), (line("abc"), 3)];
        assert_eq!(drain(&mut assembler), expected);
        assembler.push(3, part(3, FIRST | LAST, b""));
        assert_eq!(drain(&mut assembler), [(line(""), 4)]);
    }

    #[test]
    fn read_again_from_behind_the_mark_gives_the_whole_line_and_no_second_mark() {
        let mut assembler = Assembler::new(2);
        assembler.push(0, [part(0, FIRST, b"ab"), begun(1, 7), part(2, LAST, b"c")].concat());
        assert_eq!(drain(&mut assembler), [(line("abc"), 3)]);
    }

    #[test]
    fn a_gap_is_said_once_and_takes_its_line_with_it() {
        let mut assembler = Assembler::new(0);
        assembler.push(0, part(0, FIRST, b"ab"));
        assert_eq!(drain(&mut assembler), []);
        assembler.push(2, [part(2, LAST, b"c"), part(3, FIRST | LAST, b"d")].concat());
        assert_eq!(drain(&mut assembler), [(Record::Damaged, 2), (line("d"), 4)]);
    }

    #[test]
    fn a_line_without_a_beginning_is_damage() {
        let mut assembler = Assembler::new(0);
        assembler.push(0, part(0, LAST, b"c"));
        assert_eq!(drain(&mut assembler), [(Record::Damaged, 1)]);
    }

    #[test]
    fn a_first_push_beyond_the_position_is_damage() {
        let mut assembler = Assembler::new(1);
        assembler.push(4, begun(4, 1));
        assert_eq!(drain(&mut assembler), [(Record::Damaged, 4), (Record::FrameBegun(1), 5)]);
    }

    #[test]
    fn a_line_beyond_the_bound_is_damage_and_takes_no_memory() {
        let mut assembler = Assembler::new(0);
        let block = vec![b'x'; RECORD_PAYLOAD_BYTES_MAX];
        let mut number = 0;
        let mut got = Vec::new();
        while (number as usize) * block.len() < 2 * LINE_BYTES_MAX as usize {
            let flags = if number == 0 { FIRST } else { 0 };
            assembler.push(number, part(number, flags, &block));
            got.extend(drain(&mut assembler));
            number += 1;
        }
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].0, Record::Damaged);
        assert_eq!(assembler.open_line_bytes(), 0);
    }
}
