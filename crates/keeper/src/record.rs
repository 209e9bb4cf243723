//! What a reader of a spool gets: one totally ordered list of records.

use crate::limits::{
    COMMAND_BYTES_MAX, ERROR_TEXT_BYTES_MAX, PROCESSES_NAMED_MAX, RECORD_PAYLOAD_BYTES_MAX,
};
use crate::wire::{FieldWriter, Fields, WireError};

/// One entry of an attempt's history, in the order in which it happened.
///
/// A reader gets each with the position to go on from, and commits that position together with what it
/// made of the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// The agent was born.
    Started(ProcessId),
    /// A complete line of the agent's stdout, without its newline; at most 16 MiB.
    Line(Vec<u8>),
    /// A line grew beyond 16 MiB. What follows of it is dropped; [`Record::OversizedEnd`] comes when it ends.
    Oversized {
        /// The first 64 KiB of the line.
        head: Vec<u8>,
    },
    /// The end of the oversized line before.
    OversizedEnd {
        /// How long the line was, in bytes.
        bytes: u64,
    },
    /// Stdout ended inside a line: its bytes so far, at most 16 MiB.
    Torn(Vec<u8>),
    /// The frame of this number is about to be written to the agent: from here on it may have it.
    FrameBegun(u64),
    /// The last byte of the frame was taken by the agent's stdin.
    FrameDone(u64),
    /// The frame will never be written.
    FrameCancelled(u64),
    /// A stop or a signal, recorded before it is carried out.
    Signalled {
        /// The signal's number.
        signal: i32,
        /// Who asked for it.
        by: SignalledBy,
    },
    /// The agent could not be started. No other life follows in this attempt.
    SpawnFailed {
        /// The operating system's error number, 0 where there is none.
        errno: i32,
        /// The error in words.
        text: String,
    },
    /// The agent is dead. The last record of an attempt.
    Exited {
        /// How the agent's main process ended.
        exit: Exit,
        /// What was found of everything it had started.
        tree: TreeEnd,
    },
    /// Nothing more comes from the agent's stdout.
    StdoutClosed {
        /// Bytes that a dead agent had written and a full disk could not take.
        lost_bytes: u64,
    },
    /// The agent lives, and has lived for a while with its stdout or its stdin closed: it can say nothing
    /// more, or be told nothing more. Once at most.
    CutOff(Pipe),
    /// The spool cannot be read here: the records from this one's position up to the next position are
    /// gone, with any line of which they held a part.
    Damaged,
    /// A record written by a newer keeper.
    Unknown {
        /// Its kind.
        kind: u8,
        /// Its payload.
        payload: Vec<u8>,
    },
}

/// A process that cannot be mistaken for another within one boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ProcessId {
    /// The process id.
    pub pid: u32,
    /// When it started, in clock ticks since boot (field 22 of `/proc/PID/stat`).
    pub start_time: u64,
}

/// One of the pipes between an agent and its keeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pipe {
    /// What the agent says.
    Stdout,
    /// What it is told.
    Stdin,
}

/// Who asked for a signal or a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalledBy {
    /// The host, over the socket.
    Host,
    /// Someone signalled the keeper: the service manager, a shutdown, a person.
    Outside,
    /// The keeper itself: no host had come for too long.
    HostLost,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// It was killed by this signal.
    Signal(i32),
}

/// What was found of an agent's process tree when it had ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEnd {
    /// Looked for and not found: nothing of it lives.
    Clear,
    /// These could not be ended.
    Survivors {
        /// The first of them.
        named: Vec<Survivor>,
        /// How many there are.
        count: u64,
    },
    /// These were left alive because the host asked for it.
    Left {
        /// The first of them.
        named: Vec<Survivor>,
        /// How many there are.
        count: u64,
    },
}

/// A process that lives on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// The process.
    pub process: ProcessId,
    /// Its owner.
    pub uid: u32,
    /// The state letter of `/proc/PID/stat`, such as `D`.
    pub state: char,
    /// Its command line, shortened.
    pub command: String,
    /// How it was found to belong to the attempt.
    pub found_by: FoundBy,
}

/// How a process was found to belong to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundBy {
    /// It is the agent named in the keeper's record.
    Agent,
    /// It descends from the keeper.
    Descent,
    /// It carries the attempt's id in its environment.
    Cookie,
}

/// What one named process may take in a record, its fields' headers and numbers included.
const SURVIVOR_BYTES_MAX: usize = COMMAND_BYTES_MAX + 128;
/// A record of a death has to fit into a record, whatever it names.
const _: () = assert!(PROCESSES_NAMED_MAX * SURVIVOR_BYTES_MAX + 1024 < RECORD_PAYLOAD_BYTES_MAX);
const _: () = assert!(ERROR_TEXT_BYTES_MAX + 1024 < RECORD_PAYLOAD_BYTES_MAX);

/// The kinds of records on disk. Frozen: a number is never given to another kind.
pub(crate) mod kind {
    pub(crate) const STARTED: u8 = 1;
    pub(crate) const LINE_PART: u8 = 2;
    pub(crate) const OVERSIZED: u8 = 3;
    pub(crate) const OVERSIZED_END: u8 = 4;
    pub(crate) const TORN: u8 = 5;
    pub(crate) const FRAME_BEGUN: u8 = 6;
    pub(crate) const FRAME_DONE: u8 = 7;
    pub(crate) const FRAME_CANCELLED: u8 = 8;
    pub(crate) const SIGNALLED: u8 = 9;
    pub(crate) const SPAWN_FAILED: u8 = 10;
    pub(crate) const EXITED: u8 = 11;
    pub(crate) const STDOUT_CLOSED: u8 = 12;
    pub(crate) const CUT_OFF: u8 = 13;
}

/// A record other than a piece of a line: what the keeper writes in one append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mark {
    Started(ProcessId),
    FrameBegun(u64),
    FrameDone(u64),
    FrameCancelled(u64),
    Signalled { signal: i32, by: SignalledBy },
    SpawnFailed { errno: i32, text: String },
    Exited { exit: Exit, tree: TreeEnd },
    StdoutClosed { lost_bytes: u64 },
    CutOff(Pipe),
}

mod tag {
    pub(super) const PID: u8 = 1;
    pub(super) const START_TIME: u8 = 2;
    pub(super) const NUMBER: u8 = 3;
    pub(super) const SIGNAL: u8 = 4;
    pub(super) const BY: u8 = 5;
    pub(super) const ERRNO: u8 = 6;
    pub(super) const TEXT: u8 = 7;
    pub(super) const CODE: u8 = 8;
    pub(super) const TREE: u8 = 9;
    pub(super) const COUNT: u8 = 10;
    pub(super) const PROCESS: u8 = 11;
    pub(super) const UID: u8 = 12;
    pub(super) const STATE: u8 = 13;
    pub(super) const FOUND_BY: u8 = 14;
    pub(super) const BYTES: u8 = 15;
    pub(super) const PIPE: u8 = 16;
}

impl Mark {
    /// Appends the payload to `out` and says the kind.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) -> u8 {
        let mut fields = FieldWriter::new(out);
        match self {
            Self::Started(process) => {
                fields.u64(tag::PID, process.pid.into()).u64(tag::START_TIME, process.start_time);
                kind::STARTED
            }
            Self::FrameBegun(number) => {
                fields.u64(tag::NUMBER, *number);
                kind::FRAME_BEGUN
            }
            Self::FrameDone(number) => {
                fields.u64(tag::NUMBER, *number);
                kind::FRAME_DONE
            }
            Self::FrameCancelled(number) => {
                fields.u64(tag::NUMBER, *number);
                kind::FRAME_CANCELLED
            }
            Self::Signalled { signal, by } => {
                fields.u64(tag::SIGNAL, unsigned(*signal)).u64(tag::BY, by.number());
                kind::SIGNALLED
            }
            Self::SpawnFailed { errno, text } => {
                let text = cut(text, ERROR_TEXT_BYTES_MAX);
                fields.u64(tag::ERRNO, unsigned(*errno)).text(tag::TEXT, text);
                kind::SPAWN_FAILED
            }
            Self::Exited { exit, tree } => {
                match exit {
                    Exit::Code(code) => fields.u64(tag::CODE, unsigned(*code)),
                    Exit::Signal(signal) => fields.u64(tag::SIGNAL, unsigned(*signal)),
                };
                write_tree(tree, &mut fields);
                kind::EXITED
            }
            Self::StdoutClosed { lost_bytes } => {
                fields.u64(tag::BYTES, *lost_bytes);
                kind::STDOUT_CLOSED
            }
            Self::CutOff(pipe) => {
                fields.u64(tag::PIPE, pipe.number());
                kind::CUT_OFF
            }
        }
    }
}

/// Reads a record that is not a piece of a line. A kind that is not known, or whose payload is not what
/// its kind asks for, is kept as it is.
pub(crate) fn decode(kind: u8, payload: &[u8]) -> Record {
    read(kind, payload)
        .ok()
        .flatten()
        .unwrap_or_else(|| Record::Unknown { kind, payload: payload.to_vec() })
}

fn read(kind: u8, payload: &[u8]) -> Result<Option<Record>, WireError> {
    let fields = Fields::parse(payload)?;
    Ok(Some(match kind {
        kind::STARTED => Record::Started(read_process(&fields)?),
        kind::OVERSIZED_END => Record::OversizedEnd { bytes: fields.need_u64(tag::BYTES)? },
        kind::FRAME_BEGUN => Record::FrameBegun(fields.need_u64(tag::NUMBER)?),
        kind::FRAME_DONE => Record::FrameDone(fields.need_u64(tag::NUMBER)?),
        kind::FRAME_CANCELLED => Record::FrameCancelled(fields.need_u64(tag::NUMBER)?),
        kind::SIGNALLED => Record::Signalled {
            signal: signed(fields.need_u64(tag::SIGNAL)?),
            by: SignalledBy::from_number(fields.need_u64(tag::BY)?)
                .ok_or(WireError::Malformed(tag::BY))?,
        },
        kind::SPAWN_FAILED => Record::SpawnFailed {
            errno: signed(fields.need_u64(tag::ERRNO)?),
            text: fields.text_lossy(tag::TEXT),
        },
        kind::EXITED => Record::Exited { exit: read_exit(&fields)?, tree: read_tree(&fields)? },
        kind::STDOUT_CLOSED => {
            Record::StdoutClosed { lost_bytes: fields.u64(tag::BYTES)?.unwrap_or(0) }
        }
        kind::CUT_OFF => Record::CutOff(
            Pipe::from_number(fields.need_u64(tag::PIPE)?)
                .ok_or(WireError::Malformed(tag::PIPE))?,
        ),
        _ => return Ok(None),
    }))
}

/// The payload of an `OversizedEnd`.
pub(crate) fn encode_oversized_end(bytes: u64, out: &mut Vec<u8>) {
    FieldWriter::new(out).u64(tag::BYTES, bytes);
}

const TREE_CLEAR: u64 = 0;
const TREE_SURVIVORS: u64 = 1;
const TREE_LEFT: u64 = 2;

fn write_tree(tree: &TreeEnd, fields: &mut FieldWriter<'_>) {
    let (form, named, count) = match tree {
        TreeEnd::Clear => (TREE_CLEAR, &[][..], 0),
        TreeEnd::Survivors { named, count } => (TREE_SURVIVORS, named.as_slice(), *count),
        TreeEnd::Left { named, count } => (TREE_LEFT, named.as_slice(), *count),
    };
    fields.u64(tag::TREE, form).u64(tag::COUNT, count);
    for survivor in named.iter().take(PROCESSES_NAMED_MAX) {
        fields.nested(tag::PROCESS, |inner| survivor.write(inner));
    }
}

fn read_tree(fields: &Fields<'_>) -> Result<TreeEnd, WireError> {
    let count = fields.need_u64(tag::COUNT)?;
    let named = || fields.all(tag::PROCESS).map(Survivor::read).collect::<Result<Vec<_>, _>>();
    match fields.need_u64(tag::TREE)? {
        TREE_CLEAR => Ok(TreeEnd::Clear),
        TREE_SURVIVORS => Ok(TreeEnd::Survivors { named: named()?, count }),
        TREE_LEFT => Ok(TreeEnd::Left { named: named()?, count }),
        _ => Err(WireError::Malformed(tag::TREE)),
    }
}

fn read_exit(fields: &Fields<'_>) -> Result<Exit, WireError> {
    match fields.u64(tag::CODE)? {
        Some(code) => Ok(Exit::Code(signed(code))),
        None => Ok(Exit::Signal(signed(fields.need_u64(tag::SIGNAL)?))),
    }
}

fn read_process(fields: &Fields<'_>) -> Result<ProcessId, WireError> {
    Ok(ProcessId { pid: fields.need_u32(tag::PID)?, start_time: fields.need_u64(tag::START_TIME)? })
}

impl Survivor {
    pub(crate) fn write(&self, fields: &mut FieldWriter<'_>) {
        fields
            .u64(tag::PID, self.process.pid.into())
            .u64(tag::START_TIME, self.process.start_time)
            .u64(tag::UID, self.uid.into())
            .u64(tag::STATE, u64::from(u32::from(self.state)))
            .u64(tag::FOUND_BY, self.found_by.number())
            .text(tag::TEXT, cut(&self.command, COMMAND_BYTES_MAX));
    }

    pub(crate) fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let fields = Fields::parse(bytes)?;
        Ok(Self {
            process: read_process(&fields)?,
            uid: fields.need_u32(tag::UID)?,
            state: char::from_u32(fields.need_u32(tag::STATE)?)
                .ok_or(WireError::Malformed(tag::STATE))?,
            command: fields.text_lossy(tag::TEXT),
            found_by: FoundBy::from_number(fields.need_u64(tag::FOUND_BY)?)
                .ok_or(WireError::Malformed(tag::FOUND_BY))?,
        })
    }
}

impl FoundBy {
    fn number(self) -> u64 {
        match self {
            Self::Agent => 0,
            Self::Descent => 1,
            Self::Cookie => 2,
        }
    }

    fn from_number(number: u64) -> Option<Self> {
        [Self::Agent, Self::Descent, Self::Cookie].into_iter().find(|this| this.number() == number)
    }
}

impl Pipe {
    fn number(self) -> u64 {
        match self {
            Self::Stdout => 0,
            Self::Stdin => 1,
        }
    }

    fn from_number(number: u64) -> Option<Self> {
        [Self::Stdout, Self::Stdin].into_iter().find(|this| this.number() == number)
    }
}

impl SignalledBy {
    fn number(self) -> u64 {
        match self {
            Self::Host => 0,
            Self::Outside => 1,
            Self::HostLost => 2,
        }
    }

    fn from_number(number: u64) -> Option<Self> {
        [Self::Host, Self::Outside, Self::HostLost].into_iter().find(|this| this.number() == number)
    }
}

/// The head of a text, of at most `max` bytes, cut between characters.
fn cut(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or_default()
}

fn unsigned(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

fn signed(value: u64) -> i32 {
    u32::try_from(value).map_or(i32::MAX, u32::cast_signed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn survivor() -> Survivor {
        Survivor {
            process: ProcessId { pid: 9, start_time: 77 },
            uid: 65534,
            state: 'D',
            command: "sleep 9".to_owned(),
            found_by: FoundBy::Cookie,
        }
    }

    #[test]
    fn every_mark_comes_back() {
        let process = ProcessId { pid: 4, start_time: 5 };
        let left = TreeEnd::Left { named: vec![survivor()], count: 70 };
        let alive = TreeEnd::Survivors { named: vec![survivor()], count: 1 };
        let table = [
            (Mark::Started(process), Record::Started(process)),
            (Mark::FrameBegun(1), Record::FrameBegun(1)),
            (Mark::FrameDone(u64::MAX), Record::FrameDone(u64::MAX)),
            (Mark::FrameCancelled(3), Record::FrameCancelled(3)),
            (
                Mark::Signalled { signal: 15, by: SignalledBy::Outside },
                Record::Signalled { signal: 15, by: SignalledBy::Outside },
            ),
            (
                Mark::SpawnFailed { errno: 2, text: "no such file".to_owned() },
                Record::SpawnFailed { errno: 2, text: "no such file".to_owned() },
            ),
            (
                Mark::Exited { exit: Exit::Code(-1), tree: TreeEnd::Clear },
                Record::Exited { exit: Exit::Code(-1), tree: TreeEnd::Clear },
            ),
            (
                Mark::Exited { exit: Exit::Signal(9), tree: alive.clone() },
                Record::Exited { exit: Exit::Signal(9), tree: alive },
            ),
            (
                Mark::Exited { exit: Exit::Code(0), tree: left.clone() },
                Record::Exited { exit: Exit::Code(0), tree: left },
            ),
            (Mark::StdoutClosed { lost_bytes: 8 }, Record::StdoutClosed { lost_bytes: 8 }),
            (Mark::CutOff(Pipe::Stdout), Record::CutOff(Pipe::Stdout)),
            (Mark::CutOff(Pipe::Stdin), Record::CutOff(Pipe::Stdin)),
        ];
        for (mark, record) in table {
            let mut payload = Vec::new();
            let kind = mark.encode(&mut payload);
            assert_eq!(decode(kind, &payload), record);
        }
    }

    #[test]
    fn whatever_a_record_names_it_fits() {
        let long = Survivor { command: "é".repeat(10_000), ..survivor() };
        let tree = TreeEnd::Survivors { named: vec![long; 1000], count: 1000 };
        for mark in [
            Mark::Exited { exit: Exit::Code(1), tree },
            Mark::SpawnFailed { errno: 1, text: "é".repeat(100_000) },
        ] {
            let mut payload = Vec::new();
            let kind = mark.encode(&mut payload);
            assert!(payload.len() <= RECORD_PAYLOAD_BYTES_MAX, "{}", payload.len());
            assert!(!matches!(decode(kind, &payload), Record::Unknown { .. }));
        }
    }

    #[test]
    fn a_kind_of_a_newer_keeper_is_kept() {
        assert_eq!(decode(99, b""), Record::Unknown { kind: 99, payload: Vec::new() });
    }

    proptest! {
        #[test]
        fn arbitrary_payloads_never_panic(kind: u8, payload in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = decode(kind, &payload);
        }
    }
}
