//! Segments that no keeper has written, with checksums that are right.

use super::{ATTEMPT, Program, number, read};
use crate::record::Record;
use crate::spool::{FileName, PowerCutFs, SegmentHeader, SpoolFs, write_record};

const SALT: u64 = 0x5a17;
/// Bytes of the smallest record: it makes at most two things that are given to a reader.
const GIVEN_FOR_BYTES: usize = crate::spool::RECORD_HEADER_BYTES / 2;

/// Builds files, then reads them from some positions.
pub(super) fn run(program: Program<'_>) {
    let mut files = Files::default();
    for (operation, body) in program {
        files.build(operation, body);
    }
    files.close();
    for position in [0, files.first, files.number, files.position] {
        let Some(given) = read(&files.files, position) else { continue };
        let given = given.unwrap_or_default();
        let most = files.bytes / GIVEN_FOR_BYTES + 2 * files.segments;
        assert!(given.len() <= most, "{} records of {} bytes", given.len(), files.bytes);
        let mut before = position;
        for (record, next) in given {
            let damage = matches!(record, Record::Damaged) && next == before;
            assert!(next > before || damage, "{record:?} at {next} comes after {before}");
            before = next;
        }
    }
}

#[derive(Default)]
struct Files {
    files: PowerCutFs,
    /// The segment that is being built.
    first: u64,
    segment: Vec<u8>,
    /// The next record.
    number: u64,
    /// Where to read from, beside the obvious places.
    position: u64,
    bytes: usize,
    segments: usize,
}

impl Files {
    fn build(&mut self, operation: u8, body: &[u8]) {
        match operation % 8 {
            // A segment that follows, or one with any first record.
            0 => {
                self.close();
                let back = body.first().copied().unwrap_or_default().into();
                self.number = body.get(1..9).map_or(self.number, number);
                self.first = self.number;
                let (attempt, first, salt) = (ATTEMPT, self.first, SALT);
                self.segment.extend(SegmentHeader { attempt, first, back, salt }.encode());
            }
            // A record that follows, or one with any number.
            1..=3 => {
                let (head, payload) = body.split_at_checked(3).unwrap_or((body, &[]));
                let [kind, flags, back] =
                    [0, 1, 2].map(|at| head.get(at).copied().unwrap_or_default());
                self.record((kind, flags), back.into(), payload);
            }
            4 => {
                self.number = number(body);
                self.record((body.get(8).copied().unwrap_or_default(), 3), 0, &[]);
            }
            5 => self.segment.extend(body),
            6 => {
                let at = usize::try_from(number(body.get(1..).unwrap_or_default())).ok();
                if let Some(byte) = at.and_then(|at| self.segment.get_mut(at)) {
                    *byte ^= body.first().copied().unwrap_or_default();
                }
            }
            _ => self.position = number(body),
        }
    }

    fn record(&mut self, kind: (u8, u8), back: u32, payload: &[u8]) {
        write_record(&mut self.segment, SALT, self.number, back, kind, payload);
        self.number = self.number.wrapping_add(1);
    }

    fn close(&mut self) {
        let segment = std::mem::take(&mut self.segment);
        let name = FileName::Segment(self.first);
        // The same name again is the same file: what was there first stays.
        if !segment.is_empty() && self.files.create(name).is_ok() {
            let written = self.files.write_at(name, 0, &segment);
            assert!(written.is_ok(), "memory is never full");
            self.bytes += segment.len();
            self.segments += 1;
        }
    }
}
