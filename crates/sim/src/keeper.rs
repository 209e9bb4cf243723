//! A keeper's process around the real `KeeperCore`: what its poll loop does, one thing at a time.

use std::collections::VecDeque;
use std::rc::Rc;

use holdfast_core::ids::AttemptId;
use holdfast_keeper::core::{ConnectionId, Effect, Input, KeeperCore, Look, Pushed, Target};
use holdfast_keeper::limits::MESSAGE_BYTES_MAX;
use holdfast_keeper::protocol::{Call, Message, Phase, Refusal, Reply};
use holdfast_keeper::record::{Exit, FoundBy, ProcessId, Survivor};
use holdfast_keeper::spool::PowerCutFs;

use crate::agent::{self, Agent, short};
use crate::disk::{Disk, Fate};
use crate::evidence::Spooled;
use crate::machine::{Holder, Note, kill_keeper};
use crate::world::World;

const KILL: i32 = 9;
const ENOENT: i32 = 2;
/// Bytes that one read of the agent's stdout gives.
const READ_BYTES_MAX: usize = 400;
/// Bytes that the agent's stdin takes at once.
const WRITE_BYTES_MAX: usize = 200;

/// A keeper that lives.
#[derive(Debug)]
pub(crate) struct Keeper {
    core: KeeperCore<Disk>,
    pub(crate) fate: Rc<Fate>,
    pub(crate) agent: Option<Agent>,
    /// The agent's exit was reported to the core.
    reaped: bool,
    /// The end of its stdout was reported.
    output_ended: bool,
    pub(crate) wires: Vec<u64>,
    /// Something may be there for the host.
    may_push: bool,
    /// Bytes that the pipe has taken and the core does not know of: it may die in between.
    took: Option<usize>,
}

/// What a keeper's process can do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A message, or the end of a connection.
    Socket(u64),
    Push,
    Output,
    Stdin,
    Reap,
    Tick,
    /// The agent does something.
    Agent,
}

impl Keeper {
    /// Starts the keeper of a folder. None where its disk is full.
    pub(crate) fn start(w: &mut World, attempt: AttemptId) -> Option<Self> {
        let fate = Rc::new(Fate::default());
        fate.full.set(w.disk_full);
        let spec = w.machine.folders.get(&attempt)?.spec.clone();
        let (salt, now) = (w.rng.next(), w.clock.now());
        let core = KeeperCore::new(spec, Disk::new(Rc::clone(&fate)), salt, now).ok()?;
        let boot = w.machine.boot;
        if let Some(folder) = w.machine.folders.get_mut(&attempt) {
            folder.record = Some(Note { boot, agent: false });
        }
        let keeper = Self {
            core,
            fate,
            agent: None,
            reaped: false,
            output_ended: false,
            wires: Vec::new(),
            may_push: false,
            took: None,
        };
        Some(keeper)
    }

    pub(crate) fn into_files(self) -> PowerCutFs {
        self.core.into_fs().into_files()
    }

    /// Whether an agent of it lives.
    pub(crate) fn has_live_agent(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.exit.is_none())
    }

    /// When its time comes, if it waits for nothing else.
    pub(crate) fn wakes_at(&self, w: &World) -> Option<u64> {
        let tick = self.core.next_tick().map(|at| u64::try_from(at.as_micros()).unwrap_or(0));
        let agent = self.agent.as_ref().and_then(|agent| agent.wakes_at(w));
        tick.into_iter().chain(agent).min()
    }

    /// What it can do now.
    pub(crate) fn turns(&self, w: &World, turns: &mut Vec<Turn>) {
        if self.took.is_some() {
            turns.push(Turn::Stdin);
            if self.agent.as_ref().is_some_and(|agent| agent.can_act(w)) {
                turns.push(Turn::Agent);
            }
            return;
        }
        for wire in &self.wires {
            if w.machine.wires.get(wire).is_some_and(|w| !w.to_keeper.is_empty() || w.host_gone) {
                turns.push(Turn::Socket(*wire));
            }
        }
        if self.may_push && self.core.host_connection().is_some() {
            turns.push(Turn::Push);
        }
        if self.core.next_tick().is_some_and(|at| at <= w.clock.now()) {
            turns.push(Turn::Tick);
        }
        let Some(agent) = &self.agent else { return };
        if agent.can_act(w) {
            turns.push(Turn::Agent);
        }
        if self.core.has_stdin_bytes() && agent.exit.is_none() {
            turns.push(Turn::Stdin);
        }
        let dead = agent.exit.is_some();
        if dead && !self.reaped {
            turns.push(Turn::Reap);
        }
        let empty = agent.stdout.is_empty();
        if (!empty && self.core.wants_output()) || (empty && dead && !self.output_ended) {
            turns.push(Turn::Output);
        }
    }

    fn feed(&mut self, w: &mut World, attempt: AttemptId, input: Input<'_>) -> Alive {
        let mut effects = VecDeque::new();
        self.may_push = true;
        self.core.step(w.clock.now(), input, &mut effects);
        while let Some(effect) = effects.pop_front() {
            if self.fate.dead.get() {
                return Alive::No;
            }
            let next = match effect {
                Effect::Reply(connection, id, reply) => {
                    let mut bytes = Vec::new();
                    reply.encode(id, &mut bytes);
                    send(w, connection, bytes);
                    None
                }
                Effect::ReportStatus(..) => None,
                Effect::Close(connection) => {
                    if let Some(wire) = w.machine.wires.get_mut(&connection.0) {
                        wire.keeper_gone = true;
                    }
                    self.wires.retain(|wire| *wire != connection.0);
                    None
                }
                Effect::Start(_) => self.give_birth(w, attempt),
                Effect::Signal(Target::Agent | Target::Tree, signal) => {
                    self.signal(w, signal);
                    None
                }
                Effect::Look => Some(Input::Looked(self.look())),
                Effect::Finish => return Alive::No,
            };
            if let Some(input) = next {
                self.core.step(w.clock.now(), input, &mut effects);
            }
        }
        if self.fate.dead.get() { Alive::No } else { Alive::Yes }
    }

    fn signal(&mut self, w: &mut World, signal: i32) {
        let Some(agent) = &mut self.agent else { return };
        if signal == KILL {
            agent.end(w, agent::Exit::Signal(KILL));
        } else {
            agent.terminate(w);
        }
    }

    fn give_birth(&mut self, w: &mut World, attempt: AttemptId) -> Option<Input<'static>> {
        let chat = w.machine.folders.get(&attempt).map(|folder| folder.chat)?;
        if !w.calm && w.rng.permille(w.weather.birth_fails) {
            return Some(Input::NotBorn { errno: ENOENT, text: "no such file".to_owned() });
        }
        let others = w.evidence.living(chat);
        if others > 0 {
            w.fail(format!("a second agent is born for {chat} while {others} live"));
        }
        let traits = w.traits_of(chat);
        let slow = if w.rng.permille(300) { w.rng.millis(5000) } else { 0 };
        let ready_at = w.clock.awake + slow;
        self.agent = Some(Agent::new(chat, attempt, traits, ready_at));
        if let Some(seen) = w.evidence.attempts.get_mut(&attempt) {
            seen.lives = true;
        }
        w.say(|| format!("agent {} is born", short(attempt)));
        if let Some(record) = w.machine.folders.get_mut(&attempt).and_then(|f| f.record.as_mut()) {
            record.agent = true;
        }
        Some(Input::Born(ProcessId { pid: w.next_pid(), start_time: 1 }))
    }

    fn look(&self) -> Look {
        if !self.has_live_agent() {
            return Look::default();
        }
        let one = Survivor {
            process: ProcessId { pid: 1, start_time: 1 },
            uid: 0,
            state: 'S',
            command: String::new(),
            found_by: FoundBy::Agent,
        };
        Look { named: vec![one], count: 1 }
    }

    fn take_output(&mut self, w: &mut World, attempt: AttemptId) -> Alive {
        let Some(agent) = &mut self.agent else { return Alive::Yes };
        let most = 1 + w.rng.below(READ_BYTES_MAX);
        let bytes = agent.peek(most);
        if bytes.is_empty() {
            if agent.exit.is_some() {
                self.output_ended = true;
                return self.feed(w, attempt, Input::OutputEnded);
            }
            return Alive::Yes;
        }
        self.may_push = true;
        let taken = self.core.output(w.clock.now(), &bytes);
        let told = agent.consume(taken);
        let position = self.core.spool().end();
        if let Some(seen) = w.evidence.attempts.get_mut(&attempt) {
            seen.spooled.extend(told.into_iter().map(|told| Spooled { position, told }));
        }
        if self.fate.dead.get() { Alive::No } else { Alive::Yes }
    }

    fn fill_stdin(&mut self, w: &mut World, attempt: AttemptId) -> Alive {
        if let Some(bytes) = self.took.take() {
            return self.feed(w, attempt, Input::StdinTook(bytes));
        }
        let mut buffer = [0; WRITE_BYTES_MAX];
        let most = 1 + w.rng.below(WRITE_BYTES_MAX);
        let Some(buffer) = buffer.get_mut(..most) else { return Alive::Yes };
        let bytes = self.core.stdin_bytes(buffer);
        let Some(agent) = &mut self.agent else { return Alive::Yes };
        agent.stdin.extend_from_slice(buffer.get(..bytes).unwrap_or_default());
        self.took = Some(bytes);
        if !w.calm && w.rng.permille(w.weather.keeper_dies_writing * 4) {
            // The agent is quick, and its keeper does not come to write down what it took.
            let mut steps = w.rng.below(4);
            while let Some(mut agent) = self.agent.take_if(|agent| steps > 0 && agent.can_act(w)) {
                agent.step(w);
                self.agent = Some(agent);
                steps -= 1;
            }
            return Alive::No;
        }
        Alive::Yes
    }

    fn push(&mut self, w: &mut World) -> Alive {
        let (mut bytes, mut scratch) = (Vec::new(), Vec::new());
        let Some(host) = self.core.host_connection() else { return Alive::Yes };
        match self.core.push_records(&mut bytes, &mut scratch) {
            Ok(Pushed::Some) => send(w, host, bytes),
            Ok(Pushed::Nothing) => self.may_push = false,
            Err(error) => w.fail(format!("a keeper cannot read its spool: {error}")),
        }
        Alive::Yes
    }

    fn hear(&mut self, w: &mut World, attempt: AttemptId, number: u64) -> Alive {
        let Some(wire) = w.machine.wires.get_mut(&number) else { return Alive::Yes };
        let connection = ConnectionId(number);
        let Some(bytes) = wire.to_keeper.pop_front() else {
            w.machine.wires.remove(&number);
            self.wires.retain(|wire| *wire != number);
            return self.feed(w, attempt, Input::Closed(connection));
        };
        match Message::take(&bytes, MESSAGE_BYTES_MAX) {
            Ok(Some((message, _))) if refuses(w, &message) => {
                let mut bytes = Vec::new();
                Reply::Refused(Refusal::Busy).encode(message.id, &mut bytes);
                send(w, connection, bytes);
                Alive::Yes
            }
            Ok(Some((message, _))) => self.feed(w, attempt, Input::Message(connection, message)),
            Ok(None) | Err(_) => {
                w.fail("the host sent no whole message".to_owned());
                Alive::Yes
            }
        }
    }

    fn reap(&mut self, w: &mut World, attempt: AttemptId) -> Alive {
        self.reaped = true;
        let exit = match self.agent.as_ref().and_then(|agent| agent.exit) {
            Some(agent::Exit::Code(code)) => Exit::Code(code),
            Some(agent::Exit::Signal(signal)) => Exit::Signal(signal),
            None => return Alive::Yes,
        };
        self.feed(w, attempt, Input::AgentExited(exit))
    }

    fn tick(&mut self, w: &mut World, attempt: AttemptId) -> Alive {
        let (phase, at) = (self.core.phase(), self.core.spool().end());
        let alive = self.feed(w, attempt, Input::Tick);
        // No host has come for too long.
        let ends = phase == Phase::Running && self.core.phase() == Phase::Stopping;
        if let Some(seen) = w.evidence.attempts.get_mut(&attempt).filter(|_| ends) {
            seen.signalled_at.get_or_insert(at);
        }
        alive
    }

    /// Somebody tells it to end: a service manager, a shutdown.
    pub(crate) fn signal_from_outside(&mut self, w: &mut World, attempt: AttemptId) -> Alive {
        let at = self.core.spool().end();
        if let Some(seen) = w.evidence.attempts.get_mut(&attempt)
            && self.core.phase() == Phase::Running
        {
            seen.signalled_at.get_or_insert(at);
        }
        self.feed(w, attempt, Input::OutsideSignal(15))
    }
}

/// Whether the keeper has no room for a frame: what fills it up is more than a history holds.
fn refuses(w: &mut World, message: &Message<'_>) -> bool {
    let frame = matches!(Call::decode(message), Ok(Call::WriteFrame(_) | Call::CancelFrame { .. }));
    frame && !w.calm && w.rng.permille(w.weather.frames_refused)
}

/// Whether a process goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alive {
    Yes,
    No,
}

fn send(w: &mut World, connection: ConnectionId, bytes: Vec<u8>) {
    if let Some(wire) = w.machine.wires.get_mut(&connection.0)
        && !wire.host_gone
    {
        wire.to_host.push_back(bytes);
    }
}

/// Has a keeper do one thing.
pub(crate) fn step(
    w: &mut World,
    attempt: AttemptId,
    act: impl FnOnce(&mut Keeper, &mut World) -> Alive,
) {
    let Some(folder) = w.machine.folders.get_mut(&attempt) else { return };
    let holder = std::mem::replace(&mut folder.holder, Holder::Nobody);
    let Holder::Keeper(mut keeper) = holder else {
        folder.holder = holder;
        return;
    };
    let alive = act(&mut keeper, w);
    let ended =
        keeper.core.phase() == Phase::Ended && keeper.agent.is_some() && !keeper.fate.dead.get();
    if let Some(seen) = w.evidence.attempts.get_mut(&attempt).filter(|_| ended) {
        seen.exited = true;
    }
    if let Some(folder) = w.machine.folders.get_mut(&attempt) {
        folder.holder = Holder::Keeper(keeper);
    }
    if alive == Alive::No {
        kill_keeper(w, attempt);
    }
}

/// Has a keeper take this turn.
pub(crate) fn take_turn(w: &mut World, attempt: AttemptId, turn: Turn) {
    step(w, attempt, |keeper, w| match turn {
        Turn::Socket(wire) => keeper.hear(w, attempt, wire),
        Turn::Push => keeper.push(w),
        Turn::Output => keeper.take_output(w, attempt),
        Turn::Stdin => keeper.fill_stdin(w, attempt),
        Turn::Reap => keeper.reap(w, attempt),
        Turn::Tick => keeper.tick(w, attempt),
        Turn::Agent => {
            if let Some(mut agent) = keeper.agent.take() {
                agent.step(w);
                keeper.agent = Some(agent);
            }
            Alive::Yes
        }
    });
}
