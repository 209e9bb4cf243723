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
    /// The place: the number of an item, as `chat tail --numbers` shows it. With real agents the end of any
    /// turn, which has a `*` there. Where the chat is now, if nothing is said.
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
        scene.out.note(&format!(
            "Another chat begins with what was said here up to entry {at}. This one stays as it is."
        ));
        scene.out.line(word(&row, "id"))
    }
}

/// What `chat rewind` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Rewind {
    /// The chat.
    chat: String,
    /// The place: the number of an item at the end of an earlier turn. `chat tail --numbers` shows it with a
    /// `*`.
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
        let mut told = format!(
            "The chat goes on from entry {}. What came after stays readable; the agent knows nothing of it \
             any more. Files were not changed.",
            self.at
        );
        if let Some(receipt) = answer["receipt"].as_str() {
            told.push_str(&format!(" The message is kept ({receipt})."));
        }
        scene.done(&answer, &told)
    }
}
