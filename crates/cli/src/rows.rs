//! What people read of the host's answers.

use serde_json::Value;

use crate::text;

/// Columns of what a chat is called, where it is followed by what it is doing.
const NAME_COLUMNS_MAX: usize = 36;

/// A field's text; empty where it has none.
pub(crate) fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// A field's number; zero where it has none.
pub(crate) fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_default()
}

/// A field's list; empty where it has none.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// What a chat is called: its title, or what it was told first, which stays.
pub(crate) fn called(row: &Value) -> String {
    let names = ["title", "first_prompt", "last_prompt"].map(|name| row[name].as_str());
    let name = names.into_iter().flatten().find(|name| !name.is_empty());
    name.map_or_else(|| "(nothing said yet)".to_owned(), text::line)
}

/// The state of a chat whose agent waits for a person, in the word that the page has for it.
pub(crate) const NEEDS_YOU: &str = "needs you";

/// What is shown of a chat, in a word or two: those of the page.
pub(crate) fn shown(row: &Value) -> String {
    let shown = match (word(row, "state"), word(&row["status"], "shown")) {
        (_, _) if row["unreadable"].is_string() => "unreadable",
        ("closed", _) => "closed",
        (_, "to_check") if !row["offer"].is_null() => "to resume, to check",
        (_, "idle") if !row["offer"].is_null() => "to resume",
        (_, "to_check") => "to check",
        (_, "blocked") => NEEDS_YOU,
        (_, shown) => shown,
    };
    text::line(shown)
}

/// What a chat is doing now, in a few words; empty where it does nothing.
pub(crate) fn doing(row: &Value) -> String {
    let activity = &row["activity"];
    let labels = |name: &str, mark: &str| {
        let labels = list(activity, name).iter().map(|one| format!("{mark}{}", word(one, "label")));
        labels.collect::<Vec<_>>()
    };
    let mut parts = labels("prompts", "asks: ");
    parts.extend(labels("tasks", ""));
    let more = number(activity, "more_tasks");
    if more > 0 {
        parts.push(format!("{more} more"));
    }
    let left = list(activity, "leftovers").len() as u64;
    if left > 0 {
        parts.push(text::count(left, "leftover process").replace("processs", "processes"));
    }
    text::line(&parts.join("; "))
}

/// What a chat is called and what it is doing.
pub(crate) fn what(row: &Value) -> String {
    let doing = doing(row);
    if doing.is_empty() {
        return called(row);
    }
    format!("{}: {doing}", text::cut(&called(row), NAME_COLUMNS_MAX))
}

/// A cause of an offer, in words.
pub(crate) fn cause(word: &str) -> String {
    match word {
        "quit" => "the host was stopped",
        "update" => "the host was updated",
        "host_lost" => "the host was lost",
        "agent_died" => "the agent died",
        "keeper_lost" => "the agent's keeper was lost",
        "idle_stop" => "it was stopped for its idleness",
        "" => "unknown",
        other => return text::line(other),
    }
    .to_owned()
}
