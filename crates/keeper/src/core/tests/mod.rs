//! The core with a clock and a disk in memory, in place of the shell.

mod any_order;
mod calls;
mod endings;
mod output;

use super::*;
use crate::limits::{CUT_OFF_AFTER, DRAIN_MAX, KILL_MAX, LOOK_EVERY};
use crate::protocol::{
    Call, Cancelled, Frames, Hello, PROTOCOL_VERSION, ReadFrom, Refusal, Stall, Stop, StopScope,
    WriteChunk, Written,
};
use crate::record::{FoundBy, Record, SignalledBy, TreeEnd};
use crate::registry::{Limits, Secret};
use crate::spool::{Assembler, PowerCutFs, SpoolReader};
use proptest::prelude::*;
use uuid::Uuid;

const AGENT: ProcessId = ProcessId { pid: 7, start_time: 9 };
const HOST: ConnectionId = ConnectionId(1);
const CLOSED: Record = Record::StdoutClosed { lost_bytes: 0 };

fn spec() -> Spec {
    Spec {
        attempt: Uuid::from_u128(1),
        secret: Secret::from_bytes([1; 32]),
        incarnation: Uuid::from_u128(2),
        limits: Limits {
            host_gone_ms: 60_000,
            start_wait_ms: 5_000,
            grace_ms: 1_000,
            ..Limits::default()
        },
    }
}

/// A core with a clock, in place of the shell.
struct Keeper {
    core: KeeperCore<PowerCutFs>,
    now: Now,
    effects: VecDeque<Effect>,
}

impl Keeper {
    fn new() -> Self {
        let now = Duration::from_secs(1000);
        let core = KeeperCore::new(spec(), PowerCutFs::new(), 5, now).unwrap();
        Self { core, now, effects: VecDeque::new() }
    }

    /// With a host and a running agent.
    fn running() -> Self {
        let mut keeper = Self::new();
        keeper.greet(HOST, Some(start()));
        let effects = keeper.step(Input::Born(AGENT));
        assert!(matches!(effects[..], [Effect::Reply(HOST, 1, Reply::Welcome(_))]));
        keeper
    }

    fn step(&mut self, input: Input<'_>) -> Vec<Effect> {
        self.core.step(self.now, input, &mut self.effects);
        self.effects.drain(..).collect()
    }

    fn call(&mut self, connection: ConnectionId, call: &Call<'_>) -> Vec<Effect> {
        let mut out = Vec::new();
        call.encode(1, &mut out);
        let (message, _) = Message::take(&out, usize::MAX).unwrap().unwrap();
        self.step(Input::Message(connection, message))
    }

    fn greet(&mut self, connection: ConnectionId, start: Option<Start>) -> Vec<Effect> {
        self.call(connection, &hello(start))
    }

    fn ask(&mut self, call: &Call<'_>) -> Reply<'static> {
        match self.call(HOST, call).into_iter().next() {
            Some(Effect::Reply(HOST, 1, reply)) => reply,
            other => panic!("{other:?}"),
        }
    }

    fn write(&mut self, number: u64, bytes: &[u8]) -> Reply<'static> {
        let total = bytes.len() as u64;
        self.ask(&Call::WriteFrame(WriteChunk { number, total, offset: 0, bytes }))
    }

    fn stop(&mut self, grace_ms: u64) -> Vec<Effect> {
        let scope = StopScope::Tree { grace: Duration::from_millis(grace_ms) };
        self.call(HOST, &Call::Stop(Stop { scope, unless_after: None }))
    }

    fn after(&mut self, time: Duration) -> Vec<Effect> {
        self.now += time;
        self.step(Input::Tick)
    }

    fn looked(&mut self, count: u64) -> Vec<Effect> {
        self.step(Input::Looked(Look { named: survivors(count), count }))
    }

    fn output(&mut self, bytes: &str) -> usize {
        self.core.output(self.now, bytes.as_bytes())
    }

    fn stdin(&mut self) -> Vec<u8> {
        let mut buffer = [0; 100];
        let read = self.core.stdin_bytes(&mut buffer);
        buffer[..read].to_vec()
    }

    /// No more space than is allocated.
    fn fill_disk(&mut self) {
        let fs = self.core.spool.fs();
        let allocated = fs.allocated();
        fs.set_capacity(Some(allocated));
    }

    fn free_disk(&mut self) {
        self.core.spool.fs().set_capacity(None);
    }

    /// No space at all, the reserve included: what a disk that fails looks like.
    fn break_disk(&mut self) {
        self.core.spool.break_reserve();
        self.core.spool.fs().set_capacity(Some(0));
    }

    fn files(&mut self) -> PowerCutFs {
        self.core.spool.fs().clone()
    }

    fn records(&mut self) -> Vec<Record> {
        read(self.files())
    }
}

fn read(fs: PowerCutFs) -> Vec<Record> {
    SpoolReader::open(fs, spec().attempt, 0).unwrap().map(|record| record.unwrap().0).collect()
}

fn hello(start: Option<Start>) -> Call<'static> {
    let Spec { attempt, secret, incarnation, .. } = spec();
    Call::Hello(Box::new(Hello { version: PROTOCOL_VERSION, attempt, secret, incarnation, start }))
}

fn start() -> Start {
    Start { argv: vec!["agent".into()], env: Vec::new(), cwd: "/".into() }
}

fn line(text: &str) -> Record {
    Record::Line(text.as_bytes().to_vec())
}

fn survivors(count: u64) -> Vec<Survivor> {
    (0..count)
        .map(|index| Survivor {
            process: ProcessId { pid: 100 + u32::try_from(index).unwrap(), start_time: 1 },
            uid: 0,
            state: 'D',
            command: "stuck".to_owned(),
            found_by: FoundBy::Descent,
        })
        .collect()
}

fn refused(refusal: Refusal) -> Reply<'static> {
    Reply::Refused(refusal)
}
