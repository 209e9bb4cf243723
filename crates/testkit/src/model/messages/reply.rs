//! A reply in the form of Messages.

use serde_json::{Value, json};

use crate::model::wire::{Event, OUTPUT_TOKENS, Part, Reply, Wire};

/// The form of a reply.
pub(in crate::model) struct Messages {
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
    pub(in crate::model) fn new(reply: Reply) -> Self {
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
