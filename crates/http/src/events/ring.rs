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
