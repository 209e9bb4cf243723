//! The host's side of one attempt: bring the keeper forth or find it, greet, read from where it was
//! committed, give what is owed (the stop first, then acknowledgements, then frames in order), and
//! at the end bury it: the rest of its spool, then its death.

use std::collections::{BTreeMap, VecDeque};

use holdfast_core::fact::{Death, Secret};
use holdfast_core::ids::{AttemptId, ChatId, Position};
use holdfast_core::input::{Boot, KeeperEvent};
use holdfast_core::provider::StartFault;
use holdfast_keeper::Record;
use holdfast_keeper::limits::MESSAGE_BYTES_MAX;
use holdfast_keeper::protocol::{
    Call, Hello, Message, PROTOCOL_VERSION, ReadFrom, Refusal, Reply, Start, Stop, StopScope,
    WriteChunk,
};
use holdfast_keeper::record::{Exit, TreeEnd};
use holdfast_keeper::registry::{Limits, Secret as KeeperSecret, Spec};
use holdfast_keeper::spool::{Assembler, SpoolReader};

use crate::actor::Word;
use crate::agent::short;
use crate::keeper::Keeper;
use crate::machine::{Folder, Holder};
use crate::world::World;

/// Words that wait for an actor.
const WORDS_WAITING_MAX: usize = 16;
/// How soon a refused frame, or a keeper that does not answer, is tried again, in microseconds.
const RETRY_MICROS: u64 = 50_000;
/// When names that nobody synced are surely on disk, in microseconds.
const NAMES_SETTLE_MICROS: u64 = 30_000_000;

const ENOENT: i32 = 2;
const EACCES: i32 = 13;

/// What is to become of a frame.
#[derive(Clone, Debug)]
pub(crate) enum FrameOrder {
    Write(Vec<u8>),
    Cancel,
}

/// A stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopOrder {
    pub(crate) grace_micros: u64,
    /// Whether what outlived its tool call is left.
    pub(crate) leaving: bool,
    pub(crate) unless_after: Option<u64>,
}

/// What is owed to an attempt: a level, not a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    pub(crate) frames: BTreeMap<u64, FrameOrder>,
    pub(crate) stop: Option<StopOrder>,
    pub(crate) acknowledged: u64,
    pub(crate) finished: bool,
}

#[derive(Debug)]
enum Stage {
    Create,
    Spawn,
    Attach,
    Greeted {
        wire: u64,
    },
    Reading {
        wire: u64,
        assembler: Option<Assembler>,
    },
    /// The death was told; its commit is waited for, then the keeper may go.
    LetGo {
        wire: u64,
    },
    /// Words that are told before the end.
    Burying {
        rest: VecDeque<Word>,
    },
    Buried,
    Over,
}

/// Which answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Stop,
    Acknowledge,
    Frame(u64),
    /// One that the keeper has already is to be had back.
    Cancel(u64),
}

/// The host's side of one attempt.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) chat: ChatId,
    pub(crate) attempt: AttemptId,
    secret: Secret,
    position: u64,
    served: bool,
    stage: Stage,
    pub(crate) orders: Orders,
    calls: u32,
    waiting: Option<(u32, Waiting)>,
    stopped: Option<StopOrder>,
    acknowledged: u64,
    written: u64,
    /// A frame that the keeper does not take, until the orders change.
    refused: Option<u64>,
    cancelled: u64,
    /// It started the keeper.
    spawned: bool,
    /// The spool's end when the keeper was greeted.
    end_then: u64,
    /// The actor was told all that says whether the attempt lives.
    pub(crate) found: bool,
    origin: Origin,
    /// Nothing is tried before this.
    pub(crate) retry_at: Option<u64>,
}

/// Whether an attempt begins, or was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Fresh,
    Adopted,
}

impl Driver {
    pub(crate) fn new(
        chat: ChatId,
        attempt: AttemptId,
        secret: Secret,
        position: Position,
        origin: Origin,
    ) -> Self {
        let stage = match origin {
            Origin::Fresh => Stage::Create,
            Origin::Adopted => Stage::Attach,
        };
        Self {
            chat,
            attempt,
            secret,
            position: position.0,
            served: false,
            stage,
            orders: Orders::default(),
            calls: 0,
            waiting: None,
            stopped: None,
            acknowledged: 0,
            written: 0,
            refused: None,
            cancelled: 0,
            spawned: false,
            end_then: 0,
            found: false,
            origin,
            retry_at: None,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Gives it what is owed now.
    pub(crate) fn order(&mut self, orders: Orders) {
        if orders.stop.is_none() {
            self.stopped = None;
        }
        self.refused = None;
        self.orders = orders;
    }

    fn wire(&self) -> Option<u64> {
        match &self.stage {
            Stage::Greeted { wire } | Stage::Reading { wire, .. } | Stage::LetGo { wire } => {
                Some(*wire)
            }
            Stage::Create
            | Stage::Spawn
            | Stage::Attach
            | Stage::Burying { .. }
            | Stage::Buried
            | Stage::Over => None,
        }
    }

    /// The process that it is in is gone.
    pub(crate) fn drop_link(&self, w: &mut World) {
        if let Some(wire) = self.wire() {
            w.machine.hang_up(wire);
        }
    }

    /// Whether it can do something; `words` wait for its actor already.
    pub(crate) fn can_act(&self, w: &World, words: usize) -> bool {
        if self.retry_at.is_some_and(|at| w.clock.awake < at) {
            return false;
        }
        let room = words < WORDS_WAITING_MAX;
        match &self.stage {
            Stage::Create | Stage::Spawn | Stage::Attach => true,
            Stage::Greeted { wire } => has_news(w, *wire),
            Stage::Reading { wire, .. } => {
                (room && has_news(w, *wire))
                    || (self.waiting.is_none() && self.next_call().is_some())
            }
            Stage::LetGo { wire } => {
                has_news(w, *wire) || (self.orders.finished && self.waiting.is_none())
            }
            Stage::Burying { .. } => room,
            Stage::Buried => self.orders.finished,
            Stage::Over => false,
        }
    }

    /// Does one thing; what it says goes to the actor of its chat.
    pub(crate) fn step(&mut self, w: &mut World, say: &mut Vec<Word>) {
        self.retry_at = None;
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        self.stage = match stage {
            Stage::Create => self.create(w, say),
            Stage::Spawn => self.spawn(w, say),
            Stage::Attach => self.attach(w),
            Stage::Greeted { wire } => self.greeted(w, wire),
            Stage::Reading { wire, assembler } => {
                let write = self.waiting.is_none() && self.next_call().is_some();
                if write && (!has_news(w, wire) || w.rng.permille(500)) {
                    self.give(w, wire);
                    Stage::Reading { wire, assembler }
                } else {
                    self.read(w, wire, assembler, say)
                }
            }
            Stage::LetGo { wire } => self.let_go(w, wire),
            Stage::Burying { mut rest } => match rest.pop_front() {
                Some(word) => {
                    say.push(word);
                    self.found |= rest.is_empty();
                    Stage::Burying { rest }
                }
                None => Stage::Buried,
            },
            Stage::Buried | Stage::Over => self.clear(w),
        };
    }

    fn create(&mut self, w: &mut World, say: &mut Vec<Word>) -> Stage {
        if !w.calm && w.rng.permille(w.weather.birth_fails) {
            let (fault, text) = (StartFault::DirectoryGone, "/gone".to_owned());
            say.push(Word::Event(KeeperEvent::SpawnFailed { fault, text }));
            return never_born(self.origin);
        }
        if w.disk_full {
            let (fault, text) = (StartFault::AgentRefused, "no space".to_owned());
            say.push(Word::Event(KeeperEvent::SpawnFailed { fault, text }));
            return never_born(self.origin);
        }
        let Some(secret) = self.keeper_secret() else {
            w.fail("the secret of an attempt is none".to_owned());
            return Stage::Over;
        };
        let spec = Spec {
            attempt: self.attempt.uuid(),
            secret,
            incarnation: w.journal.store.incarnation(),
            limits: match w.weather.keeper_patience.filter(|_| !w.calm) {
                Some(ms) => Limits { host_gone_ms: ms, start_wait_ms: ms, ..Limits::default() },
                None => Limits::default(),
            },
        };
        let settled_at = w.clock.awake + NAMES_SETTLE_MICROS;
        let holder = Holder::Nobody;
        let folder = Folder { chat: self.chat, spec, record: None, holder, settled_at };
        w.machine.folders.insert(self.attempt, folder);
        Stage::Spawn
    }

    fn spawn(&mut self, w: &mut World, say: &mut Vec<Word>) -> Stage {
        if let Some(keeper) = Keeper::start(w, self.attempt) {
            if let Some(folder) = w.machine.folders.get_mut(&self.attempt) {
                folder.holder = Holder::Keeper(Box::new(keeper));
            }
            self.spawned = true;
            return Stage::Attach;
        }
        w.machine.folders.remove(&self.attempt);
        let (fault, text) = (StartFault::AgentRefused, "no keeper".to_owned());
        say.push(Word::Event(KeeperEvent::SpawnFailed { fault, text }));
        never_born(self.origin)
    }

    fn attach(&mut self, w: &mut World) -> Stage {
        if !w.machine.folders.contains_key(&self.attempt) {
            w.say(|| format!("driver {} finds nothing on disk", short(self.attempt)));
            return never_born(self.origin);
        }
        let Some(wire) = w.machine.connect(self.attempt) else { return self.bury(w) };
        let Some(secret) = self.keeper_secret() else { return Stage::Over };
        let start = Start { argv: vec!["agent".into()], env: Vec::new(), cwd: "/work".into() };
        let hello = Hello {
            version: PROTOCOL_VERSION,
            attempt: self.attempt.uuid(),
            secret,
            incarnation: w.journal.store.incarnation(),
            start: Some(start),
        };
        self.waiting = None;
        (self.stopped, self.acknowledged, self.written) = (None, 0, 0);
        self.refused = None;
        self.call(w, wire, &Call::Hello(Box::new(hello)));
        Stage::Greeted { wire }
    }

    fn keeper_secret(&self) -> Option<KeeperSecret> {
        let hex = &self.secret.0;
        let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
        KeeperSecret::from_slice(&bytes?)
    }

    fn call(&mut self, w: &mut World, wire: u64, call: &Call<'_>) -> u32 {
        self.calls += 1;
        let mut bytes = Vec::new();
        call.encode(self.calls, &mut bytes);
        if let Some(wire) = w.machine.wires.get_mut(&wire) {
            wire.to_keeper.push_back(bytes);
        }
        self.calls
    }

    fn greeted(&mut self, w: &mut World, wire: u64) -> Stage {
        let Some(bytes) = take(w, wire) else { return self.lost(w, wire) };
        match decode(&bytes) {
            Some(Reply::Welcome(welcome)) => {
                self.served = true;
                self.end_then = welcome.end;
                self.found |= self.position >= welcome.end;
                let from = ReadFrom::Position(self.position);
                self.call(w, wire, &Call::ReadFrom { from, window: u64::MAX });
                Stage::Reading { wire, assembler: None }
            }
            other => {
                w.fail(format!("a keeper answers a greeting with {other:?}"));
                Stage::Over
            }
        }
    }

    fn read(
        &mut self,
        w: &mut World,
        wire: u64,
        mut assembler: Option<Assembler>,
        say: &mut Vec<Word>,
    ) -> Stage {
        let Some(bytes) = take(w, wire) else { return self.lost(w, wire) };
        let id = Message::take(&bytes, MESSAGE_BYTES_MAX).ok().flatten().map(|(m, _)| m.id);
        match decode(&bytes) {
            Some(Reply::Reading) => assembler = Some(Assembler::new(self.position)),
            Some(Reply::Push { position, bytes }) => {
                if let Some(assembler) = &mut assembler {
                    assembler.push(position, bytes.to_vec());
                }
            }
            Some(Reply::Refused(Refusal::Gone { first })) if assembler.is_none() => {
                w.fail(format!("records before {first} are gone that were never committed"));
            }
            Some(Reply::Refused(Refusal::Ahead { end })) if assembler.is_none() => {
                w.fail(format!("a living keeper ends at {end}, before {}", self.position));
            }
            Some(reply) => self.answered(w, id, &reply, say),
            None => w.fail("a keeper sent what is no message".to_owned()),
        }
        while let Some((record, next)) = assembler.as_mut().and_then(Assembler::next) {
            self.position = next;
            let end = death_of(&record);
            say.extend(word_of(record, next));
            self.found |= end.is_some() || next >= self.end_then;
            if let Some((death, survivors)) = end {
                say.push(dead(death, Boot::Same, survivors));
                self.waiting = None;
                return Stage::LetGo { wire };
            }
        }
        Stage::Reading { wire, assembler }
    }

    fn answered(&mut self, w: &mut World, id: Option<u32>, reply: &Reply<'_>, say: &mut Vec<Word>) {
        let Some((_, waiting)) = self.waiting.filter(|(call, _)| Some(*call) == id) else { return };
        self.waiting = None;
        match (waiting, reply) {
            (Waiting::Frame(number), Reply::Written(_) | Reply::Cancelled(_)) => {
                self.written = number;
                if matches!(self.orders.frames.get(&number), Some(FrameOrder::Cancel)) {
                    self.cancelled = number;
                }
            }
            (Waiting::Frame(_), Reply::Refused(Refusal::Busy | Refusal::NoSpace)) => {
                self.retry_at = Some(w.clock.awake + RETRY_MICROS);
            }
            (Waiting::Frame(number), Reply::Refused(refusal)) => {
                w.say(|| format!("frame {number} of {}: {refusal}", short(self.attempt)));
                self.refused = Some(number);
            }
            (Waiting::Stop, Reply::Refused(Refusal::NotIdle { .. })) => {
                say.push(Word::Event(KeeperEvent::StopRefused));
            }
            _ => {}
        }
    }

    /// What is to be given next, if something is.
    fn next_call(&self) -> Option<Waiting> {
        if self.orders.finished {
            return None;
        }
        if self.orders.stop != self.stopped && self.orders.stop.is_some() {
            return Some(Waiting::Stop);
        }
        if self.orders.acknowledged > self.acknowledged {
            return Some(Waiting::Acknowledge);
        }
        if self.orders.stop.is_some() {
            return None;
        }
        let back = self.orders.frames.range(..=self.written).find(|(number, frame)| {
            matches!(frame, FrameOrder::Cancel) && self.cancelled < **number
        });
        if let Some((number, _)) = back {
            return Some(Waiting::Cancel(*number));
        }
        let next = self.orders.frames.keys().find(|number| **number > self.written);
        next.filter(|number| self.refused != Some(**number)).map(|number| Waiting::Frame(*number))
    }

    fn give(&mut self, w: &mut World, wire: u64) {
        let Some(next) = self.next_call() else { return };
        let call = match next {
            Waiting::Stop => {
                self.stopped = self.orders.stop;
                let Some(stop) = self.orders.stop else { return };
                let grace = std::time::Duration::from_micros(stop.grace_micros);
                let scope = if stop.leaving {
                    StopScope::Agent { grace }
                } else {
                    StopScope::Tree { grace }
                };
                self.call(w, wire, &Call::Stop(Stop { scope, unless_after: stop.unless_after }))
            }
            Waiting::Acknowledge => {
                self.acknowledged = self.orders.acknowledged;
                self.call(w, wire, &Call::Acknowledge { position: self.acknowledged })
            }
            Waiting::Cancel(number) => {
                self.cancelled = number;
                self.call(w, wire, &Call::CancelFrame { number })
            }
            Waiting::Frame(number) => match self.orders.frames.get(&number).cloned() {
                Some(FrameOrder::Write(bytes)) => {
                    let total = bytes.len() as u64;
                    let chunk = WriteChunk { number, total, offset: 0, bytes: &bytes };
                    self.call(w, wire, &Call::WriteFrame(chunk))
                }
                Some(FrameOrder::Cancel) | None => {
                    self.call(w, wire, &Call::CancelFrame { number })
                }
            },
        };
        self.waiting = Some((call, next));
    }

    /// The connection ended: the keeper is dead, or has another host.
    fn lost(&mut self, w: &mut World, wire: u64) -> Stage {
        w.machine.wires.remove(&wire);
        self.waiting = None;
        Stage::Attach
    }

    fn let_go(&mut self, w: &mut World, wire: u64) -> Stage {
        match take(w, wire) {
            Some(_) => Stage::LetGo { wire },
            None if !has_news(w, wire) => {
                let position = self.position;
                let call = self.call(w, wire, &Call::Acknowledge { position });
                self.waiting = Some((call, Waiting::Acknowledge));
                Stage::LetGo { wire }
            }
            // It is gone.
            None => {
                w.machine.wires.remove(&wire);
                Stage::Buried
            }
        }
    }

    /// Takes in what a dead keeper left, then tells the death.
    fn bury(&mut self, w: &mut World) -> Stage {
        let now = w.machine.boot;
        let Some(folder) = w.machine.folders.get(&self.attempt) else { return never_born(self.origin) };
        let record = folder.record;
        let files = match &folder.holder {
            Holder::Gone(files) => Some(files.clone()),
            Holder::Nobody | Holder::Keeper(_) => None,
        };
        let (mut rest, mut end, mut born) = (VecDeque::new(), None, false);
        let reader =
            files.map(|files| SpoolReader::open(files, self.attempt.uuid(), self.position));
        match reader {
            Some(Ok(reader)) => {
                for (record, next) in reader.map_while(Result::ok) {
                    self.position = next;
                    born |= matches!(record, Record::Started(_));
                    end = death_of(&record).or(end);
                    rest.extend(word_of(record, next));
                }
            }
            Some(Err(error)) => w.say(|| format!("the spool of {}: {error}", short(self.attempt))),
            None => {}
        }
        let boot = match record {
            Some(record) if record.boot == now => Boot::Same,
            // A keeper that did anything had written its record: without one nothing is proven.
            Some(_) | None => Boot::Other,
        };
        let started = born || record.is_some_and(|record| record.agent);
        let death = match end {
            Some((death, _)) => death,
            None if !started => Death::NeverBorn,
            None if self.served => Death::KeeperLost,
            None => Death::HostLost,
        };
        if self.spawned && death == Death::NeverBorn {
            // Else it would be started again and again, as fast as it dies.
            let (fault, text) = (StartFault::AgentRefused, "its keeper ended".to_owned());
            rest.push_back(Word::Event(KeeperEvent::SpawnFailed { fault, text }));
        }
        let lives = !w.calm && w.rng.permille(w.weather.survivors);
        let survivors = if lives { vec![1] } else { Vec::new() };
        rest.push_back(dead(death, boot, survivors));
        Stage::Burying { rest }
    }

    fn clear(&self, w: &mut World) -> Stage {
        let dead = w.machine.folders.get(&self.attempt).is_some_and(|folder| !folder.is_alive());
        if dead {
            w.machine.folders.remove(&self.attempt);
        }
        Stage::Over
    }
}

fn never_born(origin: Origin) -> Stage {
    // A folder that is not there proves nothing after a power cut.
    let boot = match origin {
        Origin::Fresh => Boot::Same,
        Origin::Adopted => Boot::Other,
    };
    Stage::Burying { rest: VecDeque::from([dead(Death::NeverBorn, boot, Vec::new())]) }
}

fn dead(death: Death, boot: Boot, survivors: Vec<u32>) -> Word {
    Word::Event(KeeperEvent::Dead { death, boot, survivors, stderr: String::new() })
}

fn has_news(w: &World, wire: u64) -> bool {
    w.machine.wires.get(&wire).is_none_or(|wire| !wire.to_host.is_empty() || wire.keeper_gone)
}

fn take(w: &mut World, wire: u64) -> Option<Vec<u8>> {
    w.machine.wires.get_mut(&wire)?.to_host.pop_front()
}

fn decode(bytes: &[u8]) -> Option<Reply<'_>> {
    let (message, _) = Message::take(bytes, MESSAGE_BYTES_MAX).ok()??;
    Reply::decode(&message).ok()
}

/// Tells of a record. The last one is told as what it says: the position never passes it before the
/// death is committed, so that whoever comes after a crash reads it again.
fn word_of(record: Record, next: u64) -> Option<Word> {
    match record {
        Record::Exited { .. } => None,
        Record::SpawnFailed { errno, text } => {
            let missing = matches!(errno, ENOENT | EACCES);
            let fault = if missing { StartFault::AgentMissing } else { StartFault::AgentRefused };
            Some(Word::Event(KeeperEvent::SpawnFailed { fault, text }))
        }
        other => Some(Word::Record(other, Position(next))),
    }
}

/// How an attempt ended, if this is the record that says so.
fn death_of(record: &Record) -> Option<(Death, Vec<u32>)> {
    match record {
        Record::Exited { exit, tree } => {
            let death = match exit {
                Exit::Code(code) => Death::Exited { code: Some(*code), signal: None },
                Exit::Signal(signal) => Death::Exited { code: None, signal: Some(*signal) },
            };
            let survivors = match tree {
                TreeEnd::Clear | TreeEnd::Left { .. } => Vec::new(),
                TreeEnd::Survivors { named, .. } => {
                    named.iter().map(|survivor| survivor.process.pid).collect()
                }
            };
            Some((death, survivors))
        }
        Record::SpawnFailed { .. } => {
            Some((Death::Exited { code: None, signal: None }, Vec::new()))
        }
        _ => None,
    }
}
