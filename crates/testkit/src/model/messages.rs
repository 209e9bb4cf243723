//! Anthropic's Messages, as Claude Code speaks it.

use serde_json::{Value, json};

use super::said::Said;
use super::seen::Purpose;
use super::wire::{Event, OUTPUT_TOKENS, Part, Reply, Wire};

/// How the text begins by which Claude Code asks for a summary of the conversation.
const SUM_UP: &str = "Your task is to create a detailed summary of";
/// What stands around a text of the user that came in the middle of a turn: before it, and what
/// comes behind it in one version or another.
const MID_TURN: &str = "The user sent a new message while you were working:\n";
const BEHIND_MID_TURN: [&str; 2] =
    ["\n\nThis is how Claude Code surfaces", "\n\nIMPORTANT: After completing your current task"];
/// How texts begin that Claude Code puts where the user's are.
const ADDED: [&str; 8] = [
    "<system-reminder>",
    "<local-command-",
    "<command-name>",
    "[Image: source: ",
    "Output token limit hit. ",
    "[Your previous response had no visible output. ",
    "Your response above was stopped by a safety classifier",
    "[SYSTEM NOTIFICATION",
];
/// How those of them begin that a test may want to see.
const NOTICES: [&str; 2] = [
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
];

/// The conversation of a request.
pub(super) fn conversation(body: &Value) -> Vec<Said> {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    messages.iter().flat_map(said).collect()
}

fn said(message: &Value) -> Vec<Said> {
    let role = message["role"].as_str().unwrap_or_default();
    match &message["content"] {
        Value::String(text) => vec![text_of(role, text)],
        Value::Array(blocks) => blocks.iter().map(|block| block_of(role, block)).collect(),
        _ => Vec::new(),
    }
}

fn block_of(role: &str, block: &Value) -> Said {
    let text = |name: &str| block[name].as_str().unwrap_or_default();
    match text("type") {
        "tool_use" => {
            Said::Call { name: text("name").into(), arguments: block["input"].to_string() }
        }
        "tool_result" => Said::Result(content_of(&block["content"])),
        "thinking" => Said::Thought(text("thinking").to_owned()),
        "image" => {
            let data = block["source"]["data"].as_str().unwrap_or_default();
            let kind = block["source"]["media_type"].as_str().unwrap_or_default();
            Said::Image(format!("{kind}, {} characters of base64", data.len()))
        }
        _ => text_of(role, text("text")),
    }
}

fn content_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn text_of(role: &str, text: &str) -> Said {
    if role == "assistant" {
        return Said::Reply(text.to_owned());
    }
    if let Some(notice) = notice(text) {
        return Said::Notice(notice);
    }
    if let Some((_, after)) = text.split_once(MID_TURN) {
        let ends = BEHIND_MID_TURN.iter().filter_map(|behind| after.find(behind));
        let end = ends.min().unwrap_or(after.len());
        return Said::MidTurn(after[..end].to_owned());
    }
    let begins = |beginnings: &[&str]| {
        beginnings.iter().any(|beginning| text.trim_start().starts_with(beginning))
    };
    if role != "user" || begins(&ADDED) {
        Said::System(text.to_owned())
    } else if begins(&NOTICES) {
        Said::Notice(text.to_owned())
    } else {
        Said::User(text.to_owned())
    }
}

/// What a notice about a background task says: `STATUS: SUMMARY`, or whatever it holds else.
fn notice(text: &str) -> Option<String> {
    let inside = between(text, "<task-notification>", "</task-notification>")?;
    let said: Vec<&str> = ["status", "summary", "event"]
        .iter()
        .filter_map(|tag| between(inside, &format!("<{tag}>"), &format!("</{tag}>")))
        .map(str::trim)
        .collect();
    Some(if said.is_empty() { inside.trim().to_owned() } else { said.join(": ") })
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, after) = text.split_once(open)?;
    after.split_once(close).map(|(inside, _)| inside)
}

/// What a request is for: one for a title wants an object that has nothing but a title.
pub(super) fn purpose(body: &Value, conversation: &[Said]) -> Purpose {
    if !body["output_config"]["format"]["schema"]["properties"]["title"].is_null() {
        return Purpose::Title;
    }
    let last = conversation.iter().rev().find(|said| matches!(said, Said::User(_)));
    if last.is_some_and(|said| said.text().contains(SUM_UP)) {
        return Purpose::Summary;
    }
    Purpose::Turn
}

/// The form of a reply.
pub(super) struct Messages {
    reply: Reply,
    open: Option<Block>,
    next: usize,
    calls: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thought,
}

impl Messages {
    pub(super) fn new(reply: Reply) -> Self {
        Self { reply, open: None, next: 0, calls: 0 }
    }

    fn message(&self, content: Value, stop: Value, output: u64) -> Value {
        json!({
            "id": format!("msg_{}", self.reply.id),
            "type": "message",
            "role": "assistant",
            "model": self.reply.model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": null,
            "usage": self.usage(output),
        })
    }

    fn usage(&self, output: u64) -> Value {
        json!({
            "input_tokens": self.reply.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": output,
        })
    }

    fn stop(&self, told: Option<&String>) -> String {
        let own = if self.calls > 0 { "tool_use" } else { "end_turn" };
        told.map_or(own, String::as_str).to_owned()
    }

    /// The index of the block that was begun last.
    fn index(&self) -> usize {
        self.next.saturating_sub(1)
    }

    fn begin_block(&mut self, block: Value) -> Event {
        self.next += 1;
        let index = self.index();
        event(json!({ "type": "content_block_start", "index": index, "content_block": block }))
    }

    fn delta(&self, delta: Value) -> Event {
        event(json!({ "type": "content_block_delta", "index": self.index(), "delta": delta }))
    }

    /// Some text of this kind, in the open block or in a new one.
    fn more(&mut self, block: Block, text: &str) -> Vec<Event> {
        let (begun, delta) = match block {
            Block::Text => (
                json!({ "type": "text", "text": "" }),
                json!({ "type": "text_delta", "text": text }),
            ),
            Block::Thought => (
                json!({ "type": "thinking", "thinking": "", "signature": "" }),
                json!({ "type": "thinking_delta", "thinking": text }),
            ),
        };
        let mut events = Vec::new();
        if self.open != Some(block) {
            events = self.close();
            events.push(self.begin_block(begun));
            self.open = Some(block);
        }
        events.push(self.delta(delta));
        events
    }

    fn close(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let Some(open) = self.open.take() else { return events };
        if open == Block::Thought {
            let signature = json!({ "type": "signature_delta", "signature": "c2NyaXB0ZWQ=" });
            events.push(self.delta(signature));
        }
        events.push(event(json!({ "type": "content_block_stop", "index": self.index() })));
        events
    }
}

fn event(data: Value) -> Event {
    Event { name: data["type"].as_str().map(str::to_owned), data: data.to_string() }
}

fn error(kind: &str) -> Value {
    json!({ "type": "error", "error": { "type": kind, "message": "told to fail" } })
}

impl Wire for Messages {
    fn begin(&mut self) -> Vec<Event> {
        let message = self.message(json!([]), Value::Null, 1);
        vec![event(json!({ "type": "message_start", "message": message }))]
    }

    fn part(&mut self, part: &Part) -> Vec<Event> {
        match part {
            Part::Text(text) => self.more(Block::Text, text),
            Part::Thought(text) => self.more(Block::Thought, text),
            Part::Call { id, name, arguments } => {
                let mut events = self.close();
                let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                events.push(self.begin_block(block));
                let json = arguments.to_string();
                events
                    .push(self.delta(json!({ "type": "input_json_delta", "partial_json": json })));
                events.push(event(json!({ "type": "content_block_stop", "index": self.index() })));
                self.calls += 1;
                events
            }
            Part::Failed(code) => vec![event(error(code))],
            Part::Cut => Vec::new(),
            Part::End { stop } => {
                let mut events = self.close();
                let delta =
                    json!({ "stop_reason": self.stop(stop.as_ref()), "stop_sequence": null });
                let usage = self.usage(OUTPUT_TOKENS);
                let end = json!({ "type": "message_delta", "delta": delta, "usage": usage });
                events.extend([event(end), event(json!({ "type": "message_stop" }))]);
                events
            }
        }
    }

    fn whole(&mut self, parts: &[Part]) -> Value {
        let mut content: Vec<Value> = Vec::new();
        let mut stop = None;
        for part in parts {
            match part {
                Part::Text(text) => match content.last_mut() {
                    Some(last) if last["type"] == "text" => {
                        last["text"] = json!(format!("{}{text}", last["text"].as_str().unwrap()));
                    }
                    _ => content.push(json!({ "type": "text", "text": text })),
                },
                Part::Call { id, name, arguments } => {
                    self.calls += 1;
                    content.push(json!({
                        "type": "tool_use", "id": id, "name": name, "input": arguments,
                    }));
                }
                Part::End { stop: told } => stop = told.clone(),
                Part::Thought(_) | Part::Failed(_) | Part::Cut => {}
            }
        }
        let stop = self.stop(stop.as_ref());
        self.message(json!(content), json!(stop), OUTPUT_TOKENS)
    }

    fn refused(&self, status: u16) -> Value {
        error(match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            _ => "api_error",
        })
    }
}
