//! A session's file, read for a person: what its lines mean. The file is a tree, each line naming the one
//! before it: what was taken back stays in it, beside what the conversation goes on with.

use std::collections::{HashMap, HashSet};

use holdfast_core::item::{Body, CallState, ItemKind, Notice, Role};
use holdfast_core::time::Micros;
use serde::Deserialize;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::blocks::{COMMAND_OUTPUT, INTERRUPTED, blocks};
use super::calls::{diff, kind, result_text, title};
use super::session::folder;
use super::wire::{self, is_true};
use crate::history::{Glance, History, directory, time, tool, whole_lines, words};
use crate::jsonrpc::repaired;
use crate::tolerant::{Raw, Text, wire as declare};

/// Lines of one file whose places in the tree are known; of a longer file nothing is left out.
const LINKS_MAX: usize = 1_000_000;
/// What the CLI answers itself with, when a session is brought back in the middle of a turn.
const NO_RESPONSE: &str = "No response requested.";
/// What the CLI tells the model in the person's place.
const TOLD_BY_CLI: [&str; 3] =
    ["<task-notification>", "<system-reminder>", "<local-command-caveat>"];

declare! {
    /// A line of the file.
    Line<'a> {
        kind as "type": Text,
        subtype: Text,
        uuid: Text,
        parent as "parentUuid": Text,
        logical_parent as "logicalParentUuid": Text,
        side as "isSidechain": Raw<'a>,
        meta as "isMeta": Raw<'a>,
        summary_of as "isCompactSummary": Raw<'a>,
        api_error as "isApiErrorMessage": Raw<'a>,
        at as "timestamp": Text,
        cwd: Text,
        message: Option<Spoken<'a>>,
        result as "toolUseResult": Raw<'a>,
        attachment: Option<Attached<'a>>,
        ai_title as "aiTitle": Text,
        custom_title as "customTitle": Text,
        summary: Text,
        last_prompt as "lastPrompt": Text,
        content: Text,
        compaction as "compactMetadata": Option<Compaction<'a>>,
    }
}
declare! {
    Spoken<'a> { content: Raw<'a>, model: Text }
}
declare! {
    Attached<'a> { kind as "type": Text, prompt: Raw<'a> }
}
declare! {
    Compaction<'a> { before as "preTokens": Raw<'a>, after as "postTokens": Raw<'a> }
}

impl<'a> Line<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let line: Self = serde_json::from_str(text).ok()?;
        line.kind.is_some().then_some(line)
    }

    fn is(&self, kind: &str) -> bool {
        self.kind.as_deref() == Some(kind)
    }

    fn id(&self) -> Option<Uuid> {
        Uuid::try_parse(self.uuid.as_deref()?).ok()
    }

    /// The line before this one. Older versions name none before a compaction, which is no beginning.
    fn parent(&self) -> Option<Uuid> {
        let named = self.parent.as_deref().or(self.logical_parent.as_deref());
        let compaction = self.subtype.as_deref() == Some("compact_boundary");
        let parent = named.and_then(|id| Uuid::try_parse(id).ok());
        parent.or_else(|| compaction.then_some(Uuid::nil()))
    }

    fn is_conversation(&self) -> bool {
        (self.is("user") || self.is("assistant")) && !is_true(self.side)
    }

    /// What a person said with it; none where it says something else.
    fn person(&self) -> Option<String> {
        let told_by_cli = is_true(self.meta) || is_true(self.summary_of) || is_true(self.side);
        if !self.is("user") || told_by_cli {
            return None;
        }
        let content = self.message.as_ref()?.content;
        let mut said = Vec::new();
        said.extend(content.and_then(|raw| wire::text(Some(raw))));
        for block in blocks(content) {
            match block.kind.as_deref() {
                Some("text") => said.extend(block.text),
                Some("image") => said.push("[image]".to_owned()),
                Some("document") => said.push("[document]".to_owned()),
                Some("tool_result") => return None,
                Some(_) | None => {}
            }
        }
        said.retain(|text| !TOLD_BY_CLI.iter().any(|mark| text.trim_start().starts_with(mark)));
        let said = said.join("\n");
        let said = said.trim();
        let others = said.is_empty() || said.starts_with(INTERRUPTED) || output_of(said).is_some();
        (!others).then(|| command(said).unwrap_or_else(|| said.to_owned()))
    }

    /// A message that the CLI gave to the model in the middle of a turn.
    fn mid_turn(&self) -> Option<String> {
        let attached = self.attachment.as_ref().filter(|_| !is_true(self.side))?;
        if attached.kind.as_deref() != Some("queued_command") {
            return None;
        }
        let whole = wire::text(attached.prompt);
        let texts = blocks(attached.prompt).into_iter().filter_map(|block| block.text);
        let said = whole.unwrap_or_else(|| texts.collect::<Vec<_>>().join("\n"));
        let by_cli = TOLD_BY_CLI.iter().any(|mark| said.trim_start().starts_with(mark));
        (!said.trim().is_empty() && !by_cli).then_some(said)
    }
}

/// A command of the CLI as the person typed it.
fn command(text: &str) -> Option<String> {
    let part = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim())
    };
    let (name, arguments) = (part("command-name")?, part("command-args").unwrap_or_default());
    Some(format!("{name} {arguments}").trim().to_owned())
}

/// What a command of the CLI printed.
fn output_of(text: &str) -> Option<&str> {
    COMMAND_OUTPUT.iter().find_map(|(begin, end)| {
        let inner = text.trim().strip_prefix(begin)?;
        Some(inner.strip_suffix(end).unwrap_or(inner).trim())
    })
}

/// What is seen of a session in the beginning and the end of its file, which lies in the folder of this
/// name. A directory that the folder is named after is the one in which the session was begun: lines also
/// tell where the model went.
#[must_use]
pub fn glance(begin: &[u8], end: Option<&[u8]>, within: &str) -> Glance {
    let mut glance = Glance::default();
    let (mut custom, mut ai, mut summary, mut last) = (None, None, None, None);
    let mut first_cwd = None;
    let tail = end.into_iter().flat_map(whole_lines);
    for bytes in begin.split(|byte| *byte == b'\n').chain(tail) {
        let text = String::from_utf8_lossy(bytes);
        let text = repaired(&text);
        let Some(line) = Line::read(&text) else { continue };
        glance.is_session |= line.is_conversation();
        if glance.first.is_none() {
            glance.first = line.person().as_deref().and_then(words);
        }
        if let Some(cwd) = directory(line.cwd) {
            if glance.cwd.is_none() && folder(&cwd) == within {
                glance.cwd = Some(cwd.clone());
            }
            first_cwd.get_or_insert(cwd);
        }
        custom = line.custom_title.or(custom);
        ai = line.ai_title.or(ai);
        summary = line.summary.filter(|_| line.kind.as_deref() == Some("summary")).or(summary);
        last = line.last_prompt.or(last);
    }
    glance.cwd = glance.cwd.or(first_cwd);
    let names = [custom, ai, summary].into_iter().flatten();
    glance.title = names.into_iter().find_map(|name| words(&name));
    glance.first = glance.first.or_else(|| last.as_deref().and_then(words));
    glance
}

/// How the lines of a file hang together: read first, so that what was taken back is known.
#[derive(Debug, Default)]
pub struct Links {
    /// Of each line the one before it, and its place in the file.
    parents: HashMap<Uuid, (Option<Uuid>, usize)>,
    last: Option<Uuid>,
    too_many: bool,
}

impl Links {
    /// Takes in a line of the file.
    pub fn line(&mut self, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let text = repaired(&text);
        let Some(line) = Line::read(&text) else { return };
        let Some(id) = line.id() else { return };
        if self.parents.len() >= LINKS_MAX {
            self.too_many = true;
            return;
        }
        let place = self.parents.len();
        self.parents.entry(id).or_insert((line.parent(), place));
        if line.is_conversation() {
            self.last = Some(id);
        }
    }

    /// What the conversation goes on with. A line that is missing on the way hides nothing before it.
    #[must_use]
    pub fn reader(self) -> Reader {
        let (mut chain, mut begins) = (HashSet::new(), 0);
        let mut next = self.last.filter(|_| !self.too_many);
        while let Some(id) = next {
            let Some((parent, place)) = self.parents.get(&id) else { break };
            if !chain.insert(id) {
                break;
            }
            begins = *place;
            next = *parent;
            if next.is_none() {
                // The true beginning: of what stands before it in the file the conversation knows nothing.
                begins = 0;
            }
        }
        let chain = (!chain.is_empty()).then_some(Chain { ids: chain, begins });
        Reader { chain, ..Reader::default() }
    }
}

#[derive(Debug)]
struct Chain {
    ids: HashSet<Uuid>,
    begins: usize,
}

/// Reads a file line by line.
#[derive(Debug, Default)]
pub struct Reader {
    chain: Option<Chain>,
    hidden: HashSet<Uuid>,
    place: usize,
    titles: [Option<String>; 3],
    history: History,
}

impl Reader {
    /// Takes in a line. The last one may be cut: the CLI is writing it.
    pub fn line(&mut self, bytes: &[u8]) {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        let text = repaired(&text);
        let Some(line) = Line::read(&text) else {
            self.history.damaged = self.history.damaged.saturating_add(1);
            return;
        };
        if self.was_taken_back(&line) || is_true(line.side) {
            return;
        }
        let at = time(line.at.as_deref());
        if self.history.since.is_none() {
            self.history.since = at;
        }
        match line.kind.as_deref().unwrap_or_default() {
            "user" => self.hears(&line, at),
            "assistant" => self.speaks(&line, at),
            "system" => self.system(&line, at),
            "attachment" => {
                if let Some(said) = line.mid_turn() {
                    self.history.person(&said, at);
                }
            }
            "custom-title" => self.titles[0] = line.custom_title,
            "ai-title" => self.titles[1] = line.ai_title,
            "summary" => self.titles[2] = line.summary,
            known if KNOWN.contains(&known) || known.starts_with("api-request") => {}
            _ => self.history.unknown = self.history.unknown.saturating_add(1),
        }
    }

    /// What the file says.
    #[must_use]
    pub fn history(mut self) -> History {
        let names = self.titles.into_iter().flatten();
        self.history.title = names.into_iter().find_map(|name| words(&name));
        self.history
    }

    /// Whether the conversation went on elsewhere from before this line: it belongs to a message that the
    /// person took back.
    fn was_taken_back(&mut self, line: &Line<'_>) -> bool {
        let (Some(chain), Some(id)) = (&self.chain, line.id()) else { return false };
        let place = self.place;
        self.place = place.saturating_add(1);
        if chain.ids.contains(&id) || place < chain.begins {
            return false;
        }
        let begins_other = line.person().is_some();
        let hidden = begins_other || line.parent().is_some_and(|it| self.hidden.contains(&it));
        hidden && self.hidden.insert(id)
    }

    fn hears(&mut self, line: &Line<'_>, at: Option<Micros>) {
        let content = line.message.as_ref().and_then(|message| message.content);
        for block in blocks(content) {
            if block.kind.as_deref() == Some("tool_result") {
                let id = block.call.as_deref().unwrap_or_default();
                let told: wire::ToolResult<'_> =
                    crate::tolerant::read(line.result).unwrap_or_default();
                let output = diff(&told).unwrap_or_else(|| result_text(block.content));
                let failed = is_true(block.failed);
                let state = if failed { CallState::Failed } else { CallState::Completed };
                self.history.gave(id, state, &output);
            }
        }
        if let Some(said) = line.person() {
            return self.history.person(&said, at);
        }
        let Some(text) = content.and_then(|raw| wire::text(Some(raw))) else { return };
        if is_true(line.summary_of) {
            self.history.goes_on(ItemKind::Compaction, &format!("\n\n{text}"));
        } else if let Some(output) = output_of(&text).filter(|output| !output.is_empty()) {
            self.remarks(Notice::AgentSays, output, at);
        }
    }

    fn speaks(&mut self, line: &Line<'_>, at: Option<Micros>) {
        let Some(message) = &line.message else { return };
        let of_cli = message.model.as_deref() == Some("<synthetic>");
        for block in blocks(message.content) {
            let said = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
            match block.kind.as_deref() {
                Some("text") => {
                    let Some(text) = said(block.text) else { continue };
                    if is_true(line.api_error) {
                        self.remarks(Notice::TurnFailed, &text, at);
                    } else if !of_cli || text != NO_RESPONSE {
                        let whose = (ItemKind::Message, Role::Agent);
                        self.history.say(whose, Body::Text, &text, at);
                    }
                }
                Some("thinking") => {
                    if let Some(text) = said(block.thinking) {
                        let whose = (ItemKind::Thinking, Role::Agent);
                        self.history.say(whose, Body::Text, &text, at);
                    }
                }
                Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                    let name = block.name.as_deref().unwrap_or("tool");
                    let input = block.input.map_or("{}", RawValue::get);
                    let told: wire::ToolInput<'_> = serde_json::from_str(input).unwrap_or_default();
                    let call = tool(title(name, &told), kind(name), CallState::Running);
                    self.history.call(block.id.as_deref().unwrap_or_default(), call, input, at);
                }
                Some(_) | None => {}
            }
        }
    }

    fn system(&mut self, line: &Line<'_>, at: Option<Micros>) {
        match line.subtype.as_deref().unwrap_or_default() {
            "compact_boundary" => {
                let told = line.compaction.as_ref();
                let sizes = told.map(|told| (wire::count(told.before), wire::count(told.after)));
                let text = match sizes {
                    Some((Some(before), Some(after))) => {
                        format!("The conversation was shortened from {before} to {after} tokens.")
                    }
                    Some(_) | None => "The conversation was shortened.".to_owned(),
                };
                let whose = (ItemKind::Compaction, Role::Agent);
                self.history.say(whose, Body::Text, &text, at);
            }
            "local_command" => {
                let content = line.content.as_deref().unwrap_or_default();
                if let Some(output) = output_of(content).filter(|output| !output.is_empty()) {
                    self.remarks(Notice::AgentSays, output, at);
                } else if let Some(typed) = command(content) {
                    self.history.say((ItemKind::Message, Role::User), Body::Text, &typed, at);
                }
            }
            // What else the CLI keeps for itself: durations, errors that it got over, hooks.
            _ => {}
        }
    }

    fn remarks(&mut self, notice: Notice, text: &str, at: Option<Micros>) {
        let whose = (ItemKind::Notice, Role::Agent);
        self.history.say(whose, Body::Notice(notice), text, at);
    }
}

/// Kinds of lines that hold nothing of the conversation.
const KNOWN: &[&str] = &[
    "agent-color",
    "agent-name",
    "agent-setting",
    "atis-latch",
    "cost-state",
    "file-history-snapshot",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "tag",
    "tools-used",
    "worktree-state",
];
