//! How an item that is a call of a tool is shown: its name, its kind, its input and its output.

use std::fmt::Write as _;

use holdfast_core::item::CallState;
use holdfast_core::limits::label;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::wire;

/// Bytes of a path in a diff's head, and of a name within a line.
const NAME_BYTES_MAX: usize = 1024;

/// What is told of a call.
#[derive(Debug)]
pub(super) struct Told {
    /// What it is called, cut to a label.
    pub(super) name: String,
    /// The kind of tool.
    pub(super) kind: String,
    /// How far it is.
    pub(super) state: CallState,
    /// Its input, as JSON text.
    pub(super) input: Option<String>,
    /// Its whole output.
    pub(super) output: Option<String>,
    /// Whether it is a command, which may go on in the background.
    pub(super) is_command: bool,
    /// The agent's id of its process.
    pub(super) process: Option<String>,
    /// Whether it is a command that was ended from outside: Codex tells no exit code of its own.
    pub(super) was_ended: bool,
}

/// The kinds of items that are calls.
pub(super) const CALLS: &[&str] = &[
    "commandExecution",
    "fileChange",
    "mcpToolCall",
    "dynamicToolCall",
    "collabAgentToolCall",
    "subAgentActivity",
    "webSearch",
    "imageView",
    "imageGeneration",
    "sleep",
    "functionCallOutput",
    "hookPrompt",
];

/// What an item tells of a call; `ended` where it comes as completed.
pub(super) fn call(item: &wire::Item<'_>, ended: bool) -> Told {
    let kind = item.kind.as_deref().unwrap_or_default();
    let (name, tool) = named(kind, item);
    let named = label(&name);
    let raw = |raw: Option<&RawValue>| raw.map(|raw| raw.get().to_owned());
    let (input, output) = match kind {
        "commandExecution" => {
            let input = json!({ "command": item.command, "cwd": item.cwd });
            (Some(input.to_string()), item.output.clone())
        }
        "fileChange" => (None, Some(changes(item))),
        "mcpToolCall" => (raw(item.arguments), mcp_output(item)),
        "dynamicToolCall" => (raw(item.arguments), item.pieces.map(pieces)),
        "collabAgentToolCall" => {
            let input = item.prompt.as_ref().map(|prompt| json!({ "prompt": prompt }).to_string());
            (input, agents(item))
        }
        "webSearch" => (Some(json!({ "query": item.query }).to_string()), None),
        "functionCallOutput" => (None, item.returned.map(pieces)),
        "imageGeneration" => (None, item.saved.clone().or_else(|| item.revised.clone())),
        "hookPrompt" => (None, Some(fragments(item))),
        _ => (None, None),
    };
    Told {
        name: if named.is_empty() { "tool".to_owned() } else { named },
        kind: tool.to_owned(),
        state: state(item.status.as_deref(), ended),
        input,
        output,
        is_command: kind == "commandExecution",
        process: item.process.clone(),
        was_ended: wire::integer(item.exit) == Some(-1),
    }
}

fn named(kind: &str, item: &wire::Item<'_>) -> (String, &'static str) {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    match kind {
        "commandExecution" => {
            let (name, tool) = command(item.command.as_deref(), item.actions.as_ref());
            (name, tool)
        }
        "fileChange" => (changed(item), "edit"),
        "mcpToolCall" => (format!("{}: {}", text(&item.server), text(&item.tool)), "other"),
        "dynamicToolCall" => (text(&item.tool), "other"),
        "collabAgentToolCall" => (collaboration(item), "agent"),
        "subAgentActivity" => {
            (format!("Subagent {}", agent_name(item.agent_path.as_deref())), "agent")
        }
        "webSearch" => (text(&item.query), "search"),
        "imageView" => (text(&item.path), "read"),
        "imageGeneration" => ("Image".to_owned(), "other"),
        "sleep" => ("Sleep".to_owned(), "other"),
        "functionCallOutput" => (text(&item.name), "other"),
        "hookPrompt" => ("Hook".to_owned(), "other"),
        _ => (kind.to_owned(), "other"),
    }
}

/// What a command is called: without the shell that Codex runs it in, where it says so.
pub(super) fn command(
    line: Option<&str>,
    actions: Option<&wire::List<'_>>,
) -> (String, &'static str) {
    let actions: Vec<wire::Action> = actions.map(|list| list.each().collect()).unwrap_or_default();
    let bare = match actions.as_slice() {
        [one] => one.command.clone(),
        [] | [_, ..] => None,
    };
    let words = actions.iter().filter_map(|action| action.kind.as_deref());
    let tool = match words.collect::<Vec<_>>().as_slice() {
        [] => "execute",
        all if all.iter().all(|word| *word == "read") => "read",
        all if all.iter().all(|word| matches!(*word, "search" | "listFiles" | "read")) => "search",
        _ => "execute",
    };
    (bare.or_else(|| line.map(str::to_owned)).unwrap_or_default(), tool)
}

/// The last part of a subagent's path.
pub(super) fn agent_name(path: Option<&str>) -> &str {
    path.and_then(|path| path.rsplit('/').next()).unwrap_or_default()
}

fn collaboration(item: &wire::Item<'_>) -> String {
    match (item.tool.as_deref(), item.prompt.as_deref()) {
        (Some("spawnAgent"), Some(prompt)) => prompt.to_owned(),
        (Some("spawnAgent"), None) => "Subagent".to_owned(),
        (Some("wait"), _) => "Wait for subagents".to_owned(),
        (Some("sendInput" | "sendMessage" | "followupTask"), _) => {
            "Message to a subagent".to_owned()
        }
        (Some("closeAgent"), _) => "End a subagent".to_owned(),
        (Some("resumeAgent"), _) => "Go on with a subagent".to_owned(),
        (Some("interruptAgent"), _) => "Interrupt a subagent".to_owned(),
        (Some("listAgents"), _) => "List the subagents".to_owned(),
        (other, _) => other.unwrap_or_default().to_owned(),
    }
}

/// What subagents said at the end of a call.
fn agents(item: &wire::Item<'_>) -> Option<String> {
    let states = item.states.as_ref()?;
    let mut text = String::new();
    for (_, state) in &states.0 {
        let state: wire::AgentState = serde_json::from_str(state.get()).unwrap_or_default();
        let Some(message) = state.message.filter(|message| !message.is_empty()) else { continue };
        let _ = writeln!(text, "{}: {message}", state.status.as_deref().unwrap_or("agent"));
    }
    Some(text).filter(|text| !text.is_empty())
}

fn state(word: Option<&str>, ended: bool) -> CallState {
    match (word, ended) {
        (Some("failed" | "declined" | "interrupted"), _) => CallState::Failed,
        (Some("completed"), _) | (_, true) => CallState::Completed,
        (_, false) => CallState::Running,
    }
}

fn changed(item: &wire::Item<'_>) -> String {
    let changes: Vec<wire::Change> =
        item.changes.as_ref().map(|list| list.each().collect()).unwrap_or_default();
    let verb = |change: &wire::Change| match change.kind.as_ref().and_then(|it| it.kind.as_deref())
    {
        Some("add") => "Add",
        Some("delete") => "Delete",
        Some(_) | None => "Edit",
    };
    match changes.as_slice() {
        [] => "Edit files".to_owned(),
        [one] => {
            let path = one.path.as_deref().unwrap_or("?");
            format!("{} {}", verb(one), path.rsplit('/').next().unwrap_or(path))
        }
        many => format!("Edit {} files", many.len()),
    }
}

/// The changes of files as one diff. Of a file that is added Codex tells the text itself.
fn changes(item: &wire::Item<'_>) -> String {
    let mut text = String::new();
    let changes = item.changes.as_ref().into_iter().flat_map(|list| list.each::<wire::Change>());
    for change in changes {
        let path = crate::ordinals::head(change.path.as_deref().unwrap_or("?"), NAME_BYTES_MAX);
        let diff = change.diff.unwrap_or_default();
        let mark = match change.kind.and_then(|it| it.kind).as_deref() {
            Some("add") => Some(('+', "/dev/null", path)),
            Some("delete") => Some(('-', path, "/dev/null")),
            Some(_) | None => None,
        };
        match mark.filter(|_| !diff.starts_with("@@")) {
            Some((mark, old, new)) => {
                let _ = writeln!(text, "--- {old}\n+++ {new}");
                for line in diff.lines() {
                    let _ = writeln!(text, "{mark}{line}");
                }
            }
            None => {
                let end = if diff.is_empty() || diff.ends_with('\n') { "" } else { "\n" };
                let _ = write!(text, "--- {path}\n+++ {path}\n{diff}{end}");
            }
        }
    }
    text
}

fn mcp_output(item: &wire::Item<'_>) -> Option<String> {
    if let Some(error) = item.error.as_ref().and_then(|error| error.message.clone()) {
        return Some(error);
    }
    let result = item.result?;
    let told: wire::McpResult<'_> = serde_json::from_str(result.get()).unwrap_or_default();
    let texts: Vec<String> = told
        .content
        .as_ref()
        .map(|list| list.each::<wire::Input>().filter_map(|piece| piece.text).collect())
        .unwrap_or_default();
    if texts.is_empty() {
        return told.structured.map(|raw| raw.get().to_owned()).filter(|text| text != "null");
    }
    Some(texts.join("\n"))
}

/// A text, or the texts of a list of pieces.
fn pieces(raw: &RawValue) -> String {
    match serde_json::from_str::<Value>(raw.get()) {
        Ok(Value::String(text)) => text,
        Ok(Value::Array(pieces)) => {
            let texts = pieces.iter().filter_map(|piece| piece["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Ok(_) | Err(_) => String::new(),
    }
}

fn fragments(item: &wire::Item<'_>) -> String {
    let list = item.fragments.as_ref();
    let texts = list.into_iter().flat_map(|list| list.each::<wire::Input>());
    texts.filter_map(|piece| piece.text).collect::<Vec<_>>().join("\n")
}
