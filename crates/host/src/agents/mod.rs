//! The agents of the configuration, and what they run in.

mod environment;
mod temp;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use holdfast_agent::codec::AgentKind;
use holdfast_core::ids::ChatId;
use tokio::sync::watch;

pub use environment::{Environment, Origin, Source, Variable};

/// How long a start waits for the environment at most; whoever asks the login shell has a bound of
/// its own below this.
const ENVIRONMENT_WAIT_MAX: Duration = Duration::from_secs(10);

/// One agent that chats may be opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Which protocol it speaks.
    pub kind: AgentKind,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// What is added to its environment.
    pub env: BTreeMap<String, String>,
    /// How it came to be here.
    pub named: Named,
}

/// How an agent came to be among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The configuration names it, or it is built in.
    ByName,
    /// Nobody named it: it is there where its program is.
    ByItsProgram,
}

/// All agents, by id, and what they run in.
#[derive(Clone, Debug)]
pub struct Agents {
    agents: BTreeMap<String, Agent>,
    environment: watch::Receiver<Arc<Environment>>,
    temp_root: PathBuf,
}

impl Agents {
    /// These agents, run in the environment that is there when they start, each chat with a temp
    /// directory of its own below `temp_root`.
    #[must_use]
    pub const fn new(
        agents: BTreeMap<String, Agent>,
        environment: watch::Receiver<Arc<Environment>>,
        temp_root: PathBuf,
    ) -> Self {
        Self { agents, environment, temp_root }
    }

    /// The agent with this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Agent> {
        self.agents.get(id)
    }

    /// All agents, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Agent)> {
        self.agents.iter()
    }

    /// The whole environment of an agent, as it is now.
    #[must_use]
    pub fn environment(&self, agent: &Agent) -> Environment {
        self.environment.borrow().with(&agent.env)
    }

    /// Waits until it is known what agents run in; the host's own is taken where that takes too
    /// long.
    pub async fn environment_known(&self) {
        let mut environment = self.environment.clone();
        let known = environment.wait_for(|known| known.source != Source::Asking);
        let _ = tokio::time::timeout(ENVIRONMENT_WAIT_MAX, known).await;
    }

    /// Where temp directories of chats are.
    #[must_use]
    pub fn temp_root(&self) -> &std::path::Path {
        &self.temp_root
    }

    /// Where the agent of a chat may put temporary files.
    #[must_use]
    pub fn temp_dir(&self, chat: ChatId) -> PathBuf {
        self.temp_root.join(chat.to_string())
    }
}
