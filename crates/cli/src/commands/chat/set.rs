//! `holdfast chat set`.

use reqwest::Method;
use serde_json::{Map, Value, json};

use super::Scene;
use crate::fault::Fault;

/// What `chat set` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chat.
    chat: String,
    #[command(flatten)]
    change: Change,
}

/// What can be changed; at least one.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct Change {
    /// What the chat is called.
    #[arg(long, short)]
    title: Option<String>,
    /// The name under which apps address it; an empty one takes it away.
    #[arg(long)]
    slot: Option<String>,
    /// The folder that it is in; an empty one takes it out.
    #[arg(long)]
    folder: Option<String>,
    /// Its tags, in place of those it has; an empty one takes them away.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Pinned chats cannot be deleted.
    #[arg(long, value_name = "true|false")]
    pinned: Option<bool>,
    /// Muted chats alert nobody.
    #[arg(long, value_name = "true|false")]
    muted: Option<bool>,
    /// The agent's model.
    #[arg(long)]
    model: Option<String>,
    /// The agent's mode.
    #[arg(long)]
    mode: Option<String>,
    /// How hard the agent thinks, by a word that it knows: low, high.
    #[arg(long)]
    effort: Option<String>,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        let body = self.change.body();
        let row = scene.client.write(Method::PATCH, &format!("/chats/{chat}"), &body, None)?;
        scene.done(&row, "Changed.")
    }
}

impl Change {
    fn body(&self) -> Value {
        let texts = [
            ("title", &self.title),
            ("slot", &self.slot),
            ("folder", &self.folder),
            ("model", &self.model),
            ("mode", &self.mode),
            ("effort", &self.effort),
        ];
        let texts =
            texts.into_iter().filter_map(|(name, text)| Some((name, json!(text.as_ref()?))));
        let flags = [("pinned", self.pinned), ("muted", self.muted)];
        let flags = flags.into_iter().filter_map(|(name, flag)| Some((name, json!(flag?))));
        let tags: Vec<&String> = self.tags.iter().filter(|tag| !tag.is_empty()).collect();
        let tags = (!self.tags.is_empty()).then(|| ("tags", json!(tags)));
        let all = texts.chain(flags).chain(tags);
        Value::Object(all.map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>())
    }
}
