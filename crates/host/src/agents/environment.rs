//! What agents run in, and where each variable of it comes from.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Variables that are made anew for whoever needs them, or that belong to the host's own service:
/// no agent's.
const OTHERS: [&str; 20] = [
    "_",
    "FDSTORE",
    "INVOCATION_ID",
    "JOURNAL_STREAM",
    "LISTEN_FDNAMES",
    "LISTEN_FDS",
    "LISTEN_FDS_FIRST_FD",
    "LISTEN_PID",
    "LISTEN_PIDFDID",
    "MAINPID",
    "MANAGERPID",
    "MANAGERPIDFDID",
    "MEMORY_PRESSURE_WATCH",
    "MEMORY_PRESSURE_WRITE",
    "NOTIFY_SOCKET",
    "OLDPWD",
    "PWD",
    "SHLVL",
    "SYSTEMD_EXEC_PID",
    "WATCHDOG_PID",
];

/// The variable that is the union of what host and shell say.
const PATH: &str = "PATH";

/// Variables that no agent gets: what starts with `HOLDFAST_`, but for the settings of the demo
/// agent, and what is another process's own.
fn is_private(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let own = name.starts_with("HOLDFAST_") && !name.starts_with("HOLDFAST_DEMO_");
    own || OTHERS.contains(&name.as_ref()) || name == "WATCHDOG_USEC"
}

/// Where a variable comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The host's own environment.
    Host,
    /// The person's login shell.
    LoginShell,
    /// Both: what the shell says, then what only the host has.
    Both,
    /// Holdfast sets it, so that it stays right while the agent runs.
    Holdfast,
    /// The agent's own table in the configuration.
    Configuration,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its value.
    pub value: OsString,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where an environment as a whole comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// The login shell is being asked.
    #[default]
    Asking,
    /// The host's own alone, and why.
    Host {
        /// A sentence for a person.
        why: String,
    },
    /// The login shell's.
    LoginShell {
        /// The shell.
        shell: String,
        /// Why what it said last could not be taken, where an older word of it holds.
        stale: Option<String>,
    },
}

/// The environment of all agents, before what each of them adds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Where it comes from.
    pub source: Source,
    variables: BTreeMap<OsString, Variable>,
}

impl Environment {
    /// The host's own, less what is no agent's.
    pub fn of_host(source: Source, host: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let kept = host.into_iter().filter(|(name, _)| !is_private(name));
        let variables =
            kept.map(|(name, value)| (name, Variable { value, origin: Origin::Host })).collect();
        Self { source, variables }
    }

    /// What the login shell says, less what is no agent's. The shell was started in the host's
    /// environment: what it has not is gone on purpose, and what is the same is the host's. Where
    /// programs are found both have a say, the shell first.
    pub fn of_shell(
        shell: String,
        host: &Self,
        said: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let mut variables = BTreeMap::new();
        for (name, value) in said.into_iter().filter(|(name, _)| !is_private(name)) {
            let before = host.get(&name).map(|variable| &variable.value);
            let variable = match before {
                Some(before) if *before == value => Variable { value, origin: Origin::Host },
                Some(before) if name == PATH => joined(&value, before),
                Some(_) | None => Variable { value, origin: Origin::LoginShell },
            };
            variables.insert(name, variable);
        }
        if let Some(path) = host.variables.get(OsStr::new(PATH)) {
            variables.entry(PATH.into()).or_insert_with(|| path.clone());
        }
        Self { source: Source::LoginShell { shell, stale: None }, variables }
    }

    /// The same, told to come from elsewhere.
    #[must_use]
    pub fn with_source(&self, source: Source) -> Self {
        Self { source, variables: self.variables.clone() }
    }

    /// One variable.
    #[must_use]
    pub fn get(&self, name: &OsStr) -> Option<&Variable> {
        self.variables.get(name)
    }

    /// All variables, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsString, &Variable)> {
        self.variables.iter()
    }

    /// Sets a variable that Holdfast keeps right.
    pub fn set(&mut self, name: &str, value: OsString) {
        self.variables.insert(name.into(), Variable { value, origin: Origin::Holdfast });
    }

    /// The same, with what an agent adds.
    #[must_use]
    pub fn with(&self, added: &BTreeMap<String, String>) -> Self {
        let mut environment = self.clone();
        for (name, value) in added {
            let variable = Variable { value: value.into(), origin: Origin::Configuration };
            environment.variables.insert(name.into(), variable);
        }
        environment
    }
}

/// The places of the shell, then those that only the host has.
fn joined(shell: &OsStr, host: &OsStr) -> Variable {
    let mut path = shell.as_bytes().to_vec();
    let has = |path: &[u8], place: &[u8]| path.split(|byte| *byte == b':').any(|at| at == place);
    let places = host.as_bytes().split(|byte| *byte == b':').filter(|place| !place.is_empty());
    let mut origin = Origin::LoginShell;
    for place in places {
        if !has(&path, place) {
            path.push(b':');
            path.extend_from_slice(place);
            origin = Origin::Both;
        }
    }
    Variable { value: OsString::from_vec(path), origin }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(OsString, OsString)> {
        pairs.map(|(name, value)| (name.into(), value.into())).into()
    }

    fn shown(environment: &Environment) -> Vec<String> {
        let show = |(name, variable): (&OsString, &Variable)| {
            let (name, value) = (name.to_string_lossy(), variable.value.to_string_lossy());
            format!("{name}={value} {:?}", variable.origin)
        };
        environment.iter().map(show).collect()
    }

    #[test]
    fn nothing_of_the_host_and_its_service_reaches_an_agent() {
        let host = pairs([
            ("HOLDFAST_FAULT", "x:1"),
            ("HOLDFAST_DEMO_LOG", "l"),
            ("HOME", "/h"),
            ("NOTIFY_SOCKET", "/run/n"),
            ("PWD", "/"),
            ("WATCHDOG_USEC", "1"),
        ]);
        let host = Environment::of_host(Source::Asking, host);
        assert_eq!(shown(&host), ["HOLDFAST_DEMO_LOG=l Host", "HOME=/h Host"]);
        let said = pairs([("HOLDFAST_MARK", "m"), ("SHLVL", "1"), ("A", "1")]);
        assert_eq!(shown(&Environment::of_shell("sh".into(), &host, said)), ["A=1 LoginShell"]);
    }

    #[test]
    fn each_variable_says_where_it_comes_from() {
        let host = pairs([("SAME", "1"), ("GONE", "1"), ("NEW", "old"), ("PATH", "/a:/own::/b")]);
        let host = Environment::of_host(Source::Asking, host);
        let said = pairs([("SAME", "1"), ("NEW", "new"), ("PATH", "/b:/usr"), ("MINE", "no")]);
        let shell = Environment::of_shell("sh".into(), &host, said);
        let mut agent = shell.with(&[("MINE".to_owned(), "yes".to_owned())].into());
        agent.set("TMPDIR", "/t".into());
        assert_eq!(
            shown(&agent),
            [
                "MINE=yes Configuration",
                "NEW=new LoginShell",
                "PATH=/b:/usr:/a:/own Both",
                "SAME=1 Host",
                "TMPDIR=/t Holdfast",
            ]
        );
        let bare = Environment::of_shell("sh".into(), &host, pairs([("A", "1")]));
        assert_eq!(shown(&bare), ["A=1 LoginShell", "PATH=/a:/own::/b Host"]);
    }
}
