//! The handle of a host: what the border, the start and the stop use.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use holdfast_agent::codec::AgentKind;
use holdfast_core::head::Life;
use holdfast_core::ids::ChatId;
use holdfast_core::input::{Caller, Command, Reply};
use holdfast_core::item::Delta;
use holdfast_core::limits::{DELTA_BYTES_MAX, OPERATION_KEPT_MICROS};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::time::Micros;
use holdfast_keeper::registry::Limits;
use holdfast_store::{CommitError, Operation, QueryError, Store, StoredOperation};
use tokio::sync::{Notify, Semaphore, broadcast, mpsc, oneshot};

use crate::actor::{self, Handle, Message};
use crate::agents::Agents;
use crate::clock;

/// Pieces of streaming text that wait for a slow reader before it misses some.
const DELTAS_WAITING_MAX: usize = 256;

/// How the host starts a keeper.
#[derive(Clone, Debug)]
pub struct KeeperProgram {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

/// Resumes that start an agent at once (offers.md).
const RESUMES_AT_ONCE: usize = 3;

/// What a host is made with.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// Its data directory.
    pub data_dir: PathBuf,
    /// The program that keepers are.
    pub keeper: KeeperProgram,
    /// The agents.
    pub agents: Agents,
    /// Idleness after which an agent is released, in microseconds; none = never.
    pub release_after: Option<u64>,
    /// Quiet after which an agent is stopped although it shows work, in microseconds; none = never.
    pub ceiling_after: Option<u64>,
    /// The bounds of keepers that are started.
    pub limits: Limits,
}

/// What all parts of a host share.
pub struct Shared {
    /// What it was made with.
    pub options: HostOptions,
    /// The store.
    pub store: Arc<dyn Store>,
    actors: Mutex<HashMap<ChatId, Handle>>,
    deltas: broadcast::Sender<Arc<Delta>>,
    stopping: AtomicBool,
    attempts: AtomicUsize,
    attempts_begun: AtomicU64,
    attempt_ended: Notify,
    /// Places for resumes that start at once.
    pub(crate) resumes: Arc<Semaphore>,
    damage: Mutex<Vec<String>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Shared {
    /// The protocol of an agent; of one that is not configured any more, ACP.
    pub(crate) fn kind_of(&self, agent: &str) -> AgentKind {
        self.options.agents.get(agent).map_or(AgentKind::Acp, |agent| agent.kind)
    }

    pub(crate) fn publish(&self, delta: Delta) {
        if delta.text.len() > DELTA_BYTES_MAX {
            return;
        }
        // Nobody may be listening: it is a courtesy.
        let _ = self.deltas.send(Arc::new(delta));
    }

    fn actors(&self) -> MutexGuard<'_, HashMap<ChatId, Handle>> {
        self.actors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an actor out of the table, if nobody has told it anything meanwhile. What is told to
    /// it later is not heard, and is told to the next one instead.
    pub(crate) fn unload(&self, chat: ChatId, messages: &mpsc::Receiver<Message>) -> bool {
        let mut actors = self.actors();
        if messages.is_empty() {
            actors.remove(&chat);
            return true;
        }
        false
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    pub(crate) fn count_attempt(&self) {
        self.attempts.fetch_add(1, Ordering::SeqCst);
        self.attempts_begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn uncount_attempt(&self) {
        self.attempts.fetch_sub(1, Ordering::SeqCst);
        self.attempt_ended.notify_waiters();
    }

    pub(crate) fn note_damage(&self, text: String) {
        tracing::error!("{text}");
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
}

/// A host.
#[derive(Clone, Debug)]
pub struct Host {
    pub(crate) shared: Arc<Shared>,
}

impl Host {
    /// A host over this store. Nothing runs yet: see [`Host::start`](crate::start).
    #[must_use]
    pub fn new(options: HostOptions, store: Arc<dyn Store>) -> Self {
        let shared = Shared {
            options,
            store,
            actors: Mutex::new(HashMap::new()),
            deltas: broadcast::Sender::new(DELTAS_WAITING_MAX),
            stopping: AtomicBool::new(false),
            attempts: AtomicUsize::new(0),
            attempts_begun: AtomicU64::new(0),
            attempt_ended: Notify::new(),
            resumes: Arc::new(Semaphore::new(RESUMES_AT_ONCE)),
            damage: Mutex::new(Vec::new()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.shared.store)
    }

    /// The agents of the configuration.
    #[must_use]
    pub fn agents(&self) -> &Agents {
        &self.shared.options.agents
    }

    /// What agents say right now.
    #[must_use]
    pub fn deltas(&self) -> broadcast::Receiver<Arc<Delta>> {
        self.shared.deltas.subscribe()
    }

    /// Damage that was found outside the store.
    #[must_use]
    pub fn damage(&self) -> Vec<String> {
        self.shared.damage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds to what is shown as damaged.
    pub fn note_damage(&self, text: String) {
        self.shared.note_damage(text);
    }

    /// How many attempts are driven now, and how many were since the host started; and how many
    /// chats are loaded.
    #[must_use]
    pub fn figures(&self) -> (usize, u64, usize) {
        let shared = &self.shared;
        let begun = shared.attempts_begun.load(Ordering::Relaxed);
        (shared.attempts.load(Ordering::SeqCst), begun, shared.actors().len())
    }

    /// Whether it takes no writes any more.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.shared.is_stopping()
    }

    pub(crate) fn set_stopping(&self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
    }

    /// Waits until no driver holds an attempt.
    pub(crate) async fn attempts_ended(&self) {
        loop {
            let ended = self.shared.attempt_ended.notified();
            if self.shared.attempts.load(Ordering::SeqCst) == 0 {
                return;
            }
            ended.await;
        }
    }

    /// Makes a chat exist, and answers [`Reply::Opened`]. A repeat of the operation gets the first
    /// answer.
    ///
    /// # Errors
    ///
    /// The refusals of the rules, of operations, of commits, of a stop.
    pub async fn open(&self, open: Command, caller: Caller) -> Result<Reply, Refusal> {
        self.submit(clock::new_chat(), open, caller).await
    }

    /// Has a chat decide about a command; answers after the commit.
    ///
    /// # Errors
    ///
    /// The refusals of the rules, of operations, of commits, of a stop.
    pub async fn submit(
        &self,
        chat: ChatId,
        command: Command,
        caller: Caller,
    ) -> Result<Reply, Refusal> {
        if let Some(reply) = self.replayed(&caller).await? {
            return Ok(reply);
        }
        self.takes_writes()?;
        let answer = self.tell(chat, command, &caller).await;
        match &answer {
            // Two requests with one key at the same moment: the other one was first.
            Err(refusal) if refusal.code == Code::OperationConflict => {
                match self.replayed(&caller).await? {
                    Some(reply) => Ok(reply),
                    None => answer,
                }
            }
            Ok(_) | Err(_) => answer,
        }
    }

    /// Does something of several steps once, and to its end: whoever asked may leave, and nothing is to
    /// stay half done. A repeat of the operation gets the first answer.
    pub(crate) async fn to_its_end<F>(
        &self,
        caller: Caller,
        act: impl FnOnce(Self, Caller) -> F + Send,
    ) -> Result<Reply, Refusal>
    where
        F: Future<Output = Result<Reply, Refusal>> + Send + 'static,
    {
        if let Some(reply) = self.replayed(&caller).await? {
            return Ok(reply);
        }
        self.takes_writes()?;
        let done = tokio::spawn(act(self.clone(), caller)).await;
        done.unwrap_or_else(|_| Err(uncertain()))
    }

    /// Keeps what this caller is writing in a chat, and answers when. A repeat of the operation is
    /// answered as the first was, and stores nothing.
    ///
    /// # Errors
    ///
    /// `chat_not_found`, the refusals of operations, of commits, of a stop.
    pub async fn keep_draft(
        &self,
        chat: ChatId,
        text: String,
        caller: Caller,
    ) -> Result<Micros, Refusal> {
        if let Some(stored) = self.stored(&caller).await? {
            return Ok(stored.at);
        }
        self.takes_writes()?;
        let row = self.store().chat(chat).await.map_err(|error| unasked(&error))?;
        if row.is_none_or(|row| row.summary.life == Life::Deleted) {
            return Err(Refusal::new(Code::ChatNotFound, "There is no such chat."));
        }
        let at = clock::wall();
        let operation = Operation::of(&caller, Reply::Done);
        let name = caller.principal.clone();
        match self.store().put_draft(chat, name, text, at, operation).await {
            Ok(()) => Ok(at),
            Err(error) => Ok(self.stored_meanwhile(&caller, error).await?.at),
        }
    }

    /// Remembers the answer to an operation that changes no chat by itself, and gives it; a repeat
    /// gets the first one. A caller without a key gets the answer, and nothing is stored.
    ///
    /// # Errors
    ///
    /// The refusals of operations, of commits, of a stop.
    pub async fn remember(
        &self,
        chat: Option<ChatId>,
        reply: Reply,
        caller: &Caller,
    ) -> Result<Reply, Refusal> {
        if let Some(reply) = self.replayed(caller).await? {
            return Ok(reply);
        }
        self.takes_writes()?;
        let Some(operation) = Operation::of(caller, reply.clone()) else { return Ok(reply) };
        match self.store().remember(chat, operation, clock::wall()).await {
            Ok(()) => Ok(reply),
            Err(error) => Ok(self.stored_meanwhile(caller, error).await?.operation.reply),
        }
    }

    pub(crate) fn takes_writes(&self) -> Result<(), Refusal> {
        if self.is_stopping() {
            return Err(Refusal::new(Code::Stopping, "The host is stopping: nothing was stored."));
        }
        Ok(())
    }

    /// What was stored under the key, where a write failed since another request with the same one
    /// was first.
    async fn stored_meanwhile(
        &self,
        caller: &Caller,
        error: CommitError,
    ) -> Result<StoredOperation, Refusal> {
        if error == CommitError::OperationExists
            && let Some(stored) = self.stored(caller).await?
        {
            return Ok(stored);
        }
        if let CommitError::Failed(_) | CommitError::Refused(_) = &error {
            tracing::error!(%error, "a write beside the chats did not come about");
        }
        Err(error.refusal())
    }

    /// What was answered to this operation before, if it has a name and was.
    ///
    /// # Errors
    ///
    /// `operation_conflict`, `operation_expired`, or the store cannot be asked.
    pub async fn replayed(&self, caller: &Caller) -> Result<Option<Reply>, Refusal> {
        Ok(self.stored(caller).await?.map(|stored| stored.operation.reply))
    }

    async fn stored(&self, caller: &Caller) -> Result<Option<StoredOperation>, Refusal> {
        let Some(key) = &caller.operation else { return Ok(None) };
        let found = self.store().operation(caller.principal.clone(), key.key.clone()).await;
        match found.map_err(|error| unasked(&error))? {
            Some(stored) if stored.operation.body == key.body => Ok(Some(stored)),
            Some(_) => {
                let text = "This Idempotency-Key was used for another request.";
                Err(Refusal::new(Code::OperationConflict, text))
            }
            None if is_expired(&key.key) => {
                let text = "This Idempotency-Key is older than what is kept: whether it was used \
                            is not known.";
                Err(Refusal::new(Code::OperationExpired, text))
            }
            None => Ok(None),
        }
    }

    async fn tell(
        &self,
        chat: ChatId,
        command: Command,
        caller: &Caller,
    ) -> Result<Reply, Refusal> {
        // An actor that was just leaving did not hear it: the next one does.
        for _ in 0..8 {
            let (reply, answer) = oneshot::channel();
            let (command, caller) = (Box::new(command.clone()), caller.clone());
            let message = Message::Command { command, caller, reply };
            match self.actor(chat).try_send(message) {
                Ok(()) => {
                    if let Ok(answer) = answer.await {
                        return answer;
                    }
                }
                Err(mpsc::error::TrySendError::Full(_)) => {
                    let text = "This chat has too many requests at once. Try again in a moment.";
                    return Err(Refusal::new(Code::Overloaded, text));
                }
                Err(mpsc::error::TrySendError::Closed(_)) => {}
            }
            self.forget_gone(chat);
        }
        Err(uncertain())
    }

    /// The actor of a chat; started if it is not there.
    pub(crate) fn actor(&self, chat: ChatId) -> Handle {
        let mut actors = self.shared.actors();
        actors.entry(chat).or_insert_with(|| actor::spawn(Arc::clone(&self.shared), chat)).clone()
    }

    pub(crate) fn forget_gone(&self, chat: ChatId) {
        let mut actors = self.shared.actors();
        if actors.get(&chat).is_some_and(mpsc::Sender::is_closed) {
            actors.remove(&chat);
        }
    }

    pub(crate) fn loaded(&self) -> Vec<Handle> {
        self.shared.actors().values().cloned().collect()
    }
}

/// Nobody knows what came of it; whoever asks again with the same key hears.
pub(crate) fn uncertain() -> Refusal {
    let text = "This may have been stored and may not. Try again with the same Idempotency-Key.";
    Refusal::new(Code::NotDurable, text)
}

pub(crate) fn unasked(error: &QueryError) -> Refusal {
    Refusal::new(Code::Overloaded, format!("The store could not be asked: {error}"))
}

/// Whether a key is a UUIDv7 older than what is kept.
fn is_expired(key: &str) -> bool {
    let Ok(uuid) = uuid::Uuid::try_parse(key) else { return false };
    let Some(timestamp) = uuid.get_timestamp().filter(|_| uuid.get_version_num() == 7) else {
        return false;
    };
    let (seconds, nanos) = timestamp.to_unix();
    let micros = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    let at = micros.saturating_add(i64::from(nanos / 1000));
    clock::wall().0.saturating_sub(at) > OPERATION_KEPT_MICROS
}

#[cfg(test)]
mod tests {
    use holdfast_core::input::{ChangeChat, OperationKey};
    use holdfast_store::{Memory, MemoryStore};

    use super::*;

    fn host() -> Host {
        let store = Memory::new(MemoryStore::new(uuid::Uuid::from_u128(1)));
        let keeper = KeeperProgram { program: PathBuf::from("/nowhere"), args: Vec::new() };
        let (data_dir, agents) = (
            PathBuf::from("/nowhere"),
            Agents::new(
                std::collections::BTreeMap::new(),
                tokio::sync::watch::Sender::default().subscribe(),
                PathBuf::from("/nowhere"),
            ),
        );
        let options = HostOptions {
            data_dir,
            keeper,
            agents,
            release_after: None,
            ceiling_after: None,
            limits: Limits::default(),
        };
        Host::new(options, Arc::new(store))
    }

    fn caller(key: &str, body: u8) -> Caller {
        let operation = Some(OperationKey { key: key.to_owned(), body: [body; 32] });
        Caller { principal: "ada".to_owned(), operation }
    }

    async fn open(host: &Host) -> ChatId {
        let open = Command::Open {
            agent: "demo".to_owned(),
            cwd: "/".to_owned(),
            project: None,
            title: None,
            slot: None,
            model: None,
            effort: None,
            mode: None,
            fork: None,
            adopt: None,
            message: None,
        };
        match host.open(open, Caller::default()).await {
            Ok(Reply::Opened { chat, .. }) => chat,
            other => panic!("{other:?}"),
        }
    }

    async fn draft(host: &Host, chat: ChatId) -> Option<String> {
        let draft = host.store().draft(chat, "ada".to_owned()).await.unwrap();
        draft.map(|draft| draft.text)
    }

    async fn put(host: &Host, chat: ChatId, text: &str, caller: Caller) -> Result<Micros, Code> {
        let kept = host.keep_draft(chat, text.to_owned(), caller).await;
        kept.map_err(|refusal| refusal.code)
    }

    #[tokio::test]
    async fn a_draft_is_a_write_like_any_other() {
        let host = host();
        let chat = open(&host).await;
        let first = put(&host, chat, "older", caller("k", 1)).await.unwrap();
        put(&host, chat, "newer", caller("l", 2)).await.unwrap();
        assert_eq!(put(&host, chat, "older", caller("k", 1)).await, Ok(first));
        assert_eq!(draft(&host, chat).await.as_deref(), Some("newer"));
        let other = put(&host, chat, "other", caller("k", 3)).await;
        assert_eq!(other, Err(Code::OperationConflict));
        let nowhere = clock::new_chat();
        assert_eq!(put(&host, nowhere, "x", caller("n", 4)).await, Err(Code::ChatNotFound));

        host.keep_agents();
        for caller in [caller("m", 5), Caller { operation: None, ..caller("m", 5) }] {
            assert_eq!(put(&host, chat, "late", caller).await, Err(Code::Stopping));
        }
        assert_eq!(draft(&host, chat).await.as_deref(), Some("newer"));
        // What was done is still answered.
        assert_eq!(put(&host, chat, "older", caller("k", 1)).await, Ok(first));
    }

    #[tokio::test]
    async fn a_slot_changes_hands_in_one_commit_or_not_at_all() {
        let host = host();
        let (one, two, three) = (open(&host).await, open(&host).await, open(&host).await);
        let slot = ChangeChat { slot: Some("desk".to_owned()), ..ChangeChat::default() };
        host.submit(one, Command::Change(slot), Caller::default()).await.unwrap();
        let give = async |from, to, caller| {
            let given = host.give_slot("desk".to_owned(), from, to, caller).await;
            given.map_err(|refusal| refusal.code)
        };
        let holder = async || {
            let row = host.store().chat_by_slot("desk".to_owned()).await.unwrap();
            row.map(|row| row.id)
        };
        let newest = async || host.store().change_bounds().await.unwrap().newest;
        for (from, to, key) in [(one, two, "k"), (two, one, "l")] {
            assert_eq!(give(from, to, caller(key, 1)).await, Ok(()));
            assert_eq!(holder().await, Some(to));
            let before = newest().await;
            assert_eq!(give(from, to, caller(key, 1)).await, Ok(()));
            assert_eq!(newest().await, before, "a repeat changes nothing");
        }
        let before = newest().await;
        let nowhere = clock::new_chat();
        assert_eq!(give(one, nowhere, caller("m", 1)).await, Err(Code::ChatNotFound));
        // From whom it is not: somebody else has it.
        assert_eq!(give(nowhere, two, caller("n", 1)).await, Err(Code::ChatNotFound));
        assert_eq!(give(three, two, caller("o", 1)).await, Err(Code::SlotTaken));
        assert_eq!(give(two, two, caller("r", 1)).await, Err(Code::SlotTaken));
        assert_eq!((holder().await, newest().await), (Some(one), before));
        // Neither chat waits for what never comes, nor for the other one.
        let (there, back) =
            tokio::join!(give(one, two, caller("p", 1)), give(two, one, caller("q", 1)),);
        assert!(there.is_ok() || back.is_ok(), "{there:?} {back:?}");
        assert!(holder().await.is_some());
    }

    #[tokio::test]
    async fn two_writes_of_a_draft_at_once_are_one() {
        let host = host();
        let chat = open(&host).await;
        let both = tokio::join!(
            put(&host, chat, "same", caller("k", 1)),
            put(&host, chat, "same", caller("k", 1)),
        );
        assert_eq!(both.0, both.1);
        assert!(both.0.is_ok());
    }

    #[tokio::test]
    async fn what_is_remembered_is_answered_again_and_a_stopping_host_remembers_nothing() {
        let host = host();
        let remember = async |reply, caller: &Caller| {
            host.remember(None, reply, caller).await.map_err(|refusal| refusal.code)
        };
        let none = Reply::Chosen { offers: Vec::new(), superseded: Vec::new() };
        assert_eq!(remember(none.clone(), &caller("k", 1)).await, Ok(none.clone()));
        assert_eq!(remember(Reply::Done, &caller("k", 1)).await, Ok(none.clone()));
        assert_eq!(remember(none.clone(), &caller("k", 2)).await, Err(Code::OperationConflict));
        let of_1970 = "00000000-0001-7000-8000-000000000000";
        assert_eq!(remember(Reply::Done, &caller(of_1970, 1)).await, Err(Code::OperationExpired));
        host.keep_agents();
        assert_eq!(remember(Reply::Done, &caller("k", 1)).await, Ok(none));
        for caller in [caller("m", 5), Caller::default()] {
            assert_eq!(remember(Reply::Done, &caller).await, Err(Code::Stopping));
        }
        assert_eq!(host.store().operation("ada".into(), "m".into()).await.unwrap(), None);
    }
}
