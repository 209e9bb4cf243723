use super::format::{FLAG_FIRST, FLAG_LAST};
use crate::limits::{LINE_BYTES_MAX, LINE_PART_BYTES_MAX};
use crate::record::{encode_oversized_end, kind};

/// How far the agent's current line has come. It is all that is kept of it in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LineState {
    /// The record with the line's first part, while the chain is open.
    pub(super) first: Option<u64>,
    /// Bytes of the line so far.
    pub(super) bytes: u64,
    /// The line is beyond its bound; what comes of it is dropped.
    pub(super) oversized: bool,
}

/// The records that a piece of output makes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Part {
        flags: u8,
        bytes: &'a [u8],
    },
    /// Ends the chain: the line is beyond its bound.
    Oversized,
    /// The oversized line has ended.
    OversizedEnd {
        bytes: u64,
    },
}

impl Piece<'_> {
    pub(super) fn kind(&self) -> (u8, u8) {
        match self {
            Self::Part { flags, .. } => (kind::LINE_PART, *flags),
            Self::Oversized => (kind::OVERSIZED, 0),
            Self::OversizedEnd { .. } => (kind::OVERSIZED_END, 0),
        }
    }

    pub(super) fn payload(&self, out: &mut Vec<u8>) {
        match self {
            Self::Part { bytes, .. } => out.extend_from_slice(bytes),
            Self::Oversized => {}
            Self::OversizedEnd { bytes } => encode_oversized_end(*bytes, out),
        }
    }
}

impl LineState {
    /// Notes that a record of the line was given its number.
    pub(super) fn follow(&mut self, number: u64, kind: u8, flags: u8) {
        if flags & FLAG_FIRST != 0 {
            self.first = Some(number);
        }
        if flags & FLAG_LAST != 0 || kind == kind::OVERSIZED {
            self.first = None;
        }
    }

    /// Takes the next piece off `output`, up to a newline or the size of a part, and says how many bytes
    /// that were and which records it makes. The state is then the one behind the piece, but for `first`,
    /// which the writer keeps because it numbers the records.
    pub(super) fn take<'a>(&mut self, output: &'a [u8]) -> (usize, [Option<Piece<'a>>; 2]) {
        let window = output.get(..LINE_PART_BYTES_MAX).unwrap_or(output);
        let newline = window.iter().position(|&byte| byte == b'\n');
        let bytes = newline.and_then(|end| window.get(..end)).unwrap_or(window);
        let begins = self.bytes == 0 && self.first.is_none();
        self.bytes += bytes.len() as u64;
        let taken = bytes.len() + usize::from(newline.is_some());
        let mut pieces = [None, None];
        if self.oversized {
            if newline.is_some() {
                pieces[0] = Some(Piece::OversizedEnd { bytes: self.bytes });
            }
        } else if self.bytes > LINE_BYTES_MAX {
            self.oversized = true;
            pieces[0] = Some(Piece::Oversized);
            if newline.is_some() {
                pieces[1] = Some(Piece::OversizedEnd { bytes: self.bytes });
            }
        } else if newline.is_some() || !bytes.is_empty() {
            let first = if begins { FLAG_FIRST } else { 0 };
            let last = if newline.is_some() { FLAG_LAST } else { 0 };
            pieces[0] = Some(Piece::Part { flags: first | last, bytes });
        }
        if newline.is_some() {
            self.bytes = 0;
            self.oversized = false;
        }
        (taken, pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(flags: u8, bytes: &[u8]) -> [Option<Piece<'_>>; 2] {
        [Some(Piece::Part { flags, bytes }), None]
    }

    #[test]
    fn a_piece_ends_at_a_newline_or_at_the_size_of_a_part() {
        let mut state = LineState::default();
        assert_eq!(state.take(b"ab\ncd"), (3, part(FLAG_FIRST | FLAG_LAST, b"ab")));
        assert_eq!(state.take(b"\n"), (1, part(FLAG_FIRST | FLAG_LAST, b"")));
        let long = vec![b'x'; LINE_PART_BYTES_MAX + 1];
        assert_eq!(state.take(&long), (LINE_PART_BYTES_MAX, part(FLAG_FIRST, &long[1..])));
        state.first = Some(2);
        assert_eq!(state.take(b"y"), (1, part(0, b"y")));
        assert_eq!(state.take(b"\n"), (1, part(FLAG_LAST, b"")));
    }

    #[test]
    fn the_bound_is_sixteen_mebibytes_to_the_byte() {
        let at = LineState { first: Some(0), bytes: LINE_BYTES_MAX - 1, oversized: false };
        let mut state = at;
        assert_eq!(state.take(b"x\n"), (2, part(FLAG_LAST, b"x")));
        let mut state = at;
        let end = Some(Piece::OversizedEnd { bytes: LINE_BYTES_MAX + 1 });
        assert_eq!(state.take(b"xy\n"), (3, [Some(Piece::Oversized), end]));
        assert_eq!(state.take(b"z\n"), (2, part(FLAG_LAST, b"z")), "first is the writer's");
    }

    #[test]
    fn what_follows_of_an_oversized_line_is_counted_and_dropped() {
        let mut state = LineState { first: None, bytes: LINE_BYTES_MAX + 5, oversized: true };
        assert_eq!(state.take(b"abc"), (3, [None, None]));
        let end = Some(Piece::OversizedEnd { bytes: LINE_BYTES_MAX + 9 });
        assert_eq!(state.take(b"d\ne"), (2, [end, None]));
        assert!(!state.oversized);
    }
}
