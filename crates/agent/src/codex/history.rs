//! A thread's rollout file, read for a person: what its lines mean. Newer versions write down each item
//! as it is shown; older ones only what the model was told and what it said.

use holdfast_core::item::{Body, CallState, ItemKind, Notice, Role};
use holdfast_core::time::Micros;
use serde::Deserialize;
use serde_json::{Value, json};

use super::view::command;
use super::wire::{self, List};
use crate::history::{Glance, History, directory, time, tool, whole_lines, words};
use crate::jsonrpc::repaired;
use crate::ordinals::head;
use crate::tolerant::{Raw, Text, wire as declare};

/// Bytes of a name that is made of what a tool was called with.
const NAME_BYTES_MAX: usize = 1024;
declare! {
    /// A line of the file.
    Line<'a> { kind as "type": Text, at as "timestamp": Text, payload: Raw<'a> }
}
declare! {
    /// What a line holds, whatever its type.
    Payload<'a> {
        kind as "type": Text,
        id: Text,
        cwd: Text,
        source: Raw<'a>,
        thread_source: Text,
        history_mode: Text,
        item: Raw<'a>,
        message: Text,
        text: Text,
        name: Text,
        arguments: Text,
        input: Text,
        call as "call_id": Text,
        output: Raw<'a>,
    }
}
declare! {
    /// An item as newer versions write it down.
    Item<'a> {
        kind as "type": Text,
        id: Text,
        content: Option<List<'a>>,
        text: Text,
        summary as "summary_text": Option<List<'a>>,
        raw as "raw_content": Option<List<'a>>,
        command: Option<List<'a>>,
        actions as "parsed_cmd": Option<List<'a>>,
        cwd: Text,
        status: Raw<'a>,
        output as "aggregated_output": Text,
        changes: Raw<'a>,
        server: Text,
        tool: Text,
        arguments: Raw<'a>,
        result: Raw<'a>,
        query: Text,
        path: Text,
        prompt: Text,
        activity as "kind": Text,
        agent_path: Text,
        review: Text,
    }
}
declare! {
    Piece { kind as "type": Text, text: Text }
}
declare! {
    Action { cmd: Text }
}
declare! {
    /// A line of the index of names.
    Named { id: Text, name as "thread_name": Text }
}

fn read<'a, T: Deserialize<'a> + Default>(raw: Raw<'a>) -> T {
    wire::read(raw).unwrap_or_default()
}

fn parse(text: &str) -> Option<(String, Option<Micros>, Payload<'_>)> {
    let line: Line<'_> = serde_json::from_str(text).ok()?;
    Some((line.kind?, time(line.at.as_deref()), read(line.payload)))
}

/// The names that persons gave to threads, by id, of the end of the index.
pub fn names(end: &[u8]) -> impl Iterator<Item = (String, String)> {
    end.split(|byte| *byte == b'\n').filter_map(|line| {
        let named: Named = serde_json::from_slice(line).ok()?;
        Some((named.id?, words(&named.name?)?))
    })
}

/// What is seen of a thread in the beginning of its file.
#[must_use]
pub fn glance(begin: &[u8], end: Option<&[u8]>) -> Glance {
    let mut glance = Glance::default();
    let mut told = false;
    let tail = end.into_iter().flat_map(whole_lines);
    for bytes in begin.split(|byte| *byte == b'\n').chain(tail) {
        let text = String::from_utf8_lossy(bytes);
        let text = repaired(&text);
        let Some((kind, _, payload)) = parse(&text) else { continue };
        // A copy of another thread holds that thread's own head behind its own.
        if kind == "session_meta" && !told {
            told = true;
            let subagent = payload.source.is_some_and(|source| source.get().starts_with('{'))
                || payload.thread_source.as_deref() == Some("subagent");
            glance.is_session = !subagent && payload.id.is_some();
            glance.id = payload.id;
            glance.cwd = directory(payload.cwd);
        } else if glance.first.is_none() {
            glance.first = person(&kind, &payload).as_deref().and_then(words);
        }
    }
    glance
}

/// What a person said with this line.
fn person(kind: &str, payload: &Payload<'_>) -> Option<String> {
    if kind != "event_msg" {
        return None;
    }
    match payload.kind.as_deref()? {
        "user_message" => payload.message.clone(),
        "item_completed" => {
            let item: Item<'_> = read(payload.item);
            (item.kind.as_deref() == Some("UserMessage")).then(|| pieces(item.content.as_ref()))
        }
        _ => None,
    }
}

/// The texts of a message; what else it holds by its name.
fn pieces(content: Option<&List<'_>>) -> String {
    let each = content.into_iter().flat_map(List::each::<Piece>);
    let texts = each.map(|piece| match piece.text {
        Some(text) => text,
        None => format!("[{}]", head(piece.kind.as_deref().unwrap_or("other"), 64)),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Reads a file line by line.
#[derive(Debug, Default)]
pub struct Reader {
    /// Whether the thread's own head was read.
    begun: bool,
    /// Whether items are written down as they are shown.
    items: bool,
    history: History,
}

impl Reader {
    /// Takes in a line. The last one may be cut: Codex is writing it.
    pub fn line(&mut self, bytes: &[u8]) {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let text = repaired(&text);
        let Some((kind, at, payload)) = parse(&text) else {
            self.history.damaged = self.history.damaged.saturating_add(1);
            return;
        };
        if self.history.since.is_none() {
            self.history.since = at;
        }
        match kind.as_str() {
            "session_meta" if !self.begun => {
                self.begun = true;
                self.items = payload.history_mode.as_deref() == Some("paginated");
            }
            "event_msg" => self.event(&kind, &payload, at),
            "response_item" if !self.items => self.response(&payload, at),
            "compacted" if !self.items => self.compacted(at),
            "session_meta"
            | "response_item"
            | "compacted"
            | "turn_context"
            | "world_state"
            | "token_usage_record"
            | "inter_agent_communication_metadata" => {}
            _ => self.history.unknown = self.history.unknown.saturating_add(1),
        }
    }

    /// What the file says.
    #[must_use]
    pub fn history(self) -> History {
        self.history
    }

    fn compacted(&mut self, at: Option<Micros>) {
        let text = "The conversation was shortened.";
        self.history.say((ItemKind::Compaction, Role::Agent), Body::Text, text, at);
    }

    fn said(&mut self, kind: ItemKind, text: &str, at: Option<Micros>) {
        if !text.trim().is_empty() {
            self.history.say((kind, Role::Agent), Body::Text, text, at);
        }
    }

    fn event(&mut self, kind: &str, payload: &Payload<'_>, at: Option<Micros>) {
        if let Some(said) = person(kind, payload) {
            if !said.trim().is_empty() {
                self.history.person(&said, at);
            }
            return;
        }
        match payload.kind.as_deref().unwrap_or_default() {
            "item_completed" => self.item(&read(payload.item), at),
            "agent_message" if !self.items => {
                self.said(ItemKind::Message, payload.message.as_deref().unwrap_or_default(), at);
            }
            "agent_reasoning" if !self.items => {
                self.said(ItemKind::Thinking, payload.text.as_deref().unwrap_or_default(), at);
            }
            "error" => {
                let text = payload.message.as_deref().unwrap_or_default();
                let body = Body::Notice(Notice::TurnFailed);
                if !text.is_empty() {
                    self.history.say((ItemKind::Notice, Role::Agent), body, text, at);
                }
            }
            // Starts and ends of turns, counts, settings: nothing that was said.
            _ => {}
        }
    }

    /// What the model called and was given, in the files of older versions.
    fn response(&mut self, payload: &Payload<'_>, at: Option<Micros>) {
        let id = payload.call.as_deref().unwrap_or_default();
        match payload.kind.as_deref().unwrap_or_default() {
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let input = payload.arguments.as_deref().or(payload.input.as_deref());
                let name = head(payload.name.as_deref().unwrap_or("tool"), NAME_BYTES_MAX);
                let name = holdfast_core::limits::label(name);
                let input = input.unwrap_or_default();
                let input = if input.starts_with('{') {
                    input.to_owned()
                } else {
                    Value::from(input).to_string()
                };
                let call = tool(name, "other", CallState::Running);
                self.history.call(id, call, &input, at);
            }
            "function_call_output" | "custom_tool_call_output" => {
                self.history.gave(id, CallState::Completed, &plain(payload.output));
            }
            _ => {}
        }
    }

    fn item(&mut self, item: &Item<'_>, at: Option<Micros>) {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let list = |list: Option<&List<'_>>| {
            list.map(|list| list.each::<String>().collect::<Vec<_>>()).unwrap_or_default()
        };
        match item.kind.as_deref().unwrap_or_default() {
            "AgentMessage" => self.said(ItemKind::Message, &pieces(item.content.as_ref()), at),
            "Plan" => self.said(ItemKind::Message, &text(&item.text), at),
            "EnteredReviewMode" | "ExitedReviewMode" => {
                self.said(ItemKind::Message, &text(&item.review), at);
            }
            "Reasoning" => {
                let (summary, raw) = (list(item.summary.as_ref()), list(item.raw.as_ref()));
                let whole = if summary.is_empty() { raw } else { summary };
                self.said(ItemKind::Thinking, &whole.join("\n\n"), at);
            }
            "ContextCompaction" => self.compacted(at),
            "CommandExecution" => {
                let line = list(item.command.as_ref()).join(" ");
                let actions = item.actions.as_ref().into_iter().flat_map(List::each::<Action>);
                let bare: Vec<String> = actions.filter_map(|action| action.cmd).collect();
                let bare = if bare.is_empty() { line.clone() } else { bare.join("; ") };
                let (name, kind) = command(Some(&bare), None);
                let input = json!({ "command": line, "cwd": item.cwd }).to_string();
                self.called(item, (name, kind), &input, &text(&item.output), at);
            }
            "FileChange" => {
                let (name, output) = changes(item.changes);
                self.called(item, (name, "edit"), "", &output, at);
            }
            "McpToolCall" | "DynamicToolCall" => {
                let server = item.server.as_ref().map(|server| format!("{server}: "));
                let name = format!("{}{}", server.unwrap_or_default(), text(&item.tool));
                let input = item.arguments.map_or("", |raw| raw.get());
                self.called(item, (name, "other"), input, &plain(item.result), at);
            }
            "WebSearch" => self.called(item, (text(&item.query), "search"), "", "", at),
            "ImageView" => self.called(item, (text(&item.path), "read"), "", "", at),
            "CollabAgentToolCall" => {
                let name = item.prompt.clone().unwrap_or_else(|| match item.tool.as_deref() {
                    Some("wait") => "Wait for subagents".to_owned(),
                    Some(other) => format!("Subagents: {other}"),
                    None => "Subagents".to_owned(),
                });
                self.called(item, (name, "agent"), "", "", at);
            }
            "SubAgentActivity" => {
                if item.activity.as_deref() == Some("started") {
                    let path = item.agent_path.as_deref().unwrap_or_default();
                    let name = path.rsplit('/').next().unwrap_or(path);
                    self.called(item, (format!("Subagent {name}"), "agent"), "", "", at);
                }
            }
            // It is told as what a person said.
            "UserMessage" => {}
            _ => self.history.unknown = self.history.unknown.saturating_add(1),
        }
    }

    fn called(
        &mut self,
        item: &Item<'_>,
        (name, kind): (String, &str),
        input: &str,
        output: &str,
        at: Option<Micros>,
    ) {
        let failed = item.status.is_some_and(|status| {
            ["failed", "declined", "interrupted"].iter().any(|word| status.get().contains(word))
        });
        let state = if failed { CallState::Failed } else { CallState::Completed };
        let name = holdfast_core::limits::label(head(&name, NAME_BYTES_MAX));
        let id = item.id.as_deref().unwrap_or_default();
        self.history.call(id, tool(name, kind, CallState::Running), input, at);
        self.history.gave(id, state, output);
    }
}

/// What a tool gave: one text, or what it is as JSON.
fn plain(raw: Raw<'_>) -> String {
    let Some(raw) = raw else { return String::new() };
    match serde_json::from_str(raw.get()) {
        Ok(Value::String(text)) => text,
        Ok(Value::Object(told)) => match told.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(_) | None => raw.get().to_owned(),
        },
        Ok(_) | Err(_) => raw.get().to_owned(),
    }
}

/// The changes of files: what they are called, and how they look.
fn changes(raw: Raw<'_>) -> (String, String) {
    let told: wire::Entries<'_> = read(raw);
    let mut output = String::new();
    for (path, change) in &told.0 {
        let change: Value = serde_json::from_str(change.get()).unwrap_or_default();
        let diff = change["unified_diff"].as_str().or(change["content"].as_str());
        let path = head(path, NAME_BYTES_MAX);
        output.push_str(&format!("--- {path}\n+++ {path}\n{}\n", diff.unwrap_or_default()));
    }
    let name = match told.0.as_slice() {
        [] => "Edit files".to_owned(),
        [(path, _)] => format!("Edit {}", path.rsplit('/').next().unwrap_or(path)),
        many => format!("Edit {} files", many.len()),
    };
    (name, output)
}
