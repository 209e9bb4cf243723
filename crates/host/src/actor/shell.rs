//! The task around one actor: it does what its [`Work`] says is next, and tells it what came of it.

use std::sync::Arc;
use std::time::Duration;

use holdfast_core::fact::StopWhy;
use holdfast_core::ids::{AttemptId, ChatId};
use holdfast_core::input::{Caller, Command, Given, Reply};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::time::Awake;
use holdfast_store::{QueryError, Unit};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::Instrument;

use super::core::Core;
use super::work::{Asked, Idle, Next, ROOM_RETRY, Work};
use crate::attempt::{Driver, Word};
use crate::clock;
use crate::host::Shared;

/// Commands that wait for one actor.
const COMMANDS_WAITING_MAX: usize = 256;
/// Words of an agent that wait for its actor.
const WORDS_WAITING_MAX: usize = 4;
/// How often time is let pass.
const TICK: Duration = Duration::from_secs(1);
/// How long an actor that owes nothing stays loaded.
const UNLOAD_AFTER: Duration = Duration::from_secs(60);
/// How long commands wait until it is known whether the attempt of an earlier host lives.
const FINDING_MAX: Duration = Duration::from_secs(5);

/// What an actor is told.
#[derive(Debug)]
pub enum Message {
    /// Somebody wants something.
    Command {
        /// What.
        command: Box<Command>,
        /// Who.
        caller: Caller,
        /// Where the answer goes, after the commit.
        reply: oneshot::Sender<Result<Reply, Refusal>>,
    },
    /// Somebody wants something of several chats: hand out the unit of this one.
    Part(Part),
    /// The host stops: hand out the unit of the stop, to be committed with all others.
    Prepare(Prepare),
}

/// One actor's part in a command about several chats.
#[derive(Debug)]
pub struct Part {
    /// What is wanted of this one.
    pub command: Box<Command>,
    /// Who wants it.
    pub caller: Caller,
    /// Where the unit goes; none where nothing changes.
    pub unit: oneshot::Sender<Result<Option<Unit>, Refusal>>,
    /// Whether it was committed.
    pub outcome: oneshot::Receiver<bool>,
}

/// One actor's part in the host's stop.
#[derive(Debug)]
pub struct Prepare {
    /// Why it stops.
    pub why: StopWhy,
    /// Where the unit goes; none where the chat has nothing to stop.
    pub unit: oneshot::Sender<Option<Unit>>,
    /// Whether it was committed.
    pub outcome: oneshot::Receiver<bool>,
}

/// The way to an actor.
pub type Handle = mpsc::Sender<Message>;

/// Starts the actor of a chat. It loads the chat by itself and removes itself from the host's
/// table when it owes nothing any more.
pub fn spawn(shared: Arc<Shared>, chat: ChatId) -> Handle {
    let (handle, messages) = mpsc::channel(COMMANDS_WAITING_MAX);
    let span = tracing::info_span!("chat", %chat);
    let life = async move {
        // A store that is busy says nothing about the chat: what is asked waits, within its bound.
        let loaded = loop {
            match Actor::load(Arc::clone(&shared), chat).await {
                Err(refusal) if refusal.code == Code::Overloaded => sleep(ROOM_RETRY).await,
                loaded => break loaded,
            }
        };
        match loaded {
            Ok(actor) => actor.run(messages).await,
            Err(refusal) => refuse_all(&shared, chat, messages, &refusal).await,
        }
    };
    tokio::spawn(life.instrument(span));
    handle
}

/// Answers a chat that cannot be decided about, until nobody asks.
async fn refuse_all(
    shared: &Shared,
    chat: ChatId,
    mut messages: mpsc::Receiver<Message>,
    refusal: &Refusal,
) {
    tracing::error!(%chat, "the chat cannot be written to: {}", refusal.text);
    loop {
        match timeout(UNLOAD_AFTER, messages.recv()).await {
            Ok(Some(Message::Command { reply, .. })) => {
                let _ = reply.send(Err(refusal.clone()));
            }
            Ok(Some(Message::Part(part))) => {
                let _ = part.unit.send(Err(refusal.clone()));
            }
            Ok(Some(Message::Prepare(prepare))) => {
                let _ = prepare.unit.send(None);
            }
            Ok(None) => return,
            Err(_) => {
                if shared.unload(chat, &messages) {
                    return;
                }
            }
        }
    }
}

pub(super) struct Actor {
    pub(super) shared: Arc<Shared>,
    pub(super) id: ChatId,
    pub(super) work: Work,
    pub(super) driver: Option<Driver>,
    words: mpsc::Receiver<(AttemptId, Word)>,
    /// Kept so that `words` never closes, and given to each driver.
    pub(super) speak: mpsc::Sender<(AttemptId, Word)>,
}

/// Who waits for what is done next.
#[derive(Debug)]
enum Asker {
    Nobody,
    Command(oneshot::Sender<Result<Reply, Refusal>>),
    Part(oneshot::Sender<Result<Option<Unit>, Refusal>>, oneshot::Receiver<bool>),
    Stop(oneshot::Sender<Option<Unit>>, oneshot::Receiver<bool>),
}

impl Actor {
    async fn load(shared: Arc<Shared>, id: ChatId) -> Result<Self, Refusal> {
        let core = load_core(&shared, id).await?;
        let (speak, words) = mpsc::channel(WORDS_WAITING_MAX);
        let idle = Idle {
            release_after: shared.options.release_after,
            ceiling_after: shared.options.ceiling_after,
        };
        let (work, next) = Work::begin(core, id, clock::awake(), idle);
        let mut actor = Self { shared, id, work, driver: None, words, speak };
        actor.go_on(next, Asker::Nobody).await;
        Ok(actor)
    }

    async fn run(mut self, mut messages: mpsc::Receiver<Message>) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut idle_since = clock::timer();
        for message in self.find(&mut messages).await {
            self.message(message).await;
        }
        // Effects of a chat that waits for nothing but a start are owed from the first moment.
        self.tick().await;
        loop {
            let wake = self.work.wakes_at().map(timer_of);
            tokio::select! {
                biased;
                message = messages.recv() => match message {
                    Some(message) => {
                        idle_since = clock::timer();
                        self.message(message).await;
                    }
                    None => return,
                },
                () = sleep_until(wake.unwrap_or_else(clock::timer)), if wake.is_some() => {
                    let next = self.work.wake(&mut moment(self.id));
                    self.go_on(next, Asker::Nobody).await;
                }
                word = self.words.recv(), if self.work.takes_words() => {
                    if let Some((attempt, word)) = word {
                        idle_since = clock::timer();
                        self.word(attempt, word).await;
                    }
                }
                _ = tick.tick() => {
                    self.tick().await;
                    let idle = self.driver.is_none() && self.work.is_idle();
                    let long = clock::timer().duration_since(idle_since) > UNLOAD_AFTER;
                    if idle && long && self.shared.unload(self.id, &messages) {
                        return;
                    }
                }
            }
        }
    }

    /// Hears whether the attempt of an earlier host lives, before anything is decided for it: a
    /// message must not be handed to an agent that is dead. Gives the commands that came meanwhile.
    async fn find(&mut self, messages: &mut mpsc::Receiver<Message>) -> Vec<Message> {
        let mut waiting = Vec::new();
        let finding = self.driver.as_mut().and_then(Driver::finding);
        let Some(mut finding) = finding else { return waiting };
        let bound = sleep_until(clock::timer() + FINDING_MAX);
        tokio::pin!(bound);
        while self.work.takes_words() && waiting.len() < COMMANDS_WAITING_MAX {
            tokio::select! {
                biased;
                word = self.words.recv() => if let Some((attempt, word)) = word {
                    self.word(attempt, word).await;
                },
                message = messages.recv() => match message {
                    Some(prepare @ Message::Prepare(_)) => self.message(prepare).await,
                    Some(command @ (Message::Command { .. } | Message::Part(_))) => waiting.push(command),
                    None => break,
                },
                _ = &mut finding => break,
                () = &mut bound => break,
            }
        }
        // What it was told last may still be on its way.
        while self.work.takes_words()
            && let Ok((attempt, word)) = self.words.try_recv()
        {
            self.word(attempt, word).await;
        }
        waiting
    }

    async fn message(&mut self, message: Message) {
        let mut moment = moment(self.id);
        let (next, asker) = match message {
            Message::Command { command, caller, reply } => {
                let kind = match &*command {
                    Command::Open { agent, .. } => Some(self.shared.kind_of(agent)),
                    _ => None,
                };
                let asked = Asked { command: *command, caller, kind };
                (self.work.command(asked, &mut moment), Asker::Command(reply))
            }
            Message::Part(Part { command, caller, unit, outcome }) => {
                let asked = Asked { command: *command, caller, kind: None };
                (self.work.part(asked, &mut moment), Asker::Part(unit, outcome))
            }
            Message::Prepare(Prepare { why, unit, outcome }) => {
                (self.work.prepare_stop(why, &mut moment), Asker::Stop(unit, outcome))
            }
        };
        self.go_on(next, asker).await;
    }

    /// Takes in one word of a driver, and what else is there already.
    async fn word(&mut self, attempt: AttemptId, word: Word) {
        let mut moment = moment(self.id);
        let mut next = Some((attempt, word));
        while let Some((attempt, word)) = next {
            self.work.hear(attempt, word, &mut moment);
            next = if self.work.is_full() { None } else { self.words.try_recv().ok() };
        }
        let next = self.work.heard(&mut moment);
        self.go_on(next, Asker::Nobody).await;
    }

    async fn tick(&mut self) {
        let next = self.work.tick(&mut moment(self.id));
        self.go_on(next, Asker::Nobody).await;
    }

    /// Does what is next until nothing is.
    async fn go_on(&mut self, mut next: Next, mut asker: Asker) {
        let mut moment = moment(self.id);
        loop {
            for delta in self.work.take_deltas() {
                self.shared.publish(delta);
            }
            next = match next {
                Next::Rest => return,
                Next::Commit(unit) => {
                    let outcome = self.shared.store.commit(vec![*unit]).await.map(drop);
                    if outcome.is_ok() {
                        holdfast_fault::point("host.effects.before");
                    }
                    self.work.stored(outcome, &mut moment)
                }
                Next::Load => {
                    let loaded = load_core(&self.shared, self.id).await;
                    self.work.loaded(loaded, &mut moment)
                }
                Next::Reconcile(origin) => {
                    self.reconcile(origin).await;
                    self.work.reconciled(&mut moment)
                }
                Next::Answer(answer) => {
                    if let Asker::Command(reply) = std::mem::replace(&mut asker, Asker::Nobody) {
                        holdfast_fault::point("host.reply.before");
                        let _ = reply.send(answer);
                    }
                    return;
                }
                Next::HandPart(part) => {
                    let asker = std::mem::replace(&mut asker, Asker::Nobody);
                    let stored = hand_part(asker, part.map(|unit| unit.map(|unit| *unit))).await;
                    self.work.handed_stored(stored)
                }
                Next::HandOut(unit) => {
                    let asker = std::mem::replace(&mut asker, Asker::Nobody);
                    let stored = hand_out(asker, unit.map(|unit| *unit)).await;
                    self.work.handed_stored(stored)
                }
            };
        }
    }
}

/// Gives the host its unit of a stop, if there is one; whether it was stored then.
async fn hand_out(asker: Asker, unit: Option<Unit>) -> bool {
    let Asker::Stop(host, outcome) = asker else { return false };
    let some = unit.is_some();
    let _ = host.send(unit);
    some && outcome.await == Ok(true)
}

/// Gives the host its unit of a command, if there is one; whether it was stored then.
async fn hand_part(asker: Asker, part: Result<Option<Unit>, Refusal>) -> bool {
    let Asker::Part(host, outcome) = asker else { return false };
    let some = matches!(part, Ok(Some(_)));
    let _ = host.send(part);
    some && outcome.await == Ok(true)
}

/// What a decision about this chat may know of the world, whenever it is asked.
fn moment(id: ChatId) -> impl FnMut() -> Given {
    move || clock::given(id)
}

/// A moment of awake time, as timers have it.
fn timer_of(at: Awake) -> Instant {
    clock::timer() + Duration::from_micros(at.since(clock::awake()))
}

async fn load_core(shared: &Shared, id: ChatId) -> Result<Core, Refusal> {
    let unreadable = |why: String| {
        let text = format!("This chat cannot be read, and is kept as it is: {why}");
        Refusal::new(Code::ChatReadOnly, text)
    };
    let loaded = shared.store.load(id).await.map_err(|error| match error {
        QueryError::Overloaded => Refusal::new(Code::Overloaded, "The store is busy."),
        QueryError::Stopped => Refusal::new(Code::Stopping, "The host is stopping."),
        QueryError::Unreadable(_) | QueryError::InvalidPage => unreadable(error.to_string()),
    })?;
    if let Some(why) = loaded.as_ref().and_then(|loaded| loaded.read_only.clone()) {
        return Err(unreadable(why));
    }
    let agent = loaded.as_ref().map(|loaded| loaded.chat.head.agent.clone());
    let kind = shared.kind_of(agent.as_deref().unwrap_or_default());
    Core::new(id, kind, loaded).map_err(|error| unreadable(error.to_string()))
}
