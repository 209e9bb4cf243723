//! `holdfast chat fork` and `chat rewind`.

use serde_json::json;

use super::Scene;
use crate::fault::Fault;
use crate::rows::word;

/// What `chat fork` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Fork {
    /// The chat.
    chat: String,
    /// The place: the number of an item, as `chat tail --numbers` shows it. Where the chat is now, if
    /// nothing is said.
    #[arg(long, value_name = "SEQ")]
    at: Option<u64>,
}

impl Fork {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        let at = match self.at {
            Some(at) => json!(at),
            None => {
                let page = scene.client.get(&format!("/chats/{chat}/items?limit=1"))?;
                page["items"][0]["seq"].clone()
            }
        };
        let row = scene.client.post(&format!("/chats/{chat}/fork"), &json!({ "at": at }))?;
        if scene.out.is_json() {
            return scene.out.json(&row);
        }
        scene.out.line(word(&row, "id"))
    }
}

/// What `chat rewind` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Rewind {
    /// The chat.
    chat: String,
    /// The place: the number of an item, as `chat tail --numbers` shows it.
    #[arg(long, value_name = "SEQ")]
    at: u64,
    /// What is sent from there instead.
    #[arg(long)]
    text: Option<String>,
}

impl Rewind {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        let body = json!({ "at": self.at, "text": self.text });
        let answer = scene.client.post(&format!("/chats/{chat}/rewind"), &body)?;
        scene.done(&answer, "Went back.")
    }
}
