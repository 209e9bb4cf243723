use crate::limits::{
    CANCELLED_RUNS_MAX, FRAME_BYTES_MAX, FRAMES_IN_MEMORY_BYTES_MAX, FRAMES_WAITING_MAX,
};
use crate::protocol::{Frames, Refusal, WriteChunk};
use crate::spool::{FileName, SpoolFs};
use std::collections::VecDeque;
use std::io;

/// The frames on their way to the agent: one being collected, some waiting, one being written.
#[derive(Debug, Default)]
pub(super) struct FrameQueue {
    numbers: Frames,
    upload: Option<Frame>,
    waiting: VecDeque<Frame>,
    in_flight: Option<Frame>,
    cancelled: Runs,
    stdin: Stdin,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Stdin {
    #[default]
    Open,
    Broken,
}

#[derive(Debug)]
struct Frame {
    number: u64,
    total: u64,
    /// Bytes collected, or bytes written to the agent.
    at: u64,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Memory(Vec<u8>),
    Disk,
}

/// What a piece of a frame has brought about.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// More pieces have to come.
    More,
    /// The frame is whole and waits.
    Accepted,
    /// Its number is taken already.
    Already,
}

/// What may be done about a frame that is to be taken back.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cancel {
    /// It has begun.
    Begun,
    /// It was taken back before.
    Before,
    /// It can be taken back.
    Possible,
}

impl FrameQueue {
    pub(super) fn numbers(&self) -> Frames {
        self.numbers
    }

    /// Takes a piece of a frame.
    pub(super) fn offer(
        &mut self,
        fs: &mut impl SpoolFs,
        chunk: &WriteChunk<'_>,
    ) -> Result<Offered, Refusal> {
        let expected = self.numbers.accepted + 1;
        if chunk.number < expected {
            return Ok(Offered::Already);
        }
        if self.stdin == Stdin::Broken {
            return Err(Refusal::StdinClosed);
        }
        if chunk.number > expected {
            return Err(Refusal::OutOfOrder { expected });
        }
        if chunk.total > FRAME_BYTES_MAX {
            return Err(Refusal::TooLarge { max: FRAME_BYTES_MAX });
        }
        if chunk.offset == 0 {
            self.begin_upload(fs, chunk)?;
        }
        let Some(upload) = &mut self.upload else {
            return Err(Refusal::OutOfOrder { expected });
        };
        let end = chunk.offset.saturating_add(chunk.bytes.len() as u64);
        let follows =
            chunk.total == upload.total && chunk.offset == upload.at && end <= upload.total;
        let stalls = chunk.bytes.is_empty() && end < upload.total;
        if !follows || stalls {
            self.drop_upload(fs);
            return Err(Refusal::OutOfOrder { expected });
        }
        let stored = match &mut upload.body {
            Body::Memory(bytes) => {
                bytes.extend_from_slice(chunk.bytes);
                Ok(())
            }
            Body::Disk => fs.write_at(FileName::Frame(upload.number), upload.at, chunk.bytes),
        };
        upload.at = end;
        if let Err(error) = stored {
            self.drop_upload(fs);
            return Err(refuse(&error));
        }
        if end < chunk.total {
            return Ok(Offered::More);
        }
        if let Some(mut whole) = self.upload.take() {
            whole.at = 0;
            self.numbers.accepted = whole.number;
            self.waiting.push_back(whole);
        }
        holdfast_fault::point("keeper.frame.accepted");
        Ok(Offered::Accepted)
    }

    fn begin_upload(
        &mut self,
        fs: &mut impl SpoolFs,
        chunk: &WriteChunk<'_>,
    ) -> Result<(), Refusal> {
        self.drop_upload(fs);
        if self.waiting.len() >= FRAMES_WAITING_MAX {
            return Err(Refusal::Busy);
        }
        let in_memory: usize = self.waiting.iter().chain(&self.in_flight).map(Frame::memory).sum();
        let left = FRAMES_IN_MEMORY_BYTES_MAX.saturating_sub(in_memory) as u64;
        let body = if chunk.total <= left {
            Body::Memory(Vec::with_capacity(usize::try_from(chunk.total).unwrap_or(0)))
        } else {
            let file = FileName::Frame(chunk.number);
            let _ = fs.remove(file);
            fs.create(file).map_err(|error| refuse(&error))?;
            Body::Disk
        };
        self.upload = Some(Frame { number: chunk.number, total: chunk.total, at: 0, body });
        Ok(())
    }

    /// Forgets the frame that is being collected.
    pub(super) fn drop_upload(&mut self, fs: &mut impl SpoolFs) {
        if let Some(upload) = self.upload.take() {
            upload.discard(fs);
        }
    }

    /// What may be done about `number`.
    pub(super) fn look_at(&self, number: u64) -> Result<Cancel, Refusal> {
        let expected = self.numbers.accepted + 1;
        if number > expected {
            Err(Refusal::OutOfOrder { expected })
        } else if self.cancelled.contains(number) {
            Ok(Cancel::Before)
        } else if number <= self.numbers.begun {
            Ok(Cancel::Begun)
        } else if self.cancelled.is_full() {
            Err(Refusal::Busy)
        } else {
            Ok(Cancel::Possible)
        }
    }

    /// Takes `number` back, which [`Self::look_at`] has found possible.
    pub(super) fn cancel(&mut self, fs: &mut impl SpoolFs, number: u64) {
        if number == self.numbers.accepted + 1 {
            self.drop_upload(fs);
            self.numbers.accepted = number;
        }
        if let Some(index) = self.waiting.iter().position(|frame| frame.number == number)
            && let Some(frame) = self.waiting.remove(index)
        {
            frame.discard(fs);
        }
        self.cancelled.insert(number);
    }

    /// The frame whose turn it is.
    pub(super) fn next_to_begin(&self) -> Option<u64> {
        let free = self.in_flight.is_none() && self.stdin == Stdin::Open;
        self.waiting.front().filter(|_| free).map(|frame| frame.number)
    }

    /// Begins the frame whose turn it is. One without bytes is done at once: its number is given back.
    pub(super) fn begin(&mut self) -> Option<u64> {
        let frame = self.waiting.pop_front()?;
        let (number, total) = (frame.number, frame.total);
        self.numbers.begun = number;
        if total == 0 {
            self.numbers.done = number;
            return Some(number);
        }
        self.in_flight = Some(frame);
        None
    }

    pub(super) fn has_bytes_in_flight(&self) -> bool {
        self.in_flight.is_some()
    }

    pub(super) fn is_at_start(&self) -> bool {
        self.in_flight.as_ref().is_some_and(|frame| frame.at == 0)
    }

    /// Copies the next bytes of the frame in flight.
    pub(super) fn bytes_in_flight(&mut self, fs: &mut impl SpoolFs, buffer: &mut [u8]) -> usize {
        let Some(frame) = &self.in_flight else { return 0 };
        let left = usize::try_from(frame.total - frame.at).unwrap_or(usize::MAX);
        let length = left.min(buffer.len());
        let Some(target) = buffer.get_mut(..length) else { return 0 };
        let copied = match &frame.body {
            Body::Memory(bytes) => usize::try_from(frame.at)
                .ok()
                .and_then(|at| bytes.get(at..at + length))
                .map(|source| target.copy_from_slice(source))
                .map_or(0, |()| length),
            Body::Disk => fs.read_at(FileName::Frame(frame.number), frame.at, target).unwrap_or(0),
        };
        if copied == 0 {
            // Its file is gone or cannot be read. The agent has a part of it: nothing may follow.
            self.break_stdin(fs);
        }
        copied
    }

    /// The agent took `bytes` bytes of the frame in flight; the frame's number, if they were its last.
    pub(super) fn took(&mut self, fs: &mut impl SpoolFs, bytes: usize) -> Option<u64> {
        let frame = self.in_flight.as_mut()?;
        frame.at = frame.total.min(frame.at + bytes as u64);
        if frame.at < frame.total {
            return None;
        }
        let done = self.in_flight.take()?;
        self.numbers.done = done.number;
        let number = done.number;
        done.discard(fs);
        Some(number)
    }

    /// Whether nothing is written any more.
    pub(super) fn is_broken(&self) -> bool {
        self.stdin == Stdin::Broken
    }

    /// Nothing is written any more: the frame in flight stays begun.
    pub(super) fn break_stdin(&mut self, fs: &mut impl SpoolFs) {
        self.stdin = Stdin::Broken;
        self.drop_upload(fs);
        for frame in self.in_flight.take().into_iter().chain(self.waiting.drain(..)) {
            frame.discard(fs);
        }
    }
}

impl Frame {
    fn memory(&self) -> usize {
        match &self.body {
            Body::Memory(bytes) => bytes.capacity(),
            Body::Disk => 0,
        }
    }

    fn discard(self, fs: &mut impl SpoolFs) {
        match self.body {
            Body::Memory(_) => {}
            // A file that stays costs space until the attempt is removed.
            Body::Disk => drop(fs.remove(FileName::Frame(self.number))),
        }
    }
}

fn refuse(error: &io::Error) -> Refusal {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Refusal::NoSpace,
        _ => Refusal::Failed(error.to_string()),
    }
}

/// Numbers, as runs of neighbours: cancelled frames come alone or many in a row.
#[derive(Debug, Default)]
struct Runs(Vec<(u64, u64)>);

impl Runs {
    fn contains(&self, number: u64) -> bool {
        self.0.iter().any(|&(first, last)| (first..=last).contains(&number))
    }

    fn is_full(&self) -> bool {
        self.0.len() >= CANCELLED_RUNS_MAX
    }

    fn insert(&mut self, number: u64) {
        let before = self.0.iter().position(|&(_, last)| last + 1 == number);
        let after = self.0.iter().position(|&(first, _)| first == number + 1);
        match (before, after) {
            (Some(before), Some(after)) => {
                let (_, last) = self.0.swap_remove(after);
                // `before` may have been the last and taken the freed place.
                let before = if before == self.0.len() { after } else { before };
                if let Some(run) = self.0.get_mut(before) {
                    run.1 = last;
                }
            }
            (Some(before), None) => {
                if let Some(run) = self.0.get_mut(before) {
                    run.1 = number;
                }
            }
            (None, Some(after)) => {
                if let Some(run) = self.0.get_mut(after) {
                    run.0 = number;
                }
            }
            (None, None) => self.0.push((number, number)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::FRAME_CHUNK_BYTES_MAX;
    use crate::spool::PowerCutFs;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn whole(number: u64, bytes: &[u8]) -> WriteChunk<'_> {
        WriteChunk { number, total: bytes.len() as u64, offset: 0, bytes }
    }

    fn offer_all(
        queue: &mut FrameQueue,
        fs: &mut PowerCutFs,
        number: u64,
        bytes: &[u8],
    ) -> Result<Offered, Refusal> {
        let mut last = Ok(Offered::More);
        for (index, piece) in bytes.chunks(FRAME_CHUNK_BYTES_MAX).enumerate() {
            let offset = (index * FRAME_CHUNK_BYTES_MAX) as u64;
            let chunk = WriteChunk { number, total: bytes.len() as u64, offset, bytes: piece };
            last = queue.offer(fs, &chunk);
        }
        last
    }

    fn write_out(queue: &mut FrameQueue, fs: &mut PowerCutFs) -> Vec<u8> {
        let mut out = Vec::new();
        let mut buffer = [0; 1000];
        loop {
            let read = queue.bytes_in_flight(fs, &mut buffer);
            out.extend_from_slice(&buffer[..read]);
            if read == 0 || queue.took(fs, read).is_some() {
                return out;
            }
        }
    }

    #[test]
    fn frames_are_numbered_without_a_gap_and_a_repeat_is_known() {
        let (mut queue, mut fs) = (FrameQueue::default(), PowerCutFs::new());
        assert_eq!(queue.offer(&mut fs, &whole(1, b"a")), Ok(Offered::Accepted));
        assert_eq!(queue.offer(&mut fs, &whole(1, b"b")), Ok(Offered::Already));
        let gap = queue.offer(&mut fs, &whole(3, b"c"));
        assert_eq!(gap, Err(Refusal::OutOfOrder { expected: 2 }));
        assert_eq!(queue.offer(&mut fs, &whole(2, b"d")), Ok(Offered::Accepted));
        assert_eq!(queue.numbers(), Frames { accepted: 2, begun: 0, done: 0 });
    }

    #[test]
    fn a_big_frame_is_collected_on_disk_and_only_a_whole_one_counts() {
        let (mut queue, mut fs) = (FrameQueue::default(), PowerCutFs::new());
        let bytes: Vec<u8> = (0..200_000u32).map(|index| index as u8).collect();
        let first = WriteChunk { number: 1, total: 200_000, offset: 0, bytes: &bytes[..10] };
        assert_eq!(queue.offer(&mut fs, &first), Ok(Offered::More));
        assert_eq!(queue.numbers().accepted, 0);
        assert_eq!(fs.length(FileName::Frame(1)).unwrap(), 10);
        queue.drop_upload(&mut fs);
        assert!(fs.length(FileName::Frame(1)).is_err(), "a dropped upload leaves no file");
        assert_eq!(offer_all(&mut queue, &mut fs, 1, &bytes), Ok(Offered::Accepted));
        assert_eq!(queue.begin(), None);
        assert_eq!(write_out(&mut queue, &mut fs), bytes);
        assert_eq!(queue.numbers(), Frames { accepted: 1, begun: 1, done: 1 });
        assert!(fs.length(FileName::Frame(1)).is_err(), "a written frame leaves no file");
    }

    #[test]
    fn pieces_that_do_not_follow_each_other_drop_the_frame() {
        for (offset, total, bytes) in
            [(5, 20, &b"x"[..]), (10, 21, b"x"), (10, 20, b"elevenbytes"), (10, 20, b"")]
        {
            let (mut queue, mut fs) = (FrameQueue::default(), PowerCutFs::new());
            let first = WriteChunk { number: 1, total: 20, offset: 0, bytes: b"0123456789" };
            queue.offer(&mut fs, &first).unwrap();
            let next = WriteChunk { number: 1, total, offset, bytes };
            let refused = Err(Refusal::OutOfOrder { expected: 1 });
            assert_eq!(queue.offer(&mut fs, &next), refused, "{next:?}");
            let rest = WriteChunk { number: 1, total: 20, offset: 10, bytes: b"0123456789" };
            assert_eq!(queue.offer(&mut fs, &rest), refused);
        }
    }

    #[test]
    fn waiting_frames_are_bounded_in_number_and_in_memory() {
        let (mut queue, mut fs) = (FrameQueue::default(), PowerCutFs::new());
        let bytes = vec![b'x'; 3000];
        for number in 1..=FRAMES_WAITING_MAX as u64 {
            assert_eq!(queue.offer(&mut fs, &whole(number, &bytes)), Ok(Offered::Accepted));
        }
        let memory: usize = queue.waiting.iter().map(Frame::memory).sum();
        assert!(memory <= FRAMES_IN_MEMORY_BYTES_MAX, "{memory}");
        let more = FRAMES_WAITING_MAX as u64 + 1;
        assert_eq!(queue.offer(&mut fs, &whole(more, &bytes)), Err(Refusal::Busy));
        for _ in 0..FRAMES_WAITING_MAX {
            queue.begin();
            assert_eq!(write_out(&mut queue, &mut fs), bytes);
        }
        assert_eq!(queue.offer(&mut fs, &whole(more, &bytes)), Ok(Offered::Accepted));
    }

    #[test]
    fn a_frame_beyond_the_bound_is_refused_at_its_first_piece() {
        let (mut queue, mut fs) = (FrameQueue::default(), PowerCutFs::new());
        let chunk = WriteChunk { number: 1, total: FRAME_BYTES_MAX + 1, offset: 0, bytes: b"x" };
        let refused = Err(Refusal::TooLarge { max: FRAME_BYTES_MAX });
        assert_eq!(queue.offer(&mut fs, &chunk), refused);
    }

    #[test]
    fn a_full_disk_refuses_a_big_frame_and_takes_a_small_one() {
        let (mut queue, mut fs) = (FrameQueue::default(), PowerCutFs::new());
        fs.set_capacity(Some(0));
        assert!(offer_all(&mut queue, &mut fs, 1, &[b'x'; 100_000]).is_err());
        assert_eq!(queue.offer(&mut fs, &whole(1, b"small")), Ok(Offered::Accepted));
    }

    #[test]
    fn a_frame_can_be_taken_back_until_it_begins() {
        let (mut queue, mut fs) = (FrameQueue::default(), PowerCutFs::new());
        queue.offer(&mut fs, &whole(1, b"a")).unwrap();
        queue.offer(&mut fs, &whole(2, b"b")).unwrap();
        queue.begin();
        assert_eq!(queue.look_at(1), Ok(Cancel::Begun));
        assert_eq!(queue.look_at(2), Ok(Cancel::Possible));
        queue.cancel(&mut fs, 2);
        assert_eq!(queue.look_at(2), Ok(Cancel::Before));
        assert_eq!(queue.look_at(4), Err(Refusal::OutOfOrder { expected: 3 }));
        assert_eq!(queue.look_at(3), Ok(Cancel::Possible), "one that never arrived");
        queue.cancel(&mut fs, 3);
        assert_eq!(queue.offer(&mut fs, &whole(3, b"c")), Ok(Offered::Already));
        queue.offer(&mut fs, &whole(4, b"d")).unwrap();
        write_out(&mut queue, &mut fs);
        queue.begin();
        assert_eq!(queue.numbers().begun, 4);
        assert_eq!(queue.look_at(2), Ok(Cancel::Before), "also when a later one has begun");
    }

    #[test]
    fn a_broken_stdin_leaves_the_frame_begun_and_takes_no_more() {
        let (mut queue, mut fs) = (FrameQueue::default(), PowerCutFs::new());
        queue.offer(&mut fs, &whole(1, b"abc")).unwrap();
        queue.offer(&mut fs, &whole(2, b"d")).unwrap();
        queue.begin();
        queue.took(&mut fs, 1);
        queue.break_stdin(&mut fs);
        assert_eq!(queue.numbers(), Frames { accepted: 2, begun: 1, done: 0 });
        assert_eq!(queue.next_to_begin(), None);
        assert_eq!(queue.offer(&mut fs, &whole(3, b"e")), Err(Refusal::StdinClosed));
    }

    #[test]
    fn a_frame_without_bytes_is_done_when_it_begins() {
        let (mut queue, mut fs) = (FrameQueue::default(), PowerCutFs::new());
        assert_eq!(queue.offer(&mut fs, &whole(1, b"")), Ok(Offered::Accepted));
        assert_eq!(queue.begin(), Some(1));
        assert!(!queue.has_bytes_in_flight());
    }

    proptest! {
        #[test]
        fn runs_hold_exactly_what_was_put_in(numbers in proptest::collection::vec(0u64..40, 0..60)) {
            let mut runs = Runs::default();
            let mut set = BTreeSet::new();
            for number in numbers {
                if !runs.contains(number) {
                    runs.insert(number);
                }
                set.insert(number);
            }
            for number in 0..42 {
                prop_assert_eq!(runs.contains(number), set.contains(&number));
            }
            let gaps = set.iter().filter(|number| !set.contains(&(*number + 1))).count();
            prop_assert_eq!(runs.0.len(), gaps);
        }
    }
}
