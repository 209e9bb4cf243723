//! Agents that can be chosen.

use holdfast_core::provider::Capabilities;
use serde::Serialize;
use utoipa::ToSchema;

use crate::port::{AgentInfo, Availability};
use crate::wire::words;

/// An agent.
#[derive(Serialize, ToSchema)]
pub(crate) struct Agent {
    /// Its id in the configuration.
    id: String,
    /// `claude`, `codex` or `acp`.
    kind: String,
    /// Its version, as far as known: its program is asked in the background.
    version: Option<String>,
    /// The versions of its program that were tested; absent for an ACP agent.
    supported: Option<String>,
    /// Whether it can be started.
    available: bool,
    /// Why it cannot, and what to do; of one that can, what is amiss all the same: an untested version, or
    /// that nobody is logged in.
    reason: Option<String>,
    /// What it could do when a session of it stood last; empty before the first one.
    capabilities: Vec<words::Capability>,
}

impl Agent {
    /// An agent as the host describes it, and as it was seen last.
    /// `logged_out` where nobody was logged in when it was used last.
    pub(crate) fn of(info: AgentInfo, known: Capabilities, logged_out: bool) -> Self {
        let login = logged_out.then(|| log_in(&info.kind));
        let (available, reason) = match info.availability {
            Availability::Available => (true, login.or(info.hint)),
            Availability::Unavailable(reason) => (false, Some(reason)),
        };
        Self {
            id: info.id,
            kind: info.kind,
            version: info.version,
            supported: info.tested,
            available,
            reason,
            capabilities: words::capabilities(known),
        }
    }
}

/// What to do where nobody is logged in.
fn log_in(kind: &str) -> String {
    let how = match kind {
        "claude" => "Run `claude` in a terminal and type /login, or set ANTHROPIC_API_KEY.",
        "codex" => "Run `codex login` in a terminal, or set a key for its model provider.",
        _ => "Log in with its own program.",
    };
    format!("Nobody was logged in when it was used last. {how} Then send a message.")
}
