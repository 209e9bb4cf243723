//! What host and keeper say to each other over the attempt's socket.
//!
//! A message is `length: u32, kind: u16, id: u32` (little endian; the length counts what follows it) and
//! a body of tagged fields ([`crate::wire`]). The host makes seven calls ([`Call`]); each is answered
//! under its id by a [`Reply`] of the call's own kind or by a [`Refusal`]. Between the answers the keeper
//! pushes records of the spool, as they are on disk, never more than the host has granted.
//!
//! **The calls are frozen.** Host and keeper may be of any two versions, because an update replaces the
//! host and keeps the keepers. New fields may be added; a call that a keeper does not know is answered
//! `unsupported` and changes nothing.

mod call;
mod refusal;
mod reply;

pub use call::{Call, Hello, ReadFrom, Start, Stop, StopScope, WriteChunk};
pub use refusal::Refusal;
pub use reply::{
    AgentState, Cancelled, Frames, Leftover, Phase, Reply, Stall, Status, Welcome, Written,
};

use crate::limits::MESSAGE_BYTES_MAX;
use crate::wire::{FieldWriter, WireError};
use thiserror::Error;

/// The version of the protocol and of the spool's format.
pub const PROTOCOL_VERSION: u64 = 1;

/// Bytes in front of a body: length, kind and id.
pub const MESSAGE_HEADER_BYTES: usize = 10;
const LENGTH_BYTES: usize = 4;

/// The kinds of messages. Frozen.
pub(crate) mod kind {
    pub(crate) const HELLO: u16 = 1;
    pub(crate) const READ_FROM: u16 = 2;
    pub(crate) const ACKNOWLEDGE: u16 = 3;
    pub(crate) const WRITE_FRAME: u16 = 4;
    pub(crate) const CANCEL_FRAME: u16 = 5;
    pub(crate) const STOP: u16 = 6;
    pub(crate) const STATUS: u16 = 7;
    /// Set in the answer to a call.
    pub(crate) const ANSWER: u16 = 0x8000;
    /// Records, from the keeper, under id 0.
    pub(crate) const PUSH: u16 = 0x4000;
    /// The answer to a call that is refused.
    pub(crate) const REFUSED: u16 = 0xffff;
}

/// Why bytes are not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// The message says that it is longer than messages may be.
    #[error("a message of {bytes} bytes is beyond the bound of {max}")]
    TooLong {
        /// What it says.
        bytes: usize,
        /// What may be.
        max: usize,
    },
    /// The message is too short for its own header.
    #[error("a message is shorter than its header")]
    TooShort,
    /// The kind is not one that this end knows.
    #[error("a message of the unknown kind {0:#06x}")]
    UnknownKind(u16),
    /// The body is not what the kind asks for.
    #[error(transparent)]
    Body(#[from] WireError),
}

/// A message as it stands in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message<'a> {
    /// What it is.
    pub kind: u16,
    /// The call that it makes or answers.
    pub id: u32,
    /// Its fields, unchecked.
    pub body: &'a [u8],
}

impl<'a> Message<'a> {
    /// The first message in `bytes` and how many bytes it takes, or `None` while it is not whole.
    ///
    /// # Errors
    /// [`ProtocolError::TooLong`] beyond `max` bytes, [`ProtocolError::TooShort`] without a header. After
    /// either nothing that follows can be read.
    pub fn take(bytes: &'a [u8], max: usize) -> Result<Option<(Self, usize)>, ProtocolError> {
        let Some(length) = length(bytes) else { return Ok(None) };
        let total = length.saturating_add(LENGTH_BYTES);
        if total > max {
            return Err(ProtocolError::TooLong { bytes: total, max });
        }
        if total < MESSAGE_HEADER_BYTES {
            return Err(ProtocolError::TooShort);
        }
        let Some(whole) = bytes.get(..total) else { return Ok(None) };
        Ok(Self::parse(whole).map(|message| (message, total)))
    }

    fn parse(whole: &'a [u8]) -> Option<Self> {
        Some(Self {
            kind: u16::from_le_bytes(whole.get(4..6)?.try_into().ok()?),
            id: u32::from_le_bytes(whole.get(6..MESSAGE_HEADER_BYTES)?.try_into().ok()?),
            body: whole.get(MESSAGE_HEADER_BYTES..)?,
        })
    }
}

fn length(bytes: &[u8]) -> Option<usize> {
    let length = u32::from_le_bytes(bytes.get(..LENGTH_BYTES)?.try_into().ok()?);
    usize::try_from(length).ok()
}

/// How many bytes the first message in `bytes` will have, once its length is there.
#[must_use]
pub fn announced_bytes(bytes: &[u8]) -> Option<usize> {
    length(bytes).map(|length| length.saturating_add(LENGTH_BYTES))
}

/// Appends one message to `out`.
pub fn write_message(
    out: &mut Vec<u8>,
    kind: u16,
    id: u32,
    body: impl FnOnce(&mut FieldWriter<'_>),
) {
    let at = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&id.to_le_bytes());
    body(&mut FieldWriter::new(out));
    let length = u32::try_from(out.len() - at - LENGTH_BYTES).unwrap_or(u32::MAX);
    if let Some(slot) = out.get_mut(at..at + LENGTH_BYTES) {
        slot.copy_from_slice(&length.to_le_bytes());
    }
}

const _: () = assert!(crate::limits::PUSH_BYTES_MAX + 1024 < MESSAGE_BYTES_MAX);
const _: () = assert!(crate::limits::FRAME_CHUNK_BYTES_MAX + 1024 < MESSAGE_BYTES_MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_is_taken_only_whole_and_only_itself() {
        let mut out = Vec::new();
        write_message(&mut out, kind::STATUS, 7, |fields| {
            fields.u64(1, 2);
        });
        let whole = out.len();
        out.extend_from_slice(b"next");
        for cut in 0..whole {
            assert_eq!(Message::take(&out[..cut], 100), Ok(None), "{cut}");
        }
        let (message, taken) = Message::take(&out, 100).unwrap().unwrap();
        assert_eq!((message.kind, message.id, taken), (kind::STATUS, 7, whole));
    }

    #[test]
    fn lengths_out_of_bounds_are_errors_before_the_bytes_are_there() {
        assert_eq!(
            Message::take(&200u32.to_le_bytes(), 100),
            Err(ProtocolError::TooLong { bytes: 204, max: 100 })
        );
        assert_eq!(Message::take(&5u32.to_le_bytes(), 100), Err(ProtocolError::TooShort));
        assert!(Message::take(&u32::MAX.to_le_bytes(), usize::MAX).is_ok());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(Some((message, _))) = Message::take(&bytes, MESSAGE_BYTES_MAX) {
                let _ = Call::decode(&message);
                let _ = Reply::decode(&message);
            }
        }

        #[test]
        fn arbitrary_bodies_of_every_kind_never_panic(
            kind: u16,
            body in proptest::collection::vec(any::<u8>(), 0..300),
        ) {
            for kind in [kind, kind % 8, (kind % 8) | kind::ANSWER, kind::PUSH, kind::REFUSED] {
                let message = Message { kind, id: 1, body: &body };
                let _ = Call::decode(&message);
                let _ = Reply::decode(&message);
            }
        }
    }
}
