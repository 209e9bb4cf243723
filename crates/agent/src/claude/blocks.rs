//! What the model says: texts and thoughts, streamed and then told whole; and what `user` frames hold
//! beside results of tools.

use holdfast_core::item::{Body, Field, ItemKind, Notice, Role};
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::prompts::Word;
use super::wire::{self, is_true};
use super::{State, read};
use crate::ordinals::{Ordinals, digest};
use crate::tolerant::List;

/// Bytes of a digest's beginning (FNV-1a): what nothing was added to yet.
const NOTHING: u64 = 0xcbf2_9ce4_8422_2325;
/// The CLI's word for the failure of a request that nobody is logged in for.
const LOGGED_OUT: &str = "authentication_failed";
/// What the CLI writes into the conversation when a turn is stopped; the turn's end says the same.
pub(super) const INTERRUPTED: &str = "[Request interrupted by user";
/// What the CLI wraps the output of its own commands in.
pub(super) const COMMAND_OUTPUT: [(&str, &str); 2] = [
    ("<local-command-stdout>", "</local-command-stdout>"),
    ("<local-command-stderr>", "</local-command-stderr>"),
];

/// Which of the two growing texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Voice {
    /// What the model says.
    Message,
    /// What it thinks.
    Thinking,
}

impl Voice {
    const fn kind(self) -> ItemKind {
        match self {
            Self::Message => ItemKind::Message,
            Self::Thinking => ItemKind::Thinking,
        }
    }
}

/// The block that is being streamed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Growing {
    voice: Voice,
    /// Its item, once it has a text.
    item: Option<u32>,
    /// Bytes so far.
    at: u64,
    /// The digest of them.
    digest: u64,
}

/// What of the model's words is under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Blocks {
    growing: Option<Growing>,
    /// The item of a compaction whose summary has yet to come, and the bytes that it has.
    compaction: Option<(u32, u64)>,
    /// The item that tells of retries.
    retrying: Option<u32>,
}

impl Blocks {
    fn add(&mut self, text: &str, ordinals: &mut Ordinals, out: &mut Vec<ProviderEvent>) {
        let Some(growing) = self.growing.as_mut().filter(|_| !text.is_empty()) else { return };
        let item = *growing.item.get_or_insert_with(|| {
            let item = ordinals.item();
            out.push(opened(item, growing.voice.kind(), Role::Agent, Body::Text));
            item
        });
        let at = growing.at;
        growing.at = at.saturating_add(text.len() as u64);
        growing.digest = more(growing.digest, text.as_bytes());
        out.push(piece(item, at, text.to_owned()));
    }

    /// The streamed block ends.
    fn close(&mut self, out: &mut Vec<ProviderEvent>) {
        let item = self.growing.take().and_then(|growing| growing.item);
        out.extend(item.map(|item| ProviderEvent::ItemClosed { item }));
    }

    /// A block is told whole. Says whether it is the one that was streamed; then what of it was not is
    /// added.
    fn completes(
        &mut self,
        voice: Voice,
        text: &str,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) -> bool {
        let Some(growing) = self.growing.as_ref().filter(|it| it.voice == voice) else {
            return false;
        };
        let known = usize::try_from(growing.at).unwrap_or(usize::MAX);
        let before = text.as_bytes().get(..known);
        if before.is_some_and(|before| more(NOTHING, before) == growing.digest) {
            let rest = text.get(known..).unwrap_or_default().to_owned();
            self.add(&rest, ordinals, out);
        }
        self.close(out);
        true
    }

    /// The turn is over, and with it what grew in it.
    pub(super) fn turn_ended(&mut self, out: &mut Vec<ProviderEvent>) {
        self.close(out);
        let open = [self.compaction.take().map(|(item, _)| item), self.retrying.take()];
        out.extend(open.into_iter().flatten().map(|item| ProviderEvent::ItemClosed { item }));
    }

    /// The conversation was shortened; what it was shortened to may follow.
    pub(super) fn compacted(
        &mut self,
        text: String,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) {
        self.close(out);
        let item = ordinals.item();
        out.push(opened(item, ItemKind::Compaction, Role::Agent, Body::Text));
        let before = self.compaction.replace((item, text.len() as u64));
        out.extend(before.map(|(item, _)| ProviderEvent::ItemClosed { item }));
        out.push(piece(item, 0, text));
    }

    /// Another try: one item tells of all of them.
    pub(super) fn retries(
        &mut self,
        notice: Notice,
        why: Option<String>,
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) {
        let body = Body::Notice(notice);
        if let Some(item) = self.retrying {
            out.push(ProviderEvent::ItemChanged { item, body });
            return;
        }
        let item = ordinals.item();
        self.retrying = Some(item);
        out.push(opened(item, ItemKind::Notice, Role::Agent, body));
        out.extend(why.map(|why| piece(item, 0, why)));
    }

    /// The model answers again.
    fn answers(&mut self, out: &mut Vec<ProviderEvent>) {
        out.extend(self.retrying.take().map(|item| ProviderEvent::ItemClosed { item }));
    }
}

impl State {
    /// An event of the model's own stream. Only the main conversation is streamed.
    pub(super) fn streams(&mut self, frame: &wire::Frame<'_>, out: &mut Vec<ProviderEvent>) {
        let Some(event) = &frame.event else { return };
        if frame.parent.is_some() {
            return;
        }
        self.names(frame.named.as_ref(), out);
        match event.kind.as_deref().unwrap_or_default() {
            "message_start" => {
                self.turns.read(event.message.as_ref().and_then(|it| it.usage.as_ref()));
                self.blocks.close(out);
                self.blocks.answers(out);
            }
            "content_block_start" => {
                self.says(Word::Main, out);
                self.blocks.close(out);
                let kind = event.block.as_ref().and_then(|block| block.kind.as_deref());
                let voice = match kind {
                    Some("text") => Some(Voice::Message),
                    Some("thinking") => Some(Voice::Thinking),
                    Some(_) | None => None,
                };
                self.blocks.growing =
                    voice.map(|voice| Growing { voice, item: None, at: 0, digest: NOTHING });
            }
            "content_block_delta" => {
                let delta = event.delta.as_ref();
                let text = delta.and_then(|delta| match delta.kind.as_deref() {
                    Some("text_delta") => delta.text.as_deref(),
                    Some("thinking_delta") => delta.thinking.as_deref(),
                    Some(_) | None => None,
                });
                if let Some(text) = text {
                    self.says(Word::Main, out);
                    self.blocks.add(text, &mut self.ordinals, out);
                }
            }
            "content_block_stop" => self.blocks.close(out),
            _ => {}
        }
    }

    /// The model has said a block.
    pub(super) fn speaks(
        &mut self,
        text: &str,
        frame: &wire::Frame<'_>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let Some(message) = &frame.message else { return };
        let told: wire::Spoken<'_> = read(text);
        self.names(frame.named.as_ref(), out);
        let main = frame.parent.is_none();
        let failed = told.error.is_some() || is_true(told.api_error);
        if main {
            self.says(Word::Main, out);
            self.turns.spoke(frame.uuid.as_deref());
            if !failed {
                self.turns.read(message.usage.as_ref());
            }
            self.blocks.answers(out);
        }
        if main && told.error.as_deref() == Some(LOGGED_OUT) {
            self.turns.logged_out = true;
        }
        if main && failed {
            // The end of the turn says the same words.
            return self.blocks.close(out);
        }
        for block in blocks(message.content) {
            self.block(&block, frame.parent.as_deref(), out);
        }
    }

    fn block(
        &mut self,
        block: &wire::Block<'_>,
        parent: Option<&str>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let (voice, text) = match block.kind.as_deref() {
            Some("text") => (Voice::Message, block.text.as_deref()),
            Some("thinking") => (Voice::Thinking, block.thinking.as_deref()),
            Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
                return self.calls_tool(block, parent, out);
            }
            // Thoughts that only the model's server can read, and its own tools' results.
            Some(_) | None => return,
        };
        let text = text.unwrap_or_default();
        if parent.is_none() && self.blocks.completes(voice, text, &mut self.ordinals, out) {
            return;
        }
        if !text.is_empty() {
            let body = self.within(parent);
            self.tell(voice.kind(), Role::Agent, body, text, out);
        }
    }

    /// A `user` frame has many meanings: results of tools, our own message given back, the output of a
    /// command of the CLI, words that the CLI itself puts before the model, what a subagent is asked.
    pub(super) fn hears(
        &mut self,
        text: &str,
        frame: &wire::Frame<'_>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let Some(message) = &frame.message else { return };
        let told: wire::Spoken<'_> = read(text);
        if is_true(told.replay) {
            let ours = frame.uuid.as_deref().is_some_and(|id| self.replayed(id, out));
            if ours {
                return;
            }
        }
        let parent = frame.parent.as_deref();
        let content = blocks(message.content);
        let mut words = Vec::new();
        for block in &content {
            match block.kind.as_deref() {
                Some("tool_result") => self.tool_gave(block, told.result, parent, out),
                Some("text") => words.extend(block.text.clone()),
                Some(_) | None => {}
            }
        }
        let plain: Option<String> = message.content.and_then(|raw| wire::text(Some(raw)));
        words.extend(plain);
        for word in words.iter().filter(|word| !word.trim().is_empty()) {
            self.heard_words(word, parent, is_true(told.synthetic), out);
        }
    }

    fn heard_words(
        &mut self,
        words: &str,
        parent: Option<&str>,
        synthetic: bool,
        out: &mut Vec<ProviderEvent>,
    ) {
        if words.starts_with(INTERRUPTED) {
            return;
        }
        if parent.is_some() {
            let body = self.within(parent);
            return self.tell(ItemKind::Message, Role::User, body, words, out);
        }
        if synthetic && let Some((item, at)) = self.blocks.compaction.take() {
            out.push(piece(item, at, format!("\n\n{words}")));
            out.push(ProviderEvent::ItemClosed { item });
            return;
        }
        let mut inner = words.trim();
        for (begin, end) in COMMAND_OUTPUT {
            if let Some(rest) = inner.strip_prefix(begin) {
                inner = rest.strip_suffix(end).unwrap_or(rest).trim();
            }
        }
        self.remarks(inner, out);
    }

    /// A line of the CLI itself for the person.
    pub(super) fn remarks(&mut self, text: &str, out: &mut Vec<ProviderEvent>) {
        if !text.trim().is_empty() {
            let body = Body::Notice(Notice::AgentSays);
            self.tell(ItemKind::Notice, Role::Agent, body, text, out);
        }
    }

    /// An item that is whole at once.
    fn tell(
        &mut self,
        kind: ItemKind,
        role: Role,
        body: Body,
        text: &str,
        out: &mut Vec<ProviderEvent>,
    ) {
        let item = self.ordinals.item();
        out.push(opened(item, kind, role, body));
        out.push(piece(item, 0, text.to_owned()));
        out.push(ProviderEvent::ItemClosed { item });
    }

    /// The body of a text that is said within this call.
    fn within(&self, parent: Option<&str>) -> Body {
        let call = parent.and_then(|id| self.calls.item(digest(id.as_bytes())));
        call.map_or(Body::Text, |call| Body::Within { call: self.item(call) })
    }
}

fn opened(item: u32, kind: ItemKind, role: Role, body: Body) -> ProviderEvent {
    ProviderEvent::ItemOpened { item, kind, role, body }
}

fn piece(item: u32, at: u64, text: String) -> ProviderEvent {
    ProviderEvent::ItemText { item, field: Field::Text, at, text }
}

/// The blocks of a message; none where it is one text.
pub(super) fn blocks(content: Option<&RawValue>) -> Vec<wire::Block<'_>> {
    let list: Option<List<'_>> = content.and_then(|raw| serde_json::from_str(raw.get()).ok());
    list.map(|list| list.each().collect()).unwrap_or_default()
}

/// Goes on with a digest.
fn more(digest: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(digest, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
