//! Agents that can be chosen.

use serde::Serialize;
use utoipa::ToSchema;

use crate::port::{AgentInfo, Availability};

/// An agent.
#[derive(Serialize, ToSchema)]
pub(crate) struct Agent {
    id: String,
    kind: String,
    version: Option<String>,
    available: bool,
    reason: Option<String>,
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
