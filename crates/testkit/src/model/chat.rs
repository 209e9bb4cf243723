//! OpenAI's Chat Completions: chunks, a chunk with usage, `[DONE]`.

use serde_json::{Value, json};

use super::said::Said;
use super::seen::Purpose;
use super::wire::{Event, OUTPUT_TOKENS, Part, Reply, Wire};

/// The conversation of a request.
pub(super) fn conversation(body: &Value) -> Vec<Said> {
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    messages.iter().flat_map(said).collect()
}

fn said(message: &Value) -> Vec<Said> {
    let text = text_of(message);
    match message["role"].as_str() {
        Some("user") => vec![Said::User(text)],
        Some("tool") => vec![Said::Result(text)],
        Some("assistant") => {
            let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
            let calls = calls.iter().map(|call| Said::Call {
                name: call["function"]["name"].as_str().unwrap_or_default().to_owned(),
                arguments: call["function"]["arguments"].as_str().unwrap_or_default().to_owned(),
            });
            let reply = (!text.is_empty()).then_some(Said::Reply(text));
            reply.into_iter().chain(calls).collect()
        }
        _ => vec![Said::System(text)],
    }
}

/// The text of a message, whose content is a string or a list of parts.
fn text_of(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// A request for a title offers no tools and its instructions speak of a title: opencode sends it
/// beside the first message, without the session's history.
pub(super) fn purpose(body: &Value, conversation: &[Said]) -> Purpose {
    let tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let instructed = conversation.iter().any(|said| match said {
        Said::System(text) => text.to_lowercase().contains("title"),
        _ => false,
    });
    if !tools && instructed { Purpose::Title } else { Purpose::Turn }
}

/// The form of a reply.
pub(super) struct Chat {
    reply: Reply,
    calls: usize,
}

impl Chat {
    pub(super) fn new(reply: Reply) -> Self {
        Self { reply, calls: 0 }
    }

    fn chunk(&self, choices: Value) -> Value {
        json!({
            "id": format!("chatcmpl-{}", self.reply.id),
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.reply.model,
            "choices": choices,
        })
    }

    fn delta(&self, delta: Value) -> Event {
        data(&self.chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }])))
    }

    fn call(&mut self, id: &str, name: &str, arguments: &Value) -> Value {
        let call = json!({
            "index": self.calls,
            "id": id,
            "type": "function",
            "function": { "name": name, "arguments": arguments.to_string() },
        });
        self.calls += 1;
        call
    }

    fn usage(&self) -> Value {
        let input = self.reply.input_tokens;
        json!({
            "prompt_tokens": input,
            "completion_tokens": OUTPUT_TOKENS,
            "total_tokens": input + OUTPUT_TOKENS,
        })
    }

    fn finish(&self, stop: Option<&String>) -> String {
        let own = if self.calls > 0 { "tool_calls" } else { "stop" };
        stop.map_or(own, String::as_str).to_owned()
    }
}

fn data(value: &Value) -> Event {
    Event { name: None, data: value.to_string() }
}

fn error(message: &str) -> Value {
    json!({ "error": { "message": message, "type": "scripted", "code": null } })
}

impl Wire for Chat {
    fn begin(&mut self) -> Vec<Event> {
        vec![self.delta(json!({ "role": "assistant", "content": "" }))]
    }

    fn part(&mut self, part: &Part) -> Vec<Event> {
        match part {
            Part::Text(text) => vec![self.delta(json!({ "content": text }))],
            Part::Thought(text) => vec![self.delta(json!({ "reasoning_content": text }))],
            Part::Call { id, name, arguments } => {
                let call = self.call(id, name, arguments);
                vec![self.delta(json!({ "tool_calls": [call] }))]
            }
            Part::Failed(code) => vec![data(&error(code))],
            Part::Cut => Vec::new(),
            Part::End { stop } => {
                let finish = self.finish(stop.as_ref());
                let end = json!([{ "index": 0, "delta": {}, "finish_reason": finish }]);
                let mut usage = self.chunk(json!([]));
                usage["usage"] = self.usage();
                let done = Event { name: None, data: "[DONE]".to_owned() };
                vec![data(&self.chunk(end)), data(&usage), done]
            }
        }
    }

    fn whole(&mut self, parts: &[Part]) -> Value {
        let mut text = String::new();
        let mut calls = Vec::new();
        let mut stop = None;
        for part in parts {
            match part {
                Part::Text(more) => text.push_str(more),
                Part::Call { id, name, arguments } => calls.push(self.call(id, name, arguments)),
                Part::End { stop: told } => stop = told.clone(),
                Part::Thought(_) | Part::Failed(_) | Part::Cut => {}
            }
        }
        let mut message = json!({ "role": "assistant", "content": text });
        if !calls.is_empty() {
            message["tool_calls"] = json!(calls);
        }
        let finish = self.finish(stop.as_ref());
        let choices = json!([{ "index": 0, "message": message, "finish_reason": finish }]);
        let mut whole = self.chunk(choices);
        whole["object"] = json!("chat.completion");
        whole["usage"] = self.usage();
        whole
    }

    fn refused(&self, _status: u16) -> Value {
        error("told to fail")
    }
}
