//! `holdfast agent env`.

use serde_json::{Value, json};

use crate::client::Client;
use crate::fault::{Exit, Fault};
use crate::out::Out;
use crate::reach::{Reach, Surroundings};
use crate::rows::{list, word};
use crate::text::line;

/// What `agent env` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent whose variables are shown; without one only where the environment comes from.
    agent: Option<String>,
    /// Ask the login shell again first.
    #[arg(long)]
    refresh: bool,
    /// Show the values too; they may be secrets.
    #[arg(long, requires = "agent")]
    values: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    /// Shows what an agent would run in if it were started now, or where that comes from.
    ///
    /// # Errors
    /// What the host refuses, or that none answers.
    pub fn run(&self, around: &Surroundings) -> Result<(), Fault> {
        let client = self.reach.client(around)?;
        let refreshed = match self.refresh {
            true => Some(client.post("/agents/environment/refresh", &json!({}))?),
            false => None,
        };
        let shown = match (&self.agent, refreshed) {
            (Some(agent), _) => {
                let values = if self.values { "?values=shown" } else { "" };
                client.get(&format!("/agents/{agent}/environment{values}"))?
            }
            (None, Some(refreshed)) => refreshed,
            (None, None) => common(&client)?,
        };
        let out = self.reach.out();
        if out.is_json() {
            return out.json(&shown);
        }
        if self.agent.is_none() {
            // Here it is the answer, not a note beside one.
            out.line(&source(&shown))?;
            out.hint("holdfast agent env AGENT shows the variables of an agent.");
            return Ok(());
        }
        out.note(&source(&shown));
        let row = |variable: &Value| {
            let mut row =
                vec![line(word(variable, "name")), word(variable, "origin").replace('_', " ")];
            row.extend(variable["value"].as_str().map(line));
            row
        };
        let rows = list(&shown, "items").iter().map(row).collect();
        let heading = ["VARIABLE", "FROM", "VALUE"];
        out.table(if self.values { &heading } else { &heading[..2] }, rows)
    }

    /// Where its words go.
    #[must_use]
    pub fn out(&self) -> Out {
        self.reach.out()
    }
}

/// Where the environment of every agent comes from: any one of them tells.
fn common(client: &Client) -> Result<Value, Fault> {
    let agents = client.get("/agents")?;
    let Some(agent) = list(&agents, "items").first() else {
        let text = "No agent is configured.";
        return Err(Fault::new(Exit::NotFound, "agent_not_found", text));
    };
    let mut shown = client.get(&format!("/agents/{}/environment", word(agent, "id")))?;
    if let Some(shown) = shown.as_object_mut() {
        shown.retain(|name, _| matches!(name.as_str(), "source" | "shell" | "note"));
    }
    Ok(shown)
}

/// Where the environment comes from, in a sentence.
fn source(shown: &Value) -> String {
    let from = match (word(shown, "source"), shown["shell"].as_str()) {
        ("login_shell", Some(shell)) => format!("From the login shell {}.", line(shell)),
        ("login_shell", None) => "From the login shell.".to_owned(),
        ("asking", _) => "The login shell is still being asked.".to_owned(),
        _ => "The host's own environment.".to_owned(),
    };
    match shown["note"].as_str() {
        Some(note) => format!("{from} {}", line(note)),
        None => from,
    }
}
