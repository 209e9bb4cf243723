//! The world of one history: everything that is in it, its one clock, and the scheduler that picks
//! who does the next thing.

use holdfast_core::fact::{Author, Secret};
use holdfast_core::ids::{AttemptId, ChatId, MessageId};
use holdfast_core::input::{Command, Given};
use holdfast_core::offer::Cause;
use holdfast_core::time::{Awake, Micros};
use holdfast_store::MemoryStore;

use crate::agent::Traits;
use crate::agent::home::Homes;
use crate::agent::plan::Manners;
use crate::check::Checks;
use crate::evidence::Evidence;
use crate::host::{self, Host};
use crate::journal::{self, Journal};
use crate::keeper::{self, Turn};
use crate::machine::{self, Holder, Machine};
use crate::net::Net;
use crate::people::{self, People};
use crate::rng::Rng;
use crate::trace::Trace;
use crate::weather::Weather;

/// Where the wall clock of every history begins: some day of 2026.
const WALL_START: i64 = 1_780_000_000_000_000;
/// How long the disk stays full, in milliseconds at most.
const FULL_MILLIS: u64 = 5000;
/// How long the machine or the host stays off, in milliseconds at most.
const OFF_MILLIS: u64 = 3000;

/// The one clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Microseconds of awake time since the beginning.
    pub(crate) awake: u64,
    wall: i64,
    last: i64,
}

impl Clock {
    pub(crate) fn now(&self) -> std::time::Duration {
        std::time::Duration::from_micros(self.awake)
    }

    fn pass(&mut self, micros: u64) {
        self.awake += micros;
        self.wall += i64::try_from(micros).unwrap_or(0);
    }
}

/// Everything.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) clock: Clock,
    pub(crate) trace: Trace,
    pub(crate) weather: Weather,
    pub(crate) journal: Journal,
    pub(crate) machine: Machine,
    pub(crate) homes: Homes,
    pub(crate) evidence: Evidence,
    pub(crate) net: Net,
    pub(crate) people: People,
    pub(crate) host: Option<Host>,
    pub(crate) checks: Checks,
    /// Nothing goes wrong any more, and agents do what is asked of them.
    pub(crate) calm: bool,
    pub(crate) disk_full: bool,
    /// Agents do nothing but end when they are told to.
    pub(crate) frozen: bool,
    full_until: u64,
    host_at: u64,
    /// When something other than a tick happened last.
    pub(crate) last_activity: u64,
    tokens: u64,
    pids: u32,
    violation: Option<String>,
}

/// Who does the next thing.
#[derive(Clone, Copy, Debug)]
enum Who {
    Person,
    Answer,
    Request,
    Journal,
    Actor(ChatId),
    Driver(AttemptId),
    Keeper(AttemptId, Turn),
    Stop,
    HostStart,
}

impl World {
    pub(crate) fn new(seed: u64, traced: bool) -> Self {
        let mut rng = Rng::new(seed);
        let weather = Weather::of(&mut rng);
        let store = MemoryStore::new(rng.uuid());
        let people = People { left: 8 + rng.below(18), ..People::default() };
        Self {
            rng,
            clock: Clock { awake: 1_000_000, wall: WALL_START, last: 0 },
            trace: Trace::new(traced),
            weather,
            journal: Journal::new(store),
            machine: Machine::default(),
            homes: Homes::default(),
            evidence: Evidence::default(),
            net: Net::default(),
            people,
            host: None,
            checks: Checks::default(),
            calm: false,
            disk_full: false,
            frozen: false,
            full_until: 0,
            host_at: 0,
            last_activity: 0,
            tokens: 0,
            pids: 1,
            violation: None,
        }
    }

    /// Adds a line to the trace.
    pub(crate) fn say(&mut self, line: impl FnOnce() -> String) {
        self.trace.say(self.clock.awake, line);
    }

    /// A promise is broken; the first one counts.
    pub(crate) fn fail(&mut self, what: String) {
        self.say(|| format!("VIOLATION {what}"));
        self.violation.get_or_insert(what);
    }

    pub(crate) fn violation(&self) -> Option<&String> {
        self.violation.as_ref()
    }

    /// A text that is nowhere else in the history.
    pub(crate) fn token(&mut self) -> String {
        self.tokens += 1;
        format!("<{}>", self.tokens)
    }

    pub(crate) fn next_pid(&mut self) -> u32 {
        self.pids += 1;
        self.pids
    }

    /// What a decision may know of the world now. No two of a host have the same time in a row.
    pub(crate) fn given(&mut self, chat: ChatId) -> Given {
        let now = self.clock.wall;
        self.clock.last = if now == self.clock.last { now + 1 } else { now };
        let (high, low) = (self.rng.uuid().simple(), self.rng.uuid().simple());
        Given {
            chat,
            at: Micros(self.clock.last),
            awake: Awake(self.clock.awake),
            attempt: AttemptId::new(self.rng.uuid()),
            secret: Secret(format!("{high}{low}")),
        }
    }

    pub(crate) fn new_chat(&mut self) -> ChatId {
        ChatId::new(self.rng.uuid())
    }

    pub(crate) fn new_message(&mut self) -> MessageId {
        MessageId::new(self.rng.uuid())
    }

    pub(crate) fn opening(&self, first: Option<(MessageId, String)>) -> Command {
        Command::Open {
            agent: "scripted".to_owned(),
            cwd: "/work".to_owned(),
            project: None,
            title: None,
            slot: None,
            model: None,
            effort: None,
            mode: None,
            fork: None,
            adopt: None,
            message: first.map(|(message, text)| (message, text, Author::Person)),
        }
    }

    /// What kind of agent a chat has: the same in each of its lives.
    pub(crate) fn traits_of(&self, chat: ChatId) -> Traits {
        let mut rng = Rng::new(chat.uuid().as_u64_pair().0);
        Traits {
            manners: self.weather.manners.unwrap_or(Manners::Plain),
            loads: rng.permille(850),
            resumes: rng.permille(600),
            lazy: rng.permille(250),
            syncs: rng.permille(400),
        }
    }

    /// One step of the history: something goes wrong, or somebody does the next thing.
    pub(crate) fn step(&mut self) {
        if !self.calm {
            self.strike();
        }
        if self.disk_full && self.clock.awake >= self.full_until {
            self.set_disk_full(false);
        }
        let mut ready = Vec::new();
        self.ready(&mut ready);
        match self.rng.pick(&ready).copied() {
            Some(who) => {
                let micros = self.rng.next() % 3000;
                self.clock.pass(micros);
                if !self.is_tick(who) {
                    self.last_activity = self.clock.awake;
                }
                self.act(who);
            }
            None => self.wait(),
        }
    }

    /// Whether everybody has had their wishes, and were answered.
    pub(crate) fn is_over(&self) -> bool {
        self.people.left == 0 && self.people.wakes_at(0).is_none() && self.net.is_empty()
    }

    fn is_tick(&self, who: Who) -> bool {
        match who {
            Who::Actor(chat) => {
                let host = self.host.as_ref();
                host.and_then(|host| host.actors.get(&chat)).is_some_and(|actor| actor.only_ticks())
            }
            Who::Person
            | Who::Answer
            | Who::Request
            | Who::Journal
            | Who::Driver(_)
            | Who::Keeper(..)
            | Who::Stop
            | Who::HostStart => false,
        }
    }

    /// Whether nothing will happen any more but the passing of time.
    pub(crate) fn is_quiet(&self) -> bool {
        let mut ready = Vec::new();
        self.ready(&mut ready);
        let ticking = ready.iter().all(|who| matches!(who, Who::Actor(_)));
        ticking && self.net.is_empty() && !self.journal.is_waiting()
    }

    fn ready(&self, ready: &mut Vec<Who>) {
        let now = self.clock.awake;
        if self.people.is_due(now) {
            ready.push(Who::Person);
        }
        if self.net.has_answer(now) {
            ready.push(Who::Answer);
        }
        if self.net.has_request(now) {
            ready.push(Who::Request);
        }
        if self.journal.is_waiting() {
            ready.push(Who::Journal);
        }
        match &self.host {
            Some(host) => {
                for (chat, actor) in &host.actors {
                    if actor.can_act(self) {
                        ready.push(Who::Actor(*chat));
                    }
                }
                for (attempt, driver) in &host.drivers {
                    let words = host.actors.get(&driver.chat).map_or(0, |a| a.words.len());
                    if driver.can_act(self, words) {
                        ready.push(Who::Driver(*attempt));
                    }
                }
                if host.can_go_on_stopping(self) {
                    ready.push(Who::Stop);
                }
            }
            None if self.host_at <= now => ready.push(Who::HostStart),
            None => {}
        }
        let mut turns = Vec::new();
        for (attempt, folder) in &self.machine.folders {
            if let Holder::Keeper(keeper) = &folder.holder {
                turns.clear();
                keeper.turns(self, &mut turns);
                ready.extend(turns.iter().map(|turn| Who::Keeper(*attempt, *turn)));
            }
        }
    }

    fn act(&mut self, who: Who) {
        match who {
            Who::Person => people::step(self),
            Who::Answer => people::hear(self),
            Who::Request => host::deliver(self),
            Who::Journal => journal::step(self),
            Who::Actor(chat) => host::step_actor(self, chat),
            Who::Driver(attempt) => host::step_driver(self, attempt),
            Who::Keeper(attempt, turn) => keeper::take_turn(self, attempt, turn),
            Who::Stop => host::step_stop(self),
            Who::HostStart => host::start(self),
        }
    }

    /// Nobody can do anything: time passes to the next moment at which somebody can.
    fn wait(&mut self) {
        let now = self.clock.awake;
        let mut at = vec![self.full_until, self.host_at];
        at.extend(self.people.wakes_at(now));
        at.extend(self.net.wakes_at());
        if let Some(host) = &self.host {
            at.extend(host.wakes_at());
            at.extend(host.actors.values().filter_map(crate::actor::Actor::wakes_at));
            at.extend(host.drivers.values().filter_map(crate::driver::Driver::wakes_at));
        }
        for folder in self.machine.folders.values() {
            if let Holder::Keeper(keeper) = &folder.holder {
                at.extend(keeper.wakes_at(self));
            }
        }
        let next = at.into_iter().filter(|at| *at > now).min().unwrap_or(now + 1_000_000);
        self.clock.pass(next - now);
    }

    pub(crate) fn set_disk_full(&mut self, full: bool) {
        self.disk_full = full;
        self.say(|| format!("disk full: {full}"));
        for folder in self.machine.folders.values() {
            if let Holder::Keeper(keeper) = &folder.holder {
                keeper.fate.full.set(full);
            }
        }
    }

    /// Something goes wrong, now and then.
    fn strike(&mut self) {
        let weather = self.weather;
        let off = self.rng.millis(OFF_MILLIS);
        if self.host.is_some() && self.rng.permille(weather.host_crash) {
            host::crash(self);
            self.host_at = self.clock.awake + off;
        }
        if self.rng.permille(weather.kill_everything) {
            self.say(|| "everything is killed".to_owned());
            machine::kill_everything(self);
            self.host_at = self.clock.awake + off;
        }
        if self.rng.permille(weather.power_cut) {
            self.say(|| "the power goes".to_owned());
            machine::cut_power(self);
            self.host_at = self.clock.awake + off;
        }
        if self.rng.permille(weather.stop) {
            let update = self.rng.permille(300);
            host::order_stop(self, if update { Cause::Update } else { Cause::Quit });
            self.host_at = self.clock.awake + off;
        }
        if self.rng.permille(weather.disk_full) {
            self.full_until = self.clock.awake + self.rng.millis(FULL_MILLIS);
            self.set_disk_full(true);
        }
        if self.rng.permille(weather.clock_jump) {
            let jump = i64::try_from(self.rng.next() % 7_200_000_000).unwrap_or(0);
            self.clock.wall += if self.rng.permille(500) { jump } else { -jump };
            self.say(|| "the clock jumps".to_owned());
        }
        self.strike_a_keeper();
    }

    fn strike_a_keeper(&mut self) {
        let weather = self.weather;
        let living: Vec<AttemptId> = self
            .machine
            .folders
            .iter()
            .filter(|(_, folder)| folder.is_alive())
            .map(|(attempt, _)| *attempt)
            .collect();
        let Some(attempt) = self.rng.pick(&living).copied() else { return };
        if self.rng.permille(weather.keeper_kill) {
            machine::kill_keeper(self, attempt);
        }
        if self.rng.permille(weather.keeper_dies_writing) {
            let writes = u32::try_from(self.rng.below(12)).unwrap_or(0);
            if let Some(Holder::Keeper(keeper)) =
                self.machine.folders.get(&attempt).map(|folder| &folder.holder)
            {
                keeper.fate.writes_left.set(Some(writes));
            }
        }
        if self.rng.permille(weather.keeper_signal) {
            self.say(|| "a keeper is told to end from outside".to_owned());
            keeper::step(self, attempt, |keeper, w| keeper.signal_from_outside(w, attempt));
        }
        if self.rng.permille(weather.agent_kill) {
            keeper::step(self, attempt, |keeper, w| {
                if let Some(agent) = &mut keeper.agent {
                    agent.end(w, crate::agent::Exit::Signal(9));
                }
                keeper::Alive::Yes
            });
        }
    }
}
