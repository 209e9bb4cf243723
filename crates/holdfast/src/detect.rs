//! What is installed: where an agent's program is, which version it says it is, and whether that is one
//! that was tested. A program is asked once, and again when its file changes; nobody waits for what it says.

use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use holdfast_agent::codec::AgentKind;
use holdfast_agent::versions::{self, Standing};
use holdfast_host::agents::{Agent, Environment};
use tokio::io::AsyncReadExt;
use uuid::Uuid;

/// How long a program may take to say which version it is.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Bytes of what it says that are looked at.
const ANSWER_BYTES_MAX: u64 = 4096;

/// The program of an agent in this environment; none where it is not there.
pub(crate) fn program(agent: &Agent, within: &Environment) -> Option<PathBuf> {
    let program = agent.command.first()?;
    if program.to_string_lossy().contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let path = within.get("PATH".as_ref()).map(|path| path.value.as_os_str());
    let mut places = std::env::split_paths(path.unwrap_or_default()).map(|dir| dir.join(program));
    places.find(|path| path.is_file())
}

/// What to do where the program is not there.
pub(crate) fn missing(agent: &Agent) -> String {
    let Some(program) = agent.command.first() else {
        return "Its command is empty: name one in the configuration.".to_owned();
    };
    let name = Path::new(program).display();
    let install = match agent.kind {
        AgentKind::Claude => " (npm install -g @anthropic-ai/claude-code)",
        AgentKind::Codex => " (npm install -g @openai/codex)",
        AgentKind::Acp => "",
    };
    format!(
        "The program {name} was not found. Install it{install}, or name its path in the configuration."
    )
}

/// What to know of this version; none where it is one that was tested.
pub(crate) fn hint(kind: AgentKind, version: &str) -> Option<String> {
    let tested = versions::tested(kind)?;
    let words = tested.words();
    match tested.standing(version)? {
        Standing::Tested => None,
        Standing::Newer => Some(format!(
            "Version {version} is newer than what was tested ({words}). It should work; if something looks odd, \
             update Holdfast."
        )),
        Standing::TooOld => {
            let how = match kind {
                AgentKind::Claude => "claude update",
                AgentKind::Codex => "npm install -g @openai/codex@latest",
                AgentKind::Acp => "with its own installer",
            };
            Some(format!(
                "Version {version} is older than what was tested ({words}), and not all of it may work. Update it: \
                 {how}."
            ))
        }
    }
}

/// What tells one file from another, and from itself after it was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    program: PathBuf,
    device: u64,
    number: u64,
    bytes: u64,
    /// The change of the file's entry: installers set the other time as they like.
    changed: (i64, i64),
}

impl Stamp {
    fn of(program: &Path) -> Option<Self> {
        let file = std::fs::metadata(program).ok()?;
        Some(Self {
            program: program.to_owned(),
            device: file.dev(),
            number: file.ino(),
            bytes: file.len(),
            changed: (file.ctime(), file.ctime_nsec()),
        })
    }
}

/// What a program was when it was asked, and what it said, once it did.
type Asked = (Stamp, Option<String>);

/// What was asked of each program, by its command.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    known: Mutex<HashMap<Vec<OsString>, Asked>>,
}

impl Versions {
    /// The version of an agent's program, as far as known. One that was not asked yet, or was changed
    /// since, is asked now; what it says is known later.
    pub(crate) fn of(self: &Arc<Self>, agent: &Agent, within: &Environment) -> Option<String> {
        versions::tested(agent.kind)?;
        let stamp = Stamp::of(&program(agent, within)?)?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, version)) = known.get(&agent.command)
            && *of == stamp
        {
            return version.clone();
        }
        known.insert(agent.command.clone(), (stamp.clone(), None));
        drop(known);
        let (this, agent, within) = (Arc::clone(self), agent.clone(), within.clone());
        tokio::spawn(async move {
            let version = ask(&agent, &stamp.program, &within).await;
            let mut known = this.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((of, known)) = known.get_mut(&agent.command)
                && *of == stamp
            {
                *known = version;
            }
        });
        None
    }
}

/// What the program says when it is asked for its version.
pub(crate) async fn ask(agent: &Agent, program: &Path, within: &Environment) -> Option<String> {
    let attempt = Uuid::new_v4();
    let mut child = spawn(agent, program, within, attempt).ok()?;
    let stdout = child.stdout.take()?;
    let mut said = Vec::new();
    let hear = async {
        let mut begin = stdout.take(ANSWER_BYTES_MAX);
        let _ = begin.read_to_end(&mut said).await;
    };
    let heard = tokio::time::timeout(ANSWER_MAX, hear).await.is_ok();
    let _ = child.start_kill();
    let _ = child.wait().await;
    if !heard {
        let all = move || holdfast_keeper::tree::end_survivors(attempt, None, &[]);
        let _ = tokio::task::spawn_blocking(all).await;
    }
    versions::version_in(&String::from_utf8_lossy(&said))
}

#[allow(clippy::disallowed_methods, reason = "what it starts is ended by its cookie")]
fn spawn(
    agent: &Agent,
    program: &Path,
    within: &Environment,
    attempt: Uuid,
) -> std::io::Result<tokio::process::Child> {
    tokio::process::Command::new(program)
        .args(agent.command.iter().skip(1))
        .arg("--version")
        .env_clear()
        .envs(within.iter().map(|(name, variable)| (name, &variable.value)))
        .env(holdfast_keeper::tree::COOKIE_NAME, attempt.hyphenated().to_string())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}
