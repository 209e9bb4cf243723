//! The shape of `config.toml`. Its comments are the documentation: `docs/config.md` and the JSON
//! Schema are made from them.

use std::collections::BTreeMap;

use holdfast_core::limits::IDLE_RELEASE_MICROS;
use holdfast_keeper::limits::{HOST_GONE_MAX, SPOOL_BYTES_MAX_DEFAULT};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of one mebibyte.
const MIB: u64 = 1024 * 1024;
/// Seconds of one day.
const DAY_SECONDS: f64 = 24.0 * 3600.0;

/// The configuration of a Holdfast host.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
#[schemars(title = "config.toml of Holdfast")]
pub(crate) struct Shape {
    /// The address to listen on, `HOST:PORT`. Port 0 picks a free one, which a replaced host keeps.
    pub(crate) listen: String,
    /// The directory with everything of this host: absolute, or beginning with `~/`. It cannot be
    /// set in the file that is found in the data directory itself.
    pub(crate) data_dir: Option<String>,
    /// Agents, by the id that chats are opened with. The built-in agent `demo` is always there.
    pub(crate) agents: BTreeMap<String, AgentTable>,
    /// What agents run in.
    pub(crate) environment: EnvironmentTable,
    /// When agents are stopped because nothing happens.
    pub(crate) idle: IdleTable,
    /// What the host writes to stderr.
    pub(crate) log: LogTable,
    /// What watches the host.
    pub(crate) metrics: MetricsTable,
    /// The keepers, one for each running agent. A change holds for agents that are started later.
    pub(crate) keeper: KeeperTable,
}

/// An agent.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentTable {
    /// The protocol that it speaks.
    pub(crate) kind: KindWord,
    /// The program and its arguments. The program is looked for on the agent's `PATH`.
    #[schemars(length(min = 1))]
    pub(crate) command: Vec<String>,
    /// Variables that are added to the agent's environment, or replace what is there.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
}

/// The kinds of agents that a configuration may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KindWord {
    /// The Agent Client Protocol over stdio.
    Acp,
    /// Claude Code.
    Claude,
    /// Codex, by its app-server. An agent named `codex` is there without a table of its own where the
    /// program is found.
    Codex,
}

/// What agents run in.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct EnvironmentTable {
    /// Whether agents run in what the person's login shell says (`$SHELL -l`, else the account's
    /// shell), asked when the host starts. Otherwise they run in the host's own environment.
    pub(crate) login_shell: bool,
}

impl Default for EnvironmentTable {
    fn default() -> Self {
        Self { login_shell: true }
    }
}

/// Idleness.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct IdleTable {
    /// Minutes without a word after which an agent that shows no work and owes nothing is stopped.
    /// Its chat stays open, and its next message starts it again. 0 = never.
    #[schemars(range(min = 0))]
    pub(crate) release_minutes: f64,
    /// Minutes without a word after which an agent is stopped although it shows work or waits for
    /// an answer. Its chat is offered for resume. 0 = never.
    #[schemars(range(min = 0))]
    pub(crate) ceiling_minutes: f64,
}

/// The log.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct LogTable {
    /// `text` for people, `json` for programs: one object a line.
    pub(crate) format: LogFormat,
    /// What is written: `error`, `warn`, `info`, `debug`, `trace`, also for one part of the program
    /// (`info,holdfast_http=debug`).
    #[schemars(extend("x-env" = "HOLDFAST_LOG"))]
    pub(crate) filter: String,
}

/// The forms of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(extend("type" = "string"))]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

impl Default for LogTable {
    fn default() -> Self {
        Self { format: LogFormat::Text, filter: "info".to_owned() }
    }
}

/// Figures.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct MetricsTable {
    /// Whether `/metrics` is answered without a token to everybody who reaches the host.
    pub(crate) open: bool,
}

/// Keepers.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct KeeperTable {
    /// Mebibytes that one agent may have said and the host not taken in, before nothing more is
    /// read from it until the host has.
    #[schemars(range(min = 64, max = 1_048_576))]
    pub(crate) spool_mib: u64,
    /// Days (awake time) that an agent lives on without any host. More than 0.
    #[schemars(range(max = 3650))]
    pub(crate) host_gone_days: f64,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7433".to_owned(),
            data_dir: None,
            agents: BTreeMap::new(),
            environment: EnvironmentTable::default(),
            idle: IdleTable::default(),
            log: LogTable::default(),
            metrics: MetricsTable::default(),
            keeper: KeeperTable::default(),
        }
    }
}

impl Default for IdleTable {
    fn default() -> Self {
        #[expect(clippy::cast_precision_loss, reason = "a few minutes")]
        let release_minutes = (IDLE_RELEASE_MICROS / 60_000_000) as f64;
        Self { release_minutes, ceiling_minutes: 0.0 }
    }
}

impl Default for KeeperTable {
    fn default() -> Self {
        Self {
            spool_mib: SPOOL_BYTES_MAX_DEFAULT / MIB,
            host_gone_days: HOST_GONE_MAX.as_secs_f64() / DAY_SECONDS,
        }
    }
}

impl KeeperTable {
    /// The bound of a spool, in bytes.
    pub(crate) const fn spool_bytes(&self) -> u64 {
        self.spool_mib.saturating_mul(MIB)
    }

    /// How long a keeper keeps an agent without any host.
    pub(crate) fn host_gone(&self) -> std::time::Duration {
        std::time::Duration::try_from_secs_f64(self.host_gone_days * DAY_SECONDS)
            .unwrap_or(HOST_GONE_MAX)
    }
}

/// The JSON Schema of the configuration, every part in its place.
pub(crate) fn schema() -> serde_json::Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Shape>().to_value()
}
