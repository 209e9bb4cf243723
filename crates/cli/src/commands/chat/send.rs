//! `holdfast chat send`.

use clap::ValueEnum;
use reqwest::Method;
use serde_json::json;

use super::attach::Files;
use super::{Scene, text, wait};
use crate::fault::Fault;
use crate::prefix::short;
use crate::rows::word;
use crate::text::line;

/// What `chat send` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chat.
    chat: String,
    /// The message; `-` reads it from stdin.
    #[arg(required_unless_present = "attach", value_name = "TEXT")]
    message: Vec<String>,
    #[command(flatten)]
    files: Files,
    /// How it gets to an agent that works.
    #[arg(long, value_enum, default_value_t = Delivery::Queue)]
    delivery: Delivery,
    /// Wait until the agent has done what it says, and print what it answers.
    #[arg(long, short)]
    wait: bool,
    /// The Idempotency-Key: the same message again where this is repeated under the same key.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

/// How a message gets to an agent that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Delivery {
    /// When the turn has ended, after all that waits.
    Queue,
    /// Into the running turn, where the agent can take it.
    Steer,
    /// At once: the running turn is ended.
    Interrupt,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let message = text(&self.message)?;
        self.files.check()?;
        let chat = scene.chat(&self.chat)?;
        let files = self.files.send(scene, &chat, self.key.as_deref())?;
        let mut body = json!({ "text": message });
        if !files.is_empty() {
            body["attachments"] = json!(files);
        }
        match self.delivery {
            Delivery::Queue => {}
            Delivery::Steer => body["delivery"] = json!("steer"),
            Delivery::Interrupt => body["delivery"] = json!("interrupt"),
        }
        let path = format!("/chats/{chat}/messages");
        let accepted = scene.client.write(Method::POST, &path, &body, self.key.as_deref())?;
        if let Some(note) = accepted["note"].as_str() {
            scene.out.note(&line(note));
        }
        if self.wait {
            return wait::answer(scene, &chat, word(&accepted, "receipt"), &accepted);
        }
        if scene.out.is_json() {
            return scene.out.json(&accepted);
        }
        scene.out.line(word(&accepted["message"], "id"))?;
        let short = short(&[&chat])(&chat);
        scene.out.hint(&format!("holdfast chat tail -f {short} shows what comes of it."));
        Ok(())
    }
}
