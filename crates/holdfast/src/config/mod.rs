//! The configuration: `config.toml`, the environment, the command line. Unknown keys are refused
//! with what was probably meant, and each value knows where it comes from.

mod keys;
mod layers;
mod list;
pub(crate) mod markdown;
mod origin;
mod place;
mod recheck;
mod shape;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use holdfast_agent::codec::AgentKind;
use holdfast_host::agents::{Agent, Named};

pub(crate) use list::Line;
pub(crate) use origin::{Faults, Origin};
pub(crate) use place::Told;
pub(crate) use recheck::Recheck;

use layers::{Layers, Merged};
use shape::{KindWord, Shape};
pub(crate) use shape::{LogFormat, schema};

/// The id of the built-in agent.
pub(crate) const DEMO: &str = "demo";

/// The agents that nobody has to name: each is there where its program is.
const FOUND: [(&str, AgentKind); 2] = [("claude", AgentKind::Claude), ("codex", AgentKind::Codex)];

/// Where the data of this machine's host are, as far as that is told; also where the configuration is
/// wrong.
pub(crate) fn data_dir() -> Option<PathBuf> {
    let told = Told::here(None, None, None);
    Config::read(&told).ok().map(|config| config.data_dir).or_else(|| place::told_data_dir(&told))
}

/// A configuration that is right.
#[derive(Debug)]
pub(crate) struct Config {
    shape: Shape,
    origins: BTreeMap<String, Origin>,
    /// The file that was read, or would be.
    pub(crate) file: PathBuf,
    /// Whether the file is there.
    pub(crate) is_there: bool,
    /// Where the host's data are.
    pub(crate) data_dir: PathBuf,
    /// The address to listen on.
    pub(crate) listen: SocketAddr,
    /// What looks wrong and stops nothing.
    pub(crate) notes: Vec<String>,
}

impl Config {
    /// Reads what was told, the environment, and the file that goes with them.
    pub(crate) fn read(told: &Told) -> Result<Self, Faults> {
        let found = place::find(told)?;
        let schema = schema();
        let layers = Layers {
            file: found.text.map(|text| (found.file.clone(), text)),
            environment: told.environment.clone(),
            command_line: told.command_line(),
        };
        let notes = layers.doubtful_variables(&schema);
        let Merged { shape, origins } = layers.merge(&schema)?;
        let is_there = layers.file.is_some();
        let origin = |key: &str| origins.get(key).cloned().unwrap_or(Origin::Default);
        let mut faults = Faults::default();
        check(&shape, &origin, &mut faults);
        let listen = shape.listen.parse();
        if listen.is_err() {
            let text = format!("listen is HOST:PORT with an IP address, not {:?}", shape.listen);
            faults.add(&origin("listen"), text);
        }
        let data_dir = match &shape.data_dir {
            Some(dir) => place::data_dir(dir, &origin("data-dir"), found.within_data, told),
            None => found.usual_data_dir.ok_or_else(|| {
                Faults::one("neither XDG_DATA_HOME nor HOME is set: name --data-dir")
            }),
        };
        match (listen, data_dir) {
            (Ok(listen), Ok(data_dir)) if faults.0.is_empty() => {
                let file = found.file;
                Ok(Self { shape, origins, file, is_there, data_dir, listen, notes })
            }
            (_, data_dir) => {
                faults.0.extend(data_dir.err().unwrap_or_default().0);
                Err(faults)
            }
        }
    }

    /// The configuration that a host with these data reads, unless another file is named.
    pub(crate) fn of(data_dir: &Path, named: Option<&Path>) -> Result<Self, Faults> {
        let told = |data: Option<&Path>| {
            Told::here(named.map(Path::to_owned), data.map(Path::to_owned), None)
        };
        match Self::read(&told(None)) {
            Ok(usual) if usual.data_dir == data_dir => Ok(usual),
            Ok(_) | Err(_) => Self::read(&told(Some(data_dir))),
        }
    }

    /// The agents, the built-in one among them, and those that may be found; `program` is the running
    /// binary.
    pub(crate) fn agents(&self, program: &Path) -> BTreeMap<String, Agent> {
        let demo = Agent {
            kind: AgentKind::Acp,
            command: vec![program.into(), "agent".into(), DEMO.into()],
            env: BTreeMap::new(),
            named: Named::ByName,
        };
        let mut agents = BTreeMap::from([(DEMO.to_owned(), demo)]);
        for (id, kind) in FOUND {
            let (command, env, named) = (vec![id.into()], BTreeMap::new(), Named::ByItsProgram);
            agents.insert(id.to_owned(), Agent { kind, command, env, named });
        }
        for (id, table) in &self.shape.agents {
            let command = table.command.iter().map(Into::into).collect();
            let kind = match table.kind {
                KindWord::Acp => AgentKind::Acp,
                KindWord::Claude => AgentKind::Claude,
                KindWord::Codex => AgentKind::Codex,
            };
            let (env, named) = (table.env.clone(), Named::ByName);
            agents.insert(id.clone(), Agent { kind, command, env, named });
        }
        agents
    }

    /// Whether the login shell is asked what agents run in.
    pub(crate) const fn asks_shell(&self) -> bool {
        self.shape.environment.login_shell
    }

    /// Idleness after which an agent is released, in microseconds.
    pub(crate) fn release_after(&self) -> Option<u64> {
        micros(self.shape.idle.release_minutes)
    }

    /// Quiet after which an agent is stopped although it shows work, in microseconds.
    pub(crate) fn ceiling_after(&self) -> Option<u64> {
        micros(self.shape.idle.ceiling_minutes)
    }

    /// The form of the log, and what is written.
    pub(crate) fn log(&self) -> (LogFormat, &str) {
        (self.shape.log.format, &self.shape.log.filter)
    }

    /// Whether figures are for everybody who reaches the host.
    pub(crate) const fn open_metrics(&self) -> bool {
        self.shape.metrics.open
    }

    /// Bytes that an attempt may have spooled.
    pub(crate) const fn spool_bytes(&self) -> u64 {
        self.shape.keeper.spool_bytes()
    }

    /// How long a keeper keeps an agent without any host.
    pub(crate) fn host_gone(&self) -> Duration {
        self.shape.keeper.host_gone()
    }

    /// Every value and where it comes from.
    pub(crate) fn list(&self) -> Vec<Line> {
        list::lines(&self.shape, &self.data_dir, &self.origins)
    }
}

/// Microseconds; none where it is never.
fn micros(minutes: f64) -> Option<u64> {
    if minutes <= 0.0 {
        return None;
    }
    let micros = Duration::try_from_secs_f64(minutes * 60.0).ok()?.as_micros();
    u64::try_from(micros).ok()
}

/// What the form of a value does not say.
fn check(shape: &Shape, origin: &dyn Fn(&str) -> Origin, faults: &mut Faults) {
    let mut number = |key: &str, value: f64, right: bool, wanted: &str| {
        if !value.is_finite() || !right {
            faults.add(&origin(key), format_args!("{key} is {wanted}, not {value}"));
        }
    };
    let idle = &shape.idle;
    for (key, minutes) in [
        ("idle.release-minutes", idle.release_minutes),
        ("idle.ceiling-minutes", idle.ceiling_minutes),
    ] {
        number(key, minutes, minutes >= 0.0, "a number of minutes, 0 for never");
    }
    let days = shape.keeper.host_gone_days;
    let wanted = "a number of days, more than 0 and at most 3650";
    number("keeper.host-gone-days", days, days > 0.0 && days <= 3650.0, wanted);
    if !(64..=1_048_576).contains(&shape.keeper.spool_mib) {
        let text = format!(
            "keeper.spool-mib is a number of mebibytes from 64 to 1048576, not {}",
            shape.keeper.spool_mib
        );
        faults.add(&origin("keeper.spool-mib"), text);
    }
    if let Err(error) = tracing_subscriber::EnvFilter::builder().parse(&shape.log.filter) {
        faults.add(&origin("log.filter"), format_args!("log.filter cannot be read: {error}"));
    }
    for (id, agent) in &shape.agents {
        let key = |last: &str| origin(&format!("agents.{id}.{last}"));
        if id == DEMO {
            faults.add(&key("kind"), "agents.demo: this id belongs to the built-in agent");
        }
        if agent.command.first().is_none_or(String::is_empty) {
            let text = format!("agents.{id}.command is empty: name at least the program");
            faults.add(&key("command"), text);
        }
        for name in agent.env.keys() {
            let wrong = name.is_empty() || name.contains(['=', '\0']);
            if wrong || agent.env[name].contains('\0') {
                let text = format!("agents.{id}.env has {name:?}, which cannot be a variable");
                faults.add(&key(&format!("env.{name}")), text);
            }
        }
    }
}

#[cfg(test)]
mod tests;
