//! `holdfast chat new`.

use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Map, Value, json};

use super::attach::{Files, part};
use super::{Scene, text, wait};
use crate::fault::Fault;
use crate::prefix::short;
use crate::rows::{list, word};
use crate::text::line;

/// What `chat new` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The first message; `-` reads it from stdin. Without one no agent is started yet.
    #[arg(value_name = "TEXT")]
    message: Vec<String>,
    #[command(flatten)]
    files: Files,
    /// The agent; can be left out where there is one choice only.
    #[arg(long, short)]
    agent: Option<String>,
    /// The directory that the agent works in; by default this one, on another machine its owner's
    /// home.
    #[arg(long, short = 'C', value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Go on with this session of the agent's own, which `holdfast agent sessions` lists.
    #[arg(long, value_name = "SESSION", conflicts_with = "cwd")]
    adopt: Option<String>,
    /// What the chat is called.
    #[arg(long, short)]
    title: Option<String>,
    /// What it belongs to.
    #[arg(long)]
    project: Option<String>,
    /// The name under which apps address it.
    #[arg(long)]
    slot: Option<String>,
    /// The agent's model.
    #[arg(long)]
    model: Option<String>,
    /// The agent's mode.
    #[arg(long)]
    mode: Option<String>,
    /// How hard the agent thinks, by a word that it knows: low, high.
    #[arg(long)]
    effort: Option<String>,
    /// Wait until the agent has done what the message says, and print what it answers.
    #[arg(long, short, requires = "message")]
    wait: bool,
    /// The Idempotency-Key: the same chat again where this is repeated under the same key.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let message = text(&self.message)?;
        self.files.check()?;
        let mut body = Map::new();
        body.insert("agent".to_owned(), json!(self.agent(scene)?));
        let fields = [
            ("title", &self.title),
            ("project", &self.project),
            ("slot", &self.slot),
            ("model", &self.model),
            ("mode", &self.mode),
            ("effort", &self.effort),
            ("cwd", &if self.adopt.is_some() { None } else { self.cwd(scene)? }),
        ];
        for (name, value) in fields {
            if let Some(value) = value {
                body.insert(name.to_owned(), json!(value));
            }
        }
        if let Some(session) = &self.adopt {
            body.insert("adopt".to_owned(), json!({ "session": session }));
        }
        // What is attached goes to a chat that is there: its message comes after it.
        if self.files.is_empty() && !self.message.is_empty() {
            body.insert("message".to_owned(), json!(message));
        }
        let body = Value::Object(body);
        let mut row = scene.client.write(Method::POST, "/chats", &body, self.key.as_deref())?;
        let id = &word(&row, "id").to_owned();
        if !self.files.is_empty() {
            row["receipt"] = self.send(scene, id, &message)?;
        }
        if self.wait {
            scene.out.note(&format!("opened {id}"));
            return wait::answer(scene, id, word(&row, "receipt"), &row);
        }
        if scene.out.is_json() {
            return scene.out.json(&row);
        }
        scene.out.line(id)?;
        let short = short(&[id])(id);
        let (agent, cwd) = (line(word(&row, "agent")), line(word(&row, "cwd")));
        scene.out.hint(&format!("The agent is {agent}, in {cwd}."));
        scene.out.hint(&if self.message.is_empty() && self.files.is_empty() {
            format!("holdfast chat send {short} TEXT starts its agent.")
        } else {
            format!("holdfast chat tail -f {short} shows what it says.")
        });
        Ok(())
    }

    /// Sends the first message with what is attached to it, and gives its receipt.
    fn send(&self, scene: &Scene<'_>, chat: &str, message: &str) -> Result<Value, Fault> {
        let opened = |fault: Fault| {
            scene.out.note(&format!("opened {chat}"));
            fault
        };
        let key = self.key.as_deref();
        let files = self.files.send(scene, chat, key).map_err(opened)?;
        let body = json!({ "text": message, "attachments": files });
        let key = key.map(|key| part(key, "message"));
        let path = format!("/chats/{chat}/messages");
        let accepted = scene.client.write(Method::POST, &path, &body, key.as_deref());
        Ok(accepted.map_err(opened)?["receipt"].take())
    }

    /// The agent that is meant: the one that is named, or the only one that can be.
    fn agent(&self, scene: &Scene<'_>) -> Result<String, Fault> {
        if let Some(agent) = &self.agent {
            return Ok(agent.clone());
        }
        let agents = scene.client.get("/agents")?;
        let ready = list(&agents, "items").iter().filter(|agent| agent["available"] == true);
        let ready: Vec<&str> = ready.map(|agent| word(agent, "id")).collect();
        let real: Vec<&str> = ready.iter().copied().filter(|id| *id != "demo").collect();
        match (real.as_slice(), ready.as_slice()) {
            ([one], _) | ([], [one]) => Ok((*one).to_owned()),
            ([], []) => Err(Fault::usage("No agent is ready.")
                .advice("holdfast agent ls says why each of them is not.")),
            _ => Err(Fault::usage(format!("Say which --agent: {}.", ready.join(", ")))),
        }
    }

    /// The directory, absolute. Where it is on another machine only that machine knows what it is.
    fn cwd(&self, scene: &Scene<'_>) -> Result<Option<String>, Fault> {
        let here = scene.around.cwd.as_deref();
        let dir = match (&self.cwd, scene.here) {
            (None, false) => return Ok(None),
            (None, true) => here.map(Path::to_owned),
            (Some(dir), false) => Some(dir.clone()),
            (Some(dir), true) => Some(here.unwrap_or_else(|| Path::new("/")).join(dir)),
        };
        let Some(dir) = dir else { return Ok(None) };
        let named = dir.to_str().map(str::to_owned);
        let text = "The directory has a name that is not UTF-8.";
        named.map(Some).ok_or_else(|| Fault::usage(text))
    }
}
