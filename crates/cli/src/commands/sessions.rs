//! `holdfast agent sessions`.

use serde_json::{Value, json};

use crate::client::query;
use crate::fault::Fault;
use crate::out::Out;
use crate::reach::{Reach, Surroundings};
use crate::rows::{list, word};
use crate::text::line;

/// Sessions that are shown where nothing is said.
const SHOWN: usize = 20;

/// What `agent sessions` is told.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent; without one all that keep sessions.
    agent: Option<String>,
    /// Words that the title, the first words or the directory has.
    #[arg(long, short, value_name = "WORDS")]
    q: Option<String>,
    /// Only those that were begun in this directory.
    #[arg(long, short = 'C', value_name = "DIR")]
    cwd: Option<String>,
    /// How many are shown of each agent.
    #[arg(long, short = 'n', default_value_t = SHOWN)]
    limit: usize,
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    /// Lists the sessions that agents keep themselves, the last changed first.
    ///
    /// # Errors
    /// What the host refuses, or that none answers.
    pub fn run(&self, around: &Surroundings) -> Result<(), Fault> {
        let client = self.reach.client(around)?;
        let agents = match &self.agent {
            Some(agent) => vec![agent.clone()],
            None => {
                let all = client.get("/agents")?;
                let keeps = |agent: &&Value| matches!(word(agent, "kind"), "claude" | "codex");
                let all = list(&all, "items").iter().filter(keeps);
                all.map(|agent| word(agent, "id").to_owned()).collect()
            }
        };
        let mut wanted = format!("limit={}", self.limit);
        for (name, value) in [("q", &self.q), ("cwd", &self.cwd)] {
            if let Some(value) = value {
                wanted.push_str(&format!("&{name}={}", query(value)));
            }
        }
        let (mut rows, mut found) = (Vec::new(), Vec::new());
        for agent in agents {
            let page = client.get(&format!("/agents/{}/sessions?{wanted}", query(&agent)))?;
            rows.extend(list(&page, "items").iter().map(|session| row(&agent, session)));
            found.push(json!({ "agent": agent, "items": page["items"], "next": page["next"] }));
        }
        let out = self.reach.out();
        if out.is_json() {
            return out.json(&json!({ "items": found }));
        }
        if rows.is_empty() {
            out.note("No sessions were found.");
            return Ok(());
        }
        out.table(&["SESSION", "AGENT", "CHANGED", "SIZE", "STATE", "DIRECTORY", "TITLE"], rows)?;
        out.hint("holdfast chat new --adopt SESSION goes on with one in a chat.");
        Ok(())
    }

    /// Where its words go.
    #[must_use]
    pub fn out(&self) -> Out {
        self.reach.out()
    }
}

fn row(agent: &str, session: &Value) -> Vec<String> {
    let state = if session["chat"].is_string() {
        format!("chat {}", word(session, "chat"))
    } else if session["open_elsewhere"] == true {
        "open elsewhere".to_owned()
    } else if session["cwd_exists"] == true {
        "-".to_owned()
    } else {
        "directory gone".to_owned()
    };
    let title = session["title"].as_str().or(session["first"].as_str()).unwrap_or("-");
    let changed = word(session, "changed_at");
    vec![
        line(word(session, "id")),
        line(agent),
        line(changed.split_once('.').map_or(changed, |(at, _)| at)),
        size(session["bytes"].as_u64().unwrap_or(0)),
        line(&state),
        line(session["cwd"].as_str().unwrap_or("-")),
        line(title),
    ]
}

/// A size as a person reads it.
fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}
