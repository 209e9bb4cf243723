//! `holdfast chat close` and `chat reopen`.

use clap::ValueEnum;
use serde_json::json;

use super::Scene;
use crate::fault::Fault;
use crate::rows::{list, word};
use crate::text::line;

/// What `chat close` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Close {
    /// The chats.
    #[arg(required = true, value_name = "CHAT")]
    chats: Vec<String>,
    /// What becomes of processes that outlived the call which started them, a server for example.
    #[arg(long, value_enum)]
    leftovers: Option<Leftovers>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Leftovers {
    /// They end with the agent.
    End,
    /// They go on.
    Leave,
}

impl Close {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let body = match self.leftovers {
            None => json!({}),
            Some(Leftovers::End) => json!({ "leftovers": "end" }),
            Some(Leftovers::Leave) => json!({ "leftovers": "leave" }),
        };
        each(scene, &self.chats, |chat| {
            let mut answer = scene.client.post(&format!("/chats/{chat}/close"), &body)?;
            for left in list(&answer, "leftovers") {
                scene.out.note(&format!("left over: {}", line(word(left, "command"))));
            }
            answer["chat"] = json!(chat);
            scene.done(&answer, &format!("Closed {chat}."))
        })
    }
}

/// What `chat reopen` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Reopen {
    /// The chats.
    #[arg(required = true, value_name = "CHAT")]
    chats: Vec<String>,
}

impl Reopen {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        each(scene, &self.chats, |chat| {
            let row = scene.client.post(&format!("/chats/{chat}/reopen"), &json!({}))?;
            scene.done(&row, &format!("Opened {chat} again."))
        })
    }
}

/// Does something with each chat, in their order, up to the first that fails. All are found before
/// anything is done.
pub(super) fn each(
    scene: &Scene<'_>,
    written: &[String],
    act: impl Fn(&str) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let chats: Result<Vec<_>, _> = written.iter().map(|one| scene.chat(one)).collect();
    chats?.iter().try_for_each(|chat| act(chat))
}
