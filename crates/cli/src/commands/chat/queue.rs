//! `holdfast chat queue` and `chat resolve`.

use clap::Subcommand;
use reqwest::Method;
use serde_json::{Value, json};

use super::attach::names;
use super::{Scene, text};
use crate::clock::now;
use crate::commands::resume::Choice;
use crate::fault::Fault;
use crate::prefix::{self, short};
use crate::rows::{list, word};
use crate::text::{ago, line};

/// Items that are looked through for messages in doubt; whoever means an older one writes its whole
/// id.
const LOOKED_THROUGH: usize = 200;

/// What `chat queue` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chat.
    chat: String,
    #[command(subcommand)]
    change: Option<Change>,
}

/// What can be done with messages that wait. MESSAGE is an id, or the beginning of one.
#[derive(Debug, Subcommand)]
enum Change {
    /// Change the text of a message.
    Edit {
        /// The message.
        message: String,
        /// Its new text; `-` reads it from stdin.
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Take messages back.
    Rm {
        /// The messages.
        #[arg(required = true, value_name = "MESSAGE")]
        messages: Vec<String>,
    },
    /// Hand a message over next, though the queue is held.
    SendNow {
        /// The message.
        message: String,
    },
    /// Put messages first, in this order.
    Order {
        /// The messages; those that are not named keep their order behind them.
        #[arg(required = true, value_name = "MESSAGE")]
        messages: Vec<String>,
    },
    /// Hold the queue.
    Pause,
    /// Let the queue run.
    Resume,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        let base = format!("/chats/{chat}/queue");
        let queue = || all(scene, &base);
        let one = |written: &str| prefix::message(list(&queue()?, "items"), written);
        let write = |method, path: &str, body: Value| scene.client.write(method, path, &body, None);
        match &self.change {
            None => show(scene, &queue()?),
            Some(Change::Edit { message, text: words }) => {
                let path = format!("{base}/{}", one(message)?);
                let answer = write(Method::PATCH, &path, json!({ "text": text(words)? }))?;
                scene.done(&answer, "Changed.")
            }
            Some(Change::Rm { messages }) => {
                let rows = queue()?;
                let meant = messages.iter().map(|one| prefix::message(list(&rows, "items"), one));
                let meant = meant.collect::<Result<Vec<_>, _>>()?;
                let taken = meant
                    .iter()
                    .map(|message| write(Method::DELETE, &format!("{base}/{message}"), json!({})));
                let taken = taken.collect::<Result<Vec<_>, _>>()?;
                scene.done(&json!({ "items": taken, "next": null }), "Taken back.")
            }
            Some(Change::SendNow { message }) => {
                let path = format!("{base}/{}/send-now", one(message)?);
                scene.done(&write(Method::POST, &path, json!({}))?, "Goes next.")
            }
            Some(Change::Order { messages }) => {
                let rows = queue()?;
                let order = order(list(&rows, "items"), messages)?;
                let answer =
                    write(Method::PUT, &format!("{base}/order"), json!({ "messages": order }))?;
                scene.done(&answer, "Put in order.")
            }
            Some(Change::Pause) => {
                let answer = write(Method::POST, &format!("{base}/pause"), json!({}))?;
                scene.done(&answer, "Held.")
            }
            Some(Change::Resume) => {
                let answer = write(Method::POST, &format!("{base}/resume"), json!({}))?;
                scene.done(&answer, "Runs.")
            }
        }
    }
}

/// The whole queue, all its pages as one.
fn all(scene: &Scene<'_>, base: &str) -> Result<Value, Fault> {
    let mut queue = scene.client.get(base)?;
    while let Some(next) = queue["next"].as_str() {
        let mut page = scene.client.get(&format!("{base}?from={next}"))?;
        let rows = page["items"].take();
        if let (Some(all), Value::Array(rows)) = (queue["items"].as_array_mut(), rows) {
            all.extend(rows);
        }
        queue["next"] = page["next"].take();
    }
    Ok(queue)
}

/// The named messages first, the others behind them.
fn order(rows: &[Value], named: &[String]) -> Result<Vec<String>, Fault> {
    let mut order = Vec::new();
    for written in named {
        let message = prefix::message(rows, written)?;
        if order.contains(&message) {
            return Err(Fault::usage(format!("{written:?} is named twice.")));
        }
        order.push(message);
    }
    let rest = rows.iter().map(|row| word(row, "message").to_owned());
    let rest: Vec<String> = rest.filter(|message| !order.contains(message)).collect();
    order.extend(rest);
    Ok(order)
}

fn show(scene: &Scene<'_>, queue: &Value) -> Result<(), Fault> {
    if scene.out.is_json() {
        return scene.out.json(queue);
    }
    let rows = list(queue, "items");
    if queue["paused"] == true {
        scene.out.note(match word(queue, "reason") {
            "stop" => "The queue is held: the agent was interrupted.",
            "offer" => "The queue is held: the chat was stopped, and is offered for resume.",
            "start_failed" => "The queue is held: the agent could not be started.",
            "close" => "The queue is held: the chat was closed while it waited.",
            "dismiss" => "The queue is held: its offer was dismissed.",
            _ => "The queue is held.",
        });
    }
    if rows.is_empty() {
        scene.out.note("No message waits.");
        return Ok(());
    }
    let ids: Vec<&str> = rows.iter().map(|row| word(row, "message")).collect();
    let short = short(&ids);
    let now = now();
    let row = |row: &Value| {
        let sent = ago(word(row, "at"), now);
        let by = line(word(row, "by"));
        let said = [line(word(row, "text")), names(row).unwrap_or_default()].join(" ");
        vec![short(word(row, "message")), sent, by, said.trim().to_owned()]
    };
    scene.out.table(&["MESSAGE", "SENT", "BY", "TEXT"], rows.iter().map(row).collect())
}

/// What `chat resolve` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Resolve {
    /// The chat.
    chat: String,
    /// The message: chat show names those in doubt.
    message: String,
    /// What became of it.
    #[arg(value_enum)]
    choice: Choice,
}

impl Resolve {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        let message = prefix::message(&doubts(scene, &chat)?, &self.message)?;
        let path = format!("/chats/{chat}/messages/{message}/resolve");
        let answer = scene.client.post(&path, &json!({ "choice": self.choice.word() }))?;
        scene.done(&answer, "Settled.")
    }
}

/// The messages in doubt, as far back as anybody looks.
fn doubts(scene: &Scene<'_>, chat: &str) -> Result<Vec<Value>, Fault> {
    let path = format!("/chats/{chat}/items?limit={LOOKED_THROUGH}");
    let page = scene.client.get(&path)?;
    let doubts = list(&page, "items").iter().filter_map(|item| {
        let delivery = &item["delivery"];
        let doubt = matches!(word(delivery, "state"), "unknown" | "refused");
        doubt.then(|| json!({ "message": delivery["message"], "text": item["text"] }))
    });
    Ok(doubts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_named_comes_first_and_the_others_stay() {
        let id = |n: u32| format!("msg_{n:032x}");
        let rows: Vec<Value> = (1..=4).map(|n| json!({ "message": id(n), "text": "t" })).collect();
        let ordered = order(&rows, &[id(3), id(1)]).unwrap();
        assert_eq!(ordered, [3, 1, 2, 4].map(id));
        assert!(order(&rows, &[id(3), id(3)]).is_err());
    }
}
