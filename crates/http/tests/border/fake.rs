//! A host over a store in memory: the real rules, no agents. Tests say what an agent said.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use holdfast_core::adopt::{Adopted, Entry};
use holdfast_core::attachment::Attachment;
use holdfast_core::decide::{Decision, decide};
use holdfast_core::fact::Secret;
use holdfast_core::head::Chat;
use holdfast_core::ids::{AttachmentId, AttemptId, ChatId, MessageId};
use holdfast_core::input::{ChangeChat, Command, Given, Input, KeeperEvent, Reply};
use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::provider::{Handle, ProviderEvent};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::summary::Summary;
use holdfast_core::time::{Awake, Micros};
use holdfast_http::port::{
    AgentInfo, Availability, Caller, Delta, EnvironmentInfo, EnvironmentSource, Host, HostFigures,
    HostInfo, LeftInfo, OperationKey, Readiness, SessionInfo, SessionPage, SessionQuery,
    StopAgents, VariableInfo, WantedChat,
};
use holdfast_store::blobs::Incoming;
use holdfast_store::search::{Search, Terms};
use holdfast_store::{
    Blobs, Journal, Memory, MemoryStore, Operation, Store, StoredOperation, Unit,
};
use tokio::sync::broadcast;
use uuid::Uuid;

use crate::client::BOUND;

/// The first moment of every test: 2026-01-02T03:04:05Z.
const BEGIN: i64 = 1_767_323_045_000_000;

/// A host without agents.
#[derive(Clone)]
pub(crate) struct Fake(Arc<Inner>);

struct Inner {
    store: Memory,
    one_at_a_time: tokio::sync::Mutex<()>,
    deltas: broadcast::Sender<Arc<Delta>>,
    clock: AtomicI64,
    ids: AtomicU64,
    told: Mutex<Vec<String>>,
    meanwhile: Mutex<Vec<(ChatId, Command)>>,
    search: Option<Search>,
    /// Where the index is.
    dir: Option<tempfile::TempDir>,
    /// Where attachments are.
    files: tempfile::TempDir,
}

impl Fake {
    /// A host whose transcripts can be searched.
    pub(crate) fn searched() -> Self {
        let store = Memory::new(MemoryStore::new(Uuid::from_u128(0xface)));
        let dir = tempfile::tempdir().unwrap();
        let search = Search::open(dir.path(), store.incarnation()).unwrap();
        tokio::spawn(holdfast_store::search::follow(search.clone(), Arc::new(store.clone())));
        Self::with(store, Some((search, dir)))
    }

    /// Writes rubbish over the index, beneath whoever has it open, once this is found in it. It is
    /// looked for by other connections: what one has read before, it does not read again.
    pub(crate) async fn damage_index(&self, line: &str) {
        let dir = self.0.dir.as_ref().unwrap().path();
        let other = Search::open(dir, self.0.store.incarnation()).unwrap();
        let terms = Terms::of(line).unwrap();
        let mut looks = tokio::time::interval(Duration::from_millis(10));
        let found = async {
            while other.chats(terms.clone()).await.unwrap().is_empty() {
                looks.tick().await;
            }
        };
        tokio::time::timeout(BOUND, found).await.unwrap();
        drop(other);
        for (file, whole) in [("search.db", 4096), ("search.db-wal", 32)] {
            let file = OpenOptions::new().write(true).open(dir.join(file)).unwrap();
            let length = usize::try_from(file.metadata().unwrap().len()).unwrap();
            let rubbish = vec![0x5a; length.saturating_sub(whole)];
            file.write_all_at(&rubbish, u64::try_from(whole).unwrap()).unwrap();
        }
    }

    pub(crate) fn new() -> Self {
        Self::over(Memory::new(MemoryStore::new(Uuid::from_u128(0xface))))
    }

    pub(crate) fn over(store: Memory) -> Self {
        Self::with(store, None)
    }

    fn with(store: Memory, index: Option<(Search, tempfile::TempDir)>) -> Self {
        let (search, dir) = index.unzip();
        Self(Arc::new(Inner {
            search,
            dir,
            files: tempfile::tempdir().unwrap(),
            store,
            one_at_a_time: tokio::sync::Mutex::new(()),
            deltas: broadcast::Sender::new(64),
            clock: AtomicI64::new(BEGIN),
            ids: AtomicU64::new(1),
            told: Mutex::default(),
            meanwhile: Mutex::default(),
        }))
    }

    /// The files of attachments, marks among them.
    pub(crate) fn files(&self) -> usize {
        let root = self.0.files.path().join("attachments");
        let folders = std::fs::read_dir(root).into_iter().flatten().flatten();
        folders.map(|dir| std::fs::read_dir(dir.path()).unwrap().count()).sum()
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.0.store
    }

    /// What the host itself was told: `stop`, `keep`, `restart`.
    pub(crate) fn told(&self) -> Vec<String> {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn tell(&self, what: &str) {
        self.0.told.lock().unwrap_or_else(PoisonError::into_inner).push(what.to_owned());
    }

    /// What somebody else does right before the next slot changes hands.
    pub(crate) fn meanwhile(&self, commands: impl Into<Vec<(ChatId, Command)>>) {
        *self.0.meanwhile.lock().unwrap_or_else(PoisonError::into_inner) = commands.into();
    }

    async fn interrupted(&self) {
        let meanwhile =
            std::mem::take(&mut *self.0.meanwhile.lock().unwrap_or_else(PoisonError::into_inner));
        for (chat, command) in meanwhile {
            self.put(chat, Input::Command(command)).await;
        }
    }

    pub(crate) fn say_live(&self, delta: Delta) {
        let _ = self.0.deltas.send(Arc::new(delta));
    }

    fn id(&self) -> Uuid {
        Uuid::from_u128(u128::from(self.0.ids.fetch_add(1, Ordering::Relaxed)))
    }

    fn given(&self, chat: ChatId) -> Given {
        let at = self.0.clock.fetch_add(1000, Ordering::Relaxed);
        Given {
            chat,
            at: Micros(at),
            awake: Awake(at.unsigned_abs()),
            attempt: AttemptId::new(self.id()),
            secret: Secret("secret".to_owned()),
        }
    }

    pub(crate) async fn load(&self, chat: ChatId) -> Chat {
        let loaded = self.0.store.load(chat).await.unwrap();
        loaded.map(|loaded| loaded.chat).unwrap_or_default()
    }

    /// What an agent of the chat's attempt said.
    pub(crate) async fn says(&self, chat: ChatId, event: ProviderEvent) {
        let attempt = self.load(chat).await.head.attempt.unwrap().id;
        self.put(chat, Input::Provider { attempt, event }).await;
    }

    /// What the keeper of the chat's attempt said.
    pub(crate) async fn keeper(&self, chat: ChatId, event: KeeperEvent) {
        let attempt = self.load(chat).await.head.attempt.unwrap().id;
        self.put(chat, Input::Keeper { attempt, event }).await;
    }

    /// An input that is not refused.
    pub(crate) async fn put(&self, chat: ChatId, input: Input) -> Decision {
        self.decide(chat, input, None, None).await.unwrap()
    }

    async fn decide(
        &self,
        id: ChatId,
        input: Input,
        operation: Option<(String, OperationKey)>,
        clear_draft: Option<String>,
    ) -> Result<Decision, Refusal> {
        let _alone = self.0.one_at_a_time.lock().await;
        let (decision, unit) = self.unit(id, input, operation, clear_draft).await?;
        self.commit(vec![unit]).await?;
        Ok(decision)
    }

    async fn unit(
        &self,
        id: ChatId,
        input: Input,
        operation: Option<(String, OperationKey)>,
        clear_draft: Option<String>,
    ) -> Result<(Decision, Unit), Refusal> {
        let mut chat = self.load(id).await;
        let after = chat.head.seq;
        let given = self.given(id);
        let decision = decide(&mut chat, input, &given)?;
        let operation = operation.map(|(principal, key)| Operation {
            principal,
            key: key.key,
            body: key.body,
            reply: decision.reply.clone().unwrap(),
        });
        let unit = Unit {
            chat: id,
            after,
            at: given.at,
            facts: decision.facts.clone(),
            rows: decision.rows.clone(),
            summary: Summary::of(&chat),
            head: chat.head,
            progress: None,
            operation,
            clear_draft,
        };
        Ok((decision, unit))
    }

    async fn commit(&self, units: Vec<Unit>) -> Result<(), Refusal> {
        self.0.store.commit(units).await.map(drop).map_err(|fault| match fault {
            holdfast_store::CommitError::SlotTaken { slot } => {
                Refusal::new(Code::SlotTaken, format!("The slot {slot:?} is taken.")).field("slot")
            }
            fault @ holdfast_store::CommitError::SessionTaken { .. } => fault.refusal(),
            fault => panic!("{fault}"),
        })
    }

    /// What is stored under the caller's key.
    async fn stored(&self, caller: &Caller) -> Result<Option<StoredOperation>, Refusal> {
        let Some(operation) = &caller.operation else { return Ok(None) };
        let key = operation.key.clone();
        let stored = self.0.store.operation(caller.principal.clone(), key).await.unwrap();
        match stored {
            Some(stored) if stored.operation.body != operation.body => {
                Err(Refusal::new(Code::OperationConflict, "another request"))
            }
            stored => Ok(stored),
        }
    }

    async fn act(&self, chat: ChatId, command: Command, caller: Caller) -> Result<Reply, Refusal> {
        if let Some(stored) = self.stored(&caller).await? {
            return Ok(stored.operation.reply);
        }
        let clear = matches!(command, Command::Send { .. }).then(|| caller.principal.clone());
        let operation = caller.operation.map(|operation| (caller.principal, operation));
        let decision = self.decide(chat, Input::Command(command), operation, clear).await?;
        Ok(decision.reply.unwrap())
    }
}

impl Host for Fake {
    fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.0.store.clone())
    }
    fn search(&self) -> Option<Search> {
        self.0.search.clone()
    }
    fn info(&self) -> HostInfo {
        HostInfo {
            version: "0.0.0".to_owned(),
            store: "memory".to_owned(),
            damage: vec!["a spool is damaged".to_owned()],
            configuration: None,
            readiness: Readiness::Ready,
        }
    }
    fn left(&self) -> BoxFuture<'static, Vec<LeftInfo>> {
        let ended = self.told().iter().any(|told| told == "end left");
        let left = LeftInfo {
            attempt: AttemptId::new(Uuid::from_u128(7)),
            processes: vec![(4711, "serve --dev".to_owned(), vec![8080])],
        };
        let left = if ended { Vec::new() } else { vec![left] };
        std::future::ready(left).boxed()
    }
    fn end_left(&self, of: Option<AttemptId>) -> BoxFuture<'static, Vec<AttemptId>> {
        let attempt = AttemptId::new(Uuid::from_u128(7));
        let ended = of.is_none_or(|of| of == attempt);
        if ended {
            self.tell("end left");
        }
        std::future::ready(if ended { vec![attempt] } else { Vec::new() }).boxed()
    }
    fn new_message(&self) -> MessageId {
        MessageId::new(self.id())
    }
    fn agents(&self) -> BoxFuture<'static, Vec<AgentInfo>> {
        let agent = |id: &str, availability| AgentInfo {
            id: id.to_owned(),
            kind: "acp".to_owned(),
            version: None,
            tested: None,
            availability,
            hint: None,
        };
        let gone = Availability::Unavailable("not on PATH".to_owned());
        let agents = vec![agent("demo", Availability::Available), agent("gone", gone)];
        std::future::ready(agents).boxed()
    }
    fn open(
        &self,
        wanted: WantedChat,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let this = self.clone();
        async move {
            if wanted.agent != "demo" {
                return Err(Refusal::new(Code::AgentNotFound, "no such agent").field("agent"));
            }
            let open = Command::Open {
                agent: wanted.agent,
                cwd: wanted.cwd.unwrap_or_else(|| "/home/me".to_owned()),
                project: wanted.project,
                title: wanted.title,
                slot: wanted.slot,
                model: wanted.model,
                effort: wanted.effort,
                mode: wanted.mode,
                fork: None,
                adopt: wanted.adopt.map(|session| Box::new(adopted(session))),
                message: wanted.message,
            };
            this.act(ChatId::new(this.id()), open, caller).await
        }
        .boxed()
    }
    fn sessions(
        &self,
        agent: String,
        query: SessionQuery,
    ) -> BoxFuture<'static, Result<SessionPage, Refusal>> {
        let store = self.0.store.clone();
        async move {
            if agent != "demo" {
                return Err(Refusal::new(Code::AgentNotFound, "no such agent"));
            }
            if query.before.is_some() {
                return Err(Refusal::new(Code::InvalidCursor, "no such page").field("before"));
            }
            let taken = store.chats_by_sessions(vec!["s-1".to_owned()]).await.unwrap();
            let session = |id: &str| SessionInfo {
                id: id.to_owned(),
                title: Some(format!("The session {id}")),
                first: Some("Fix the parser".to_owned()),
                cwd: Some("/home/me".to_owned()),
                cwd_is_there: true,
                changed: Micros(BEGIN),
                bytes: 7,
                open_elsewhere: id == "s-2",
                chat: taken.iter().find(|(taken, _)| taken == id).map(|(_, chat)| *chat),
            };
            let all = ["s-1", "s-2"].map(session).into_iter();
            let named = |it: &SessionInfo, word: &String| {
                it.title.as_ref().is_some_and(|title| title.to_lowercase().contains(word))
            };
            let kept = all.filter(|it| query.words.iter().all(|word| named(it, word)));
            Ok(SessionPage { sessions: kept.take(query.limit).collect(), next: None })
        }
        .boxed()
    }
    fn fork(
        &self,
        chat: ChatId,
        at: u64,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let this = self.clone();
        async move {
            let (turn, attachments) = (None, Vec::new());
            let fork = Command::Fork { at, turn, attachments };
            let fork = match this.act(chat, fork, Caller::default()).await? {
                Reply::Forkable { fork } => fork,
                other => return Ok(other),
            };
            let open = Command::Open {
                agent: "demo".to_owned(),
                cwd: "/home/me".to_owned(),
                project: None,
                title: None,
                slot: None,
                model: None,
                effort: None,
                mode: None,
                fork: Some(fork),
                adopt: None,
                message: None,
            };
            this.act(ChatId::new(this.id()), open, caller).await
        }
        .boxed()
    }
    fn submit(
        &self,
        chat: ChatId,
        command: Command,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let this = self.clone();
        async move { this.act(chat, command, caller).await }.boxed()
    }
    fn give_slot(
        &self,
        slot: String,
        from: ChatId,
        to: ChatId,
        caller: Caller,
    ) -> BoxFuture<'static, Result<(), Refusal>> {
        let this = self.clone();
        async move {
            this.interrupted().await;
            let change =
                |slot| Command::Change(ChangeChat { slot: Some(slot), ..Default::default() });
            let _alone = this.0.one_at_a_time.lock().await;
            let key = caller.operation.map(|operation| (caller.principal, operation));
            let take = Input::Command(change(String::new()));
            let (_, old) = this.unit(from, take, None, None).await?;
            let (_, new) = this.unit(to, Input::Command(change(slot)), key, None).await?;
            this.commit(vec![old, new]).await
        }
        .boxed()
    }
    fn blobs(&self) -> Blobs {
        Blobs::of(self.0.files.path())
    }
    fn new_attachment(&self) -> AttachmentId {
        AttachmentId::new(self.id())
    }
    fn attach(
        &self,
        chat: ChatId,
        incoming: Incoming,
        known: Attachment,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let this = self.clone();
        async move {
            let (kept, id) = (incoming.keep().unwrap(), known.id);
            let answer = this.act(chat, Command::Attach(known), caller).await;
            match &answer {
                Ok(Reply::Attached(stored)) if stored.id == id => kept.confirm(),
                Ok(_) | Err(_) => kept.discard(),
            }
            answer
        }
        .boxed()
    }
    fn detach(
        &self,
        chat: ChatId,
        attachment: AttachmentId,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let this = self.clone();
        async move {
            let answer = this.act(chat, Command::Detach { attachment }, caller).await;
            if answer.is_ok() {
                this.blobs().leave(chat, attachment).unwrap().discard();
            }
            answer
        }
        .boxed()
    }
    fn keep_draft(
        &self,
        chat: ChatId,
        text: String,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Micros, Refusal>> {
        let this = self.clone();
        async move {
            if let Some(stored) = this.stored(&caller).await? {
                return Ok(stored.at);
            }
            let at = this.given(chat).at;
            let operation = Operation::of(&caller, Reply::Done);
            let put = this.0.store.put_draft(chat, caller.principal, text, at, operation).await;
            put.map(|()| at).map_err(|_| Refusal::new(Code::ChatNotFound, "no such chat"))
        }
        .boxed()
    }
    fn replayed(&self, caller: Caller) -> BoxFuture<'static, Result<Option<Reply>, Refusal>> {
        let this = self.clone();
        async move { Ok(this.stored(&caller).await?.map(|stored| stored.operation.reply)) }.boxed()
    }
    fn remember(
        &self,
        chat: Option<ChatId>,
        reply: Reply,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let this = self.clone();
        async move {
            if let Some(stored) = this.stored(&caller).await? {
                return Ok(stored.operation.reply);
            }
            if let Some(operation) = Operation::of(&caller, reply.clone()) {
                this.0.store.remember(chat, operation, Micros(BEGIN)).await.unwrap();
            }
            Ok(reply)
        }
        .boxed()
    }
    fn stop(&self, agents: StopAgents) {
        self.tell(match agents {
            StopAgents::Stop => "stop",
            StopAgents::Keep => "keep",
        });
    }
    fn figures(&self) -> HostFigures {
        HostFigures { attempts: 2, attempts_begun: 5, chats_loaded: 3 }
    }
    fn environment(&self, agent: &str) -> Option<EnvironmentInfo> {
        (agent == "demo").then(|| EnvironmentInfo {
            source: shell_source(),
            variables: vec![
                VariableInfo { name: "A".into(), value: "s3cret".into(), origin: "configuration" },
                VariableInfo { name: "PATH".into(), value: "/bin".into(), origin: "login_shell" },
            ],
        })
    }
    fn refresh_environment(&self) -> BoxFuture<'static, EnvironmentSource> {
        self.tell("refresh");
        async { shell_source() }.boxed()
    }
    fn restart(&self) -> Result<(), Refusal> {
        self.tell("restart");
        Ok(())
    }
    fn deltas(&self) -> broadcast::Receiver<Arc<Delta>> {
        self.0.deltas.subscribe()
    }
}

fn shell_source() -> EnvironmentSource {
    EnvironmentSource { word: "login_shell", shell: Some("/bin/sh".into()), note: None }
}

/// What a session holds that is adopted.
fn adopted(session: String) -> Adopted {
    let entry = |kind, role, body, field, text: &str| Entry {
        kind,
        role,
        body,
        texts: vec![(field, text.to_owned())],
        at: Some(Micros(BEGIN - 60_000_000)),
    };
    let said = |role, text| entry(ItemKind::Message, role, Body::Text, Field::Text, text);
    Adopted {
        handle: Handle { root: session.clone(), leaf: session },
        title: Some("Fix the parser".to_owned()),
        messages: 1,
        entries: vec![said(Role::User, "Fix the parser"), said(Role::Agent, "It is fixed.")],
        older: 3,
        damaged: 1,
        since: Some(Micros(BEGIN - 60_000_000)),
    }
}
