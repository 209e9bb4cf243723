//! The task around one actor: it feeds [`Core`], commits what it decides, and only then answers,
//! and has done what the chat owes. A batch of the agent's words is committed at once where it
//! holds facts, and after [`TEXT_COMMIT_DELAY`] where it is text alone.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use holdfast_core::fact::StopWhy;
use holdfast_core::ids::{AttemptId, ChatId, Position};
use holdfast_core::input::{Caller, Command, Input, KeeperEvent, Reply};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::time::Awake;
use holdfast_keeper::Record;
use holdfast_store::{CommitError, Operation, QueryError, Unit};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::Instrument;

use super::core::Core;
use crate::attempt::{self, Driver, Word};
use crate::clock;
use crate::host::Shared;

/// How long text alone waits to be committed, so that many pieces share one commit.
const TEXT_COMMIT_DELAY: Duration = Duration::from_millis(50);
/// Bytes of records that one batch holds; one record at least.
const BATCH_BYTES_MAX: usize = 1024 * 1024;
/// Records that one batch holds.
const BATCH_RECORDS_MAX: usize = 512;
/// Commands that wait for one actor.
const COMMANDS_WAITING_MAX: usize = 256;
/// Words of an agent that wait for its actor.
const WORDS_WAITING_MAX: usize = 4;
/// How often time is let pass.
const TICK: Duration = Duration::from_secs(1);
/// How soon a commit that found no room is tried again.
const ROOM_RETRY: Duration = Duration::from_secs(1);
/// How long an actor that owes nothing stays loaded.
const UNLOAD_AFTER: Duration = Duration::from_secs(60);
/// How long commands wait until it is known whether the attempt of an earlier host lives.
const FINDING_MAX: Duration = Duration::from_secs(5);
/// How often a record that cannot be stored is tried before it is passed over.
const RECORD_TRIES: u32 = 3;

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
    /// The host stops: hand out the unit of the stop, to be committed with all others.
    Prepare(Prepare),
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

/// What was read of an attempt and is not committed.
#[derive(Debug, Clone)]
enum Heard {
    Record(Record, Position),
    Event(KeeperEvent),
}

pub(super) struct Actor {
    pub(super) shared: Arc<Shared>,
    pub(super) id: ChatId,
    pub(super) core: Core,
    pub(super) driver: Option<Driver>,
    words: mpsc::Receiver<(AttemptId, Word)>,
    /// Kept so that `words` never closes, and given to each driver.
    pub(super) speak: mpsc::Sender<(AttemptId, Word)>,
    /// What the open batch was made of, to be taken in again if it is not committed.
    heard: VecDeque<(AttemptId, Heard)>,
    heard_bytes: usize,
    /// When the open batch has to be committed.
    due: Option<Instant>,
    /// Until when there is no room.
    blocked: Option<Instant>,
    last_word: Awake,
    /// Whether a frame could not be ordered because the store could not be asked.
    pub(super) unordered: bool,
}

impl Actor {
    async fn load(shared: Arc<Shared>, id: ChatId) -> Result<Self, Refusal> {
        let core = load_core(&shared, id).await?;
        let (speak, words) = mpsc::channel(WORDS_WAITING_MAX);
        let mut actor = Self {
            shared,
            id,
            core,
            driver: None,
            words,
            speak,
            heard: VecDeque::new(),
            heard_bytes: 0,
            due: None,
            blocked: None,
            last_word: clock::awake(),
            unordered: false,
        };
        actor.reconcile(attempt::Origin::Adopted).await;
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
            let wake = self.blocked.or(self.due);
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
                    self.blocked = None;
                    if self.core.is_dirty() { self.commit_heard().await } else { self.retake().await }
                }
                word = self.words.recv(), if self.blocked.is_none() => {
                    if let Some((attempt, word)) = word {
                        idle_since = clock::timer();
                        self.word(attempt, word).await;
                    }
                }
                _ = tick.tick() => {
                    self.tick().await;
                    let idle = self.driver.is_none() && self.heard.is_empty();
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
        while self.blocked.is_none() && waiting.len() < COMMANDS_WAITING_MAX {
            tokio::select! {
                biased;
                word = self.words.recv() => if let Some((attempt, word)) = word {
                    self.word(attempt, word).await;
                },
                message = messages.recv() => match message {
                    Some(prepare @ Message::Prepare(_)) => self.message(prepare).await,
                    Some(command @ Message::Command { .. }) => waiting.push(command),
                    None => break,
                },
                _ = &mut finding => break,
                () = &mut bound => break,
            }
        }
        // What it was told last may still be on its way.
        while self.blocked.is_none()
            && let Ok((attempt, word)) = self.words.try_recv()
        {
            self.word(attempt, word).await;
        }
        waiting
    }

    async fn message(&mut self, message: Message) {
        self.flush().await;
        match message {
            Message::Command { command, caller, reply } => {
                let answer = self.command(*command, caller).await;
                holdfast_fault::point("host.reply.before");
                let _ = reply.send(answer);
            }
            Message::Prepare(prepare) => self.prepare_stop(prepare).await,
        }
    }

    async fn command(&mut self, command: Command, caller: Caller) -> Result<Reply, Refusal> {
        if let Command::Open { agent, .. } = &command {
            self.core.set_kind(self.shared.kind_of(agent));
        }
        let mut reloaded = false;
        loop {
            let given = clock::given(self.id);
            let reply = self.core.command(command.clone(), &given)?;
            let stored = caller.operation.clone().map(|operation| Operation {
                principal: caller.principal.clone(),
                key: operation.key,
                body: operation.body,
                reply: reply.clone(),
            });
            let Some(mut unit) = self.core.prepare(given.at, stored).unit else {
                return Ok(reply);
            };
            if let Command::Send { .. } = &command {
                unit.clear_draft = Some(caller.principal.clone());
            }
            match self.shared.store.commit(vec![unit]).await {
                Ok(_) => {
                    self.core.committed();
                    holdfast_fault::point("host.effects.before");
                    self.reconcile(attempt::Origin::Fresh).await;
                    return Ok(reply);
                }
                Err(CommitError::Fenced { .. }) if !reloaded => {
                    reloaded = true;
                    self.core.abandon();
                    self.reload().await?;
                }
                Err(error) => {
                    self.core.abandon();
                    let uncertain =
                        matches!(error, CommitError::Uncertain(_) | CommitError::Fenced { .. });
                    if uncertain {
                        self.reload().await?;
                    }
                    if let CommitError::Failed(_) | CommitError::Refused(_) = &error {
                        tracing::error!(chat = %self.id, "{error}");
                    }
                    return Err(error.refusal());
                }
            }
        }
    }

    async fn prepare_stop(&mut self, prepare: Prepare) {
        let given = clock::given(self.id);
        let _ = self.core.command(Command::Stop { why: prepare.why }, &given);
        let unit = self.core.prepare(given.at, None).unit;
        if unit.is_none() {
            self.core.abandon();
            let _ = prepare.unit.send(None);
            return;
        }
        let _ = prepare.unit.send(unit);
        if prepare.outcome.await == Ok(true) {
            self.core.committed();
            self.reconcile(attempt::Origin::Fresh).await;
        } else {
            self.core.abandon();
            let _ = self.reload().await;
        }
    }

    /// Takes in one word of a driver, and what else is there already.
    async fn word(&mut self, attempt: AttemptId, word: Word) {
        let mut next = Some((attempt, word));
        while let Some((attempt, word)) = next {
            let heard = match word {
                Word::Record(record, position) => Heard::Record(record, position),
                Word::Event(event) => Heard::Event(event),
            };
            self.hear(attempt, heard);
            let full = self.heard_bytes >= BATCH_BYTES_MAX || self.heard.len() >= BATCH_RECORDS_MAX;
            next = if full { None } else { self.words.try_recv().ok() };
        }
        if self.core.is_urgent() || self.heard_bytes >= BATCH_BYTES_MAX {
            self.commit_heard().await;
        } else if self.core.is_dirty() {
            self.due.get_or_insert_with(|| clock::timer() + TEXT_COMMIT_DELAY);
        } else {
            self.forget_heard();
        }
    }

    /// What was heard is committed, or made nothing to commit.
    fn forget_heard(&mut self) {
        self.heard.clear();
        self.heard_bytes = 0;
    }

    fn hear(&mut self, attempt: AttemptId, heard: Heard) {
        self.take_in(attempt, &heard);
        self.heard_bytes += match &heard {
            Heard::Record(Record::Line(line), _) => line.len(),
            Heard::Record(..) | Heard::Event(_) => 64,
        };
        self.heard.push_back((attempt, heard));
    }

    fn take_in(&mut self, attempt: AttemptId, heard: &Heard) {
        let given = clock::given(self.id);
        self.last_word = given.awake;
        match heard {
            Heard::Record(record, next) => {
                for delta in self.core.record(attempt, record, *next, &given) {
                    self.shared.publish(delta);
                }
            }
            Heard::Event(event) => {
                if let KeeperEvent::Dead { .. } = event {
                    holdfast_fault::point("host.death.before");
                }
                self.core.keeper(attempt, event.clone(), &given);
            }
        }
    }

    /// Commits what was heard and is not committed, before anything else is decided.
    async fn flush(&mut self) {
        if self.core.is_dirty() {
            self.commit_heard().await;
        }
    }

    async fn commit_heard(&mut self) {
        self.due = None;
        let Some(unit) = self.core.prepare(clock::wall(), None).unit else {
            self.forget_heard();
            return;
        };
        match self.shared.store.commit(vec![unit]).await {
            Ok(_) => {
                self.core.committed();
                self.forget_heard();
                holdfast_fault::point("host.effects.before");
                self.reconcile(attempt::Origin::Fresh).await;
            }
            Err(error) => self.not_committed(error).await,
        }
    }

    async fn not_committed(&mut self, error: CommitError) {
        tracing::warn!(chat = %self.id, "what the agent said is not stored yet: {error}");
        self.core.abandon();
        match error {
            CommitError::StorageFull | CommitError::Failed(_) | CommitError::Stopped => {
                self.blocked = Some(clock::timer() + ROOM_RETRY);
            }
            CommitError::Uncertain(_) | CommitError::Fenced { .. } => {
                // No further word is heard before these are taken in again: the position would pass
                // them.
                let again = if self.reload().await.is_ok() { Duration::ZERO } else { ROOM_RETRY };
                self.blocked = Some(clock::timer() + again);
            }
            CommitError::Refused(_)
            | CommitError::OperationExists
            | CommitError::SlotTaken { .. } => self.one_by_one().await,
        }
    }

    /// Takes in again what was heard and not committed.
    async fn retake(&mut self) {
        let heard: Vec<_> = self.heard.iter().cloned().collect();
        for (attempt, heard) in &heard {
            self.take_in(*attempt, heard);
        }
        if self.core.is_dirty() {
            self.commit_heard().await;
        } else {
            self.forget_heard();
        }
    }

    /// Takes in each word by itself; one that fails [`RECORD_TRIES`] times is passed over, visibly.
    async fn one_by_one(&mut self) {
        while let Some((attempt, heard)) = self.heard.front().cloned() {
            let mut tries = 1;
            loop {
                match &heard {
                    Heard::Record(_, next) if tries >= RECORD_TRIES => {
                        let given = clock::given(self.id);
                        self.core.skip(attempt, *next, "it could not be stored", &given);
                    }
                    // What the keeper says, a death above all, is never passed over.
                    Heard::Record(..) | Heard::Event(_) => self.take_in(attempt, &heard),
                }
                tries += 1;
                let Some(unit) = self.core.prepare(clock::wall(), None).unit else { break };
                match self.shared.store.commit(vec![unit]).await {
                    Ok(_) => {
                        self.core.committed();
                        break;
                    }
                    Err(CommitError::Refused(why)) if tries <= RECORD_TRIES => {
                        tracing::error!(chat = %self.id, "a record was refused: {why}");
                        self.core.abandon();
                    }
                    Err(error) => {
                        tracing::error!(chat = %self.id, "a record cannot be passed over: {error}");
                        self.core.abandon();
                        self.blocked = Some(clock::timer() + ROOM_RETRY);
                        return;
                    }
                }
            }
            self.heard.pop_front();
        }
        self.heard_bytes = 0;
        self.reconcile(attempt::Origin::Fresh).await;
    }

    async fn tick(&mut self) {
        if self.core.is_dirty() || self.blocked.is_some() {
            return;
        }
        if self.unordered {
            self.reconcile(attempt::Origin::Adopted).await;
        }
        let given = clock::given(self.id);
        let release_after = self.shared.options.release_after;
        let ceiling_after = self.shared.options.ceiling_after;
        let last_word = self.last_word;
        self.core.tick(Input::Tick { last_word, release_after, ceiling_after }, &given);
        if self.core.is_dirty() {
            self.commit_heard().await;
        }
    }

    async fn reload(&mut self) -> Result<(), Refusal> {
        self.core = load_core(&self.shared, self.id).await?;
        self.reconcile(attempt::Origin::Adopted).await;
        Ok(())
    }
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
