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
    /// Its version, as far as known.
    version: Option<String>,
    /// Whether it can be started.
    available: bool,
    /// Why it cannot.
    reason: Option<String>,
    /// What it could do when a session of it stood last; empty before the first one.
    capabilities: Vec<words::Capability>,
}

impl Agent {
    /// An agent as the host describes it, and as it was seen last.
    pub(crate) fn of(info: AgentInfo, known: Capabilities) -> Self {
        let (available, reason) = match info.availability {
            Availability::Available => (true, None),
            Availability::Unavailable(reason) => (false, Some(reason)),
        };
        Self {
            id: info.id,
            kind: info.kind,
            version: info.version,
            available,
            reason,
            capabilities: words::capabilities(known),
        }
    }
}
