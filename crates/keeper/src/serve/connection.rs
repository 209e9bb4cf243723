use crate::core::{ConnectionId, Now};
use crate::limits::{HELLO_BYTES_MAX, UNSENT_BYTES_MAX};
use crate::protocol::{Message, ProtocolError, announced_bytes};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// How much is read at once.
const READ_BYTES: usize = 16 * 1024;
/// Buffers that have grown beyond this are given back when they are empty.
const KEPT_BYTES_MAX: usize = 64 * 1024;

/// One peer. Holds at most one message that is coming and what it has not been sent.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) fd: OwnedFd,
    pub(super) opened_at: Now,
    input: Vec<u8>,
    output: Vec<u8>,
    sent: usize,
}

/// The peer is gone or does not speak the protocol.
#[derive(Debug)]
pub(super) struct Lost;

impl Connection {
    pub(super) fn new(id: ConnectionId, fd: OwnedFd, opened_at: Now) -> Self {
        Self { id, fd, opened_at, input: Vec::new(), output: Vec::new(), sent: 0 }
    }

    pub(super) fn unsent(&self) -> usize {
        self.output.len() - self.sent
    }

    /// A peer that does not take its answers is not asked for more calls.
    pub(super) fn wants_input(&self) -> bool {
        self.unsent() <= UNSENT_BYTES_MAX
    }

    /// Where answers are appended.
    pub(super) fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Reads once.
    pub(super) fn receive(&mut self) -> Result<(), Lost> {
        let mut buffer = [0; READ_BYTES];
        match rustix::io::read(&self.fd, &mut buffer) {
            Ok(0) => Err(Lost),
            Ok(read) => {
                // Exactly what a message takes, so that a big one does not double the memory.
                let wanted = announced_bytes(&self.input).unwrap_or(0).min(KEPT_BYTES_MAX);
                self.input.reserve_exact(read.max(wanted.saturating_sub(self.input.len())));
                self.input.extend_from_slice(buffer.get(..read).unwrap_or_default());
                Ok(())
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(()),
            Err(_) => Err(Lost),
        }
    }

    /// The next whole message and its length, if it is there.
    pub(super) fn message(
        &self,
        max: usize,
    ) -> Result<Option<(Message<'_>, usize)>, ProtocolError> {
        Message::take(&self.input, max)
    }

    /// Whether a whole message waits to be taken, and may be.
    pub(super) fn has_call(&self) -> bool {
        self.wants_input() && !matches!(Message::take(&self.input, HELLO_BYTES_MAX), Ok(None))
    }

    /// Forgets the message that was taken.
    pub(super) fn forget(&mut self, bytes: usize) {
        self.input.drain(..bytes.min(self.input.len()));
        if self.input.is_empty() && self.input.capacity() > KEPT_BYTES_MAX {
            self.input = Vec::new();
        }
    }

    /// Sends what it can.
    pub(super) fn send(&mut self) -> Result<(), Lost> {
        while let Some(rest) = self.output.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match rustix::io::write(&self.fd, rest) {
                Ok(sent) => self.sent += sent,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(_) => return Err(Lost),
            }
        }
        self.output.clear();
        self.sent = 0;
        if self.output.capacity() > KEPT_BYTES_MAX {
            self.output = Vec::new();
        }
        Ok(())
    }
}
