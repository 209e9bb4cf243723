//! A host's process: its actors and drivers, its start, its stop, and the door that requests come
//! in by.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_core::attachment::Attachment;
use holdfast_core::fact::StopWhy;
use holdfast_core::ids::{AttachmentId, AttemptId, ChatId};
use holdfast_core::input::{Caller, Command, OperationKey};
use holdfast_core::offer::Cause as OfferCause;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_host::attempt::Word;
use holdfast_store::Unit;

use crate::actor::{Actor, Message, PRINCIPAL};
use crate::agent::short;
use crate::driver::Driver;
use crate::journal::Cause;
use crate::machine::{Holder, kill_keeper};
use crate::net::Answer;
use crate::people::Wish;
use crate::world::World;

/// How long actors have to hand out their part of a stop, in microseconds.
const PREPARE_MICROS: u64 = 800_000;
/// How long agents have to end, in microseconds.
const DEATHS_MICROS: u64 = 12_000_000;

#[derive(Debug)]
enum Stopping {
    /// Units are collected.
    Preparing { open: BTreeSet<ChatId>, units: Vec<(ChatId, Unit)>, until: u64 },
    /// They are at the journal.
    Storing { ticket: u64, chats: Vec<ChatId> },
    /// Deaths are waited for.
    Ending { until: u64 },
}

/// A host that lives.
#[derive(Debug, Default)]
pub(crate) struct Host {
    pub(crate) actors: BTreeMap<ChatId, Actor>,
    pub(crate) drivers: BTreeMap<AttemptId, Driver>,
    stopping: Option<Stopping>,
}

impl Host {
    /// An actor hands out its part of the stop, unless it comes too late.
    pub(crate) fn prepared(&mut self, chat: ChatId, unit: Option<Unit>) -> Taken {
        let Some(Stopping::Preparing { open, units, .. }) = &mut self.stopping else {
            return Taken::No;
        };
        open.remove(&chat);
        units.extend(unit.map(|unit| (chat, unit)));
        Taken::Yes
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.is_some()
    }

    /// Whether the stop can go on.
    pub(crate) fn can_go_on_stopping(&self, w: &World) -> bool {
        match &self.stopping {
            Some(Stopping::Preparing { open, until, .. }) => {
                open.is_empty() || w.clock.awake >= *until
            }
            Some(Stopping::Storing { ticket, .. }) => w.journal.has_answer(*ticket),
            Some(Stopping::Ending { until }) => self.drivers.is_empty() || w.clock.awake >= *until,
            None => false,
        }
    }

    pub(crate) fn wakes_at(&self) -> Option<u64> {
        match &self.stopping {
            Some(Stopping::Preparing { until, .. } | Stopping::Ending { until }) => Some(*until),
            Some(Stopping::Storing { .. }) | None => None,
        }
    }

    fn begin_stop(&mut self, w: &World, cause: OfferCause) {
        let until = w.clock.awake + PREPARE_MICROS;
        let open = self.actors.keys().copied().collect();
        self.stopping = Some(Stopping::Preparing { open, units: Vec::new(), until });
        for actor in self.actors.values_mut() {
            actor.inbox.push_back(Message::Prepare { why: StopWhy::Offered(cause) });
        }
    }
}

/// Whether a part of a stop was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Yes,
    No,
}

/// Whether the process goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    Lives,
    Ends,
}

/// A host starts: it loads what owes something, and clears what is left over.
pub(crate) fn start(w: &mut World) {
    w.say(|| "host starts".to_owned());
    w.journal.store.reopen();
    let mut host = Host::default();
    let owing = w.journal.store.owing();
    let mut current = BTreeSet::new();
    for chat in owing {
        if let Some(loaded) = w.journal.store.load(chat) {
            current.extend(loaded.chat.head.attempt.map(|attempt| attempt.id));
        }
        load(w, &mut host, chat);
    }
    clear_leftovers(w, &current);
    w.host = Some(host);
}

fn load(w: &mut World, host: &mut Host, chat: ChatId) {
    if !host.actors.contains_key(&chat)
        && let Some(actor) = Actor::load(w, host, chat)
    {
        host.actors.insert(chat, actor);
    }
}

fn clear_leftovers(w: &mut World, current: &BTreeSet<AttemptId>) {
    let left: Vec<AttemptId> =
        w.machine.folders.keys().filter(|attempt| !current.contains(attempt)).copied().collect();
    for attempt in left {
        let live = w.machine.folders.get(&attempt).is_some_and(|folder| match &folder.holder {
            Holder::Keeper(keeper) => keeper.has_live_agent(),
            Holder::Nobody | Holder::Gone(_) => false,
        });
        if live {
            w.fail(format!("a live agent belongs to no chat: attempt {}", short(attempt)));
        }
        kill_keeper(w, attempt);
        w.machine.folders.remove(&attempt);
    }
}

/// A host dies as by `kill -9`. What was with the journal may have been stored.
pub(crate) fn crash(w: &mut World) {
    let Some(host) = w.host.take() else { return };
    w.say(|| "host dies".to_owned());
    while w.journal.is_waiting() && w.rng.permille(500) {
        crate::journal::step(w);
    }
    leave(w, &host);
}

fn leave(w: &mut World, host: &Host) {
    w.journal.forget();
    for driver in host.drivers.values() {
        driver.drop_link(w);
    }
    let at = w.clock.awake;
    w.net.break_off(at);
}

/// A stop is ordered: agents too.
pub(crate) fn order_stop(w: &mut World, cause: OfferCause) {
    let Some(mut host) = w.host.take() else { return };
    if host.stopping.is_none() {
        w.say(|| "host is told to stop, agents too".to_owned());
        host.begin_stop(w, cause);
    }
    w.host = Some(host);
}

/// Takes the host out while one of its parts works.
fn with(w: &mut World, act: impl FnOnce(&mut World, &mut Host) -> Process) {
    let Some(mut host) = w.host.take() else { return };
    match act(w, &mut host) {
        Process::Lives => w.host = Some(host),
        Process::Ends => {
            w.say(|| "host ends".to_owned());
            leave(w, &host);
        }
    }
}

/// An actor does one thing.
pub(crate) fn step_actor(w: &mut World, chat: ChatId) {
    with(w, |w, host| {
        if let Some(mut actor) = host.actors.remove(&chat) {
            actor.step(w, host);
            // One that owes nothing leaves the memory after a while.
            if !(actor.can_unload() && host.stopping.is_none() && w.rng.permille(50)) {
                host.actors.insert(chat, actor);
            }
        }
        Process::Lives
    });
}

/// A driver does one thing.
pub(crate) fn step_driver(w: &mut World, attempt: AttemptId) {
    with(w, |w, host| {
        let Some(mut driver) = host.drivers.remove(&attempt) else { return Process::Lives };
        let mut say: Vec<Word> = Vec::new();
        driver.step(w, &mut say);
        if let Some(actor) = host.actors.get_mut(&driver.chat) {
            actor.words.extend(say.into_iter().map(|word| (attempt, word)));
            actor.found |= driver.found;
        }
        if !driver.is_over() {
            host.drivers.insert(attempt, driver);
        }
        Process::Lives
    });
}

/// The stop goes on.
pub(crate) fn step_stop(w: &mut World) {
    with(w, |w, host| match host.stopping.take() {
        Some(Stopping::Preparing { units, .. }) => {
            let (chats, units): (Vec<ChatId>, Vec<Unit>) = units.into_iter().unzip();
            host.stopping = Some(if units.is_empty() {
                Stopping::Ending { until: w.clock.awake + DEATHS_MICROS }
            } else {
                let ticket = w.journal.submit(units, Cause::Stop);
                Stopping::Storing { ticket, chats }
            });
            Process::Lives
        }
        Some(Stopping::Storing { ticket, chats }) => {
            let stored = w.journal.answer(ticket) == Some(Ok(()));
            for chat in chats {
                if let Some(actor) = host.actors.get_mut(&chat) {
                    actor.handed_stored(stored);
                }
            }
            host.stopping = Some(Stopping::Ending { until: w.clock.awake + DEATHS_MICROS });
            Process::Lives
        }
        Some(Stopping::Ending { .. }) => Process::Ends,
        None => Process::Lives,
    });
}

/// A request has come.
pub(crate) fn deliver(w: &mut World) {
    let now = w.clock.awake;
    let Some((delivery, request)) = w.net.arrive(now, &mut w.rng) else { return };
    let Some(asked) = w.people.requests.get(request).cloned() else { return };
    let Some(mut host) = w.host.take() else {
        return w.net.reply(delivery, Answer::Lost, now);
    };
    w.say(|| format!("host takes request {request} {:?}", asked.wish));
    let key = asked.key.clone().map(|key| OperationKey { key, body: body_of(request) });
    if let Some(reply) = key.as_ref().and_then(|key| replay(w, key)) {
        answer(w, delivery, reply);
    } else if host.is_stopping() && !w.rng.permille(50) {
        // A request that was just before the stop at the door may come in behind it.
        let refusal = Refusal::new(Code::Stopping, "The host is stopping.");
        answer(w, delivery, Answer::Refused(refusal));
    } else {
        let chat = asked.chat.unwrap_or_else(|| w.new_chat());
        load(w, &mut host, chat);
        let message = w.new_message();
        let command = match &asked.wish {
            Wish::Open { text } => w.opening(text.clone().map(|text| (message, text))),
            Wish::Send { text, by, send, attachments } => {
                let (text, by, send, attachments) = (text.clone(), *by, *send, attachments.clone());
                Command::Send { message, text, by, send, attachments }
            }
            Wish::Attach { bytes } => Command::Attach(Attachment {
                id: AttachmentId::new(message.uuid()),
                name: "notes.txt".to_owned(),
                media_type: "text/plain".to_owned(),
                bytes: *bytes,
                sha256: String::new(),
            }),
            Wish::Plain(command) => command.clone(),
        };
        let caller = Caller { principal: PRINCIPAL.to_owned(), operation: key };
        let message = Message::Command { delivery, command: Box::new(command), caller };
        if let Some(actor) = host.actors.get_mut(&chat) {
            actor.inbox.push_back(message);
        }
    }
    w.host = Some(host);
}

/// What stands for the digest of a request's body.
fn body_of(request: usize) -> [u8; 32] {
    let mut body = [0; 32];
    for (slot, byte) in body.iter_mut().zip(request.to_le_bytes()) {
        *slot = byte;
    }
    body
}

fn replay(w: &World, key: &OperationKey) -> Option<Answer> {
    let stored = w.journal.store.operation(PRINCIPAL, &key.key)?;
    Some(if stored.operation.body == key.body {
        Answer::Done(stored.operation.reply)
    } else {
        Answer::Refused(Refusal::new(Code::OperationConflict, "used for another request"))
    })
}

/// Answers a request. Two with one key at the same moment get the answer of the first.
pub(crate) fn answer(w: &mut World, delivery: u64, answer: Answer) {
    let request = w.net.request_of(delivery);
    let conflict =
        matches!(&answer, Answer::Refused(refusal) if refusal.code == Code::OperationConflict);
    let key = w.people.requests.get(request).and_then(|request| request.key.clone());
    let first = key
        .filter(|_| conflict)
        .and_then(|key| replay(w, &OperationKey { key, body: body_of(request) }));
    let answer = first.unwrap_or(answer);
    w.say(|| format!("host answers request {request}: {answer:?}"));
    let lost = !w.calm && w.rng.permille(w.weather.answers_lost);
    let at = w.clock.awake + w.rng.millis(20);
    w.net.reply(delivery, if lost { Answer::Lost } else { answer }, at);
}
