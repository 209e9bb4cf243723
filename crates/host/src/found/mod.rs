//! Sessions that were there before any chat: listed without touching them, and adopted by a chat that goes
//! on with one.

mod elsewhere;
mod files;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;

use holdfast_agent::codec::AgentKind;
use holdfast_core::adopt::Adopted;
use holdfast_core::fact::Author;
use holdfast_core::ids::{ChatId, MessageId};
use holdfast_core::input::{Caller, Command, Reply};
use holdfast_core::provider::Handle;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_core::time::Micros;

use self::elsewhere::Elsewhere;
use self::files::{Candidate, Place};
use crate::clock;
use crate::host::{Host, unasked, uncertain};

/// Files that one list looks into; what is left is on the next page.
const GLANCES_MAX: usize = 1000;
/// Characters of a session's id that a refusal shows.
const SHOWN_CHARS_MAX: usize = 80;

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

/// A page of sessions, the last changed first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<Session>,
    /// What to ask the next page with; none at the end. Opaque.
    pub next: Option<String>,
}

/// A session that an agent keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The agent's id of it.
    pub id: String,
    /// What it is called; none where nobody and nothing named it.
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

/// A chat that is to go on with a session.
#[derive(Clone, Debug)]
pub struct WantedAdoption {
    /// The agent's id in the configuration.
    pub agent: String,
    /// The agent's id of the session.
    pub session: String,
    /// The project.
    pub project: Option<String>,
    /// The title; that of the session where nothing is said.
    pub title: Option<String>,
    /// The slot.
    pub slot: Option<String>,
    /// The agent's model.
    pub model: Option<String>,
    /// The agent's mode.
    pub mode: Option<String>,
    /// How hard it thinks.
    pub effort: Option<String>,
    /// The first message.
    pub message: Option<(MessageId, String, Author)>,
}

impl Host {
    /// A page of the sessions that an agent keeps, the last changed first. Nothing of them is written.
    ///
    /// # Errors
    ///
    /// `agent_not_found`, `not_supported`, `invalid_cursor`; the store or the disk cannot be asked.
    pub async fn sessions(&self, agent: &str, query: SessionQuery) -> Result<SessionPage, Refusal> {
        let place = self.place(agent).await?;
        let listed = tokio::task::spawn_blocking(move || list(&place, &query)).await;
        let mut page = listed.map_err(|_| uncertain())??;
        let ids = page.sessions.iter().map(|session| session.id.clone()).collect();
        let taken = self.store().chats_by_sessions(ids).await.map_err(|error| unasked(&error))?;
        let taken: HashMap<String, ChatId> = taken.into_iter().collect();
        for session in &mut page.sessions {
            session.chat = taken.get(&session.id).copied();
        }
        Ok(page)
    }

    /// Opens a chat that goes on with a session, and answers [`Reply::Opened`]. What the session holds is
    /// shown in it; its agent is started with the first message.
    ///
    /// # Errors
    ///
    /// `agent_not_found`, `not_supported`, `session_unknown`, `session_taken`, `directory_gone`, the
    /// refusals of the rules, of operations, of commits, of a stop.
    pub async fn adopt(&self, wanted: WantedAdoption, caller: Caller) -> Result<Reply, Refusal> {
        let open = |host: Self, caller: Caller| async move {
            match host.open_adopted(wanted, caller.clone()).await {
                // Two requests with one key at the same moment: the other one was first. Reading a long
                // session takes long enough for a client to ask again.
                Err(refusal) if refusal.code == Code::SessionTaken => {
                    host.replayed(&caller).await?.ok_or(refusal)
                }
                answer => answer,
            }
        };
        self.to_its_end(caller, open).await
    }

    async fn open_adopted(&self, wanted: WantedAdoption, caller: Caller) -> Result<Reply, Refusal> {
        let WantedAdoption { agent, session, project, title, slot, model, mode, effort, message } =
            wanted;
        let place = self.place(&agent).await?;
        let taken = self.store().chats_by_sessions(vec![session.clone()]).await;
        if let Some((_, chat)) = taken.map_err(|error| unasked(&error))?.first() {
            let chat = *chat;
            return Err(holdfast_store::CommitError::SessionTaken { chat }.refusal());
        }
        let read = tokio::task::spawn_blocking(move || read(&place, &session)).await;
        let (cwd, adopted) = read.map_err(|_| uncertain())??;
        let open = Command::Open {
            agent,
            cwd,
            project,
            title,
            slot,
            model,
            mode,
            effort,
            fork: None,
            adopt: Some(Box::new(adopted)),
            message,
        };
        self.submit(clock::new_chat(), open, caller).await
    }

    /// Where the agent keeps its sessions, in the environment that it would get.
    async fn place(&self, agent: &str) -> Result<Place, Refusal> {
        let agents = self.agents();
        let Some(known) = agents.get(agent) else {
            let name: String = agent.chars().take(SHOWN_CHARS_MAX).collect();
            let text = format!(
                "The configuration has no agent {name:?}. GET /agents lists those there are."
            );
            return Err(Refusal::new(Code::AgentNotFound, text));
        };
        agents.environment_known().await;
        let environment = agents.environment(known);
        let place = match known.kind {
            AgentKind::Claude => Place::claude(&environment),
            AgentKind::Codex => Place::codex(&environment),
            AgentKind::Acp => {
                let text = format!(
                    "Where the agent {agent:?} keeps its sessions is not known. Those of Claude Code and \
                     Codex are."
                );
                return Err(Refusal::new(Code::NotSupported, text));
            }
        };
        place.ok_or_else(|| {
            let text = format!(
                "Where the agent {agent:?} keeps its sessions is not known: its environment has no \
                 HOME. `holdfast agent environment {agent}` shows what it gets."
            );
            Refusal::new(Code::NotSupported, text)
        })
    }
}

fn list(place: &Place, query: &SessionQuery) -> Result<SessionPage, Refusal> {
    let before = query.before.as_deref().map(cursor).transpose()?;
    let names: HashMap<String, String> = place.names().into_iter().collect();
    let elsewhere = match place {
        Place::Claude { .. } => Elsewhere::claude(),
        Place::Codex { .. } => Elsewhere::codex(),
    };
    let (mut page, mut looked) = (SessionPage::default(), 0);
    let all = place.candidates();
    let mut rest =
        all.iter().filter(|of| before.is_none_or(|before| of.order() < before)).peekable();
    while let Some(of) = rest.next() {
        looked += 1;
        if let Some(session) = session(place, of, &names, &elsewhere).filter(|it| query.keeps(it)) {
            page.sessions.push(session);
        }
        let full = page.sessions.len() >= query.limit || looked >= GLANCES_MAX;
        if full && rest.peek().is_some() {
            page.next = Some(format!("{}.{}", of.changed.0, of.id));
            break;
        }
    }
    Ok(page)
}

/// Where a page begins.
fn cursor(text: &str) -> Result<(i64, &str), Refusal> {
    let parsed = text.split_once('.').and_then(|(changed, id)| Some((changed.parse().ok()?, id)));
    parsed.filter(|(_, id)| files::is_id(id)).ok_or_else(|| {
        let text = "This is not the `next` of a page of sessions.";
        Refusal::new(Code::InvalidCursor, text).field("before")
    })
}

fn session(
    place: &Place,
    of: &Candidate,
    names: &HashMap<String, String>,
    elsewhere: &Elsewhere,
) -> Option<Session> {
    let glance = place.glance(of)?;
    // A copied file is that of the session that it names.
    let id = glance.id.filter(|id| files::is_id(id)).unwrap_or_else(|| of.id.clone());
    let open_elsewhere = match place {
        Place::Claude { .. } => elsewhere.has(&id, glance.cwd.as_deref(), of.changed),
        Place::Codex { home } => elsewhere.locks(home, &id),
    };
    Some(Session {
        title: names.get(&id).cloned().or(glance.title),
        first: glance.first,
        cwd_is_there: glance.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).is_dir()),
        cwd: glance.cwd,
        changed: of.changed,
        bytes: of.bytes,
        open_elsewhere,
        chat: None,
        id,
    })
}

impl SessionQuery {
    fn keeps(&self, session: &Session) -> bool {
        let texts = [&session.title, &session.first, &session.cwd];
        let texts: Vec<String> = texts.into_iter().flatten().map(|it| it.to_lowercase()).collect();
        self.cwd.as_ref().is_none_or(|cwd| session.cwd.as_ref() == Some(cwd))
            && self.words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}

/// The directory of a session, and what a chat begins with that goes on with it.
fn read(place: &Place, wanted: &str) -> Result<(String, Adopted), Refusal> {
    let unknown = || {
        let name: String = wanted.chars().take(SHOWN_CHARS_MAX).collect();
        let text = format!(
            "The agent has no session {name:?} that could be gone on with. `holdfast agent sessions` lists \
             those there are."
        );
        Refusal::new(Code::SessionUnknown, text).field("adopt.session")
    };
    let all = place.candidates().into_iter();
    let of = all.into_iter().find(|of| of.id == wanted).ok_or_else(unknown)?;
    let glance = place.glance(&of).ok_or_else(unknown)?;
    let cwd = directory(glance.cwd.as_deref())?;
    let history = place.history(&of).map_err(|error| {
        let text =
            format!("The session could not be read: {error}. Nothing was stored; try again.");
        Refusal::new(Code::SessionUnknown, text).field("adopt.session")
    })?;
    if history.damaged > 0 || history.unknown > 0 {
        tracing::warn!(
            session = wanted,
            damaged = history.damaged,
            unknown = history.unknown,
            "lines of the session could not be read"
        );
    }
    let name = place.names().into_iter().rev().find(|(id, _)| id == wanted).map(|(_, name)| name);
    let title = name.or_else(|| history.title.clone()).or(glance.title);
    let title = title.or_else(|| history.first.clone()).or(glance.first);
    let adopted = Adopted {
        handle: Handle { root: wanted.to_owned(), leaf: wanted.to_owned() },
        title,
        // One that is gone by then is asked for, so that the agent says so.
        messages: history.messages.max(1),
        older: history.older,
        damaged: history.damaged,
        since: history.since,
        entries: history.entries(),
    };
    Ok((cwd, adopted))
}

/// The directory that the chat gets: by its real name, as that of any other chat.
fn directory(cwd: Option<&str>) -> Result<String, Refusal> {
    let gone = |text: String| Refusal::new(Code::DirectoryGone, text).field("adopt.session");
    let Some(cwd) = cwd else {
        let text = "The session does not say in which directory it was begun, so that its agent would \
                    not find it again. Open it in a terminal with the agent's own program.";
        return Err(gone(text.to_owned()));
    };
    let real = std::fs::canonicalize(cwd).ok().filter(|path| path.is_dir());
    real.and_then(|path| path.into_os_string().into_string().ok()).ok_or_else(|| {
        gone(format!(
            "The directory {cwd} of the session is not there any more, and its agent works only in it. Make \
             it again, or bring it back, then try once more."
        ))
    })
}
