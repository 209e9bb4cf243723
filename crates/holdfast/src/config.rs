//! `config.toml`: what a person sets. Unknown keys are refused, with the known ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use holdfast_agent::codec::AgentKind;
use holdfast_core::limits::IDLE_RELEASE_MICROS;
use holdfast_host::agents::Agent;
use serde::Deserialize;

/// The id of the built-in agent.
pub(crate) const DEMO: &str = "demo";
/// Bytes of a configuration file.
const CONFIG_BYTES_MAX: u64 = 1024 * 1024;

/// The configuration as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Agents, by id.
    agents: BTreeMap<String, AgentTable>,
    /// When an agent that owes nothing is released.
    idle: IdleTable,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentTable {
    kind: AgentKind,
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct IdleTable {
    /// Minutes; 0 = never.
    release_minutes: f64,
}

impl Default for IdleTable {
    fn default() -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
        let release_minutes = (IDLE_RELEASE_MICROS / 60_000_000) as f64;
        Self { release_minutes }
    }
}

impl Config {
    /// Reads the file that was named, or the one at the usual place if it is there.
    pub(crate) fn read(named: Option<&Path>, usual: &Path) -> anyhow::Result<Self> {
        let path = named.unwrap_or(usual);
        if named.is_none() && !path.exists() {
            return Ok(Self::default());
        }
        let name = || format!("cannot read the configuration {}", path.display());
        let bytes = std::fs::metadata(path).with_context(name)?.len();
        if bytes > CONFIG_BYTES_MAX {
            bail!("the configuration {} has more than {CONFIG_BYTES_MAX} bytes", path.display());
        }
        let text = std::fs::read_to_string(path).with_context(name)?;
        let config: Self = toml::from_str(&text)
            .with_context(|| format!("the configuration {} is not right", path.display()))?;
        for (id, agent) in &config.agents {
            if agent.command.is_empty() {
                bail!("agents.{id}.command is empty: name at least the program");
            }
        }
        Ok(config)
    }

    /// The agents, the built-in one among them; `program` is the running binary.
    pub(crate) fn agents(&self, program: &Path) -> BTreeMap<String, Agent> {
        let demo = Agent {
            kind: AgentKind::Acp,
            command: vec![program.into(), "agent".into(), DEMO.into()],
            env: BTreeMap::new(),
        };
        let mut agents = BTreeMap::from([(DEMO.to_owned(), demo)]);
        for (id, table) in &self.agents {
            let command = table.command.iter().map(Into::into).collect();
            let agent = Agent { kind: table.kind, command, env: table.env.clone() };
            agents.insert(id.clone(), agent);
        }
        agents
    }

    /// Idleness after which an agent is released, in microseconds.
    pub(crate) fn release_after(&self) -> Option<u64> {
        let minutes = self.idle.release_minutes;
        if !minutes.is_finite() || minutes <= 0.0 {
            return None;
        }
        let micros = std::time::Duration::try_from_secs_f64(minutes * 60.0).ok()?.as_micros();
        u64::try_from(micros).ok()
    }
}

/// Where the configuration of this data directory usually is.
pub(crate) fn usual_place(data_dir: &Path) -> PathBuf {
    data_dir.join("config.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Config> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        Config::read(Some(&path), &path)
    }

    #[test]
    fn the_demo_agent_is_always_there_and_others_join_it() {
        let config = read(
            "[agents.mine]\nkind = \"acp\"\ncommand = [\"my-agent\", \"--acp\"]\nenv = { A = \"1\" }\n",
        )
        .unwrap();
        let agents = config.agents(Path::new("holdfast"));
        assert_eq!(agents.keys().collect::<Vec<_>>(), ["demo", "mine"]);
        assert_eq!(agents["mine"].command, ["my-agent", "--acp"]);
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        let error = read("[idle]\nrelease-minuts = 3\n").unwrap_err();
        assert!(format!("{error:#}").contains("release-minuts"), "{error:#}");
        assert!(read("[agents.x]\nkind = \"acp\"\ncommand = []\n").is_err());
        assert!(read("[agents.x]\nkind = \"other\"\ncommand = [\"a\"]\n").is_err());
    }

    #[test]
    fn zero_minutes_release_nobody() {
        assert_eq!(read("[idle]\nrelease-minutes = 0\n").unwrap().release_after(), None);
        assert_eq!(Config::default().release_after(), Some(IDLE_RELEASE_MICROS));
    }
}
