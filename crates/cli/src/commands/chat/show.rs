//! `holdfast chat show`.

use serde_json::{Value, json};

use super::Scene;
use super::answer::questions;
use crate::clock::now;
use crate::fault::Fault;
use crate::prefix::short;
use crate::rows::{called, cause, list, number, shown, word};
use crate::text::{ago, count, cut, line};

/// Items that are looked through for messages in doubt.
const LOOKED_THROUGH: usize = 200;

/// Columns of what a chat is called.
const NAME_COLUMNS_MAX: usize = 76;

/// What `chat show` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The chat.
    chat: String,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let chat = scene.chat(&self.chat)?;
        let row = scene.client.get(&format!("/chats/{chat}"))?;
        if scene.out.is_json() {
            return scene.out.json(&row);
        }
        let items = scene.client.get(&format!("/chats/{chat}/items?limit={LOOKED_THROUGH}"))?;
        let items = list(&items, "items");
        scene.out.line(&cut(&called(&row), NAME_COLUMNS_MAX))?;
        scene.out.table(&[], facts(&row, waits(scene, &chat, &row)?))?;
        for task in list(&row["activity"], "tasks") {
            let since = ago(word(task, "since"), now());
            let (kind, label) = (line(word(task, "kind")), line(word(task, "label")));
            scene
                .out
                .line(&format!("  runs: {kind} {label}, since {since}  {}", word(task, "id")))?;
        }
        for left in list(&row["activity"], "leftovers") {
            let ports: Vec<String> = list(left, "ports").iter().map(Value::to_string).collect();
            let ports = if ports.is_empty() {
                String::new()
            } else {
                format!(" on port {}", ports.join(", "))
            };
            scene.out.line(&format!("  left running: {}{ports}", line(word(left, "command"))))?;
        }
        let mut in_doubt = false;
        for item in items {
            let (state, message) =
                (word(&item["delivery"], "state"), word(&item["delivery"], "message"));
            let text = cut(&line(word(item, "text")), 60);
            let asked = item["delivery"]["asking"] == true && !row["offer"].is_null();
            if state == "unknown" && asked {
                let words = "unknown, will be asked when it is resumed";
                scene.out.line(&format!("  {words}: {text}  {message}"))?;
            } else if state == "unknown" || state == "refused" {
                in_doubt = true;
                scene.out.line(&format!("  {state}: {text}  {message}"))?;
            }
        }
        if in_doubt && row["offer"].is_null() {
            scene.out.hint(&format!(
                "\nholdfast chat resolve {} MESSAGE arrived, send-again or discard settles it.",
                short(&[&chat])(&chat)
            ));
        }
        for question in questions(items) {
            question.show(scene)?;
        }
        Ok(())
    }
}

/// Whether the last message of a person still waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

/// Messages go in their order, so where one of a person waits the last one does.
fn waits(scene: &Scene<'_>, chat: &str, row: &Value) -> Result<Waits, Fault> {
    if number(row, "queue_length") == 0 {
        return Ok(Waits::No);
    }
    let queue = scene.client.get(&format!("/chats/{chat}/queue"))?;
    let of_person = |one: &Value| matches!(word(one, "by"), "person" | "channel");
    Ok(if list(&queue, "items").iter().any(of_person) { Waits::Yes } else { Waits::No })
}

fn facts(row: &Value, last: Waits) -> Vec<Vec<String>> {
    let now = now();
    let status = &row["status"];
    let since = ago(word(status, "since"), now);
    let mut facts = vec![
        ["  id", word(row, "id")].map(str::to_owned),
        ["  state".to_owned(), format!("{}, since {since}", shown(row))],
        [
            "  agent".to_owned(),
            format!("{}, {}", line(word(row, "agent")), word(status, "process")),
        ],
        ["  directory".to_owned(), line(word(row, "cwd"))],
        ["  changed".to_owned(), ago(word(row, "updated_at"), now)],
    ];
    for (name, label) in [
        ("slot", "  slot"),
        ("project", "  project"),
        ("model", "  model"),
        ("mode", "  mode"),
        ("effort", "  effort"),
        ("folder", "  folder"),
        ("forked_from", "  forked from"),
    ] {
        if let Some(text) = row[name].as_str() {
            facts.push([label.to_owned(), line(text)]);
        }
    }
    let tags: Vec<String> = list(row, "tags").iter().filter_map(Value::as_str).map(line).collect();
    if !tags.is_empty() {
        facts.push(["  tags".to_owned(), tags.join(", ")]);
    }
    if row["pinned"] == true {
        facts.push(["  pinned".to_owned(), "yes".to_owned()]);
    }
    let waits = number(row, "queue_length");
    if waits > 0 || row["queue_paused"] == true {
        let waits = if waits == 0 { "empty".to_owned() } else { count(waits, "message") };
        let held = if row["queue_paused"] == true { ", held" } else { "" };
        facts.push(["  queue".to_owned(), format!("{waits}{held}")]);
    }
    if !row["offer"].is_null() {
        let why = cause(word(&row["offer"], "cause"));
        facts.push(["  to resume".to_owned(), format!("{why}; holdfast resume carries on")]);
    }
    if let Some(failure) = row["failure"].as_str() {
        facts
            .push(["  failed".to_owned(), format!("{}; holdfast offers says more", line(failure))]);
    }
    if let Some(why) = row["unreadable"].as_str() {
        facts.push(["  unreadable".to_owned(), line(why)]);
    }
    let told = line(word(row, "last_prompt"));
    if !told.is_empty() && (told != called(row) || last == Waits::Yes) {
        let mark = if last == Waits::Yes { "(waiting) " } else { "" };
        facts.push(["  last told".to_owned(), format!("{mark}{told}")]);
    }
    facts.push(["  messages".to_owned(), json!(number(row, "user_messages")).to_string()]);
    facts.into_iter().map(Vec::from).collect()
}
