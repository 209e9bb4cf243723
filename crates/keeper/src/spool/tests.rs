use super::format::{SEGMENT_HEADER_BYTES, SegmentHeader, write_record};
use super::*;
use crate::limits::{LINE_BYTES_MAX, RESERVE_BYTES, SEGMENT_BYTES};
use crate::record::{Mark, Record};
use proptest::prelude::*;
use std::io;
use uuid::Uuid;

const ATTEMPT: Uuid = Uuid::from_u128(0x5b001);
const SALT: u64 = 0x0123_4567_89ab_cdef;

fn spool() -> Spool<PowerCutFs> {
    Spool::create(PowerCutFs::new(), ATTEMPT, SALT).unwrap()
}

fn read(fs: &PowerCutFs, position: u64) -> Vec<(Record, u64)> {
    let reader = SpoolReader::open(fs.clone(), ATTEMPT, position).unwrap();
    reader.collect::<io::Result<_>>().unwrap()
}

fn write_line(spool: &mut Spool<PowerCutFs>, line: &[u8]) -> Result<(), AppendError> {
    let bytes = [line, b"\n"].concat();
    let mut taken = 0;
    while taken < bytes.len() {
        taken += spool.append_output(&bytes[taken..], Room::Lines)?;
    }
    Ok(())
}

/// What is done to a spool.
#[derive(Debug, Clone)]
enum Act {
    /// Output of this many bytes, with a newline at each multiple of the second number.
    Output(usize, usize),
    Mark(u64),
    Sync,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0usize..400, 1usize..90).prop_map(|(bytes, line)| Act::Output(bytes, line)),
        6 => (1usize..60).prop_map(|bytes| Act::Output(bytes, usize::MAX)),
        2 => (1usize..200_000, 1usize..150_000).prop_map(|(bytes, line)| Act::Output(bytes, line)),
        3 => any::<u64>().prop_map(Act::Mark),
        2 => Just(Act::Sync),
    ]
}

/// Segments of a few records, of some, and of the size that they really have.
fn segment_bytes() -> impl Strategy<Value = u64> {
    prop_oneof![Just(200), Just(5_000), Just(SEGMENT_BYTES)]
}

/// Does it, and says what a reader has to get: each record, and where it ends.
fn perform(spool: &mut Spool<PowerCutFs>, acts: &[Act]) -> (Vec<(Record, u64)>, u64) {
    let mut expected = Vec::new();
    let mut line = Vec::new();
    let mut synced = 0;
    let mut fresh = 0u8;
    for act in acts {
        match act {
            Act::Output(bytes, length) => {
                let output: Vec<u8> = (1..=*bytes)
                    .map(|at| {
                        fresh = fresh.wrapping_add(1);
                        if at % length == 0 || fresh == b'\n' { b'\n' } else { fresh }
                    })
                    .collect();
                // Byte by byte up to each newline, so that the position behind each line is known.
                for piece in output.split_inclusive(|&byte| byte == b'\n') {
                    let mut taken = 0;
                    while taken < piece.len() {
                        taken += spool.append_output(&piece[taken..], Room::Lines).unwrap();
                    }
                    line.extend_from_slice(piece);
                    if line.pop_if(|last| *last == b'\n').is_some() {
                        expected.push((Record::Line(std::mem::take(&mut line)), spool.end()));
                    }
                }
            }
            Act::Mark(number) => {
                spool.append(&Mark::FrameBegun(*number)).unwrap();
                expected.push((Record::FrameBegun(*number), spool.end()));
            }
            Act::Sync => {
                spool.sync().unwrap();
                synced = spool.end();
            }
        }
    }
    (expected, synced)
}

/// Whether `part` is `whole` with some records left out.
fn is_subsequence(part: &[(Record, u64)], whole: &[(Record, u64)]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|wanted| whole.any(|each| each == wanted))
}

fn without_damage(records: Vec<(Record, u64)>) -> Vec<(Record, u64)> {
    records.into_iter().filter(|(record, _)| *record != Record::Damaged).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read_from_every_position(
        segment in segment_bytes(),
        acts in proptest::collection::vec(act(), 1..30),
        from in any::<proptest::sample::Index>(),
    ) {
        let mut spool = spool().with_segments_of(segment);
        let (expected, _) = perform(&mut spool, &acts);
        let end = spool.end();
        let fs = spool.into_fs();
        prop_assert_eq!(&read(&fs, 0), &expected);
        let position = from.index(usize::try_from(end).unwrap() + 1) as u64;
        let behind: Vec<_> = expected.into_iter().filter(|(_, next)| *next > position).collect();
        prop_assert_eq!(read(&fs, position), behind);
        let ahead = SpoolReader::open(fs, ATTEMPT, end + 1);
        let is_ahead = matches!(ahead, Err(OpenError::Ahead { end: found, .. }) if found == end);
        prop_assert!(is_ahead);
    }

    #[test]
    fn what_was_acknowledged_goes_and_what_was_not_stays(
        segment in segment_bytes(),
        acts in proptest::collection::vec(act(), 1..40),
        at in any::<proptest::sample::Index>(),
    ) {
        let mut spool = spool().with_segments_of(segment);
        let (expected, _) = perform(&mut spool, &acts);
        let position = at.index(usize::try_from(spool.end()).unwrap() + 1) as u64;
        spool.acknowledge(position);
        prop_assert!(spool.first() <= position);
        let behind: Vec<_> = expected.into_iter().filter(|(_, next)| *next > position).collect();
        prop_assert_eq!(read(&spool.into_fs(), position), behind);
    }

    #[test]
    fn after_a_power_cut_all_that_was_synced_is_there_and_nothing_is_invented(
        segment in segment_bytes(),
        acts in proptest::collection::vec(act(), 1..30),
        kept in proptest::collection::vec(any::<u32>(), 1..20),
    ) {
        let mut spool = spool().with_segments_of(segment);
        let (expected, synced) = perform(&mut spool, &acts);
        let mut fs = spool.into_fs();
        let mut choices = kept.iter().cycle();
        fs.power_cut(|bytes| {
            let choice = *choices.next().unwrap() as usize;
            // None, a part, or all of it.
            match choice % 3 { 0 => 0, 1 => choice % (bytes + 1), _ => bytes }
        });
        // Without a durable name there is no spool, and then nothing was synced either.
        let found = read(&fs, 0);
        let sure: Vec<_> = expected.iter().filter(|(_, next)| *next <= synced).cloned().collect();
        prop_assert_eq!(&found[..sure.len().min(found.len())], sure.as_slice());
        prop_assert!(is_subsequence(&without_damage(found), &expected));
    }

    #[test]
    fn a_damaged_spool_gives_only_what_was_written(
        segment in segment_bytes(),
        acts in proptest::collection::vec(act(), 1..20),
        damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..20),
        cut in 0u64..5000,
    ) {
        let mut spool = spool().with_segments_of(segment);
        let (expected, _) = perform(&mut spool, &acts);
        let mut fs = spool.into_fs();
        let segments = fs.segments().unwrap();
        for (at, mask) in damage {
            let name = FileName::Segment(segments[at.index(segments.len())]);
            let length = usize::try_from(fs.length(name).unwrap()).unwrap();
            fs.damage(name, at.index(length), |byte| *byte ^= mask);
        }
        let last = FileName::Segment(*segments.last().unwrap());
        let length = fs.length(last).unwrap();
        fs.truncate(last, length.saturating_sub(cut)).unwrap();
        prop_assert!(is_subsequence(&without_damage(read(&fs, 0)), &expected));
    }

    #[test]
    fn arbitrary_files_never_panic(
        files in proptest::collection::vec((0u64..50, proptest::collection::vec(any::<u8>(), 0..300)), 0..4),
        header: bool,
        position in 0u64..60,
    ) {
        let mut fs = PowerCutFs::new();
        for (first, bytes) in files {
            let name = FileName::Segment(first);
            if fs.create(name).is_ok() {
                let head = SegmentHeader { attempt: ATTEMPT, first, back: 7, salt: SALT }.encode();
                if header {
                    fs.write_at(name, 0, &head).unwrap();
                }
                let at = if header { SEGMENT_HEADER_BYTES as u64 } else { 0 };
                fs.write_at(name, at, &bytes).unwrap();
            }
        }
        if let Ok(reader) = SpoolReader::open(fs, ATTEMPT, position) {
            prop_assert!(reader.take(1000).count() < 1000);
        }
    }
}

#[test]
fn a_line_at_the_bound_is_whole_and_one_byte_more_is_oversized() {
    let mut spool = spool();
    let bound = usize::try_from(LINE_BYTES_MAX).unwrap();
    let long = vec![b'x'; bound + 1];
    write_line(&mut spool, &long[1..]).unwrap();
    write_line(&mut spool, &long).unwrap();
    write_line(&mut spool, b"next").unwrap();
    let records: Vec<_> = read(&spool.into_fs(), 0).into_iter().map(|(record, _)| record).collect();
    let head = vec![b'x'; 64 * 1024];
    assert_eq!(records.len(), 4);
    assert!(records[0] == Record::Line(long[1..].to_vec()));
    assert!(records[1] == Record::Oversized { head });
    assert_eq!(records[2], Record::OversizedEnd { bytes: LINE_BYTES_MAX + 1 });
    assert_eq!(records[3], Record::Line(b"next".to_vec()));
}

#[test]
fn an_oversized_line_takes_no_more_space_than_the_bound() {
    let mut spool = spool();
    let block = vec![b'x'; 1024 * 1024];
    for _ in 0..40 {
        spool.append_output(&block, Room::Lines).unwrap();
    }
    assert!(spool.bytes() < LINE_BYTES_MAX + 2 * SEGMENT_BYTES, "{}", spool.bytes());
}

#[test]
fn on_a_full_disk_lines_wait_marks_are_written_and_nothing_is_lost() {
    let mut spool = spool();
    let line = vec![b'x'; 1000];
    write_line(&mut spool, &line).unwrap();
    let allocated = spool.fs().allocated();
    spool.fs().set_capacity(Some(allocated));
    let mut written = 1;
    while write_line(&mut spool, &line).is_ok() {
        written += 1;
        assert!(written < 2000, "lines must come to an end");
    }
    let end = spool.end();
    assert!(spool.append_output(b"more\n", Room::Lines).is_err());
    assert_eq!(spool.end(), end, "what failed has changed nothing");
    // Marks have a reserve that lines cannot have eaten.
    let marks = RESERVE_BYTES / 100;
    for number in 0..marks {
        spool.append(&Mark::FrameBegun(number)).unwrap();
    }
    spool.fs().set_capacity(None);
    write_line(&mut spool, &line).unwrap();
    let records = read(&spool.into_fs(), 0);
    let lines = records.iter().filter(|(record, _)| matches!(record, Record::Line(_))).count();
    assert_eq!((lines, records.len() as u64), (written + 1, written as u64 + 1 + marks));
    assert!(!records.iter().any(|(record, _)| *record == Record::Damaged));
}

#[test]
fn the_last_bytes_may_use_the_reserve_but_for_what_the_death_needs() {
    let mut spool = spool();
    let allocated = spool.fs().allocated();
    spool.fs().set_capacity(Some(allocated));
    let line = [vec![b'x'; 999], vec![b'\n']].concat();
    while spool.append_output(&line, Room::Lines).is_ok() {}
    let mut last = 0;
    while spool.append_output(&line, Room::LastBytes).is_ok() {
        last += 1;
    }
    assert!(last > 900, "nearly a MiB: {last}");
    for number in 0..500 {
        spool.append(&Mark::FrameBegun(number)).unwrap();
    }
}

#[test]
fn a_torn_write_is_cut_and_written_again() {
    // A disk that does not preallocate: writes themselves run out of space.
    let mut spool = Spool::create(NoReserve(PowerCutFs::new()), ATTEMPT, SALT).unwrap();
    spool.append_output(b"one\n", Room::Lines).unwrap();
    let used = spool.fs().0.allocated();
    spool.fs().0.set_capacity(Some(used + 10));
    assert!(spool.append_output(b"two two two\n", Room::Lines).is_err());
    assert_eq!(spool.fs().0.allocated(), used, "the torn record is cut");
    spool.fs().0.set_capacity(None);
    spool.append_output(b"two two two\n", Room::Lines).unwrap();
    let lines: Vec<_> = read(&spool.into_fs().0, 0).into_iter().map(|(record, _)| record).collect();
    assert_eq!(lines, [Record::Line(b"one".to_vec()), Record::Line(b"two two two".to_vec())]);
}

/// A file system that cannot preallocate.
struct NoReserve(PowerCutFs);

impl SpoolFs for NoReserve {
    fn create(&mut self, file: FileName) -> io::Result<()> {
        self.0.create(file)
    }
    fn reserve(&mut self, _: FileName, _: u64) -> io::Result<()> {
        Ok(())
    }
    fn write_at(&mut self, file: FileName, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_at(file, offset, bytes)
    }
    fn truncate(&mut self, file: FileName, bytes: u64) -> io::Result<()> {
        self.0.truncate(file, bytes)
    }
    fn sync(&mut self, file: FileName) -> io::Result<()> {
        self.0.sync(file)
    }
    fn sync_names(&mut self) -> io::Result<()> {
        self.0.sync_names()
    }
    fn read_at(&mut self, file: FileName, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_at(file, offset, buffer)
    }
    fn length(&mut self, file: FileName) -> io::Result<u64> {
        self.0.length(file)
    }
    fn remove(&mut self, file: FileName) -> io::Result<()> {
        self.0.remove(file)
    }
    fn segments(&mut self) -> io::Result<Vec<u64>> {
        self.0.segments()
    }
}

#[test]
fn only_the_last_segment_has_a_reserve() {
    let mut spool = spool();
    let line = [b'x'; 10_000];
    for _ in 0..500 {
        write_line(&mut spool, &line).unwrap();
    }
    let allocated = spool.fs().allocated();
    assert!(spool.fs().segments().unwrap().len() > 3);
    assert!(allocated < spool.bytes() + 2 * RESERVE_BYTES, "{allocated} for {}", spool.bytes());
}

#[test]
fn an_acknowledgement_inside_a_line_keeps_the_line() {
    let mut spool = spool().with_segments_of(200);
    let part = [b'x'; 150];
    for _ in 0..4 {
        spool.append_output(&part, Room::Lines).unwrap();
    }
    spool.append(&Mark::FrameBegun(1)).unwrap();
    spool.append_output(b"\n", Room::Lines).unwrap();
    spool.acknowledge(5);
    assert_eq!(spool.first(), 0);
    assert_eq!(read(&spool.into_fs(), 5), [(Record::Line([b'x'; 600].to_vec()), 6)]);
}

#[test]
fn an_agent_cannot_write_a_record() {
    // A line that holds a whole record with the right number, made with a guessed salt, in a spool whose
    // bytes around it are damaged: a reader that searches must not take it.
    let mut forged = Vec::new();
    let mut payload = Vec::new();
    let kind = Mark::FrameDone(77).encode(&mut payload);
    write_record(&mut forged, 0, 2, 0, (kind, 0), &payload);
    assert!(!forged.contains(&b'\n'));
    let mut spool = spool();
    spool.append_output(b"first\n", Room::Lines).unwrap();
    write_line(&mut spool, &forged).unwrap();
    write_line(&mut spool, b"last").unwrap();
    let mut fs = spool.into_fs();
    let header_of_second = SEGMENT_HEADER_BYTES + RECORD_HEADER_BYTES + 5;
    fs.damage(FileName::Segment(0), header_of_second, |byte| *byte ^= 1);
    let records: Vec<_> = read(&fs, 0).into_iter().map(|(record, _)| record).collect();
    let expected =
        [Record::Line(b"first".to_vec()), Record::Damaged, Record::Line(b"last".to_vec())];
    assert_eq!(records, expected);
}

#[test]
fn a_segment_with_a_damaged_header_or_of_another_attempt_is_damage() {
    let mut spool = spool();
    let line = vec![b'x'; 10_000];
    for _ in 0..300 {
        write_line(&mut spool, &line).unwrap();
    }
    let mut fs = spool.into_fs();
    let segments = fs.segments().unwrap();
    assert!(segments.len() >= 3);
    fs.damage(FileName::Segment(segments[1]), 20, |byte| *byte ^= 1);
    let records = read(&fs, 0);
    let damaged: Vec<u64> = records
        .iter()
        .filter(|(record, _)| *record == Record::Damaged)
        .map(|(_, next)| *next)
        .collect();
    assert_eq!(damaged, [segments[2]]);
    assert_eq!(records.last().unwrap().0, Record::Line(line));
    // Read from inside the damaged segment.
    let from = read(&fs, segments[1] + 1);
    assert_eq!(from[0], (Record::Damaged, segments[2]));
    let other = SpoolReader::open(fs, Uuid::from_u128(1), 0).unwrap();
    let records: Vec<_> = other.map(|record| record.unwrap().0).collect();
    assert!(records.iter().all(|record| *record == Record::Damaged));
}

#[test]
fn a_spool_that_was_never_begun_is_empty() {
    assert_eq!(read(&PowerCutFs::new(), 0), []);
    let ahead = SpoolReader::open(PowerCutFs::new(), ATTEMPT, 1);
    assert!(matches!(ahead, Err(OpenError::Ahead { .. })), "a position without a spool is ahead");
}

#[test]
fn a_directory_holds_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let mut spool = Spool::create(DirFs::create(dir.path()).unwrap(), ATTEMPT, SALT).unwrap();
    for number in 0..300u64 {
        let line = [number.to_string().as_bytes(), &[b'x'; 10_000], b"\n"].concat();
        spool.append_output(&line, Room::Lines).unwrap();
        spool.append(&Mark::FrameBegun(number)).unwrap();
    }
    spool.acknowledge(spool.end() / 2);
    spool.sync().unwrap();
    let (first, end) = (spool.first(), spool.end());
    assert!(first > 0);
    drop(spool);
    let mut reader = SpoolReader::open(DirFs::open(dir.path()), ATTEMPT, first).unwrap();
    let marks = reader.by_ref().filter(|record| matches!(record, Ok((Record::FrameBegun(_), _))));
    assert!(marks.count() > 100);
    assert_eq!(reader.end(), Some(SpoolEnd { position: end, open_line_bytes: 0, torn_bytes: 0 }));
}
