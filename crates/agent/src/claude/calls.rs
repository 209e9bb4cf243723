//! Tool calls: told once with their input, then once with their result.

use std::collections::VecDeque;

use holdfast_core::ids::{ItemId, TaskId};
use holdfast_core::item::{Body, CallState, Field, ItemKind, Role, ToolCall};
use holdfast_core::limits::{cut, label};
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::prompts::Word;
use super::wire::{self, is_true};
use super::{State, read};
use crate::ordinals::{digest, digits, json_bytes};
use crate::tolerant::List;

/// Calls of an attempt that are told apart.
const CALLS_MAX: usize = 256;
/// Bytes of the stored table of calls.
const CALLS_BYTES_MAX: usize = 20 * 1024;
/// Bytes of one stored call beside what is counted of it.
const CALL_BYTES: usize = 110;
/// Characters of what a tool is called with that stand behind its name.
const SUBJECT_CHARS_MAX: usize = 80;
/// Characters of a tool's name.
const NAME_CHARS_MAX: usize = 64;
/// The tool that watches.
pub(super) const MONITOR: &str = "monitor";

/// One call that runs, or that others are made within. Short names: they are stored with each commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Call {
    /// The digest of the model's id of it.
    #[serde(rename = "i")]
    id: u64,
    #[serde(rename = "n")]
    pub(super) item: u32,
    #[serde(rename = "t")]
    pub(super) name: String,
    #[serde(rename = "k")]
    pub(super) kind: String,
    /// The item of the call within which it was made.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    within: Option<u32>,
    /// The background work that it became.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    task: Option<u32>,
    /// Whether it was asked to go on in the background.
    #[serde(rename = "g", default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) background: bool,
    #[serde(rename = "s")]
    state: CallState,
}

/// The calls of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Calls {
    /// Oldest first.
    rows: VecDeque<Call>,
}

impl Call {
    fn bytes(&self) -> usize {
        CALL_BYTES + json_bytes(&self.name) + json_bytes(&self.kind) + digits(self.id)
    }

    fn body(&self, origin: u32) -> Body {
        Body::Call(ToolCall {
            name: self.name.clone(),
            tool_kind: self.kind.clone(),
            state: self.state,
            task: self.task.map(|task| TaskId::new(origin, task)),
            within: self.within.map(|item| ItemId::new(origin, item)),
        })
    }

    /// Whether a subagent made it.
    pub(super) const fn is_within(&self) -> bool {
        self.within.is_some()
    }

    const fn runs(&self) -> bool {
        matches!(self.state, CallState::Running)
    }

    fn give_up(&mut self, origin: u32, out: &mut Vec<ProviderEvent>) {
        self.state = CallState::Unknown;
        let body = self.body(origin);
        out.push(ProviderEvent::ItemChanged { item: self.item, body });
        out.push(ProviderEvent::ItemClosed { item: self.item });
    }
}

impl Calls {
    /// The call with this digest.
    pub(super) fn get(&self, id: u64) -> Option<&Call> {
        self.rows.iter().find(|call| call.id == id)
    }

    /// The item of the call with this digest.
    pub(super) fn item(&self, id: u64) -> Option<u32> {
        self.get(id).map(|call| call.item)
    }

    /// A turn has ended. What of it still runs has an end that nobody told; calls within a subagent may
    /// outlive the turn.
    pub(super) fn turn_ended(&mut self, origin: u32, out: &mut Vec<ProviderEvent>) {
        for call in self.rows.iter_mut().filter(|call| call.runs() && call.within.is_none()) {
            call.give_up(origin, out);
        }
    }

    /// The subagent of the call with this item has ended: what it still called has no end.
    fn subagent_ended(&mut self, item: u32, origin: u32, out: &mut Vec<ProviderEvent>) {
        for call in self.rows.iter_mut().filter(|it| it.runs() && it.within == Some(item)) {
            call.give_up(origin, out);
        }
    }

    /// Forgets the oldest calls beyond the bounds, ended ones first, never the newest.
    fn fit(&mut self, origin: u32, out: &mut Vec<ProviderEvent>) {
        let mut bytes: usize = self.rows.iter().map(Call::bytes).sum();
        while self.rows.len() > CALLS_MAX || bytes > CALLS_BYTES_MAX {
            let newest = self.rows.len().saturating_sub(1);
            let ended = self.rows.iter().position(|call| !call.runs());
            let place = ended.filter(|place| *place < newest).unwrap_or(0);
            if place >= newest {
                return;
            }
            let Some(mut call) = self.rows.remove(place) else { return };
            bytes = bytes.saturating_sub(call.bytes());
            if call.runs() {
                call.give_up(origin, out);
            }
        }
    }
}

impl State {
    /// The model calls a tool.
    pub(super) fn calls_tool(
        &mut self,
        block: &wire::Block<'_>,
        parent: Option<&str>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let id = digest(block.id.as_deref().unwrap_or_default().as_bytes());
        if self.calls.get(id).is_some() {
            return;
        }
        let tool = block.name.as_deref().unwrap_or("tool");
        let input = block.input.map_or("{}", RawValue::get);
        let told: wire::ToolInput<'_> = read(input);
        let within = parent.and_then(|id| self.calls.item(digest(id.as_bytes())));
        let call = Call {
            id,
            item: self.ordinals.item(),
            name: title(tool, &told),
            kind: kind(tool).to_owned(),
            within,
            task: None,
            background: is_true(told.background),
            state: CallState::Running,
        };
        let item = call.item;
        let body = call.body(self.origin);
        let (kind, role) = (ItemKind::ToolCall, Role::Agent);
        out.push(ProviderEvent::ItemOpened { item, kind, role, body });
        if input != "{}" {
            let (field, text) = (Field::Input, input.to_owned());
            out.push(ProviderEvent::ItemText { item, field, at: 0, text });
        }
        self.calls.rows.push_back(call);
        self.calls.fit(self.origin, out);
        if tool == "ExitPlanMode"
            && let Some(plan) = told.plan
        {
            self.plans(&plan, out);
        }
    }

    /// The plan that the model proposes, as an item of its own.
    fn plans(&mut self, plan: &str, out: &mut Vec<ProviderEvent>) {
        let item = self.ordinals.item();
        let (kind, role, body) = (ItemKind::Plan, Role::Agent, Body::Text);
        out.push(ProviderEvent::ItemOpened { item, kind, role, body });
        let (field, text) = (Field::Text, plan.to_owned());
        out.push(ProviderEvent::ItemText { item, field, at: 0, text });
        out.push(ProviderEvent::ItemClosed { item });
    }

    /// A tool gave its result. One of a call that is not known any more is shown with a call of its own.
    pub(super) fn tool_gave(
        &mut self,
        block: &wire::Block<'_>,
        result: Option<&RawValue>,
        parent: Option<&str>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let named = block.call.as_deref().unwrap_or_default();
        let id = digest(named.as_bytes());
        if parent.is_none() {
            self.says(Word::Main, out);
        }
        self.prompts.heard(Word::Call(id), out);
        if self.calls.get(id).is_none() {
            let unknown = wire::Block { id: Some(named.to_owned()), ..wire::Block::default() };
            self.calls_tool(&unknown, parent, out);
        }
        let origin = self.origin;
        let failed = is_true(block.failed);
        let Some(call) = self.calls.rows.iter_mut().find(|call| call.id == id) else { return };
        if !call.runs() {
            return;
        }
        let item = call.item;
        call.state = if failed { CallState::Failed } else { CallState::Completed };
        let structured: wire::ToolResult<'_> =
            result.map(|raw| read(raw.get())).unwrap_or_default();
        let text = match diff(&structured) {
            Some(diff) if !failed => diff,
            Some(_) | None => result_text(block.content),
        };
        let (body, name) = (call.body(origin), call.name.clone());
        if !text.is_empty() {
            out.push(ProviderEvent::ItemText { item, field: Field::Output, at: 0, text });
        }
        out.push(ProviderEvent::ItemChanged { item, body });
        out.push(ProviderEvent::ItemClosed { item });
        self.calls.subagent_ended_in_turn(item, origin, out);
        if !failed {
            self.arms(&name, &structured, &result_text(block.content), out);
        }
    }

    /// The call became background work.
    pub(super) fn becomes(&mut self, call: &str, task: u32, out: &mut Vec<ProviderEvent>) {
        let id = digest(call.as_bytes());
        let origin = self.origin;
        if let Some(call) = self.calls.rows.iter_mut().find(|call| call.id == id)
            && call.task != Some(task)
        {
            call.task = Some(task);
            let body = call.body(origin);
            out.push(ProviderEvent::ItemChanged { item: call.item, body });
        }
    }

    /// The background work that a call became has ended.
    pub(super) fn work_ended(&mut self, task: u32, out: &mut Vec<ProviderEvent>) {
        let call = self.calls.rows.iter().find(|call| call.task == Some(task));
        if let Some(item) = call.map(|call| call.item) {
            self.calls.subagent_ended(item, self.origin, out);
        }
    }
}

impl Calls {
    /// The call with this item gave its result: if it did not go on in the background, so did all that
    /// was called within it.
    fn subagent_ended_in_turn(&mut self, item: u32, origin: u32, out: &mut Vec<ProviderEvent>) {
        let background = self.rows.iter().any(|call| call.item == item && call.background);
        if !background {
            self.subagent_ended(item, origin, out);
        }
    }
}

/// What a call is called: the tool, and what it is called with.
pub(super) fn title(tool: &str, told: &wire::ToolInput<'_>) -> String {
    let tool = cut(tool, NAME_CHARS_MAX);
    let subject = [
        &told.description,
        &told.command,
        &told.path,
        &told.notebook,
        &told.pattern,
        &told.url,
        &told.query,
        &told.reason,
        &told.id,
    ];
    let subject = subject.into_iter().flatten().map(|text| cut(text, SUBJECT_CHARS_MAX));
    match subject.into_iter().find(|text| !text.is_empty()) {
        Some(subject) => label(&format!("{tool}: {subject}")),
        None => tool,
    }
}

/// The kind of a tool, in the words that other agents use too.
pub(super) fn kind(tool: &str) -> &'static str {
    match tool {
        "Bash" | "BashOutput" | "KillShell" | "PowerShell" => "execute",
        "Monitor" => MONITOR,
        "Read" | "NotebookRead" | "ListMcpResourcesTool" | "ReadMcpResourceTool" => "read",
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => "edit",
        "Grep" | "Glob" | "ToolSearch" => "search",
        "WebFetch" | "WebSearch" => "fetch",
        "Agent" | "Task" => "agent",
        "EnterPlanMode" | "ExitPlanMode" => "switch_mode",
        _ => "other",
    }
}

/// The text of a result: one text, or blocks of which the texts count.
pub(super) fn result_text(content: Option<&RawValue>) -> String {
    let Some(content) = content else { return String::new() };
    if let Some(text) = wire::text(Some(content)) {
        return text;
    }
    let list: List<'_> = serde_json::from_str(content.get()).unwrap_or_default();
    let texts = list.each::<wire::Block<'_>>().filter_map(|block| match block.kind.as_deref() {
        Some("text") => block.text,
        Some("image") => Some("[image]".to_owned()),
        Some(_) | None => None,
    });
    texts.collect::<Vec<String>>().join("\n")
}

/// The change of a file, as a person reads it.
pub(super) fn diff(told: &wire::ToolResult<'_>) -> Option<String> {
    let hunks = told.patch.as_ref().filter(|hunks| !hunks.is_empty())?;
    let mut text = String::new();
    if let Some(path) = &told.path {
        text.push_str(&format!("--- {path}\n+++ {path}\n"));
    }
    for hunk in hunks {
        let number = |raw| wire::count(raw).unwrap_or(0);
        text.push_str(&format!(
            "@@ -{},{} +{},{} @@\n",
            number(hunk.old_start),
            number(hunk.old_lines),
            number(hunk.new_start),
            number(hunk.new_lines),
        ));
        for line in hunk.lines.iter().flatten() {
            text.push_str(line);
            text.push('\n');
        }
    }
    Some(text)
}
