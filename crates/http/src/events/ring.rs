//! The frames that all subscribers share: the newest ones, within bounds of count and bytes.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::events::batch::Frame;
use crate::limits::{RING_BYTES_MAX, RING_FRAMES_MAX};

/// The newest frames, without a gap between them.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    frames: VecDeque<Arc<Frame>>,
    bytes: usize,
}

/// What the ring has for a subscriber.
#[derive(Debug)]
pub(crate) enum Found {
    /// The next frame.
    Frame(Arc<Frame>),
    /// Nothing newer.
    Nothing,
    /// What comes next is no longer in it.
    Behind,
}

impl Ring {
    /// Adds a frame; the oldest ones give way.
    pub(crate) fn push(&mut self, frame: Arc<Frame>) {
        self.bytes = self.bytes.saturating_add(frame.bytes());
        self.frames.push_back(frame);
        while self.bytes > RING_BYTES_MAX || self.frames.len() > RING_FRAMES_MAX {
            let Some(oldest) = self.frames.pop_front() else { break };
            self.bytes = self.bytes.saturating_sub(oldest.bytes());
        }
    }

    /// Forgets everything: what follows will not join on.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// What comes after this number, of a feed that was published up to `published`.
    pub(crate) fn after(&self, position: u64, published: u64) -> Found {
        let first = self.frames.partition_point(|frame| frame.upto <= position);
        match self.frames.get(first) {
            Some(frame) if frame.after <= position => Found::Frame(Arc::clone(frame)),
            Some(_) => Found::Behind,
            None if position < published => Found::Behind,
            None => Found::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::batch::test::frame;
    use crate::limits::FRAME_BYTES_MAX;

    fn found(found: &Found) -> &'static str {
        match found {
            Found::Frame(_) => "frame",
            Found::Nothing => "nothing",
            Found::Behind => "behind",
        }
    }

    #[test]
    fn a_subscriber_finds_what_follows_or_is_behind() {
        let mut ring = Ring::default();
        ring.push(frame(10, 15, 1));
        ring.push(frame(15, 20, 1));
        let after = |position| found(&ring.after(position, 20));
        assert_eq!(
            [9, 10, 12, 15, 20, 25].map(after),
            ["behind", "frame", "frame", "frame", "nothing", "nothing",]
        );
        let Found::Frame(next) = ring.after(15, 20) else { panic!("no frame") };
        assert_eq!((next.after, next.upto), (15, 20));
    }

    #[test]
    fn an_empty_ring_has_nothing_for_who_is_at_the_end_and_leaves_others_behind() {
        let mut ring = Ring::default();
        assert_eq!(found(&ring.after(20, 20)), "nothing");
        assert_eq!(found(&ring.after(19, 20)), "behind");
        ring.push(frame(20, 21, 1));
        ring.clear();
        assert_eq!(found(&ring.after(20, 21)), "behind");
    }

    #[test]
    fn the_oldest_frames_give_way_to_the_bounds() {
        let mut ring = Ring::default();
        for n in 0..10_000 {
            ring.push(frame(n, n + 1, 1));
        }
        assert_eq!(ring.frames.len(), RING_FRAMES_MAX);
        for n in 10_000..10_200 {
            ring.push(frame(n, n + 1, FRAME_BYTES_MAX));
            assert!(ring.bytes <= RING_BYTES_MAX);
        }
        assert!(ring.frames.len() > 4);
        assert_eq!(ring.bytes, ring.frames.iter().map(|frame| frame.bytes()).sum::<usize>());
    }
}
