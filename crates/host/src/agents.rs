//! The agents of the configuration.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use holdfast_agent::codec::AgentKind;

/// One agent that chats may be opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Which protocol it speaks.
    pub kind: AgentKind,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// What is added to its environment.
    pub env: BTreeMap<String, String>,
}

/// All agents, by id, and what they run in.
#[derive(Clone, Debug, Default)]
pub struct Agents {
    agents: BTreeMap<String, Agent>,
    environment: BTreeMap<OsString, OsString>,
    temp_root: PathBuf,
}

/// Variables that are the host's own and no agent's: what starts with `HOLDFAST_`, but for the
/// settings of the demo agent.
fn is_private(name: &str) -> bool {
    name.starts_with("HOLDFAST_") && !name.starts_with("HOLDFAST_DEMO_")
}

impl Agents {
    /// These agents, run in `environment` less what is the host's own, each chat with a temp
    /// directory of its own below `temp_root`.
    pub fn new(
        agents: BTreeMap<String, Agent>,
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        temp_root: PathBuf,
    ) -> Self {
        let environment = environment
            .into_iter()
            .filter(|(name, _)| !is_private(&name.to_string_lossy()))
            .collect();
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

    /// The whole environment of an agent.
    #[must_use]
    pub fn environment(&self, agent: &Agent) -> Vec<(OsString, OsString)> {
        let mut environment = self.environment.clone();
        for (name, value) in &agent.env {
            environment.insert(name.into(), value.into());
        }
        environment.into_iter().collect()
    }

    /// Where the agent of a chat may put temporary files.
    #[must_use]
    pub fn temp_dir(&self, chat: holdfast_core::ids::ChatId) -> PathBuf {
        self.temp_root.join(chat.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_the_host_reaches_an_agent() {
        let environment = [("HOLDFAST_FAULT", "x:1"), ("HOLDFAST_DEMO_LOG", "l"), ("HOME", "/h")]
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let agents = Agents::new(BTreeMap::new(), environment, PathBuf::new());
        let agent = Agent {
            kind: AgentKind::Acp,
            command: Vec::new(),
            env: [("A".to_owned(), "1".to_owned())].into(),
        };
        let names: Vec<_> = agents.environment(&agent).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["A", "HOLDFAST_DEMO_LOG", "HOME"]);
    }
}
