//! A keeper without processes, socket and clock, to which anything happens in any order.

use super::disk::Disk;
use super::host::{Reading, greeting, greeting_with, spec, start};
use super::{Budget, Program, judge, messages, number};
use crate::core::{ConnectionId, Effect, Input, KeeperCore, Look, Now, Pushed};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::protocol::{
    Call, Frames, Message, ReadFrom, Reply, Status, Stop, StopScope, WriteChunk,
};
use crate::record::{Exit, FoundBy, ProcessId, Record, Survivor};
use std::collections::VecDeque;
use std::time::Duration;

const AGENT: ProcessId = ProcessId { pid: 7, start_time: 9 };
/// The call that is answered under this id.
const ID: u32 = 1;
/// How often an output is repeated that is to be long.
const REPEATS: usize = 512;
/// How often one run reads the spool to see whether a frame's beginning is on record.
const LOOKS_MAX: u32 = 16;

/// Runs the program, then holds the keeper's record against what happened.
pub(super) fn run(program: Program<'_>) {
    let now = Duration::from_secs(1000);
    let disk = Disk::default();
    let Ok(core) = KeeperCore::new(spec(), disk.clone(), 5, now) else { return };
    let mut run = Run {
        core,
        disk,
        now,
        birth: Birth::Before,
        spawn_errno: 0,
        finished: false,
        reading: Reading::default(),
        output: Vec::new(),
        budget: Budget::WHOLE,
        frames: Frames::default(),
        looks: 0,
    };
    let mut rest = program;
    while let Some((operation, body)) = rest.next()
        && !run.finished
    {
        run.happen(operation, body);
    }
    // What is left of the program says what a power cut keeps.
    judge::judge(&run.disk, run.core.spool().first(), &run.output, &run.reading.given, rest);
}

/// How far the start of the agent is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Birth {
    Before,
    Born,
    Failed,
}

struct Run {
    core: KeeperCore<Disk>,
    disk: Disk,
    now: Now,
    birth: Birth,
    /// The error of a start to come; 0 for none.
    spawn_errno: u8,
    finished: bool,
    reading: Reading,
    /// What the agent wrote and the keeper took.
    output: Vec<u8>,
    budget: Budget,
    /// As the last status told.
    frames: Frames,
    looks: u32,
}

impl Run {
    fn happen(&mut self, operation: u8, body: &[u8]) {
        let host = ConnectionId(1 + u64::from(operation >> 7));
        let byte = body.first().copied().unwrap_or_default();
        match operation & 0x1f {
            kind @ 0..=7 => {
                let message = Message { kind: kind.into(), id: ID, body };
                self.message(host, &message);
            }
            8 => self.say(host, &greeting(Some(start()).filter(|_| body.is_empty()))),
            9 => self.say(host, &greeting_with(body)),
            10 | 11 => self.output(body, 1),
            12 => self.output(body, REPEATS),
            13 => {
                let ms = number(body.get(..4).unwrap_or(body));
                self.now = self.now.saturating_add(Duration::from_millis(ms));
                self.step(Input::Tick);
            }
            14 => self.look(byte),
            15 if self.core.agent().is_some() => {
                self.step(Input::AgentExited(Exit::Code(1)));
            }
            16 if self.birth == Birth::Born => drop(self.step(Input::OutputEnded)),
            17 => self.write_stdin(byte),
            18 => drop(self.step(Input::StdinBroken)),
            19 => drop(self.step(Input::OutsideSignal(15))),
            20 => self.disk.fill(number(body.get(..3).unwrap_or(body))),
            21 => self.disk.free(),
            22 => drop(self.step(Input::Closed(host))),
            23 => self.push(),
            24 => self.spawn_errno = byte,
            25 => self.call(host, &Call::Acknowledge { position: self.near(byte) }),
            26 => {
                let from = ReadFrom::Position(self.near(byte));
                self.call(host, &Call::ReadFrom { from, window: number(body) });
            }
            27 => {
                let number = self.next_frame().saturating_sub(u64::from(byte % 4));
                self.call(host, &Call::CancelFrame { number });
            }
            28 => {
                let total = body.len() as u64;
                self.write_frame(host, total, 0, body);
            }
            29 => {
                let (head, bytes) = body.split_at_checked(6).unwrap_or((body, &[]));
                let [total, offset] =
                    [0..3, 3..6].map(|range| number(head.get(range).unwrap_or_default()));
                self.write_frame(host, total, offset, bytes);
            }
            30 => {
                let grace = Duration::from_millis(number(body.get(1..3).unwrap_or_default()));
                let scope = match byte % 3 {
                    0 => StopScope::Tree { grace },
                    1 => StopScope::Agent { grace },
                    _ => StopScope::Signal(byte.into()),
                };
                let unless_after = Some(self.core.spool().end()).filter(|_| byte > 127);
                self.call(host, &Call::Stop(Stop { scope, unless_after }));
            }
            _ => {}
        }
        if !self.finished {
            self.step(Input::Tick);
        }
        let tick = self.core.next_tick();
        assert!(
            self.finished || tick.is_none_or(|at| at > self.now),
            "a tick is due at once again"
        );
    }

    /// Takes one step, and does at once what the shell does at once. Gives back the last answer.
    fn step(&mut self, input: Input<'_>) -> Option<Reply<'static>> {
        let mut effects = VecDeque::new();
        self.core.step(self.now, input, &mut effects);
        let mut answer = None;
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Start(start) => {
                    assert!(self.birth == Birth::Before && !start.argv.is_empty(), "{start:?}");
                    let born = self.be_born();
                    self.core.step(self.now, born, &mut effects);
                }
                Effect::Finish => self.finished = true,
                Effect::Signal(..) => assert!(self.birth == Birth::Born, "nobody to signal"),
                Effect::Reply(_, _, reply) => {
                    let mut out = Vec::new();
                    reply.encode(ID, &mut out);
                    assert!(out.len() <= MESSAGE_BYTES_MAX, "an answer of {} bytes", out.len());
                    answer = Some(reply);
                }
                Effect::ReportStatus(_, _, status) => self.told(&status),
                Effect::Close(_) | Effect::Look => {}
            }
        }
        answer
    }

    fn be_born(&mut self) -> Input<'static> {
        if self.spawn_errno == 0 {
            self.birth = Birth::Born;
            Input::Born(AGENT)
        } else {
            self.birth = Birth::Failed;
            Input::NotBorn { errno: self.spawn_errno.into(), text: "no".to_owned() }
        }
    }

    fn told(&mut self, status: &Status) {
        self.frames = status.frames;
        let Frames { accepted, begun, done } = status.frames;
        assert!(done <= begun && begun <= accepted, "{:?}", status.frames);
        assert!(status.first <= status.end);
    }

    fn message(&mut self, from: ConnectionId, message: &Message<'_>) {
        messages::look_at(message);
        if let Some(Reply::Reading) = self.step(Input::Message(from, *message)) {
            self.reading.called(message);
        }
    }

    fn say(&mut self, from: ConnectionId, bytes: &[u8]) {
        if let Ok(Some((message, _))) = Message::take(bytes, usize::MAX) {
            self.message(from, &message);
        }
    }

    fn call(&mut self, from: ConnectionId, call: &Call<'_>) {
        let mut out = Vec::new();
        call.encode(ID, &mut out);
        self.say(from, &out);
    }

    fn write_frame(&mut self, from: ConnectionId, total: u64, offset: u64, bytes: &[u8]) {
        let number = self.next_frame();
        self.call(from, &Call::WriteFrame(WriteChunk { number, total, offset, bytes }));
    }

    /// The frame that the keeper expects, if there is a host to ask.
    fn next_frame(&mut self) -> u64 {
        if let Some(host) = self.core.host_connection() {
            self.call(host, &Call::Status);
        }
        self.frames.accepted + 1
    }

    /// A position around what the spool holds.
    fn near(&self, byte: u8) -> u64 {
        self.core.spool().first() + u64::from(byte)
    }

    fn look(&mut self, count: u8) {
        // The agent itself is among what is seen, while it lives.
        let count = u64::from(count).max(self.core.agent().is_some().into());
        let named = (0..count.min(3)).map(|index| Survivor {
            process: ProcessId { pid: 100, start_time: index },
            uid: 0,
            state: 'D',
            command: "stuck".to_owned(),
            found_by: FoundBy::Descent,
        });
        self.step(Input::Looked(Look { named: named.collect(), count }));
    }

    fn output(&mut self, bytes: &[u8], times: usize) {
        let bytes = self.budget.repeat(bytes, times);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() && self.core.wants_output() {
            let taken = self.core.output(self.now, rest);
            if taken == 0 {
                break;
            }
            let (some, more) = rest.split_at_checked(taken).unwrap_or((rest, &[]));
            self.output.extend(some);
            rest = more;
        }
    }

    fn write_stdin(&mut self, most: u8) {
        let begins = self.core.is_at_frame_start();
        let mut buffer = [0; 64];
        let offered = self.core.stdin_bytes(&mut buffer);
        let took = offered.min(most.into());
        if took == 0 {
            return;
        }
        if begins && self.looks < LOOKS_MAX {
            self.looks += 1;
            let given = self.disk.read(self.core.spool().first());
            let last = given.iter().rev().find_map(|(record, _)| match record {
                Record::FrameBegun(_) => Some(true),
                Record::FrameDone(_) => Some(false),
                _ => None,
            });
            assert_eq!(last, Some(true), "a byte is written before its frame's beginning");
        }
        self.step(Input::StdinTook(took));
    }

    fn push(&mut self) {
        let (mut out, mut scratch) = (Vec::new(), Vec::new());
        match self.core.push_records(&mut out, &mut scratch) {
            Ok(Pushed::Some) => self.reading.pushed(&out),
            Ok(Pushed::Nothing) => {}
            Err(error) => unreachable!("an unharmed spool cannot be read: {error}"),
        }
    }
}
