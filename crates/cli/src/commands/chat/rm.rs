//! `holdfast chat rm`.

use reqwest::Method;
use serde_json::json;

use super::Scene;
use crate::fault::{Exit, Fault};
use crate::rows::called;

/// What `chat rm` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chats.
    #[arg(required = true, value_name = "CHAT")]
    chats: Vec<String>,
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chats: Result<Vec<_>, _> = self.chats.iter().map(|one| scene.chat(one)).collect();
        let chats = chats?;
        if !self.yes {
            ask(scene, &chats)?;
        }
        for chat in &chats {
            let path = format!("/chats/{chat}");
            let mut answer = scene.client.write(Method::DELETE, &path, &json!({}), None)?;
            answer["chat"] = json!(chat);
            scene.done(&answer, &format!("Deleted {chat}."))?;
        }
        Ok(())
    }
}

fn ask(scene: &Scene<'_>, chats: &[String]) -> Result<(), Fault> {
    if !scene.out.can_ask() {
        let text = "A deleted chat does not come back: say --yes where nobody can be asked.";
        return Err(Fault::usage(text));
    }
    for chat in chats {
        let row = scene.client.get(&format!("/chats/{chat}"))?;
        scene.out.note(&format!("{chat}  {}", called(&row)));
    }
    let answer = scene.out.ask("Delete with all that was said? It does not come back. [y/N] ");
    if matches!(answer.as_deref(), Some("y" | "yes")) {
        return Ok(());
    }
    Err(Fault::new(Exit::Refused, "cancelled", "Nothing was deleted."))
}
