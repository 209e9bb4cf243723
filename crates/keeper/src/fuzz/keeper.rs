//! A keeper without processes, socket and clock, to which anything happens in any order.

use super::host::{Reading, greeting, greeting_with, spec, start};
use super::{ATTEMPT, Given, Program, messages, number, read};
use crate::core::{ConnectionId, Effect, Input, KeeperCore, Look, Now, Pushed};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::protocol::{Call, Message, ReadFrom, Reply, Stop, StopScope, WriteChunk};
use crate::record::{Exit, FoundBy, ProcessId, Record, Survivor};
use crate::spool::{PowerCutFs, SpoolFs};
use std::collections::VecDeque;
use std::time::Duration;

const AGENT: ProcessId = ProcessId { pid: 7, start_time: 9 };
/// The call that is answered under this id.
const ID: u32 = 1;
/// One operation may write so much output.
const REPEATS: usize = 512;
/// Bytes that the agent of one program writes.
const OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Runs the program, then holds the keeper's record against what happened.
pub(super) fn run(program: Program<'_>) {
    let now = Duration::from_secs(1000);
    let Ok(core) = KeeperCore::new(spec(), PowerCutFs::new(), 5, now) else { return };
    let mut run = Run {
        core,
        now,
        birth: Birth::Before,
        finished: false,
        reading: Reading::default(),
        output: Vec::new(),
        stdin: Vec::new(),
    };
    let mut cut = program;
    for (operation, body) in program {
        run.happen(operation, body);
        if run.finished {
            break;
        }
        cut.next();
    }
    run.judge(cut);
}

/// How far the start of the agent is, as the shell sees it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Birth {
    Before,
    /// The keeper wants it to be started.
    Wanted,
    Over,
}

struct Run {
    core: KeeperCore<PowerCutFs>,
    now: Now,
    birth: Birth,
    finished: bool,
    reading: Reading,
    /// What the agent wrote and the keeper took.
    output: Vec<u8>,
    /// What the keeper wrote to the agent.
    stdin: Vec<u8>,
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
            15 if self.core.agent().is_some() => self.step(Input::AgentExited(Exit::Code(1))),
            16 if self.birth == Birth::Over => self.step(Input::OutputEnded),
            17 => self.write_stdin(byte),
            18 => self.step(Input::StdinBroken),
            19 => self.step(Input::OutsideSignal(15)),
            20 => self.fill_disk(number(body.get(..3).unwrap_or(body))),
            21 => self.files().set_capacity(None),
            22 => self.step(Input::Closed(host)),
            23 => self.push(),
            24 => self.be_born(byte),
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
        assert!(self.finished || tick.is_none_or(|at| at > self.now), "a tick is due at once again");
    }

    fn step(&mut self, input: Input<'_>) {
        let mut effects = VecDeque::new();
        self.core.step(self.now, input, &mut effects);
        for effect in effects {
            match effect {
                Effect::Start(start) => {
                    assert!(self.birth == Birth::Before, "started twice");
                    assert!(!start.argv.is_empty());
                    self.birth = Birth::Wanted;
                }
                Effect::Finish => self.finished = true,
                Effect::Signal(..) => assert!(self.birth == Birth::Over, "nobody to signal"),
                Effect::Reply(_, _, reply) => {
                    let mut out = Vec::new();
                    reply.encode(ID, &mut out);
                    assert!(out.len() <= MESSAGE_BYTES_MAX, "an answer of {} bytes", out.len());
                }
                Effect::ReportStatus(..) | Effect::Close(_) | Effect::Look => {}
            }
        }
    }

    fn message(&mut self, from: ConnectionId, message: &Message<'_>) {
        messages::look_at(message);
        self.step(Input::Message(from, *message));
        if self.core.host_connection() == Some(from) {
            self.reading.called(message, self.core.spool());
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

    /// The frame that the keeper expects.
    fn next_frame(&self) -> u64 {
        self.core.frame_numbers().accepted + 1
    }

    /// A position around what the spool holds.
    fn near(&self, byte: u8) -> u64 {
        self.core.spool().first() + u64::from(byte)
    }

    fn be_born(&mut self, byte: u8) {
        if self.birth != Birth::Wanted {
            return;
        }
        self.birth = Birth::Over;
        if byte == 0 {
            self.step(Input::Born(AGENT));
        } else {
            self.birth = Birth::Before;
            self.step(Input::NotBorn { errno: byte.into(), text: "no".to_owned() });
        }
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
        let bytes = bytes.repeat(times);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() && self.core.wants_output() && self.output.len() < OUTPUT_BYTES_MAX {
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
        let begun = self.core.frame_numbers().begun;
        if begins && took > 0 {
            let record = (Record::FrameBegun(begun), 0);
            let there = self.records().iter().any(|(it, _)| *it == record.0);
            assert!(there, "frame {begun} is written before its beginning is on record");
        }
        self.stdin.extend(buffer.get(..took).unwrap_or_default());
        if took > 0 {
            self.step(Input::StdinTook(took));
        }
    }

    fn fill_disk(&mut self, more: u64) {
        let allocated = self.files().allocated();
        self.files().set_capacity(Some(allocated + more));
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
