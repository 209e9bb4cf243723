use super::{Message, ProtocolError, Refusal, kind, write_message};
use crate::limits::PORTS_SHOWN_MAX;
use crate::record::{ProcessId, Survivor};
use crate::wire::{FieldWriter, Fields, WireError};
use std::time::Duration;
use uuid::Uuid;

/// What a keeper says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<'a> {
    /// The answer to a greeting.
    Welcome(Box<Welcome>),
    /// The records follow as pushes.
    Reading,
    /// What was acknowledged may be deleted.
    Acknowledged,
    /// The frame is with the keeper.
    Written(Written),
    /// The frame's fate.
    Cancelled(Cancelled),
    /// The stop or signal is recorded and under way.
    Stopping,
    /// How things are.
    Status(Box<Status>),
    /// Records of the spool, whole and as they are on disk.
    Push {
        /// The position of the first.
        position: u64,
        /// The records.
        bytes: &'a [u8],
    },
    /// The call is refused.
    Refused(Refusal),
}

/// How the keeper and its agent are, at a greeting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Welcome {
    /// The keeper's version of the protocol.
    pub version: u64,
    /// Its attempt.
    pub attempt: Uuid,
    /// The incarnation that started it.
    pub incarnation: Uuid,
    /// The agent.
    pub agent: AgentState,
    /// The first record kept.
    pub first: u64,
    /// The spool's end: the position of the next record.
    pub end: u64,
    /// The frames.
    pub frames: Frames,
}

/// The agent, as its keeper knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentState {
    /// Not started yet.
    None,
    /// Alive.
    Running(ProcessId),
    /// Dead, or it could not be started; the spool's last record says how.
    Ended,
}

/// Numbers of the last frames; 0 before the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Frames {
    /// The last frame that the keeper has whole, or that was cancelled.
    pub accepted: u64,
    /// The last frame begun.
    pub begun: u64,
    /// The last frame done.
    pub done: u64,
}

/// What became of a frame that was handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// It will be written in its turn.
    Accepted,
    /// The keeper had it, or its number, before.
    Already,
}

/// What became of a frame that was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    /// It will never be written.
    Cancelled,
    /// It had begun to be written: the agent may have it.
    Begun,
}

/// How things are with an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// What the keeper is doing.
    pub phase: Phase,
    /// Why nothing is read from the agent, if nothing is.
    pub stalled: Option<Stall>,
    /// The first record kept.
    pub first: u64,
    /// The spool's end.
    pub end: u64,
    /// Bytes on disk that the spool's records take.
    pub spool_bytes: u64,
    /// Awake time since the agent last wrote a byte to stdout; since its start where it wrote none.
    pub silent_for: Duration,
    /// The frames.
    pub frames: Frames,
    /// The last of what the agent wrote to stderr.
    pub stderr_tail: Vec<u8>,
    /// Bytes that the agent has written to stderr in all.
    pub stderr_bytes: u64,
    /// Live processes of the attempt other than the agent itself: the first of them.
    pub leftovers: Vec<Leftover>,
    /// How many there are.
    pub leftovers_count: u64,
}

/// What a keeper is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for the greeting that starts the agent.
    AwaitingStart,
    /// The agent runs.
    Running,
    /// The agent or what is left of its tree is being ended.
    Stopping,
    /// The agent is dead; what it had started was left and is held.
    Holding,
    /// Everything is over and recorded; the keeper waits to be acknowledged.
    Ended,
}

/// Why a keeper does not read from its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stall {
    /// The attempt's bound of unacknowledged bytes is reached.
    SpoolBound,
    /// The disk is full, or refuses writes.
    Disk,
}

/// A live process of an attempt beside its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// The process.
    pub process: Survivor,
    /// TCP ports on which it listens.
    pub ports: Vec<u16>,
}

mod tag {
    pub(super) const VERSION: u8 = 1;
    pub(super) const ATTEMPT: u8 = 2;
    pub(super) const INCARNATION: u8 = 3;
    pub(super) const AGENT: u8 = 4;
    pub(super) const PID: u8 = 5;
    pub(super) const START_TIME: u8 = 6;
    pub(super) const FIRST: u8 = 7;
    pub(super) const END: u8 = 8;
    pub(super) const ACCEPTED: u8 = 9;
    pub(super) const BEGUN: u8 = 10;
    pub(super) const DONE: u8 = 11;
    pub(super) const OUTCOME: u8 = 12;
    pub(super) const PHASE: u8 = 13;
    pub(super) const STALL: u8 = 14;
    pub(super) const SPOOL_BYTES: u8 = 15;
    pub(super) const SILENT_MS: u8 = 16;
    pub(super) const STDERR: u8 = 17;
    pub(super) const STDERR_BYTES: u8 = 18;
    pub(super) const LEFTOVER: u8 = 19;
    pub(super) const LEFTOVERS: u8 = 20;
    pub(super) const PROCESS: u8 = 21;
    pub(super) const PORT: u8 = 22;
    pub(super) const POSITION: u8 = 23;
    pub(super) const BYTES: u8 = 24;
}

const OUTCOME_DONE: u64 = 0;
const OUTCOME_ALREADY: u64 = 1;
const OUTCOME_BEGUN: u64 = 2;

const AGENT_NONE: u64 = 0;
const AGENT_RUNNING: u64 = 1;
const AGENT_ENDED: u64 = 2;

impl<'a> Reply<'a> {
    /// Appends the reply to the call `id`, as a message.
    pub fn encode(&self, id: u32, out: &mut Vec<u8>) {
        let mut answer = |call: u16, body: &dyn Fn(&mut FieldWriter<'_>)| {
            write_message(out, call | kind::ANSWER, id, |fields| body(fields));
        };
        match self {
            Self::Welcome(welcome) => answer(kind::HELLO, &|fields| welcome.write(fields)),
            Self::Reading => answer(kind::READ_FROM, &|_| {}),
            Self::Acknowledged => answer(kind::ACKNOWLEDGE, &|_| {}),
            Self::Written(written) => answer(kind::WRITE_FRAME, &|fields| {
                let outcome = match written {
                    Written::Accepted => OUTCOME_DONE,
                    Written::Already => OUTCOME_ALREADY,
                };
                fields.u64(tag::OUTCOME, outcome);
            }),
            Self::Cancelled(cancelled) => answer(kind::CANCEL_FRAME, &|fields| {
                let outcome = match cancelled {
                    Cancelled::Cancelled => OUTCOME_DONE,
                    Cancelled::Begun => OUTCOME_BEGUN,
                };
                fields.u64(tag::OUTCOME, outcome);
            }),
            Self::Stopping => answer(kind::STOP, &|_| {}),
            Self::Status(status) => answer(kind::STATUS, &|fields| status.write(fields)),
            Self::Push { position, bytes } => write_message(out, kind::PUSH, id, |fields| {
                fields.u64(tag::POSITION, *position).bytes(tag::BYTES, bytes);
            }),
            Self::Refused(refusal) => refusal.encode(id, out),
        }
    }

    /// Reads a reply.
    ///
    /// # Errors
    /// [`ProtocolError::UnknownKind`] or [`ProtocolError::Body`].
    pub fn decode(message: &Message<'a>) -> Result<Self, ProtocolError> {
        const WELCOME: u16 = kind::HELLO | kind::ANSWER;
        const READING: u16 = kind::READ_FROM | kind::ANSWER;
        const ACKNOWLEDGED: u16 = kind::ACKNOWLEDGE | kind::ANSWER;
        const WRITTEN: u16 = kind::WRITE_FRAME | kind::ANSWER;
        const CANCELLED: u16 = kind::CANCEL_FRAME | kind::ANSWER;
        const STOPPING: u16 = kind::STOP | kind::ANSWER;
        const STATUS: u16 = kind::STATUS | kind::ANSWER;
        let fields = Fields::parse(message.body)?;
        Ok(match message.kind {
            WELCOME => Self::Welcome(Box::new(Welcome::read(&fields)?)),
            READING => Self::Reading,
            ACKNOWLEDGED => Self::Acknowledged,
            WRITTEN => Self::Written(match fields.need_u64(tag::OUTCOME)? {
                OUTCOME_DONE => Written::Accepted,
                OUTCOME_ALREADY => Written::Already,
                _ => return Err(WireError::Malformed(tag::OUTCOME).into()),
            }),
            CANCELLED => Self::Cancelled(match fields.need_u64(tag::OUTCOME)? {
                OUTCOME_DONE => Cancelled::Cancelled,
                OUTCOME_BEGUN => Cancelled::Begun,
                _ => return Err(WireError::Malformed(tag::OUTCOME).into()),
            }),
            STOPPING => Self::Stopping,
            STATUS => Self::Status(Box::new(Status::read(&fields)?)),
            kind::PUSH => Self::Push {
                position: fields.need_u64(tag::POSITION)?,
                bytes: fields.need_bytes(tag::BYTES)?,
            },
            kind::REFUSED => Self::Refused(Refusal::read(&fields)?),
            unknown => return Err(ProtocolError::UnknownKind(unknown)),
        })
    }
}

impl Welcome {
    fn write(&self, fields: &mut FieldWriter<'_>) {
        fields
            .u64(tag::VERSION, self.version)
            .bytes(tag::ATTEMPT, self.attempt.as_bytes())
            .bytes(tag::INCARNATION, self.incarnation.as_bytes())
            .u64(tag::FIRST, self.first)
            .u64(tag::END, self.end);
        match self.agent {
            AgentState::None => fields.u64(tag::AGENT, AGENT_NONE),
            AgentState::Running(process) => fields
                .u64(tag::AGENT, AGENT_RUNNING)
                .u64(tag::PID, process.pid.into())
                .u64(tag::START_TIME, process.start_time),
            AgentState::Ended => fields.u64(tag::AGENT, AGENT_ENDED),
        };
        self.frames.write(fields);
    }

    fn read(fields: &Fields<'_>) -> Result<Self, WireError> {
        let agent = match fields.need_u64(tag::AGENT)? {
            AGENT_NONE => AgentState::None,
            AGENT_RUNNING => AgentState::Running(ProcessId {
                pid: fields.need_u32(tag::PID)?,
                start_time: fields.need_u64(tag::START_TIME)?,
            }),
            AGENT_ENDED => AgentState::Ended,
            _ => return Err(WireError::Malformed(tag::AGENT)),
        };
        Ok(Self {
            version: fields.need_u64(tag::VERSION)?,
            attempt: fields.need_uuid(tag::ATTEMPT)?,
            incarnation: fields.need_uuid(tag::INCARNATION)?,
            agent,
            first: fields.need_u64(tag::FIRST)?,
            end: fields.need_u64(tag::END)?,
            frames: Frames::read(fields)?,
        })
    }
}

impl Frames {
    fn write(self, fields: &mut FieldWriter<'_>) {
        fields
            .u64(tag::ACCEPTED, self.accepted)
            .u64(tag::BEGUN, self.begun)
            .u64(tag::DONE, self.done);
    }

    fn read(fields: &Fields<'_>) -> Result<Self, WireError> {
        Ok(Self {
            accepted: fields.need_u64(tag::ACCEPTED)?,
            begun: fields.need_u64(tag::BEGUN)?,
            done: fields.need_u64(tag::DONE)?,
        })
    }
}

impl Status {
    fn write(&self, fields: &mut FieldWriter<'_>) {
        let silent_ms = u64::try_from(self.silent_for.as_millis()).unwrap_or(u64::MAX);
        fields
            .u64(tag::PHASE, self.phase.number())
            .u64_opt(tag::STALL, self.stalled.map(Stall::number))
            .u64(tag::FIRST, self.first)
            .u64(tag::END, self.end)
            .u64(tag::SPOOL_BYTES, self.spool_bytes)
            .u64(tag::SILENT_MS, silent_ms)
            .bytes(tag::STDERR, &self.stderr_tail)
            .u64(tag::STDERR_BYTES, self.stderr_bytes)
            .u64(tag::LEFTOVERS, self.leftovers_count);
        self.frames.write(fields);
        for leftover in &self.leftovers {
            fields.nested(tag::LEFTOVER, |inner| leftover.write(inner));
        }
    }

    fn read(fields: &Fields<'_>) -> Result<Self, WireError> {
        let stalled = fields
            .u64(tag::STALL)?
            .map(|number| Stall::from_number(number).ok_or(WireError::Malformed(tag::STALL)))
            .transpose()?;
        Ok(Self {
            phase: Phase::from_number(fields.need_u64(tag::PHASE)?)
                .ok_or(WireError::Malformed(tag::PHASE))?,
            stalled,
            first: fields.need_u64(tag::FIRST)?,
            end: fields.need_u64(tag::END)?,
            spool_bytes: fields.need_u64(tag::SPOOL_BYTES)?,
            silent_for: Duration::from_millis(fields.need_u64(tag::SILENT_MS)?),
            frames: Frames::read(fields)?,
            stderr_tail: fields.bytes(tag::STDERR).unwrap_or_default().to_vec(),
            stderr_bytes: fields.u64(tag::STDERR_BYTES)?.unwrap_or(0),
            leftovers: fields
                .all(tag::LEFTOVER)
                .map(Leftover::read)
                .collect::<Result<Vec<_>, _>>()?,
            leftovers_count: fields.need_u64(tag::LEFTOVERS)?,
        })
    }
}

impl Leftover {
    fn write(&self, fields: &mut FieldWriter<'_>) {
        fields.nested(tag::PROCESS, |inner| self.process.write(inner));
        for port in self.ports.iter().take(PORTS_SHOWN_MAX) {
            fields.u64(tag::PORT, (*port).into());
        }
    }

    fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let fields = Fields::parse(bytes)?;
        let port = |value: &[u8]| {
            let value = value.try_into().map(u64::from_le_bytes).ok();
            value.and_then(|port| u16::try_from(port).ok()).ok_or(WireError::Malformed(tag::PORT))
        };
        Ok(Self {
            process: Survivor::read(fields.need_bytes(tag::PROCESS)?)?,
            ports: fields.all(tag::PORT).map(port).collect::<Result<Vec<_>, _>>()?,
        })
    }
}

impl Phase {
    const ALL: [Self; 5] =
        [Self::AwaitingStart, Self::Running, Self::Stopping, Self::Holding, Self::Ended];

    fn number(self) -> u64 {
        match self {
            Self::AwaitingStart => 0,
            Self::Running => 1,
            Self::Stopping => 2,
            Self::Holding => 3,
            Self::Ended => 4,
        }
    }

    fn from_number(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.number() == number)
    }
}

impl Stall {
    fn number(self) -> u64 {
        match self {
            Self::SpoolBound => 0,
            Self::Disk => 1,
        }
    }

    fn from_number(number: u64) -> Option<Self> {
        [Self::SpoolBound, Self::Disk].into_iter().find(|stall| stall.number() == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FoundBy;

    fn status() -> Status {
        Status {
            phase: Phase::Holding,
            stalled: Some(Stall::Disk),
            first: 2,
            end: 9,
            spool_bytes: 4096,
            silent_for: Duration::from_millis(1234),
            frames: Frames { accepted: 3, begun: 2, done: 1 },
            stderr_tail: b"oops".to_vec(),
            stderr_bytes: 4,
            leftovers: vec![Leftover {
                process: Survivor {
                    process: ProcessId { pid: 7, start_time: 8 },
                    uid: 0,
                    state: 'S',
                    command: "npm run dev".to_owned(),
                    found_by: FoundBy::Descent,
                },
                ports: vec![5173],
            }],
            leftovers_count: 1,
        }
    }

    fn welcome(agent: AgentState) -> Reply<'static> {
        Reply::Welcome(Box::new(Welcome {
            version: 1,
            attempt: Uuid::from_u128(1),
            incarnation: Uuid::from_u128(2),
            agent,
            first: 0,
            end: 5,
            frames: Frames::default(),
        }))
    }

    #[test]
    fn every_reply_comes_back() {
        for reply in [
            welcome(AgentState::None),
            welcome(AgentState::Running(ProcessId { pid: 1, start_time: 2 })),
            welcome(AgentState::Ended),
            Reply::Reading,
            Reply::Acknowledged,
            Reply::Written(Written::Accepted),
            Reply::Written(Written::Already),
            Reply::Cancelled(Cancelled::Cancelled),
            Reply::Cancelled(Cancelled::Begun),
            Reply::Stopping,
            Reply::Status(Box::new(status())),
            Reply::Status(Box::new(Status { stalled: None, ..status() })),
            Reply::Push { position: 3, bytes: b"raw" },
        ] {
            let mut out = Vec::new();
            reply.encode(9, &mut out);
            let (message, _) = Message::take(&out, usize::MAX).unwrap().unwrap();
            assert_eq!(Reply::decode(&message).as_ref(), Ok(&reply));
        }
    }

    #[test]
    fn every_refusal_comes_back() {
        for refusal in [
            Refusal::Denied,
            Refusal::Foreign,
            Refusal::NotGreeted,
            Refusal::Unsupported,
            Refusal::Malformed,
            Refusal::Ahead { end: 4 },
            Refusal::Gone { first: 3 },
            Refusal::NotIdle { end: 2 },
            Refusal::Busy,
            Refusal::OutOfOrder { expected: 5 },
            Refusal::TooLarge { max: 6 },
            Refusal::NoSpace,
            Refusal::StdinClosed,
            Refusal::Ended,
            Refusal::NoAgent,
            Refusal::Failed("why".to_owned()),
            Refusal::Other { code: 99, text: "later".to_owned() },
        ] {
            let mut out = Vec::new();
            Reply::Refused(refusal.clone()).encode(9, &mut out);
            let (message, _) = Message::take(&out, usize::MAX).unwrap().unwrap();
            assert_eq!(Reply::decode(&message), Ok(Reply::Refused(refusal)));
        }
    }
}
