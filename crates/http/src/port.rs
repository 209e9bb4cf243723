//! What the border needs of a host. Whoever wires the program implements it over the real host;
//! tests implement it over a store in memory.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use holdfast_core::attachment::Attachment;
use holdfast_core::fact::Author;
use holdfast_core::ids::{AttachmentId, AttemptId, ChatId, MessageId};
pub use holdfast_core::input::{Caller, OperationKey};
use holdfast_core::input::{Command, Reply};
pub use holdfast_core::item::Delta;
use holdfast_core::refusal::Refusal;
use holdfast_core::time::Micros;
use holdfast_store::blobs::Incoming;
use holdfast_store::search::Search;
use holdfast_store::{Blobs, Store};
use tokio::sync::broadcast;

/// A host, as the border uses it. Every call answers after the commit of what it did.
pub trait Host: Send + Sync + 'static {
    /// Where everything is read from.
    fn store(&self) -> Arc<dyn Store>;

    /// The index of all transcripts; none where the disk did not let it be made.
    fn search(&self) -> Option<Search>;

    /// What the host is.
    fn info(&self) -> HostInfo;

    /// What closed chats left running because a person chose so.
    fn left(&self) -> BoxFuture<'static, Vec<LeftInfo>>;

    /// Ends what was left running of this attempt, or all of it, and answers of which nothing lives any
    /// more.
    fn end_left(&self, of: Option<AttemptId>) -> BoxFuture<'static, Vec<AttemptId>>;

    /// How its work goes.
    fn figures(&self) -> HostFigures;

    /// The id of a new message, random.
    fn new_message(&self) -> MessageId;

    /// The agents that can be chosen, in the order of the configuration.
    fn agents(&self) -> BoxFuture<'static, Vec<AgentInfo>>;

    /// What an agent would run in if it were started now; none where there is no such agent.
    fn environment(&self, agent: &str) -> Option<EnvironmentInfo>;

    /// Asks the login shell again what agents run in, and answers what has come of it.
    fn refresh_environment(&self) -> BoxFuture<'static, EnvironmentSource>;

    /// Makes a chat exist and answers [`Reply::Opened`]. A repeat of the operation is answered before anything
    /// of the request is looked at, so that it is the first answer even where the directory is
    /// gone by now.
    ///
    /// # Errors
    /// `agent_not_found`, `slot_taken`, `invalid_field` for a directory that is none, the codes of
    /// operations, of commits and of a stop; for a session that is adopted `session_unknown`,
    /// `session_taken`, `directory_gone`, `not_supported`.
    fn open(
        &self,
        wanted: WantedChat,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>>;

    /// The sessions that an agent keeps itself, the last changed first.
    ///
    /// # Errors
    /// `agent_not_found`, `not_supported`, `invalid_cursor`.
    fn sessions(
        &self,
        agent: String,
        query: SessionQuery,
    ) -> BoxFuture<'static, Result<SessionPage, Refusal>>;

    /// Opens another chat that begins as this one is, up to the item at a place, and answers
    /// [`Reply::Opened`].
    ///
    /// # Errors
    /// `chat_not_found`, `not_supported`, `chat_busy`, the codes of operations, of commits and of a
    /// stop.
    fn fork(
        &self,
        chat: ChatId,
        at: u64,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>>;

    /// Has a chat decide about a command, and answers what it decided.
    ///
    /// An operation that was stored before is answered first: `operation_conflict` where its body
    /// was another, otherwise the stored reply. A key in the form of a UUIDv7 that is older than
    /// what is kept is `operation_expired`.
    ///
    /// # Errors
    /// `chat_not_found`, the refusals of the rules, the codes of operations, of commits and of a
    /// stop.
    fn submit(
        &self,
        chat: ChatId,
        command: Command,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>>;

    /// Takes a slot from a chat and gives it to another one, in one commit; the operation is stored with
    /// what the new one changes. A repeat of the operation changes nothing.
    ///
    /// # Errors
    /// Those of `submit`, for either chat; `slot_taken` where neither has it.
    fn give_slot(
        &self,
        slot: String,
        from: ChatId,
        to: ChatId,
        caller: Caller,
    ) -> BoxFuture<'static, Result<(), Refusal>>;

    /// Where the bytes of attachments are.
    fn blobs(&self) -> Blobs;

    /// The id of a new attachment, random.
    fn new_attachment(&self) -> AttachmentId;

    /// Keeps what is attached to a chat, and answers [`Reply::Attached`]. A repeat of the operation gets
    /// the first answer, and its bytes go.
    ///
    /// # Errors
    /// Those of `submit`, and what the disk does not take.
    fn attach(
        &self,
        chat: ChatId,
        incoming: Incoming,
        known: Attachment,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>>;

    /// Lets go of an attachment that no message names, and answers [`Reply::Done`].
    ///
    /// # Errors
    /// Those of `submit`.
    fn detach(
        &self,
        chat: ChatId,
        attachment: AttachmentId,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>>;

    /// Keeps what the caller is writing in a chat, and answers when. A repeat of the operation is
    /// answered as the first was, and stores nothing.
    ///
    /// # Errors
    /// `chat_not_found`, the codes of operations, of commits and of a stop.
    fn keep_draft(
        &self,
        chat: ChatId,
        text: String,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Micros, Refusal>>;

    /// What was answered to this operation before, if it was made before.
    ///
    /// # Errors
    /// The codes of operations.
    fn replayed(&self, caller: Caller) -> BoxFuture<'static, Result<Option<Reply>, Refusal>>;

    /// Remembers the answer to an operation that changes no chat by itself (it is about several, or
    /// finds nothing to change in this one), and gives it; a repeat gets the first one.
    ///
    /// # Errors
    /// The codes of operations, of commits and of a stop.
    fn remember(
        &self,
        chat: Option<ChatId>,
        reply: Reply,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>>;

    /// Begins to stop the host, once the answer that names the working chats is on its way.
    fn stop(&self, agents: StopAgents);

    /// Begins to replace the host and keeps the agents.
    ///
    /// # Errors
    /// `configuration_wrong`: another host would not start with it.
    fn restart(&self) -> Result<(), Refusal>;

    /// What agents say right now, before it is committed: a courtesy that may be missed.
    fn deltas(&self) -> broadcast::Receiver<Arc<Delta>>;
}

/// A chat that is to exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedChat {
    /// The agent's id.
    pub agent: String,
    /// Its directory; absent: the home directory. The host takes only an absolute path of a
    /// directory that exists, and keeps the real one.
    pub cwd: Option<String>,
    /// The session that it goes on with, by the agent's own id. The directory is that of the session.
    pub adopt: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its slot.
    pub slot: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Its mode.
    pub mode: Option<String>,
    /// How hard its agent thinks.
    pub effort: Option<String>,
    /// Its first message.
    pub message: Option<(MessageId, String, Author)>,
}

/// What a list of sessions is narrowed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionQuery {
    /// The directory in which it was begun.
    pub cwd: Option<String>,
    /// Words that its title, its first words or its directory have, in lower case.
    pub words: Vec<String>,
    /// The `next` of the page before.
    pub before: Option<String>,
    /// Rows at most.
    pub limit: usize,
}

/// A page of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPage {
    /// The sessions, the last changed first.
    pub sessions: Vec<SessionInfo>,
    /// What to ask the next page with; none at the end.
    pub next: Option<String>,
}

/// A session that an agent keeps itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// The agent's id of it.
    pub id: String,
    /// What it is called.
    pub title: Option<String>,
    /// The first words of the person.
    pub first: Option<String>,
    /// The directory in which it was begun.
    pub cwd: Option<String>,
    /// Whether that directory is there.
    pub cwd_is_there: bool,
    /// When it changed last.
    pub changed: Micros,
    /// Bytes of its file.
    pub bytes: u64,
    /// Whether another process seems to have it open.
    pub open_elsewhere: bool,
    /// The chat that goes on with it.
    pub chat: Option<ChatId>,
}

/// What becomes of the agents when the host stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopAgents {
    /// They are stopped, with offers.
    Stop,
    /// They go on under their keepers.
    Keep,
}

/// What a host is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// The version of the program.
    pub version: String,
    /// The kind of store: `sqlite`, `memory`.
    pub store: String,
    /// Damage that was found outside the store, one sentence each.
    pub damage: Vec<String>,
    /// What is wrong with the configuration as it was found last, in a sentence.
    pub configuration: Option<String>,
    /// Whether it takes writes by now.
    pub readiness: Readiness,
}

/// What one chat left running when it was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftInfo {
    /// The attempt that it is of.
    pub attempt: AttemptId,
    /// Its processes: pid, command line, TCP ports on which it listens.
    pub processes: Vec<(u32, String, Vec<u16>)>,
}

/// How the work of a host goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostFigures {
    /// Attempts that are driven now.
    pub attempts: usize,
    /// Attempts that were driven since the host started.
    pub attempts_begun: u64,
    /// Chats that are in memory.
    pub chats_loaded: usize,
}

/// Whether a host takes writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It does.
    Ready,
    /// It is starting.
    Starting,
    /// It is stopping.
    Stopping,
}

/// An agent that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentInfo {
    /// Its id in the configuration.
    pub id: String,
    /// `claude`, `codex` or `acp`.
    pub kind: String,
    /// Its version, as far as known.
    pub version: Option<String>,
    /// The versions that were tested, in words.
    pub tested: Option<String>,
    /// Whether it can be started.
    pub availability: Availability,
    /// What a person should know of it all the same: that its version was not tested.
    pub hint: Option<String>,
}

/// What an agent runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentInfo {
    /// Where it comes from as a whole.
    pub source: EnvironmentSource,
    /// Its variables, by name.
    pub variables: Vec<VariableInfo>,
}

/// Where an environment comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentSource {
    /// `login_shell`, `host`, or `asking` while the shell is asked for the first time.
    pub word: &'static str,
    /// The shell.
    pub shell: Option<String>,
    /// What a person should know of it: why it is not the shell's, or not what it says now.
    pub note: Option<String>,
}

/// A variable of an agent's environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableInfo {
    /// Its name.
    pub name: String,
    /// Its value; what is not UTF-8 is replaced.
    pub value: String,
    /// Where it comes from, as a stable word.
    pub origin: &'static str,
}

/// Whether an agent can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// As far as can be seen, it can.
    Available,
    /// It cannot, for this reason.
    Unavailable(String),
}
