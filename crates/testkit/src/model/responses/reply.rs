//! A reply in the form of Responses.

use serde_json::{Value, json};

use crate::model::wire::{Event, OUTPUT_TOKENS, Part, Reply, Wire};

/// A tool as a request offers it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Tool {
    name: String,
    namespace: Option<String>,
    is_custom: bool,
}

fn tools(list: &Value, namespace: Option<&str>) -> Vec<Tool> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    list.iter()
        .flat_map(|tool| {
            let name = tool["name"].as_str().unwrap_or_default();
            if tool["type"] == "namespace" {
                return tools(&tool["tools"], Some(name));
            }
            vec![Tool {
                name: name.to_owned(),
                namespace: namespace.map(str::to_owned),
                is_custom: tool["type"] == "custom",
            }]
        })
        .collect()
}

/// The form of a reply.
pub(in crate::model) struct Responses {
    reply: Reply,
    tools: Vec<Tool>,
    open: Option<Open>,
    output: Vec<Value>,
    events: u64,
}

/// The item that is being said.
struct Open {
    block: Block,
    id: String,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Text,
    Thought,
}

impl Responses {
    pub(in crate::model) fn new(reply: Reply, body: &Value) -> Self {
        let tools = tools(&body["tools"], None);
        Self { reply, tools, open: None, output: Vec::new(), events: 0 }
    }

    fn response(&self, status: &str, more: Value) -> Value {
        let mut response = json!({
            "id": format!("resp_{}", self.reply.id),
            "object": "response",
            "created_at": 0,
            "model": self.reply.model,
            "status": status,
            "output": self.output,
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            response[name] = value.clone();
        }
        response
    }

    fn usage(&self) -> Value {
        let input = self.reply.input_tokens;
        json!({
            "input_tokens": input,
            "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": OUTPUT_TOKENS,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": input + OUTPUT_TOKENS,
        })
    }

    fn event(&mut self, mut data: Value) -> Event {
        data["sequence_number"] = json!(self.events);
        self.events += 1;
        Event { name: data["type"].as_str().map(str::to_owned), data: data.to_string() }
    }

    fn id(&self, prefix: &str) -> String {
        format!("{prefix}_{}_{}", self.reply.id, self.output.len())
    }

    fn added(&mut self, item: Value) -> Event {
        let index = self.output.len();
        self.event(json!({
            "type": "response.output_item.added", "output_index": index, "item": item,
        }))
    }

    fn done(&mut self, item: Value) -> Event {
        let index = self.output.len();
        self.output.push(item.clone());
        self.event(json!({
            "type": "response.output_item.done", "output_index": index, "item": item,
        }))
    }

    /// Some text of this kind, in the open item or in a new one.
    fn more(&mut self, block: Block, text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        if self.open.as_ref().is_none_or(|open| open.block != block) {
            events = self.close();
            let (id, item) = match block {
                Block::Text => {
                    let id = self.id("msg");
                    (id.clone(), message_item(&id, "in_progress", None))
                }
                Block::Thought => {
                    let id = self.id("rs");
                    (id.clone(), json!({ "type": "reasoning", "id": id, "summary": [] }))
                }
            };
            events.push(self.added(item));
            if block == Block::Thought {
                let part = json!({ "type": "summary_text", "text": "" });
                events.push(self.of_item(&id, "reasoning_summary_part.added", "part", part));
            }
            self.open = Some(Open { block, id, text: String::new() });
        }
        let Some(open) = &mut self.open else { return events };
        open.text.push_str(text);
        let id = open.id.clone();
        let kind = match block {
            Block::Text => "output_text.delta",
            Block::Thought => "reasoning_summary_text.delta",
        };
        events.push(self.of_item(&id, kind, "delta", json!(text)));
        events
    }

    fn of_item(&mut self, id: &str, kind: &str, name: &str, value: Value) -> Event {
        let index = self.output.len();
        let place = if kind.starts_with("reasoning") { "summary_index" } else { "content_index" };
        let mut data = json!({
            "type": format!("response.{kind}"), "item_id": id, "output_index": index,
        });
        data[place] = json!(0);
        data[name] = value;
        self.event(data)
    }

    fn close(&mut self) -> Vec<Event> {
        let Some(Open { block, id, text }) = self.open.take() else { return Vec::new() };
        let item = match block {
            Block::Text => message_item(&id, "completed", Some(&text)),
            Block::Thought => json!({
                "type": "reasoning", "id": id,
                "summary": [{ "type": "summary_text", "text": text }],
                "encrypted_content": null,
            }),
        };
        vec![self.done(item)]
    }

    /// A call in the form that the request has for this tool.
    fn call(&self, id: &str, name: &str, arguments: &Value) -> Value {
        let tool = self.tools.iter().find(|tool| tool.name == name);
        if tool.is_some_and(|tool| tool.is_custom) {
            let input = arguments["input"].as_str().unwrap_or_default();
            return json!({
                "type": "custom_tool_call", "id": self.id("ctc"), "call_id": id, "name": name,
                "input": input, "status": "completed",
            });
        }
        let mut call = json!({
            "type": "function_call", "id": self.id("fc"), "call_id": id, "name": name,
            "arguments": arguments.to_string(), "status": "completed",
        });
        if let Some(namespace) = tool.and_then(|tool| tool.namespace.as_ref()) {
            call["namespace"] = json!(namespace);
        }
        call
    }

    /// The last event of a reply.
    fn ended(&mut self, stop: Option<&String>) -> Event {
        let usage = self.usage();
        let (status, more) = match stop {
            None => ("completed", json!({ "usage": usage, "end_turn": null })),
            Some(reason) => {
                let details = json!({ "reason": reason });
                ("incomplete", json!({ "usage": usage, "incomplete_details": details }))
            }
        };
        let response = self.response(status, more);
        self.event(json!({ "type": format!("response.{status}"), "response": response }))
    }
}

fn message_item(id: &str, status: &str, text: Option<&str>) -> Value {
    let content: Vec<Value> = text
        .map(|text| json!({ "type": "output_text", "text": text, "annotations": [] }))
        .into_iter()
        .collect();
    json!({
        "type": "message", "id": id, "role": "assistant", "status": status, "content": content,
    })
}

impl Wire for Responses {
    fn begin(&mut self) -> Vec<Event> {
        let response = self.response("in_progress", Value::Null);
        vec![self.event(json!({ "type": "response.created", "response": response }))]
    }

    fn part(&mut self, part: &Part) -> Vec<Event> {
        match part {
            Part::Text(text) => self.more(Block::Text, text),
            Part::Thought(text) => self.more(Block::Thought, text),
            Part::Call { id, name, arguments } => {
                let mut events = self.close();
                let item = self.call(id, name, arguments);
                events.push(self.added(item.clone()));
                events.push(self.done(item));
                events
            }
            Part::Failed(code) => {
                let error = json!({ "code": code, "message": "told to fail" });
                let response = self.response("failed", json!({ "error": error }));
                vec![self.event(json!({ "type": "response.failed", "response": response }))]
            }
            Part::Cut => Vec::new(),
            Part::End { stop } => {
                let mut events = self.close();
                events.push(self.ended(stop.as_ref()));
                events
            }
        }
    }

    fn whole(&mut self, parts: &[Part]) -> Value {
        for part in parts {
            drop(self.part(part));
        }
        self.response("completed", json!({ "usage": self.usage() }))
    }

    fn refused(&self, _status: u16) -> Value {
        json!({ "error": { "message": "told to fail", "type": "scripted", "code": null } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_has_the_form_in_which_its_tool_is_offered() {
        let reply = Reply { id: "1".to_owned(), model: Value::Null, input_tokens: 1 };
        let body = json!({ "tools": [
            { "type": "function", "name": "exec_command" },
            { "type": "custom", "name": "apply_patch" },
            { "type": "namespace", "name": "team", "tools": [{ "type": "function", "name": "spawn" }] },
        ]});
        let wire = Responses::new(reply, &body);
        let call = |name: &str| wire.call("c", name, &json!({ "input": "x" }));
        assert_eq!(call("exec_command")["arguments"], "{\"input\":\"x\"}");
        assert_eq!(call("apply_patch")["type"], "custom_tool_call");
        assert_eq!(call("apply_patch")["input"], "x");
        assert_eq!(call("spawn")["namespace"], "team");
    }
}
