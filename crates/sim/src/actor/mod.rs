//! The task around one chat's actor: it does what the host's own [`Work`] says is next, one thing at
//! a time, so that a crash can fall between any two of them.

mod effects;

use std::collections::VecDeque;

use holdfast_agent::codec::AgentKind;
use holdfast_core::fact::StopWhy;
use holdfast_core::ids::{AttemptId, ChatId};
use holdfast_core::input::{Caller, Command};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::time::Awake;
use holdfast_host::actor::Core;
use holdfast_host::actor::work::{Asked, Idle, Next, Work};
use holdfast_host::attempt::Word;
use holdfast_store::CommitError;

use crate::host::{self, Host, Taken};
use crate::journal::Cause;
use crate::net::Answer;
use crate::world::World;

/// How often time is let pass, in microseconds.
const TICK_MICROS: u64 = 1_000_000;
/// How long commands wait for an attempt of an earlier host to be found, in microseconds.
const FINDING_MICROS: u64 = 5_000_000;

/// What an actor is told.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    Command { delivery: u64, command: Box<Command>, caller: Caller },
    Prepare { why: StopWhy },
}

/// Whose keys they are.
pub(crate) const PRINCIPAL: &str = "someone";

/// What the actor is at.
#[derive(Debug)]
enum Doing {
    /// This is done with its next step.
    Next(Next),
    /// A unit is at the journal.
    Stored { ticket: u64 },
    /// Its part of the stop is with the host.
    Prepared,
}

/// One actor.
#[derive(Debug)]
pub(crate) struct Actor {
    id: ChatId,
    work: Work,
    pub(crate) inbox: VecDeque<Message>,
    pub(crate) words: VecDeque<(AttemptId, Word)>,
    tick_at: u64,
    doing: Doing,
    /// The request that is answered next.
    delivery: Option<u64>,
    /// Until when commands wait for it to be known whether the attempt of an earlier host lives.
    finding: Option<u64>,
    /// That is known now.
    pub(crate) found: bool,
    driver: Option<AttemptId>,
}

impl Actor {
    /// Loads a chat. What it owes is begun with the first step.
    pub(crate) fn load(w: &mut World, host: &mut Host, id: ChatId) -> Option<Self> {
        let core = load_core(w, id).ok()?;
        let now = Awake(w.clock.awake);
        let idle =
            Idle { release_after: w.weather.release_after, ceiling_after: w.weather.ceiling_after };
        let (work, next) = Work::begin(core, id, now, idle);
        let mut actor = Self {
            id,
            work,
            inbox: VecDeque::new(),
            words: VecDeque::new(),
            tick_at: w.clock.awake,
            doing: Doing::Next(next),
            delivery: None,
            finding: None,
            found: false,
            driver: None,
        };
        actor.step(w, host);
        actor.finding = actor.driver.map(|_| w.clock.awake + FINDING_MICROS);
        Some(actor)
    }

    /// Whether it has nothing under way.
    fn is_at_rest(&self) -> bool {
        matches!(self.doing, Doing::Next(Next::Rest))
    }

    /// Whether nothing is lost when it leaves the memory.
    pub(crate) fn can_unload(&self) -> bool {
        self.driver.is_none() && self.only_ticks() && !self.work.core().is_dirty()
    }

    /// Whether nothing waits for it but the clock.
    pub(crate) fn only_ticks(&self) -> bool {
        self.inbox.is_empty() && self.words.is_empty() && self.work.is_idle() && self.is_at_rest()
    }

    pub(crate) fn can_act(&self, w: &World) -> bool {
        match &self.doing {
            Doing::Stored { ticket } => w.journal.has_answer(*ticket),
            Doing::Prepared => false,
            Doing::Next(Next::Rest) => {
                let now = w.clock.awake;
                let hears = self.work.takes_words() && !self.words.is_empty();
                self.next_message(now).is_some() || self.wakes(now) || hears || self.tick_at <= now
            }
            Doing::Next(_) => true,
        }
    }

    fn wakes(&self, now: u64) -> bool {
        self.work.wakes_at().is_some_and(|at| at.0 <= now)
    }

    pub(crate) fn wakes_at(&self) -> Option<u64> {
        let wake = self.work.wakes_at().map_or(self.tick_at, |at| at.0.min(self.tick_at));
        self.is_at_rest().then_some(wake)
    }

    /// The message that is taken next: while it is not known whether the attempt lives, commands
    /// wait, and what was told of it comes first.
    fn next_message(&self, now: u64) -> Option<usize> {
        let waits = self.finding.is_some_and(|until| !self.found && now < until);
        let late = self.finding.is_some() && !self.words.is_empty();
        if self.work.takes_words() && (waits || late) {
            return self.inbox.iter().position(|message| match message {
                Message::Prepare { .. } => true,
                Message::Command { .. } => false,
            });
        }
        (!self.inbox.is_empty()).then_some(0)
    }

    /// Does one thing.
    pub(crate) fn step(&mut self, w: &mut World, host: &mut Host) {
        let doing = std::mem::replace(&mut self.doing, Doing::Next(Next::Rest));
        self.doing = match doing {
            Doing::Next(Next::Rest) => Doing::Next(self.take(w)),
            Doing::Next(next) => self.go_on(w, host, next),
            Doing::Stored { ticket } => match w.journal.answer(ticket) {
                Some(outcome) => {
                    let stored = outcome.is_ok();
                    let doubtful = matches!(outcome, Err(CommitError::Uncertain(_)));
                    let next = self.work.stored(outcome, &mut || w.given(self.id));
                    if stored {
                        self.is_as_stored(w);
                    }
                    if doubtful && !matches!(next, Next::Load) {
                        // A word that was taken in by itself: the fence tells at the next commit.
                        w.journal.stale.insert(self.id);
                    }
                    Doing::Next(next)
                }
                None => Doing::Stored { ticket },
            },
            Doing::Prepared => Doing::Prepared,
        };
        // What is shown live is a courtesy, and nobody's state.
        drop(self.work.take_deltas());
    }

    fn go_on(&mut self, w: &mut World, host: &mut Host, next: Next) -> Doing {
        Doing::Next(match next {
            Next::Rest => Next::Rest,
            Next::Commit(unit) => {
                let cause = match self.delivery {
                    Some(delivery) if self.work.is_deciding() => {
                        Cause::Request(w.net.request_of(delivery))
                    }
                    Some(_) | None => Cause::World,
                };
                return Doing::Stored { ticket: w.journal.submit(vec![*unit], cause) };
            }
            // Nobody here wants something of several chats.
            Next::HandPart(_) => self.work.handed_stored(false),
            Next::HandOut(unit) => {
                let some = unit.is_some();
                if host.prepared(self.id, unit.map(|unit| *unit)) == Taken::Yes && some {
                    return Doing::Prepared;
                }
                self.work.handed_stored(false)
            }
            Next::Load => {
                let loaded = reload(w, self.id);
                self.work.loaded(loaded, &mut || w.given(self.id))
            }
            Next::Reconcile(origin) => {
                self.reconcile(w, host, origin);
                self.work.reconciled(&mut || w.given(self.id))
            }
            Next::Answer(answer) => {
                if let Some(delivery) = self.delivery.take() {
                    let answer = match answer {
                        Ok(reply) => Answer::Done(reply),
                        Err(refusal) => Answer::Refused(refusal),
                    };
                    host::answer(w, delivery, answer);
                }
                Next::Rest
            }
        })
    }

    /// The host's own loop: commands before time before words, as it has it.
    fn take(&mut self, w: &mut World) -> Next {
        let now = w.clock.awake;
        let id = self.id;
        if let Some(at) = self.next_message(now)
            && let Some(message) = self.inbox.remove(at)
        {
            return match message {
                Message::Command { delivery, command, caller } => {
                    self.finding = None;
                    self.delivery = Some(delivery);
                    let asked = Asked { command: *command, caller, kind: Some(AgentKind::Acp) };
                    self.work.command(asked, &mut || w.given(id))
                }
                Message::Prepare { why } => self.work.prepare_stop(why, &mut || w.given(id)),
            };
        }
        if self.wakes(now) {
            return self.work.wake(&mut || w.given(id));
        }
        if self.work.takes_words() && !self.words.is_empty() {
            return self.listen(w);
        }
        if self.tick_at <= now {
            self.tick_at = now + TICK_MICROS;
            return self.work.tick(&mut || w.given(id));
        }
        Next::Rest
    }

    fn listen(&mut self, w: &mut World) -> Next {
        while let Some((attempt, word)) = self.words.pop_front() {
            self.work.hear(attempt, word, &mut || w.given(self.id));
            // How many are there already is a matter of chance.
            if self.work.is_full() || w.rng.permille(300) {
                break;
            }
        }
        self.work.heard(&mut || w.given(self.id))
    }

    /// The host's stop was stored, or not.
    pub(crate) fn handed_stored(&mut self, stored: bool) {
        if let Doing::Prepared = self.doing {
            self.doing = Doing::Next(self.work.handed_stored(stored));
        }
    }

    /// What is in memory is what a host that comes back would load.
    fn is_as_stored(&self, w: &mut World) {
        let loaded = w.journal.store.load(self.id);
        let chat = self.work.core().chat();
        if loaded.as_ref().map(|loaded| &loaded.chat) != Some(chat) {
            let stored = loaded.map(|loaded| loaded.chat);
            w.fail(format!("{} in memory is not what is stored:\n{chat:?}\n{stored:?}", self.id));
        }
    }
}

/// Loads the chat again; the store may be busy.
fn reload(w: &mut World, id: ChatId) -> Result<Core, Refusal> {
    if !w.calm && w.rng.permille(w.weather.commit_fails) {
        w.say(|| format!("{id} cannot be loaded now"));
        w.journal.stale.insert(id);
        return Err(Refusal::new(Code::Overloaded, "The store is busy."));
    }
    w.journal.stale.remove(&id);
    load_core(w, id)
}

fn load_core(w: &mut World, id: ChatId) -> Result<Core, Refusal> {
    let loaded = w.journal.store.load(id);
    Core::new(id, AgentKind::Acp, loaded).map_err(|error| {
        w.fail(format!("{id} cannot be loaded: {error}"));
        Refusal::new(Code::ChatReadOnly, error.to_string())
    })
}
