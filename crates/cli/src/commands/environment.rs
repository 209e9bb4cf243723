//! `holdfast agent env`.

use serde_json::{Value, json};

use crate::fault::Fault;
use crate::out::Out;
use crate::reach::{Reach, Surroundings};
use crate::rows::{list, word};
use crate::text::line;

/// What `agent env` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent; without one nothing is shown but where the environment comes from.
    agent: Option<String>,
    /// Ask the login shell again first.
    #[arg(long, required_unless_present = "agent")]
    refresh: bool,
    /// Show the values too; they may be secrets.
    #[arg(long)]
    values: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    /// Shows what an agent would run in if it were started now.
    ///
    /// # Errors
    /// What the host refuses, or that none answers.
    pub fn run(&self, around: &Surroundings) -> Result<(), Fault> {
        let client = self.reach.client(around)?;
        let mut shown = Value::Null;
        if self.refresh {
            shown = client.post("/agents/environment/refresh", &json!({}))?;
        }
        if let Some(agent) = &self.agent {
            let values = if self.values { "?values=shown" } else { "" };
            shown = client.get(&format!("/agents/{agent}/environment{values}"))?;
        }
        let out = self.reach.out();
        if out.is_json() {
            return out.json(&shown);
        }
        out.note(&source(&shown));
        if self.agent.is_none() {
            return Ok(());
        }
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
