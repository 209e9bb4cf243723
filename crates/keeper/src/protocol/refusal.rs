use super::{kind, write_message};
use crate::wire::{Fields, WireError};
use thiserror::Error;

/// Why a keeper does not do what it was asked for. A refused call has changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Wrong secret, another attempt, or a peer with another uid. The connection is closed.
    #[error("the keeper refuses this peer")]
    Denied,
    /// The keeper was started by another incarnation of the store. The connection is closed.
    #[error("the keeper belongs to another incarnation of the store")]
    Foreign,
    /// A call before a greeting. The connection is closed.
    #[error("the connection has not greeted")]
    NotGreeted,
    /// The keeper does not know the call.
    #[error("the keeper does not know this call")]
    Unsupported,
    /// The call's fields are not those of the call.
    #[error("the call is malformed")]
    Malformed,
    /// The position is beyond the end of the spool: the host knows of more than there is.
    #[error("the position is ahead of the spool's end {end}")]
    Ahead {
        /// The spool's end.
        end: u64,
    },
    /// The position is before the first record kept: it was acknowledged and deleted.
    #[error("the records before {first} have been acknowledged and deleted")]
    Gone {
        /// The first record kept.
        first: u64,
    },
    /// Something was spooled at or after the position of a conditional stop.
    #[error("something was spooled since; the spool's end is {end}")]
    NotIdle {
        /// The spool's end.
        end: u64,
    },
    /// Too many frames wait.
    #[error("too many frames wait")]
    Busy,
    /// The frame's number is not the next, or its pieces do not follow each other.
    #[error("the frame is out of order, {expected} is expected")]
    OutOfOrder {
        /// The number expected.
        expected: u64,
    },
    /// The frame is longer than frames may be.
    #[error("the frame is beyond the bound of {max} bytes")]
    TooLarge {
        /// What may be, in bytes.
        max: u64,
    },
    /// The disk has no space for what was asked.
    #[error("no space is left for it")]
    NoSpace,
    /// The agent's stdin is closed or broken.
    #[error("the agent's stdin is closed")]
    StdinClosed,
    /// The agent is dead, or being stopped.
    #[error("the agent has ended or is being stopped")]
    Ended,
    /// There is no running agent to signal.
    #[error("no agent is running")]
    NoAgent,
    /// An error of the operating system.
    #[error("the keeper failed: {0}")]
    Failed(String),
    /// A refusal of a newer keeper.
    #[error("the keeper refuses: {text} ({code})")]
    Other {
        /// Its code.
        code: u64,
        /// Its words.
        text: String,
    },
}

mod tag {
    pub(super) const CODE: u8 = 1;
    pub(super) const TEXT: u8 = 2;
    pub(super) const NUMBER: u8 = 3;
}

impl Refusal {
    /// Whether the keeper closes the connection after it.
    #[must_use]
    pub fn is_final(&self) -> bool {
        matches!(self, Self::Denied | Self::Foreign | Self::NotGreeted)
    }

    /// The refusal's frozen code and the number that goes with it.
    fn code(&self) -> (u64, Option<u64>) {
        match self {
            Self::Denied => (1, None),
            Self::Foreign => (2, None),
            Self::NotGreeted => (3, None),
            Self::Unsupported => (4, None),
            Self::Malformed => (5, None),
            Self::Ahead { end } => (6, Some(*end)),
            Self::Gone { first } => (7, Some(*first)),
            Self::NotIdle { end } => (8, Some(*end)),
            Self::Busy => (9, None),
            Self::OutOfOrder { expected } => (10, Some(*expected)),
            Self::TooLarge { max } => (11, Some(*max)),
            Self::NoSpace => (12, None),
            Self::StdinClosed => (13, None),
            Self::Ended => (14, None),
            Self::NoAgent => (15, None),
            Self::Failed(_) => (16, None),
            Self::Other { code, .. } => (*code, None),
        }
    }

    pub(super) fn encode(&self, id: u32, out: &mut Vec<u8>) {
        let (code, number) = self.code();
        write_message(out, kind::REFUSED, id, |fields| {
            fields.u64(tag::CODE, code).u64_opt(tag::NUMBER, number);
            match self {
                Self::Failed(text) | Self::Other { text, .. } => fields.text(tag::TEXT, text),
                _ => fields.text(tag::TEXT, &self.to_string()),
            };
        });
    }

    pub(super) fn read(fields: &Fields<'_>) -> Result<Self, WireError> {
        let number = || fields.need_u64(tag::NUMBER);
        Ok(match fields.need_u64(tag::CODE)? {
            1 => Self::Denied,
            2 => Self::Foreign,
            3 => Self::NotGreeted,
            4 => Self::Unsupported,
            5 => Self::Malformed,
            6 => Self::Ahead { end: number()? },
            7 => Self::Gone { first: number()? },
            8 => Self::NotIdle { end: number()? },
            9 => Self::Busy,
            10 => Self::OutOfOrder { expected: number()? },
            11 => Self::TooLarge { max: number()? },
            12 => Self::NoSpace,
            13 => Self::StdinClosed,
            14 => Self::Ended,
            15 => Self::NoAgent,
            16 => Self::Failed(fields.text_lossy(tag::TEXT)),
            code => Self::Other { code, text: fields.text_lossy(tag::TEXT) },
        })
    }
}
