//! `holdfast chat interrupt`.

use serde_json::json;

use super::Scene;
use crate::client::query;
use crate::fault::Fault;

/// What `chat interrupt` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chat.
    chat: String,
    /// End the agent itself, with all that it runs in the background.
    #[arg(long)]
    agent: bool,
    /// End only this background work; chat show names it.
    #[arg(long, value_name = "ID", conflicts_with = "agent")]
    task: Option<String>,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        if let Some(task) = &self.task {
            let path = format!("/chats/{chat}/tasks/{}/stop", query(task));
            return scene.done(&scene.client.post(&path, &json!({}))?, "The task ends.");
        }
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
