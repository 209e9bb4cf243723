//! What is there before the calls begin: chats in the states that a person sees, so that calls reach
//! more than a refusal, and the ids of what is in them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::contract::host::Host;

/// Chats that calls may close and delete.
const DOOMED: usize = 12;
/// How long an agent may take until a chat is in its state.
const PATIENCE: Duration = Duration::from_secs(30);

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

/// The ids by the names that they have in paths.
pub(super) struct Seeded {
    ids: BTreeMap<&'static str, Vec<String>>,
}

/// Makes the chats, and waits until each is in its state.
pub(super) fn seed(host: &Host) -> Result<Seeded> {
    let mut seeded = Seeded { ids: BTreeMap::new() };
    let text = "Look at this [[say done]]";
    seeded.chat(host, text, |row| row["status"]["evidence"] == "message_settled")?;
    seeded.chat(host, "[[ask Which one?|A|B]]", |row| row["activity"]["prompts"] != json!([]))?;
    seeded.chat(host, "[[approve ls]]", |row| row["activity"]["prompts"] != json!([]))?;
    seeded.chat(host, "[[task 600 look around]]", |row| row["activity"]["tasks"] != json!([]))?;
    let busy = seeded.chat(host, "[[slow 600]]", |row| row["status"]["lead"] == "working")?;
    for text in ["first", "second", "third"] {
        let sent = json!({ "text": text });
        let sent = host.call("POST", &format!("/chats/{busy}/messages"), Some(&sent))?;
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
        if let Some(id) = id.as_str() {
            self.ids.entry(name).or_default().push(id.to_owned());
        }
    }

    /// A chat with this message, in this state.
    fn chat(&mut self, host: &Host, message: &str, is: impl Fn(&Value) -> bool) -> Result<String> {
        let asked = json!({"agent": "demo", "message": message});
        let opened = host.call("POST", "/chats", Some(&asked))?;
        let id = opened["id"].as_str().context("a chat without an id")?.to_owned();
        self.add("chat", &opened["id"]);
        self.add("receipt", &opened["receipt"]);
        let until = Instant::now() + PATIENCE;
        let row = loop {
            let row = host.call("GET", &format!("/chats/{id}"), None)?;
            if is(&row) {
                break row;
            }
            if Instant::now() > until {
                bail!("the chat with {message:?} did not come to its state: {row}");
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        for prompt in row["activity"]["prompts"].as_array().into_iter().flatten() {
            self.add("prompt", &prompt["id"]);
        }
        for task in row["activity"]["tasks"].as_array().into_iter().flatten() {
            self.add("task", &task["id"]);
        }
        let items = host.call("GET", &format!("/chats/{id}/items"), None)?;
        for item in items["items"].as_array().into_iter().flatten() {
            self.add("item", &item["id"]);
            self.add("message", &item["delivery"]["message"]);
        }
        Ok(id)
    }

    /// The configuration of Schemathesis: the token, and where these ids are used.
    pub(super) fn config(&self, token: &str) -> String {
        let mut lines = vec![
            format!("[auth.openapi.bearer]\nbearer = {}", json!(token)),
            format!("[dictionaries.text]\nvalues = {}", json!(TEXTS)),
            "[dictionaries.agent]\nvalues = [\"demo\"]".to_owned(),
        ];
        for (name, ids) in &self.ids {
            lines.push(format!("[dictionaries.{name}]\nvalues = {}", json!(ids)));
        }
        lines.push("[parameters]".to_owned());
        let bind = |key: &str, dictionary: &str, probability: &str| {
            format!(
                "{} = {{ dictionary = {}, probability = {probability} }}",
                json!(key),
                json!(dictionary)
            )
        };
        for name in self.ids.keys().filter(|name| **name != "doomed") {
            lines.push(bind(&format!("path.{name}"), name, "0.8"));
        }
        lines.push(bind("body.text", "text", "0.5"));
        lines.push(bind("body.agent", "agent", "0.5"));
        lines.push("[[operations]]".to_owned());
        let doom = ["DELETE /api/v1/chats/{chat}", "POST /api/v1/chats/{chat}/close"];
        lines.push(format!("include-name = {}", json!(doom)));
        lines.push("[operations.parameters]".to_owned());
        lines.push(bind("path.chat", "doomed", "0.8"));
        lines.push(String::new());
        lines.join("\n")
    }
}
