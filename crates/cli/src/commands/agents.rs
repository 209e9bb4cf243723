//! `holdfast agent ls`.

use serde_json::Value;

use crate::fault::Fault;
use crate::out::Out;
use crate::reach::{Reach, Surroundings};
use crate::rows::{list, word};
use crate::text::line;

/// What `agent ls` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    /// Lists the agents that can be chosen.
    ///
    /// # Errors
    /// What the host refuses, or that none answers.
    pub fn run(&self, around: &Surroundings) -> Result<(), Fault> {
        let client = self.reach.client(around)?;
        let agents = client.get("/agents")?;
        let out = self.reach.out();
        if out.is_json() {
            return out.json(&agents);
        }
        let row = |agent: &Value| {
            let state = match (agent["available"].as_bool(), agent["reason"].as_str()) {
                (Some(true), None) => "ready".to_owned(),
                (Some(true), Some(hint)) => format!("ready, but: {}", line(hint)),
                (_, reason) => {
                    format!("not ready: {}", line(reason.unwrap_or("no reason is given")))
                }
            };
            let version = agent["version"].as_str().map_or_else(|| "-".to_owned(), line);
            let can: Vec<_> =
                list(agent, "capabilities").iter().filter_map(Value::as_str).collect();
            let can = if can.is_empty() { "-".to_owned() } else { line(&can.join(", ")) };
            vec![line(word(agent, "id")), line(word(agent, "kind")), version, can, state]
        };
        let rows = list(&agents, "items").iter().map(row).collect();
        out.table(&["AGENT", "KIND", "VERSION", "CAN", "STATE"], rows)
    }

    /// Where its words go.
    #[must_use]
    pub fn out(&self) -> Out {
        self.reach.out()
    }
}
