//! Grants.

use holdfast_core::ids::GrantId;
use holdfast_store::GrantRow;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};

/// For what a grant holds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Scope {
    /// For the chat.
    Chat,
}

/// What a person allowed for good.
#[derive(Serialize, ToSchema)]
pub(crate) struct Grant {
    #[schema(value_type = ids::GrantId)]
    id: GrantId,
    /// What is allowed, in the agent's words, cut to a line. It holds for the very same thing only.
    rule: String,
    /// For what it holds.
    #[schema(inline)]
    scope: Scope,
    /// Since when.
    since: Time,
    /// Who allowed it.
    by: String,
}

impl Grant {
    /// A grant from its row.
    pub(crate) fn of(row: GrantRow) -> Self {
        let GrantRow { id, deed: _, label, by, at } = row;
        Self { id, rule: label, scope: Scope::Chat, since: rfc3339(at), by }
    }
}
