//! What a keeper decides.
//!
//! [`KeeperCore`] is a state machine: an [`Input`] and the time go in, [`Effect`]s come out. It knows no
//! process, no socket and no clock, and reaches its files through [`SpoolFs`], so that a simulation can
//! run it, cut its power and look at what is left. What is written to the spool is written inside a step,
//! before the effect that depends on it is given out: that a frame has begun is recorded before its
//! first byte can be asked for, and that a stop is under way before its signal.
//!
//! Bytes are pulled: the shell asks [`KeeperCore::wants_output`] before it reads from the agent,
//! [`KeeperCore::stdin_bytes`] for what to write to it and [`KeeperCore::push_records`] for what to send
//! to the host, so that nothing has to be held here.

mod calls;
mod ending;
mod frames;
mod output;

use crate::limits::{CUT_OFF_AFTER, RETRY_EVERY};
use crate::protocol::{AgentState, Message, Phase, Reply, Start, Status};
pub use output::Pushed;

use crate::record::{Exit, Mark, Pipe, ProcessId, Survivor};
use crate::registry::Spec;
use crate::spool::{AppendError, RawReader, Spool, SpoolFs};
use ending::Ending;
use frames::FrameQueue;
use std::collections::VecDeque;
use std::time::Duration;

/// A connection to the keeper's socket, as the shell numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub u64);

/// Awake, monotonic time since some fixed moment.
pub type Now = Duration;

/// What happens to a keeper.
#[derive(Debug)]
pub enum Input<'a> {
    /// A message came from a peer with this process's own uid.
    Message(ConnectionId, Message<'a>),
    /// A connection has ended.
    Closed(ConnectionId),
    /// The agent was started.
    Born(ProcessId),
    /// The agent could not be started.
    NotBorn {
        /// The operating system's error number, 0 where there is none.
        errno: i32,
        /// The error in words.
        text: String,
    },
    /// The agent's main process has ended.
    AgentExited(Exit),
    /// The agent's stdout has ended; or nothing is in it and [`KeeperCore::takes_last_bytes`].
    OutputEnded,
    /// The agent's stdin took this many of the bytes that were asked for.
    StdinTook(usize),
    /// The agent's stdin takes nothing any more.
    StdinBroken,
    /// Somebody signalled the keeper to end.
    OutsideSignal(i32),
    /// The tree was looked at.
    Looked(Look),
    /// Time has passed.
    Tick,
}

/// What was seen of the agent's tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Look {
    /// Live processes of the attempt, the agent itself included: the first of them.
    pub named: Vec<Survivor>,
    /// How many there are. 0 only when the keeper has no child left and no process carries the cookie.
    pub count: u64,
}

/// What a keeper has to do, in this order.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Answer a call.
    Reply(ConnectionId, u32, Reply<'static>),
    /// Answer a call with the status, once the shell has added stderr and the tree to it.
    ReportStatus(ConnectionId, u32, Box<Status>),
    /// Close a connection, once what was answered is sent.
    Close(ConnectionId),
    /// Start the agent and report [`Input::Born`] or [`Input::NotBorn`].
    Start(Start),
    /// Signal; a tree is looked at anew for it.
    Signal(Target, i32),
    /// Look at the tree and report [`Input::Looked`].
    Look,
    /// End the process; everything is over.
    Finish,
}

/// Whom a signal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The agent's main process.
    Agent,
    /// Everything that is found of the attempt.
    Tree,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    Unborn,
    Running(ProcessId),
    Dead(Exit),
    /// It could not be started, or was stopped before it was.
    NeverBorn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stdout {
    Open,
    /// Nothing more is taken from it.
    Closed,
}

/// Whether something can still pass between the agent and its keeper, both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Whole,
    /// Not since a moment ago. An agent that is about to exit looks like this too.
    Lost {
        pipe: Pipe,
        tell_at: Now,
    },
    /// It is on record.
    Told,
}

/// The host that has greeted last.
#[derive(Debug)]
struct Host {
    connection: ConnectionId,
    reader: Option<RawReader>,
    /// Bytes of records that may still be pushed.
    window: u64,
}

/// A keeper's state.
#[derive(Debug)]
pub struct KeeperCore<F> {
    spec: Spec,
    spool: Spool<F>,
    frames: FrameQueue,
    agent: Agent,
    stdout: Stdout,
    reach: Reach,
    ending: Option<Ending>,
    /// The last record is written.
    ended: bool,
    /// What the agent had started was left alive after its end.
    holding: bool,
    hold_look_at: Now,
    /// The process ends after the last record, without waiting to be acknowledged.
    finish_when_ended: bool,
    host: Option<Host>,
    /// Since when there is no host.
    hostless_since: Now,
    /// The greeting that has started the agent is answered once it is born.
    greeting: Option<(ConnectionId, u32)>,
    acknowledged: u64,
    /// Records that a full disk could not take, in their order.
    owed: VecDeque<Mark>,
    /// Nothing is tried on the disk before this.
    disk_retry_at: Option<Now>,
    synced_at: Now,
    /// Bytes of a dead agent that a full disk could not take.
    lost_bytes: u64,
    last_output_at: Now,
    born_at: Now,
}

impl<F: SpoolFs> KeeperCore<F> {
    /// A keeper that waits for its first greeting.
    ///
    /// # Errors
    /// The spool cannot be begun. `salt` has to be unknown to the agent.
    pub fn new(spec: Spec, fs: F, salt: u64, now: Now) -> Result<Self, AppendError> {
        let spool = Spool::create(fs, spec.attempt, salt)?;
        Ok(Self {
            spec,
            spool,
            frames: FrameQueue::default(),
            agent: Agent::Unborn,
            stdout: Stdout::Open,
            reach: Reach::Whole,
            ending: None,
            ended: false,
            holding: false,
            hold_look_at: now,
            finish_when_ended: false,
            host: None,
            hostless_since: now,
            greeting: None,
            acknowledged: 0,
            owed: VecDeque::new(),
            disk_retry_at: None,
            synced_at: now,
            lost_bytes: 0,
            last_output_at: now,
            born_at: now,
        })
    }

    /// Takes one input; what has to be done is appended to `effects`.
    pub fn step(&mut self, now: Now, input: Input<'_>, effects: &mut VecDeque<Effect>) {
        match input {
            Input::Message(connection, message) => {
                self.take_message(now, connection, &message, effects);
            }
            Input::Closed(connection) => self.lose(now, connection),
            Input::Born(process) => self.be_born(now, process, effects),
            Input::NotBorn { errno, text } => {
                self.agent = Agent::NeverBorn;
                self.stdout = Stdout::Closed;
                self.record(now, Mark::SpawnFailed { errno, text });
                self.answer_greeting(effects);
            }
            Input::AgentExited(exit) => self.agent_exited(now, exit, effects),
            Input::OutputEnded => self.output_ended(now),
            Input::StdinTook(bytes) => self.stdin_took(now, bytes),
            Input::StdinBroken => self.frames.break_stdin(self.spool.fs()),
            Input::OutsideSignal(signal) => self.outside_signal(now, signal, effects),
            Input::Looked(look) => self.looked(now, &look, effects),
            Input::Tick => {}
        }
        self.pass_time(now, effects);
        self.begin_frame(now);
    }

    fn be_born(&mut self, now: Now, process: ProcessId, effects: &mut VecDeque<Effect>) {
        self.agent = Agent::Running(process);
        self.born_at = now;
        self.last_output_at = now;
        holdfast_fault::point("keeper.started.before");
        self.record(now, Mark::Started(process));
        holdfast_fault::point("keeper.started.after");
        self.answer_greeting(effects);
    }

    /// What time alone brings about.
    fn pass_time(&mut self, now: Now, effects: &mut VecDeque<Effect>) {
        if self.disk_retry_at.is_some_and(|at| now >= at) {
            self.disk_retry_at = None;
            self.pay_owed(now);
        }
        // It may record something, which is synced with the rest.
        self.watch_reach(now);
        self.sync_when_due(now);
        if matches!(self.agent, Agent::Unborn)
            && self.greeting.is_none()
            && now >= self.hostless_deadline(self.spec.limits.start_wait_ms)
        {
            effects.push_back(Effect::Finish);
            return;
        }
        if self.host.is_none() && now >= self.hostless_deadline(self.spec.limits.host_gone_ms) {
            self.host_is_lost(now, effects);
        }
        self.go_on_ending(now, effects);
        self.finish_when_over(effects);
    }

    /// Tells of an agent that goes on living with a closed pipe. One that exits meanwhile, or is being
    /// ended, has a death that tells more.
    fn watch_reach(&mut self, now: Now) {
        let lives = matches!(self.agent, Agent::Running(_)) && self.ending.is_none();
        let lost = match (self.stdout, self.frames.is_broken()) {
            (Stdout::Closed, _) => Some(Pipe::Stdout),
            (Stdout::Open, true) => Some(Pipe::Stdin),
            (Stdout::Open, false) => None,
        };
        match (self.reach, lost) {
            (Reach::Whole, Some(pipe)) if lives => {
                self.reach = Reach::Lost { pipe, tell_at: now.saturating_add(CUT_OFF_AFTER) };
            }
            (Reach::Lost { .. }, _) if !lives => self.reach = Reach::Whole,
            (Reach::Lost { pipe, tell_at }, _) if now >= tell_at => {
                self.reach = Reach::Told;
                self.record(now, Mark::CutOff(pipe));
            }
            (Reach::Whole | Reach::Lost { .. } | Reach::Told, _) => {}
        }
    }

    /// When a time without a host, or without a start, has lasted for `ms`.
    fn hostless_deadline(&self, ms: u64) -> Now {
        let since = match self.agent {
            Agent::Unborn => self.born_at,
            Agent::Running(_) | Agent::Dead(_) | Agent::NeverBorn => self.hostless_since,
        };
        since.saturating_add(Duration::from_millis(ms))
    }

    fn finish_when_over(&mut self, effects: &mut VecDeque<Effect>) {
        let over = self.ended && !self.holding && self.owed.is_empty();
        let read = self.acknowledged >= self.spool.end();
        if over && (read || self.finish_when_ended) {
            let _ = self.spool.sync();
            effects.push_back(Effect::Finish);
        }
    }

    /// When [`Input::Tick`] is due at the latest, as far as the core knows.
    #[must_use]
    pub fn next_tick(&self) -> Option<Now> {
        let start = matches!(self.agent, Agent::Unborn)
            .then(|| self.hostless_deadline(self.spec.limits.start_wait_ms));
        let hostless = self.host.is_none();
        let host_lost = (hostless && !self.finish_when_ended)
            .then(|| self.hostless_deadline(self.spec.limits.host_gone_ms));
        let sync = (hostless && self.spool.has_unsynced())
            .then(|| self.synced_at.saturating_add(RETRY_EVERY));
        let cut_off = match self.reach {
            Reach::Lost { tell_at, .. } => Some(tell_at),
            Reach::Whole | Reach::Told => None,
        };
        [start, host_lost, sync, cut_off, self.disk_retry_at, self.ending_tick()]
            .into_iter()
            .flatten()
            .min()
    }

    /// What the keeper is doing.
    #[must_use]
    pub fn phase(&self) -> Phase {
        match (&self.agent, &self.ending) {
            (_, Some(_)) => Phase::Stopping,
            _ if self.holding => Phase::Holding,
            (Agent::Unborn, None) => Phase::AwaitingStart,
            (Agent::Running(_), None) => Phase::Running,
            (Agent::Dead(_) | Agent::NeverBorn, None) => Phase::Ended,
        }
    }

    fn agent_state(&self) -> AgentState {
        match self.agent {
            Agent::Unborn => AgentState::None,
            Agent::Running(process) => AgentState::Running(process),
            Agent::Dead(_) | Agent::NeverBorn => AgentState::Ended,
        }
    }

    /// The agent, while it lives.
    #[must_use]
    pub fn agent(&self) -> Option<ProcessId> {
        match self.agent {
            Agent::Running(process) => Some(process),
            Agent::Unborn | Agent::Dead(_) | Agent::NeverBorn => None,
        }
    }

    /// The connection of the host, if there is one.
    #[must_use]
    pub fn host_connection(&self) -> Option<ConnectionId> {
        self.host.as_ref().map(|host| host.connection)
    }

    /// The spool.
    #[must_use]
    pub fn spool(&self) -> &Spool<F> {
        &self.spool
    }

    /// What is left when the process is gone: the files.
    pub fn into_fs(self) -> F {
        self.spool.into_fs()
    }
}

#[cfg(test)]
mod tests;
