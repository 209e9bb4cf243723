//! The host as the border uses it.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use holdfast_agent::codec::AgentKind;
use holdfast_agent::versions;
use holdfast_core::attachment::Attachment;
use holdfast_core::ids::{AttachmentId, AttemptId, ChatId, MessageId};
use holdfast_core::input::{Command, Reply};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::time::Micros;
use holdfast_host::agents::{Agent, Environment, Named, Origin, Source};
use holdfast_host::attachments::Upload;
use holdfast_host::found::{self, WantedAdoption};
use holdfast_host::{Host, clock};
use holdfast_http::port::{
    AgentInfo, Availability, Caller, Delta, EnvironmentInfo, EnvironmentSource, Host as Port,
    HostFigures, HostInfo, LeftInfo, Readiness, SessionInfo, SessionPage, SessionQuery, StopAgents,
    VariableInfo, WantedChat,
};
use holdfast_store::blobs::Incoming;
use holdfast_store::search::Search;
use holdfast_store::{Blobs, Store};
use tokio::sync::{broadcast, mpsc};

use crate::config::Recheck;
use crate::detect::{self, Versions};
use crate::environment::{self, Surroundings};

/// What somebody wants of the program as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// End, with or without the agents.
    Stop(StopAgents),
    /// Be replaced, and keep the agents.
    Restart,
}

/// The host behind the border.
pub(crate) struct Border {
    host: Host,
    wishes: mpsc::Sender<Wish>,
    search: Option<Search>,
    recheck: Recheck,
    surroundings: Arc<Surroundings>,
    versions: Arc<Versions>,
}

impl Border {
    /// The border of this host; what is wished of the program goes to `wishes`.
    pub(crate) fn new(
        host: Host,
        wishes: mpsc::Sender<Wish>,
        search: Option<Search>,
        recheck: Recheck,
        surroundings: Arc<Surroundings>,
    ) -> Self {
        let versions = Arc::default();
        Self { host, wishes, search, recheck, surroundings, versions }
    }

    fn wish(&self, wish: Wish) {
        // A second wish while one is being fulfilled changes nothing.
        let _ = self.wishes.try_send(wish);
    }
}

impl Port for Border {
    fn store(&self) -> Arc<dyn Store> {
        self.host.store()
    }

    fn search(&self) -> Option<Search> {
        self.search.clone()
    }

    fn info(&self) -> HostInfo {
        HostInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            store: "sqlite".to_owned(),
            damage: self.host.damage(),
            configuration: self.recheck.fault(),
            readiness: if self.host.is_stopping() { Readiness::Stopping } else { Readiness::Ready },
        }
    }

    fn left(&self) -> BoxFuture<'static, Vec<LeftInfo>> {
        let host = self.host.clone();
        async move {
            let left = host.left().await.into_iter().map(|(attempt, kept)| LeftInfo {
                attempt: AttemptId::new(attempt),
                processes: kept
                    .into_iter()
                    .map(|one| (one.process.process.pid, one.process.command, one.ports))
                    .collect(),
            });
            left.collect()
        }
        .boxed()
    }

    fn end_left(&self, of: Option<AttemptId>) -> BoxFuture<'static, Vec<AttemptId>> {
        let host = self.host.clone();
        async move {
            let ended = host.end_what_was_left(of.map(|attempt| attempt.uuid())).await;
            ended.into_iter().map(AttemptId::new).collect()
        }
        .boxed()
    }

    fn figures(&self) -> HostFigures {
        let (attempts, attempts_begun, chats_loaded) = self.host.figures();
        HostFigures { attempts, attempts_begun, chats_loaded }
    }

    fn new_message(&self) -> MessageId {
        clock::new_message()
    }

    fn agents(&self) -> BoxFuture<'static, Vec<AgentInfo>> {
        let agents: Vec<AgentInfo> = self
            .host
            .agents()
            .iter()
            .map(|(id, agent)| {
                let within = self.host.agents().environment(agent);
                (id, agent, availability(agent, &within), within)
            })
            .filter(|(_, agent, availability, _)| is_shown(agent, availability))
            .map(|(id, agent, availability, within)| {
                let version = self.versions.of(agent, &within);
                let hint = version.as_deref().and_then(|it| detect::hint(agent.kind, it));
                AgentInfo {
                    id: id.clone(),
                    kind: kind_word(agent.kind).to_owned(),
                    version,
                    tested: versions::tested(agent.kind).map(|tested| tested.words()),
                    availability,
                    hint,
                }
            })
            .collect();
        async move { agents }.boxed()
    }

    fn open(
        &self,
        wanted: WantedChat,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let host = self.host.clone();
        async move {
            if let Some(reply) = host.replayed(&caller).await? {
                return Ok(reply);
            }
            if host.agents().get(&wanted.agent).is_none() {
                let text = format!(
                    "The configuration has no agent {:?}. GET /agents lists those there are.",
                    wanted.agent
                );
                return Err(Refusal::new(Code::AgentNotFound, text).field("agent"));
            }
            if let Some(session) = wanted.adopt {
                let wanted = WantedAdoption {
                    agent: wanted.agent,
                    session,
                    project: wanted.project,
                    title: wanted.title,
                    slot: wanted.slot,
                    model: wanted.model,
                    mode: wanted.mode,
                    effort: wanted.effort,
                    message: wanted.message,
                };
                return host.adopt(wanted, caller).await;
            }
            let cwd = real_directory(wanted.cwd.as_deref())?;
            let open = Command::Open {
                agent: wanted.agent,
                cwd,
                project: wanted.project,
                title: wanted.title,
                slot: wanted.slot,
                model: wanted.model,
                effort: wanted.effort,
                mode: wanted.mode,
                fork: None,
                adopt: None,
                message: wanted.message,
            };
            host.open(open, caller).await
        }
        .boxed()
    }

    fn sessions(
        &self,
        agent: String,
        query: SessionQuery,
    ) -> BoxFuture<'static, Result<SessionPage, Refusal>> {
        let host = self.host.clone();
        async move {
            let SessionQuery { cwd, words, before, limit } = query;
            let query = found::SessionQuery { cwd, words, before, limit };
            let page = host.sessions(&agent, query).await?;
            let sessions = page.sessions.into_iter().map(|session| SessionInfo {
                id: session.id,
                title: session.title,
                first: session.first,
                cwd: session.cwd,
                cwd_is_there: session.cwd_is_there,
                changed: session.changed,
                bytes: session.bytes,
                open_elsewhere: session.open_elsewhere,
                chat: session.chat,
            });
            Ok(SessionPage { sessions: sessions.collect(), next: page.next })
        }
        .boxed()
    }

    fn fork(
        &self,
        chat: ChatId,
        at: u64,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let host = self.host.clone();
        async move { host.fork(chat, at, caller).await }.boxed()
    }

    fn submit(
        &self,
        chat: ChatId,
        command: Command,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let host = self.host.clone();
        async move { host.submit(chat, command, caller).await }.boxed()
    }

    fn give_slot(
        &self,
        slot: String,
        from: ChatId,
        to: ChatId,
        caller: Caller,
    ) -> BoxFuture<'static, Result<(), Refusal>> {
        let host = self.host.clone();
        async move { host.give_slot(slot, from, to, caller).await }.boxed()
    }

    fn blobs(&self) -> Blobs {
        self.host.blobs()
    }

    fn new_attachment(&self) -> AttachmentId {
        clock::new_attachment()
    }

    fn attach(
        &self,
        chat: ChatId,
        incoming: Incoming,
        attachment: Attachment,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let host = self.host.clone();
        let upload = Upload { incoming, attachment };
        async move { host.attach(chat, upload, caller).await }.boxed()
    }

    fn detach(
        &self,
        chat: ChatId,
        attachment: AttachmentId,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let host = self.host.clone();
        async move { host.detach(chat, attachment, caller).await }.boxed()
    }

    fn keep_draft(
        &self,
        chat: ChatId,
        text: String,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Micros, Refusal>> {
        let host = self.host.clone();
        async move { host.keep_draft(chat, text, caller).await }.boxed()
    }

    fn replayed(&self, caller: Caller) -> BoxFuture<'static, Result<Option<Reply>, Refusal>> {
        let host = self.host.clone();
        async move { host.replayed(&caller).await }.boxed()
    }

    fn remember(
        &self,
        chat: Option<ChatId>,
        reply: Reply,
        caller: Caller,
    ) -> BoxFuture<'static, Result<Reply, Refusal>> {
        let host = self.host.clone();
        async move { host.remember(chat, reply, &caller).await }.boxed()
    }

    fn stop(&self, agents: StopAgents) {
        self.wish(Wish::Stop(agents));
    }

    fn restart(&self) -> Result<(), Refusal> {
        if let Err(faults) = self.recheck.check() {
            let text =
                format!("The configuration is not right: the host was not replaced. {faults}");
            return Err(Refusal::new(Code::ConfigurationWrong, text));
        }
        self.wish(Wish::Restart);
        Ok(())
    }

    fn environment(&self, agent: &str) -> Option<EnvironmentInfo> {
        let agents = self.host.agents();
        let known = agents.environment(agents.get(agent)?);
        let variables = known.iter().map(|(name, variable)| VariableInfo {
            name: name.to_string_lossy().into_owned(),
            value: variable.value.to_string_lossy().into_owned(),
            origin: origin_word(variable.origin),
        });
        Some(EnvironmentInfo { source: source(&known.source), variables: variables.collect() })
    }

    fn refresh_environment(&self) -> BoxFuture<'static, EnvironmentSource> {
        let surroundings = Arc::clone(&self.surroundings);
        async move { source(&surroundings.refresh().await) }.boxed()
    }

    fn deltas(&self) -> broadcast::Receiver<Arc<Delta>> {
        self.host.deltas()
    }
}

const fn origin_word(origin: Origin) -> &'static str {
    match origin {
        Origin::Host => "host",
        Origin::LoginShell => "login_shell",
        Origin::Both => "login_shell_and_host",
        Origin::Holdfast => "holdfast",
        Origin::Configuration => "configuration",
    }
}

fn source(source: &Source) -> EnvironmentSource {
    match source {
        Source::Asking => EnvironmentSource { word: "asking", shell: None, note: None },
        Source::Host { why } => {
            EnvironmentSource { word: "host", shell: None, note: Some(why.clone()) }
        }
        Source::LoginShell { shell, stale } => {
            let shell = Some(shell.clone());
            EnvironmentSource { word: "login_shell", shell, note: stale.clone() }
        }
    }
}

const fn kind_word(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Acp => "acp",
        AgentKind::Claude => "claude",
        AgentKind::Codex => "codex",
    }
}

/// Whether an agent is shown: one that nobody named is there where its program is.
pub(crate) const fn is_shown(agent: &Agent, availability: &Availability) -> bool {
    match (agent.named, availability) {
        (Named::ByName, _) | (Named::ByItsProgram, Availability::Available) => true,
        (Named::ByItsProgram, Availability::Unavailable(_)) => false,
    }
}

/// Whether the agent's program can be found.
pub(crate) fn availability(agent: &Agent, within: &Environment) -> Availability {
    match detect::program(agent, within) {
        Some(_) => Availability::Available,
        None => Availability::Unavailable(detect::missing(agent)),
    }
}

/// Characters of a directory's name that a refusal shows.
const SHOWN_CHARS_MAX: usize = 300;

/// The directory that a chat gets: absolute, there, and by its real name, so that a link that is
/// moved later does not move the chat.
fn real_directory(wanted: Option<&str>) -> Result<String, Refusal> {
    let invalid = |text: String| Refusal::new(Code::InvalidField, text).field("cwd");
    let home = || environment::var("HOME").and_then(|home| home.into_string().ok());
    let wanted = wanted.map(str::to_owned).or_else(home).unwrap_or_else(|| "/".to_owned());
    let named: String = wanted.chars().take(SHOWN_CHARS_MAX).collect();
    if !Path::new(&wanted).is_absolute() {
        return Err(invalid(format!("The directory {named} is not named by an absolute path.")));
    }
    let real = std::fs::canonicalize(&wanted).map_err(|error| {
        invalid(match error.kind() {
            ErrorKind::NotFound => format!("The directory {named} is not there."),
            ErrorKind::NotADirectory => format!("{named} is not a directory."),
            ErrorKind::PermissionDenied => {
                format!("The directory {named} may not be looked at by the host.")
            }
            _ => format!("The directory {named} cannot be used: {error}."),
        })
    })?;
    if !real.is_dir() {
        return Err(invalid(format!("{named} is not a directory.")));
    }
    let real = real.into_os_string().into_string();
    real.map_err(|_| invalid(format!("The real name of the directory {named} is not UTF-8.")))
}
