use super::{Message, ProtocolError, kind, write_message};
use crate::limits::GRACE_MAX;
use crate::registry::Secret;
use crate::wire::{Fields, WireError};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;
use uuid::Uuid;

/// The seven calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call<'a> {
    /// Greets; the first call of a connection. The newest greeting takes the keeper over.
    Hello(Box<Hello>),
    /// Asks for records, those that are there and then those to come.
    ReadFrom {
        /// Where to read.
        from: ReadFrom,
        /// Bytes of records that may be pushed for it.
        window: u64,
    },
    /// Says that everything before a position is durable with the host.
    Acknowledge {
        /// The first record still needed.
        position: u64,
    },
    /// Hands over a piece of a frame.
    WriteFrame(WriteChunk<'a>),
    /// Takes a frame back, if it has not begun.
    CancelFrame {
        /// Its number.
        number: u64,
    },
    /// Signals or stops the agent.
    Stop(Stop),
    /// Asks how things are.
    Status,
}

/// Where reading begins or goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFrom {
    /// At this position. Where it lies inside a line, the pushes begin with the first part of the line.
    Position(u64),
    /// Where the pushes have come to: a further grant.
    Cursor,
}

/// The greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The host's version of the protocol.
    pub version: u64,
    /// The attempt that the host means.
    pub attempt: Uuid,
    /// The attempt's secret.
    pub secret: Secret,
    /// The incarnation of the host's store.
    pub incarnation: Uuid,
    /// What to start, where the agent has not been started yet; ignored afterwards.
    pub start: Option<Start>,
}

/// What to start as the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The program and its arguments; at least the program.
    pub argv: Vec<OsString>,
    /// The agent's whole environment; nothing is inherited, the attempt's cookie is added.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory.
    pub cwd: PathBuf,
}

/// A piece of a frame. The pieces of a frame come in order, over one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteChunk<'a> {
    /// The frame's number: one more than the last.
    pub number: u64,
    /// Bytes of the whole frame.
    pub total: u64,
    /// Where this piece begins.
    pub offset: u64,
    /// The piece.
    pub bytes: &'a [u8],
}

/// What to signal, and under which condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// Whom.
    pub scope: StopScope,
    /// Carry it out only if nothing was spooled at or after this position.
    pub unless_after: Option<u64>,
}

/// Whom a stop is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopScope {
    /// The agent and everything that descends from it: TERM, the grace, KILL until nothing is found.
    Tree {
        /// Time between TERM and KILL.
        grace: Duration,
    },
    /// The agent alone; what it has started is left, and the keeper stays as its holder.
    Agent {
        /// Time between TERM and KILL.
        grace: Duration,
    },
    /// One signal to the agent's own process, and nothing more.
    Signal(i32),
}

mod tag {
    pub(super) const VERSION: u8 = 1;
    pub(super) const ATTEMPT: u8 = 2;
    pub(super) const SECRET: u8 = 3;
    pub(super) const INCARNATION: u8 = 4;
    pub(super) const START: u8 = 5;
    pub(super) const ARGUMENT: u8 = 6;
    pub(super) const VARIABLE: u8 = 7;
    pub(super) const DIRECTORY: u8 = 8;
    pub(super) const POSITION: u8 = 9;
    pub(super) const WINDOW: u8 = 10;
    pub(super) const NUMBER: u8 = 11;
    pub(super) const TOTAL: u8 = 12;
    pub(super) const OFFSET: u8 = 13;
    pub(super) const BYTES: u8 = 14;
    pub(super) const SCOPE: u8 = 15;
    pub(super) const GRACE_MS: u8 = 16;
    pub(super) const SIGNAL: u8 = 17;
    pub(super) const UNLESS_AFTER: u8 = 18;
}

const SCOPE_TREE: u64 = 0;
const SCOPE_AGENT: u64 = 1;
const SCOPE_SIGNAL: u64 = 2;

impl<'a> Call<'a> {
    /// Reads a call.
    ///
    /// # Errors
    /// [`ProtocolError::UnknownKind`] for a call of a newer host, [`ProtocolError::Body`] for a body that
    /// is not this call's.
    pub fn decode(message: &Message<'a>) -> Result<Self, ProtocolError> {
        let fields = Fields::parse(message.body)?;
        Ok(match message.kind {
            kind::HELLO => Self::Hello(Box::new(Hello::read(&fields)?)),
            kind::READ_FROM => Self::ReadFrom {
                from: fields.u64(tag::POSITION)?.map_or(ReadFrom::Cursor, ReadFrom::Position),
                window: fields.need_u64(tag::WINDOW)?,
            },
            kind::ACKNOWLEDGE => Self::Acknowledge { position: fields.need_u64(tag::POSITION)? },
            kind::WRITE_FRAME => Self::WriteFrame(WriteChunk {
                number: fields.need_u64(tag::NUMBER)?,
                total: fields.need_u64(tag::TOTAL)?,
                offset: fields.need_u64(tag::OFFSET)?,
                bytes: fields.need_bytes(tag::BYTES)?,
            }),
            kind::CANCEL_FRAME => Self::CancelFrame { number: fields.need_u64(tag::NUMBER)? },
            kind::STOP => Self::Stop(Stop::read(&fields)?),
            kind::STATUS => Self::Status,
            unknown => return Err(ProtocolError::UnknownKind(unknown)),
        })
    }

    /// Appends the call as a message.
    pub fn encode(&self, id: u32, out: &mut Vec<u8>) {
        match self {
            Self::Hello(hello) => hello.encode(id, out),
            Self::ReadFrom { from, window } => write_message(out, kind::READ_FROM, id, |fields| {
                let position = match from {
                    ReadFrom::Position(position) => Some(*position),
                    ReadFrom::Cursor => None,
                };
                fields.u64_opt(tag::POSITION, position).u64(tag::WINDOW, *window);
            }),
            Self::Acknowledge { position } => {
                write_message(out, kind::ACKNOWLEDGE, id, |fields| {
                    fields.u64(tag::POSITION, *position);
                });
            }
            Self::WriteFrame(chunk) => write_message(out, kind::WRITE_FRAME, id, |fields| {
                fields
                    .u64(tag::NUMBER, chunk.number)
                    .u64(tag::TOTAL, chunk.total)
                    .u64(tag::OFFSET, chunk.offset)
                    .bytes(tag::BYTES, chunk.bytes);
            }),
            Self::CancelFrame { number } => write_message(out, kind::CANCEL_FRAME, id, |fields| {
                fields.u64(tag::NUMBER, *number);
            }),
            Self::Stop(stop) => stop.encode(id, out),
            Self::Status => write_message(out, kind::STATUS, id, |_| {}),
        }
    }
}

impl Hello {
    fn encode(&self, id: u32, out: &mut Vec<u8>) {
        write_message(out, kind::HELLO, id, |fields| {
            fields
                .u64(tag::VERSION, self.version)
                .bytes(tag::ATTEMPT, self.attempt.as_bytes())
                .bytes(tag::SECRET, self.secret.expose())
                .bytes(tag::INCARNATION, self.incarnation.as_bytes());
            if let Some(start) = &self.start {
                fields.nested(tag::START, |inner| {
                    for argument in &start.argv {
                        inner.bytes(tag::ARGUMENT, argument.as_bytes());
                    }
                    for (name, value) in &start.env {
                        inner
                            .bytes(tag::VARIABLE, &[name.as_bytes(), value.as_bytes()].join(&b'='));
                    }
                    inner.bytes(tag::DIRECTORY, start.cwd.as_os_str().as_bytes());
                });
            }
        });
    }

    fn read(fields: &Fields<'_>) -> Result<Self, WireError> {
        Ok(Self {
            version: fields.need_u64(tag::VERSION)?,
            attempt: fields.need_uuid(tag::ATTEMPT)?,
            secret: Secret::from_slice(fields.need_bytes(tag::SECRET)?)
                .ok_or(WireError::Malformed(tag::SECRET))?,
            incarnation: fields.need_uuid(tag::INCARNATION)?,
            start: fields.bytes(tag::START).map(Start::read).transpose()?,
        })
    }
}

impl Start {
    fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let fields = Fields::parse(bytes)?;
        let no_nul = |tag, bytes: &[u8]| {
            if bytes.contains(&0) { Err(WireError::Malformed(tag)) } else { Ok(()) }
        };
        let mut argv = Vec::new();
        for argument in fields.all(tag::ARGUMENT) {
            no_nul(tag::ARGUMENT, argument)?;
            argv.push(OsStr::from_bytes(argument).to_owned());
        }
        if argv.is_empty() {
            return Err(WireError::Missing(tag::ARGUMENT));
        }
        let mut env = Vec::new();
        for variable in fields.all(tag::VARIABLE) {
            no_nul(tag::VARIABLE, variable)?;
            let equals = variable
                .iter()
                .position(|&byte| byte == b'=')
                .filter(|&at| at > 0)
                .ok_or(WireError::Malformed(tag::VARIABLE))?;
            let (name, value) = variable.split_at(equals);
            let value = value.get(1..).unwrap_or_default();
            env.push((OsString::from_vec(name.to_vec()), OsString::from_vec(value.to_vec())));
        }
        let cwd = fields.need_bytes(tag::DIRECTORY)?;
        no_nul(tag::DIRECTORY, cwd)?;
        Ok(Self { argv, env, cwd: PathBuf::from(OsStr::from_bytes(cwd)) })
    }
}

impl Stop {
    fn encode(&self, id: u32, out: &mut Vec<u8>) {
        let ms = |grace: Duration| u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        write_message(out, kind::STOP, id, |fields| {
            match self.scope {
                StopScope::Tree { grace } => {
                    fields.u64(tag::SCOPE, SCOPE_TREE).u64(tag::GRACE_MS, ms(grace))
                }
                StopScope::Agent { grace } => {
                    fields.u64(tag::SCOPE, SCOPE_AGENT).u64(tag::GRACE_MS, ms(grace))
                }
                StopScope::Signal(signal) => fields
                    .u64(tag::SCOPE, SCOPE_SIGNAL)
                    .u64(tag::SIGNAL, u64::from(signal.cast_unsigned())),
            };
            fields.u64_opt(tag::UNLESS_AFTER, self.unless_after);
        });
    }

    fn read(fields: &Fields<'_>) -> Result<Self, WireError> {
        let grace = || Ok(Duration::from_millis(fields.need_u64(tag::GRACE_MS)?).min(GRACE_MAX));
        let scope = match fields.need_u64(tag::SCOPE)? {
            SCOPE_TREE => StopScope::Tree { grace: grace()? },
            SCOPE_AGENT => StopScope::Agent { grace: grace()? },
            SCOPE_SIGNAL => StopScope::Signal(fields.need_u32(tag::SIGNAL)?.cast_signed()),
            _ => return Err(WireError::Malformed(tag::SCOPE)),
        };
        Ok(Self { scope, unless_after: fields.u64(tag::UNLESS_AFTER)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(call: &Call<'_>) {
        let mut out = Vec::new();
        call.encode(3, &mut out);
        let (message, taken) = Message::take(&out, usize::MAX).unwrap().unwrap();
        assert_eq!((message.id, taken), (3, out.len()));
        assert_eq!(Call::decode(&message).as_ref(), Ok(call));
    }

    fn hello(start: Option<Start>) -> Call<'static> {
        Call::Hello(Box::new(Hello {
            version: 1,
            attempt: Uuid::from_u128(1),
            secret: Secret::from_bytes([7; 32]),
            incarnation: Uuid::from_u128(2),
            start,
        }))
    }

    fn start() -> Start {
        Start {
            argv: vec!["agent".into(), OsString::from_vec(vec![0xff, b'x']), "".into()],
            env: vec![("A".into(), "1=2".into()), ("EMPTY".into(), "".into())],
            cwd: PathBuf::from("/tmp/a b\n"),
        }
    }

    #[test]
    fn every_call_comes_back() {
        let grace = Duration::from_millis(1500);
        let stop = |scope, unless_after| Call::Stop(Stop { scope, unless_after });
        for call in [
            hello(None),
            hello(Some(start())),
            Call::ReadFrom { from: ReadFrom::Position(4), window: 5 },
            Call::ReadFrom { from: ReadFrom::Cursor, window: 5 },
            Call::Acknowledge { position: 6 },
            Call::WriteFrame(WriteChunk { number: 1, total: 9, offset: 3, bytes: b"abc" }),
            Call::CancelFrame { number: 8 },
            stop(StopScope::Tree { grace }, None),
            stop(StopScope::Agent { grace }, Some(12)),
            stop(StopScope::Signal(2), None),
            Call::Status,
        ] {
            round_trip(&call);
        }
    }

    #[test]
    fn a_start_that_cannot_be_executed_is_malformed() {
        let bad = [
            Start { argv: Vec::new(), ..start() },
            Start { argv: vec!["a\0b".into()], ..start() },
            Start { env: vec![("".into(), "x".into())], ..start() },
            Start { env: vec![("A".into(), "x\0".into())], ..start() },
            Start { cwd: PathBuf::from("/a\0"), ..start() },
        ];
        for start in bad {
            let mut out = Vec::new();
            hello(Some(start.clone())).encode(1, &mut out);
            let (message, _) = Message::take(&out, usize::MAX).unwrap().unwrap();
            assert!(matches!(Call::decode(&message), Err(ProtocolError::Body(_))), "{start:?}");
        }
    }

    #[test]
    fn a_grace_is_bounded() {
        let mut out = Vec::new();
        let scope = StopScope::Tree { grace: Duration::MAX };
        Call::Stop(Stop { scope, unless_after: None }).encode(1, &mut out);
        let (message, _) = Message::take(&out, usize::MAX).unwrap().unwrap();
        let bounded = Stop { scope: StopScope::Tree { grace: GRACE_MAX }, unless_after: None };
        assert_eq!(Call::decode(&message), Ok(Call::Stop(bounded)));
    }
}
