//! Commands of agents.

use holdfast_core::slash::SlashCommand;
use serde::Serialize;
use utoipa::ToSchema;

/// A command that an agent has for its users: a message that begins with a slash and its name.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgentCommand {
    /// What is written after the slash.
    name: String,
    /// What it does, in the agent's words, cut to a line; empty where it does not say.
    description: String,
    /// What may follow the name; empty where nothing does.
    hint: String,
}

impl AgentCommand {
    /// A command from its row.
    pub(crate) fn of(row: SlashCommand) -> Self {
        let SlashCommand { name, description, hint } = row;
        Self { name, description, hint }
    }
}
