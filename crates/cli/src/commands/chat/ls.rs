//! `holdfast chat ls`.

use clap::ValueEnum;
use serde_json::{Value, json};

use super::Scene;
use crate::client::query;
use crate::clock::now;
use crate::fault::Fault;
use crate::prefix::short;
use crate::rows::{list, number, shown, what, word};
use crate::text::{ago, line};

/// Rows that the host gives in one page.
const PAGE_ROWS_MAX: usize = 500;

/// What `chat ls` is told.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only chats in this state.
    #[arg(long, value_enum, default_value_t = State::Open)]
    state: State,
    /// Closed chats too: the same as --state all.
    #[arg(long, short, conflicts_with = "state")]
    all: bool,
    /// Only chats that have these words in their title, first or last message.
    #[arg(long, short, value_name = "WORDS")]
    query: Option<String>,
    /// Only chats of this project.
    #[arg(long)]
    project: Option<String>,
    /// Only chats in this folder.
    #[arg(long)]
    folder: Option<String>,
    /// Only chats with this tag.
    #[arg(long)]
    tag: Option<String>,
    /// At most so many, the last changed ones.
    #[arg(long, short = 'n', value_name = "COUNT")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum State {
    Open,
    Closed,
    All,
}

impl Args {
    pub(super) fn run(&self, scene: &Scene<'_>) -> Result<(), Fault> {
        let rows = self.rows(scene)?;
        if scene.out.is_json() {
            return scene.out.json(&json!({ "items": rows, "next": null }));
        }
        if rows.is_empty() {
            let narrow = [&self.query, &self.project, &self.folder, &self.tag];
            let narrow = narrow.iter().any(|narrow| narrow.is_some());
            scene.out.note(match (narrow, self.all, self.state) {
                (true, _, _) => "No chat fits.",
                (false, true, _) | (false, _, State::All) => "There is no chat.",
                (false, false, State::Open) => "No chat is open.",
                (false, false, State::Closed) => "No chat is closed.",
            });
            scene.out.hint("holdfast chat new TEXT opens one.");
            return Ok(());
        }
        let ids: Vec<&str> = rows.iter().map(|row| word(row, "id")).collect();
        let short = short(&ids);
        let now = now();
        let one = |row: &Value| {
            let waits = match number(row, "queue_length") {
                0 => String::new(),
                n if row["queue_paused"] == true => format!(" [{n} held]"),
                n => format!(" [{n} waiting]"),
            };
            let pinned = if row["pinned"] == true { " [pinned]" } else { "" };
            vec![
                short(word(row, "id")),
                shown(row),
                line(word(row, "agent")),
                ago(word(row, "updated_at"), now),
                format!("{}{waits}{pinned}", what(row)),
            ]
        };
        let heading = ["CHAT", "STATE", "AGENT", "CHANGED", "WHAT"];
        scene.out.table(&heading, rows.iter().map(one).collect())
    }

    fn rows(&self, scene: &Scene<'_>) -> Result<Vec<Value>, Fault> {
        let state = match (self.all, self.state) {
            (true, _) | (_, State::All) => "all",
            (_, State::Open) => "open",
            (_, State::Closed) => "closed",
        };
        let most = self.limit.unwrap_or(usize::MAX);
        let mut path = format!("/chats?state={state}&limit={}", most.clamp(1, PAGE_ROWS_MAX));
        let narrowed = [
            ("q", &self.query),
            ("project", &self.project),
            ("folder", &self.folder),
            ("tag", &self.tag),
        ];
        for (name, value) in narrowed {
            if let Some(value) = value {
                path.push_str(&format!("&{name}={}", query(value)));
            }
        }
        let mut rows = Vec::new();
        let mut before = String::new();
        while rows.len() < most {
            let page = scene.client.get(&format!("{path}{before}"))?;
            rows.extend_from_slice(list(&page, "items"));
            match page["next"].as_str() {
                Some(next) => before = format!("&before={}", query(next)),
                None => break,
            }
        }
        rows.truncate(most);
        Ok(rows)
    }
}
