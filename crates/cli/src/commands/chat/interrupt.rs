//! `holdfast chat interrupt`.

use serde_json::json;

use super::Scene;
use crate::fault::Fault;

/// What `chat interrupt` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chat.
    chat: String,
    /// End the agent itself, with all that it runs in the background.
    #[arg(long)]
    agent: bool,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        let body = if self.agent { json!({ "agent": "stop" }) } else { json!({}) };
        let answer = scene.client.post(&format!("/chats/{chat}/interrupt"), &body)?;
        let words = if self.agent {
            "The agent ends; the next message starts it again."
        } else {
            "The turn ends. What waits in the queue is held: holdfast chat queue CHAT resume."
        };
        scene.done(&answer, words)
    }
}
