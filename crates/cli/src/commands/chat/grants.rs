//! `holdfast chat grants`.

use reqwest::Method;
use serde_json::json;

use super::Scene;
use crate::clock::now;
use crate::fault::Fault;
use crate::rows::{list, word};
use crate::text::{ago, line};

/// What `chat grants` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chat.
    chat: String,
    /// Take these back: their agent asks again. One that runs and was told it may keep it until it ends.
    #[arg(long, value_name = "GRANT")]
    end: Vec<String>,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let base = format!("/chats/{}/grants", scene.chat(&self.chat)?);
        for grant in &self.end {
            let path = format!("{base}/{grant}");
            scene.client.write(Method::DELETE, &path, &json!({}), None)?;
        }
        if !self.end.is_empty() {
            return scene.done(&json!({ "ended": self.end }), "Taken back.");
        }
        let page = scene.client.get(&base)?;
        if scene.out.is_json() {
            return scene.out.json(&page);
        }
        let grants = list(&page, "items");
        if grants.is_empty() {
            scene.out.note("Nothing is allowed for good in this chat.");
        }
        for grant in grants {
            let (id, by) = (word(grant, "id"), line(word(grant, "by")));
            let since = ago(word(grant, "since"), now());
            scene.out.line(&format!("{id}  {}  (by {by}, {since})", line(word(grant, "rule"))))?;
        }
        Ok(())
    }
}
