//! The loop around one chat's actor: the real `Core`, fed, committed and acted upon in the order of
//! the host's own shell, one thing at a time, so that a crash can fall between any two of them.

mod orders;

use std::collections::VecDeque;

use holdfast_agent::codec::AgentKind;
use holdfast_core::fact::StopWhy;
use holdfast_core::ids::{AttemptId, ChatId, Position};
use holdfast_core::input::{Command, Input, KeeperEvent, Reply};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::time::Awake;
use holdfast_host::actor::Core;
use holdfast_keeper::Record;
use holdfast_store::{CommitError, Operation};

use crate::driver::Origin;
use crate::host::{self, Host, Taken};
use crate::journal::{Cause, Outcome};
use crate::net::Answer;
use crate::world::World;

/// How long text alone waits to be committed, in microseconds.
const TEXT_COMMIT_MICROS: u64 = 50_000;
/// How soon a commit that found no room is tried again, in microseconds.
const ROOM_RETRY_MICROS: u64 = 1_000_000;
/// How often time is let pass, in microseconds.
const TICK_MICROS: u64 = 1_000_000;

/// What a driver tells its actor.
#[derive(Clone, Debug)]
pub(crate) enum Word {
    Record(Record, Position),
    Event(KeeperEvent),
}

/// What an actor is told.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    Command { delivery: u64, command: Box<Command>, operation: Option<OperationKey> },
    Prepare { why: StopWhy },
}

/// The caller's own name for a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperationKey {
    pub(crate) key: String,
    pub(crate) body: [u8; 32],
}

/// Whose keys they are.
pub(crate) const PRINCIPAL: &str = "someone";

#[derive(Debug)]
enum Doing {
    Nothing,
    /// What was heard is at the journal.
    Heard {
        ticket: u64,
    },
    Command {
        ticket: u64,
        delivery: u64,
        reply: Reply,
    },
    /// Its part of the stop is with the host.
    Prepared,
}

/// One actor.
#[derive(Debug)]
pub(crate) struct Actor {
    id: ChatId,
    core: Core,
    pub(crate) inbox: VecDeque<Message>,
    pub(crate) words: VecDeque<(AttemptId, Word)>,
    heard: Vec<(AttemptId, Word)>,
    due: Option<u64>,
    blocked: Option<u64>,
    last_word: Awake,
    tick_at: u64,
    doing: Doing,
    /// Until when commands wait for it to be known whether the attempt of an earlier host lives.
    finding: Option<u64>,
    /// That is known now.
    pub(crate) found: bool,
    driver: Option<AttemptId>,
}

impl Actor {
    /// Loads a chat. What it owes is begun with the first step.
    pub(crate) fn load(w: &mut World, host: &mut Host, id: ChatId) -> Option<Self> {
        let core = load_core(w, id)?;
        let mut actor = Self {
            id,
            core,
            inbox: VecDeque::new(),
            words: VecDeque::new(),
            heard: Vec::new(),
            due: None,
            blocked: None,
            last_word: Awake(w.clock.awake),
            tick_at: w.clock.awake,
            doing: Doing::Nothing,
            finding: None,
            found: false,
            driver: None,
        };
        actor.reconcile(w, host, Origin::Adopted);
        Some(actor)
    }

    /// Whether nothing is lost when it leaves the memory.
    pub(crate) fn can_unload(&self) -> bool {
        self.driver.is_none()
            && self.inbox.is_empty()
            && self.words.is_empty()
            && self.heard.is_empty()
            && !self.core.is_dirty()
            && matches!(self.doing, Doing::Nothing)
    }

    /// Whether nothing waits for it but the clock.
    pub(crate) fn only_ticks(&self) -> bool {
        self.inbox.is_empty()
            && self.words.is_empty()
            && self.heard.is_empty()
            && matches!(self.doing, Doing::Nothing)
    }

    pub(crate) fn can_act(&self, w: &World) -> bool {
        match &self.doing {
            Doing::Heard { ticket } | Doing::Command { ticket, .. } => {
                w.journal.has_answer(*ticket)
            }
            Doing::Prepared => false,
            Doing::Nothing => {
                let now = w.clock.awake;
                let wake = self.blocked.or(self.due).is_some_and(|at| at <= now);
                let hears = self.blocked.is_none() && !self.words.is_empty();
                self.next_message(now).is_some() || wake || hears || self.tick_at <= now
            }
        }
    }

    pub(crate) fn wakes_at(&self) -> Option<u64> {
        match self.doing {
            Doing::Nothing => {
                [self.blocked.or(self.due), Some(self.tick_at)].into_iter().flatten().min()
            }
            Doing::Heard { .. } | Doing::Command { .. } | Doing::Prepared => None,
        }
    }

    /// The message that is taken next: while it is not known whether the attempt lives, commands
    /// wait, and what was told of it comes first.
    fn next_message(&self, now: u64) -> Option<usize> {
        let waits = self.finding.is_some_and(|until| !self.found && now < until);
        let late = self.finding.is_some() && !self.words.is_empty();
        if self.blocked.is_none() && (waits || late) {
            return self.inbox.iter().position(|message| match message {
                Message::Prepare { .. } => true,
                Message::Command { .. } => false,
            });
        }
        (!self.inbox.is_empty()).then_some(0)
    }

    /// Does one thing.
    pub(crate) fn step(&mut self, w: &mut World, host: &mut Host) {
        match std::mem::replace(&mut self.doing, Doing::Nothing) {
            Doing::Heard { ticket } => {
                if let Some(outcome) = w.journal.answer(ticket) {
                    self.heard_stored(w, host, outcome);
                }
            }
            Doing::Command { ticket, delivery, reply } => {
                if let Some(outcome) = w.journal.answer(ticket) {
                    self.command_stored(w, host, outcome, delivery, reply);
                }
            }
            Doing::Prepared => self.doing = Doing::Prepared,
            Doing::Nothing => self.take(w, host),
        }
    }

    /// The host's own loop: commands before time before words, as it has it.
    fn take(&mut self, w: &mut World, host: &mut Host) {
        let now = w.clock.awake;
        if let Some(at) = self.next_message(now) {
            // What was heard is committed before anything else is decided.
            if self.core.is_dirty() {
                return self.commit_heard(w);
            }
            if let Some(message) = self.inbox.remove(at) {
                if at == 0 && matches!(message, Message::Command { .. }) {
                    self.finding = None;
                }
                return self.message(w, host, message);
            }
        }
        if self.blocked.or(self.due).is_some_and(|at| at <= now) {
            self.blocked = None;
            if self.core.is_dirty() {
                return self.commit_heard(w);
            }
            return self.retake(w);
        }
        if self.blocked.is_none() && !self.words.is_empty() {
            return self.listen(w);
        }
        if self.tick_at <= now {
            self.tick_at = now + TICK_MICROS;
            self.tick(w);
        }
    }

    fn message(&mut self, w: &mut World, host: &mut Host, message: Message) {
        match message {
            Message::Command { delivery, command, operation } => {
                self.command(w, delivery, *command, operation);
            }
            Message::Prepare { why } => {
                let given = w.given(self.id);
                let _ = self.core.command(Command::Stop { why }, &given);
                let unit = self.core.prepare(given.at, None).unit;
                let some = unit.is_some();
                if host.prepared(self.id, unit) == Taken::Yes && some {
                    self.doing = Doing::Prepared;
                } else {
                    self.core.abandon();
                }
            }
        }
    }

    fn command(
        &mut self,
        w: &mut World,
        delivery: u64,
        command: Command,
        operation: Option<OperationKey>,
    ) {
        let given = w.given(self.id);
        let reply = match self.core.command(command, &given) {
            Ok(reply) => reply,
            Err(refusal) => return host::answer(w, delivery, Answer::Refused(refusal)),
        };
        let stored = operation.map(|key| Operation {
            principal: PRINCIPAL.to_owned(),
            key: key.key,
            body: key.body,
            reply: reply.clone(),
        });
        match self.core.prepare(given.at, stored).unit {
            Some(unit) => {
                let cause = Cause::Request(w.net.request_of(delivery));
                let ticket = w.journal.submit(vec![unit], cause);
                self.doing = Doing::Command { ticket, delivery, reply };
            }
            // Nothing to store.
            None => host::answer(w, delivery, Answer::Done(reply)),
        }
    }

    fn command_stored(
        &mut self,
        w: &mut World,
        host: &mut Host,
        outcome: Outcome,
        delivery: u64,
        reply: Reply,
    ) {
        match outcome {
            Ok(()) => {
                self.core.committed();
                self.is_as_stored(w);
                self.reconcile(w, host, Origin::Fresh);
                host::answer(w, delivery, Answer::Done(reply));
            }
            Err(error) => {
                self.core.abandon();
                match error {
                    CommitError::Uncertain(_) | CommitError::Fenced { .. } => self.reload(w, host),
                    CommitError::OperationExists
                    | CommitError::SlotTaken { .. }
                    | CommitError::StorageFull
                    | CommitError::Failed(_)
                    | CommitError::Refused(_)
                    | CommitError::Stopped => {}
                }
                host::answer(w, delivery, Answer::Refused(refusal_of(&error)));
            }
        }
    }

    /// The host's stop was stored, or not.
    pub(crate) fn stop_stored(&mut self, w: &mut World, host: &mut Host, stored: bool) {
        if !matches!(self.doing, Doing::Prepared) {
            return;
        }
        self.doing = Doing::Nothing;
        if stored {
            self.core.committed();
            self.reconcile(w, host, Origin::Fresh);
        } else {
            self.core.abandon();
            self.reload(w, host);
        }
    }

    fn listen(&mut self, w: &mut World) {
        while let Some((attempt, word)) = self.words.pop_front() {
            self.take_in(w, attempt, &word);
            self.heard.push((attempt, word));
            // How many are there already is a matter of chance.
            if w.rng.permille(300) {
                break;
            }
        }
        if self.core.is_urgent() {
            self.commit_heard(w);
        } else if self.core.is_dirty() {
            let due = w.clock.awake + TEXT_COMMIT_MICROS;
            self.due.get_or_insert(due);
        } else {
            self.heard.clear();
        }
    }

    fn take_in(&mut self, w: &mut World, attempt: AttemptId, word: &Word) {
        let given = w.given(self.id);
        self.last_word = given.awake;
        match word {
            Word::Record(record, next) => {
                // What is shown live is a courtesy, and nobody's state.
                let _ = self.core.record(attempt, record, *next, &given);
            }
            Word::Event(event) => self.core.keeper(attempt, event.clone(), &given),
        }
    }

    fn commit_heard(&mut self, w: &mut World) {
        self.due = None;
        let at = w.wall();
        match self.core.prepare(at, None).unit {
            Some(unit) => {
                let ticket = w.journal.submit(vec![unit], Cause::World);
                self.doing = Doing::Heard { ticket };
            }
            None => self.heard.clear(),
        }
    }

    fn heard_stored(&mut self, w: &mut World, host: &mut Host, outcome: Outcome) {
        match outcome {
            Ok(()) => {
                self.core.committed();
                self.is_as_stored(w);
                self.heard.clear();
                self.reconcile(w, host, Origin::Fresh);
            }
            Err(error) => {
                self.core.abandon();
                match error {
                    CommitError::Uncertain(_) | CommitError::Fenced { .. } => {
                        self.reload(w, host);
                        self.due = Some(w.clock.awake);
                    }
                    CommitError::StorageFull | CommitError::Failed(_) | CommitError::Stopped => {
                        self.blocked = Some(w.clock.awake + ROOM_RETRY_MICROS);
                    }
                    CommitError::Refused(_)
                    | CommitError::OperationExists
                    | CommitError::SlotTaken { .. } => {
                        w.fail(format!("what an agent said was refused: {error}"));
                    }
                }
            }
        }
    }

    /// Takes in again what was heard and not committed.
    fn retake(&mut self, w: &mut World) {
        self.due = None;
        let heard = self.heard.clone();
        for (attempt, word) in &heard {
            self.take_in(w, *attempt, word);
        }
        if self.core.is_dirty() {
            self.commit_heard(w);
        } else {
            self.heard.clear();
        }
    }

    fn tick(&mut self, w: &mut World) {
        if self.core.is_dirty() || self.blocked.is_some() {
            return;
        }
        let given = w.given(self.id);
        let release_after = w.weather.release_after;
        let ceiling_after = w.weather.ceiling_after;
        let last_word = self.last_word;
        self.core.tick(Input::Tick { last_word, release_after, ceiling_after }, &given);
        if self.core.is_dirty() {
            self.commit_heard(w);
        }
    }

    /// What is in memory is what a host that comes back would load.
    fn is_as_stored(&self, w: &mut World) {
        let loaded = w.journal.store.load(self.id);
        if loaded.as_ref().map(|loaded| &loaded.chat) != Some(self.core.chat()) {
            let stored = loaded.map(|loaded| loaded.chat);
            w.fail(format!(
                "{} in memory is not what is stored:\n{:?}\n{stored:?}",
                self.id,
                self.core.chat()
            ));
        }
    }

    fn reload(&mut self, w: &mut World, host: &mut Host) {
        if let Some(core) = load_core(w, self.id) {
            self.core = core;
            self.reconcile(w, host, Origin::Adopted);
        }
    }
}

fn load_core(w: &mut World, id: ChatId) -> Option<Core> {
    let loaded = w.journal.store.load(id);
    match Core::new(id, AgentKind::Acp, loaded) {
        Ok(core) => Some(core),
        Err(error) => {
            w.fail(format!("{id} cannot be loaded: {error}"));
            None
        }
    }
}

/// What a caller is told of a commit that did not come about.
fn refusal_of(error: &CommitError) -> Refusal {
    let code = match error {
        CommitError::StorageFull => Code::StorageFull,
        CommitError::SlotTaken { .. } => Code::SlotTaken,
        CommitError::OperationExists => Code::OperationConflict,
        CommitError::Uncertain(_) | CommitError::Fenced { .. } | CommitError::Failed(_) => {
            Code::NotDurable
        }
        CommitError::Stopped => Code::Stopping,
        CommitError::Refused(_) => Code::Internal,
    };
    Refusal::new(code, error.to_string())
}
