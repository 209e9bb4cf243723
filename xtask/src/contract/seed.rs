//! What is there before the calls begin: chats in the states that a person sees, so that calls reach
//! more than a refusal, and the ids of what is in them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::contract::host::{Host, wait};

/// Chats that calls may close and delete.
const DOOMED: usize = 12;
/// Messages that wait in a queue that is held.
const HELD: usize = 20;

/// What a person writes: it brings about each thing that an agent does, and nothing that outlives
/// the agent.
const TEXTS: &[&str] = &[
    "hello",
    "[[say text]]",
    "[[ask Which one?|A|B]]",
    "[[approve ls]]",
    "[[task 5 look around]]",
    "[[command 5 wait]]",
    "[[slow 3]]",
    "[[count]]",
    "[[die]]",
];

/// Calls that need chats of their own, since other calls would undo what they are about.
const OWN: &[(&str, &[&str])] = &[
    ("doomed", &["DELETE /api/v1/chats/{chat}", "POST /api/v1/chats/{chat}/close"]),
    ("asking", &["POST /api/v1/chats/{chat}/prompts/{prompt}/answer"]),
    ("tasked", &["POST /api/v1/chats/{chat}/tasks/{task}/stop"]),
    (
        "held",
        &[
            "PATCH /api/v1/chats/{chat}/queue/{message}",
            "DELETE /api/v1/chats/{chat}/queue/{message}",
            "POST /api/v1/chats/{chat}/queue/{message}/send-now",
        ],
    ),
];

/// What calls are made with: the names of ids as in paths, the chats of [`OWN`], and `option`.
#[derive(Default)]
pub(super) struct Seeded {
    ids: BTreeMap<&'static str, Vec<String>>,
}

/// Makes the chats, and waits until each is in its state.
pub(super) fn seed(host: &Host) -> Result<Seeded> {
    let mut seeded = Seeded::default();
    let done = |row: &Value| row["status"]["evidence"] == "message_settled";
    let asks = |row: &Value| row["activity"]["prompts"] != json!([]);
    let tasked = |row: &Value| row["activity"]["tasks"] != json!([]);
    let works = |row: &Value| row["status"]["lead"] == "working";
    seeded.chat(host, "chat", "Look at this [[say done]]", done)?;
    seeded.chat(host, "chat", "[[ask Which one?|A|B]]", asks)?;
    seeded.chat(host, "chat", "[[slow 600]]", works)?;
    for _ in 0..3 {
        seeded.chat(host, "asking", "[[ask Which one?|A|B]]", asks)?;
        seeded.chat(host, "asking", "[[approve ls]]", asks)?;
        seeded.chat(host, "tasked", "[[task 600 look around]]", tasked)?;
    }
    let held = seeded.chat(host, "held", "[[slow 600]]", works)?;
    host.call("POST", &format!("/chats/{held}/queue/pause"), None)?;
    for n in 0..HELD {
        let text = json!({ "text": format!("message {n}") });
        let sent = host.call("POST", &format!("/chats/{held}/messages"), Some(&text))?;
        seeded.add("message", &sent["message"]["id"]);
        seeded.add("receipt", &sent["receipt"]);
    }
    for _ in 0..DOOMED {
        let chat = host.call("POST", "/chats", Some(&json!({"agent": "demo"})))?;
        seeded.add("doomed", &chat["id"]);
    }
    Ok(seeded)
}

impl Seeded {
    fn add(&mut self, name: &'static str, id: &Value) {
        let Some(id) = id.as_str() else { return };
        let ids = self.ids.entry(name).or_default();
        if !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }

    /// A chat with this message, in this state, for the calls of this name.
    fn chat(
        &mut self,
        host: &Host,
        name: &'static str,
        message: &str,
        is: impl Fn(&Value) -> bool,
    ) -> Result<String> {
        let asked = json!({"agent": "demo", "message": message});
        let opened = host.call("POST", "/chats", Some(&asked))?;
        let id = opened["id"].as_str().context("a chat without an id")?.to_owned();
        self.add(name, &opened["id"]);
        self.add("receipt", &opened["receipt"]);
        let row = wait(&format!("the chat with {message:?} to be in its state"), || {
            Ok(Some(host.call("GET", &format!("/chats/{id}"), None)?).filter(&is))
        })?;
        for task in row["activity"]["tasks"].as_array().into_iter().flatten() {
            self.add("task", &task["id"]);
        }
        let items = host.call("GET", &format!("/chats/{id}/items"), None)?;
        for item in items["items"].as_array().into_iter().flatten() {
            self.add("item", &item["id"]);
            self.add("message", &item["delivery"]["message"]);
            self.add("prompt", &item["prompt"]["id"]);
            for option in item["prompt"]["options"].as_array().into_iter().flatten() {
                self.add("option", &option["id"]);
            }
        }
        Ok(id)
    }

    /// The configuration of Schemathesis: the token, and where these ids are used.
    pub(super) fn config(&self, token: &str) -> String {
        let mut lines = vec![
            format!("[auth.openapi.bearer]\nbearer = {}", json!(token)),
            // A prompt that is over says so, however the answer was written.
            "[checks.negative_data_rejection]\nexpected-statuses = [\"4xx\"]".to_owned(),
            format!("[dictionaries.text]\nvalues = {}", json!(TEXTS)),
            "[dictionaries.agent]\nvalues = [\"demo\"]".to_owned(),
            "[dictionaries.words]\nvalues = [\"done\", \"which one\", \"look\"]".to_owned(),
        ];
        for (name, ids) in &self.ids {
            lines.push(format!("[dictionaries.{name}]\nvalues = {}", json!(ids)));
        }
        let bind = |key: &str, dictionary: &str, probability: &str| {
            format!(
                "{} = {{ dictionary = {dictionary:?}, probability = {probability} }}",
                json!(key)
            )
        };
        lines.push("[parameters]".to_owned());
        for name in ["chat", "message", "item", "prompt", "task", "receipt"] {
            lines.push(bind(&format!("path.{name}"), name, "0.8"));
        }
        for name in ["text", "agent", "option"] {
            lines.push(bind(&format!("body.{name}"), name, "0.5"));
        }
        lines.push(bind("query.q", "words", "0.5"));
        // Both name chats, from within a body.
        lines.push(bind("body.chat", "chat", "0.8"));
        for (name, calls) in OWN {
            lines.push(format!("[[operations]]\ninclude-name = {}", json!(calls)));
            lines.push("[operations.parameters]".to_owned());
            lines.push(bind("path.chat", name, "0.9"));
        }
        lines.push(String::new());
        lines.join("\n")
    }
}
