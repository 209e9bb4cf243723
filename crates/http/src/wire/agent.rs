//! Agents that can be chosen.

use serde::Serialize;
use utoipa::ToSchema;

use crate::port::{AgentInfo, Availability};

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
    /// What it can do, as stable words.
    capabilities: Vec<String>,
}

impl Agent {
    /// An agent as the host describes it.
    pub(crate) fn of(info: AgentInfo) -> Self {
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
            capabilities: info.capabilities,
        }
    }
}
