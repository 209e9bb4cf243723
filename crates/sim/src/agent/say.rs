//! What an agent writes.

use serde_json::{Value, json};

use super::home::By;
use super::plan::{End, Voice, Wants};
use super::{Agent, short};
use crate::evidence::{Ask, Told};
use crate::world::World;

impl Agent {
    /// Writes a line.
    pub(super) fn write(&mut self, w: &mut World, line: &Value, told: Told) {
        let text = line.to_string();
        w.say(|| format!("agent {} > {}", short(self.attempt), clip(&text)));
        self.written += text.len() as u64 + 1;
        self.stdout.extend(text.as_bytes());
        self.stdout.push_back(b'\n');
        self.lines.push_back((self.written, told));
    }

    pub(super) fn reply(&mut self, w: &mut World, id: &Value, result: &Value, told: Told) {
        self.write(w, &json!({ "jsonrpc": "2.0", "id": id, "result": result }), told);
    }

    pub(super) fn fail(&mut self, w: &mut World, id: &Value, code: i64, text: &str, told: Told) {
        let error = json!({ "code": code, "message": text });
        self.write(w, &json!({ "jsonrpc": "2.0", "id": id, "error": error }), told);
    }

    pub(super) fn update(&mut self, w: &mut World, update: &Value, told: Told) {
        let params = json!({ "sessionId": self.session, "update": update });
        let line = json!({ "jsonrpc": "2.0", "method": "session/update", "params": params });
        self.write(w, &line, told);
    }

    pub(super) fn speak(&mut self, w: &mut World, voice: Voice) {
        let token = w.token();
        let kind = match voice {
            Voice::Message => "agent_message_chunk",
            Voice::Thought => "agent_thought_chunk",
        };
        let content = json!({ "type": "text", "text": token });
        let update = json!({ "sessionUpdate": kind, "content": content });
        self.update(w, &update, Told::Token(token));
    }

    pub(super) fn use_tool(&mut self, w: &mut World) {
        self.requests += 1;
        let id = format!("call-{}", self.requests);
        let begun = json!({
            "sessionUpdate": "tool_call", "toolCallId": id, "title": "a tool", "kind": "execute",
            "status": "in_progress",
        });
        self.update(w, &begun, Told::Other);
        let token = w.token();
        let content = json!([{ "type": "content", "content": { "type": "text", "text": token } }]);
        let status = if w.rng.permille(800) { "completed" } else { "in_progress" };
        let ended = json!({
            "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
            "content": content,
        });
        self.update(w, &ended, Told::Token(token));
    }

    pub(super) fn ask(&mut self, w: &mut World, wants: Wants) {
        self.requests += 1;
        let request = self.requests;
        let label = format!("{} {}", wants.word(), w.token());
        let params = json!({
            "sessionId": self.session,
            "toolCall": { "toolCallId": format!("call-{request}"), "title": label },
            "options": [
                { "optionId": "yes", "name": "Yes", "kind": "allow_once" },
                { "optionId": "no", "name": "No", "kind": "reject_once" },
            ],
            "_meta": { "holdfast": { "kind": wants.word() } },
        });
        let line = json!({
            "jsonrpc": "2.0", "id": request, "method": "session/request_permission",
            "params": params,
        });
        if let Some(seen) = w.evidence.attempts.get_mut(&self.attempt) {
            seen.asks.push(Ask { request, label, answer: None });
        }
        if let Some(turn) = &mut self.turn {
            turn.waits = Some(request);
        }
        self.write(w, &line, Told::Asked { request });
    }

    /// It does not wait for this request any more, and says so.
    pub(super) fn take_back(&mut self, w: &mut World) {
        let Some(request) = self.turn.as_mut().and_then(|turn| turn.waits.take()) else { return };
        let params = json!({ "requestId": request });
        let line = json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params });
        self.write(w, &line, Told::TookBack { request });
    }

    pub(super) fn begin_task(&mut self, w: &mut World, kind: &str, foreground: bool) {
        self.task_count += 1;
        let id = format!("task-{}", self.task_count);
        let label = format!("{kind} {}", w.token());
        let params = json!({
            "sessionId": self.session, "taskId": id, "kind": kind, "label": label,
            "state": "running", "foreground": foreground,
        });
        if foreground {
            self.foreground.push(id.clone());
        } else {
            let at = w.clock.awake + w.rng.millis(60_000);
            self.tasks.push((id.clone(), at));
        }
        let line = json!({ "jsonrpc": "2.0", "method": "_holdfast/task", "params": params });
        self.write(w, &line, Told::TaskOn { id, label, foreground });
    }

    pub(super) fn end_a_task(&mut self, w: &mut World) {
        if !self.tasks.is_empty() {
            let at = w.rng.below(self.tasks.len());
            self.end_task_at(w, at);
        }
    }

    pub(super) fn end_task_at(&mut self, w: &mut World, at: usize) {
        let (id, _) = self.tasks.remove(at);
        self.end_task(w, id, "completed");
    }

    pub(super) fn end_task(&mut self, w: &mut World, id: String, state: &str) {
        let params = json!({ "sessionId": self.session, "taskId": id, "state": state });
        let line = json!({ "jsonrpc": "2.0", "method": "_holdfast/task", "params": params });
        self.write(w, &line, Told::TaskOff { id });
    }

    /// Writes what no protocol has.
    pub(super) fn make_noise(&mut self, w: &mut World) {
        let lines: [&[u8]; 5] = [
            b"not JSON at all",
            b"{\"jsonrpc\":\"2.0\",\"method\":\"x/unknown\",\"params\":[]}",
            b"{\"jsonrpc\":\"2.0\",\"id\":4096,\"result\":{}}",
            b"\xff\xfe{}",
            b"{\"id\":\"\\ud800\",\"method\":\"fs/read_text_file\"}",
        ];
        let at = w.rng.below(lines.len());
        let Some(line) = lines.get(at) else { return };
        w.say(|| format!("agent {} > noise {at}", short(self.attempt)));
        self.written += line.len() as u64 + 1;
        self.stdout.extend(*line);
        self.stdout.push_back(b'\n');
        self.lines.push_back((self.written, Told::Other));
    }

    pub(super) fn title(&mut self, w: &mut World) {
        let title = format!("titled {}", w.token());
        let update = json!({ "sessionUpdate": "session_info_update", "title": title });
        self.update(w, &update, Told::Other);
    }

    pub(super) fn end_turn(&mut self, w: &mut World, end: End) {
        self.note(w, By::Agent, "done");
        let Some(turn) = self.turn.take() else { return };
        let (id, told) = (json!(turn.frame), Told::Ended { frame: turn.frame });
        match end {
            End::Turn => self.reply(w, &id, &json!({ "stopReason": "end_turn" }), told),
            End::Refusal => self.reply(w, &id, &json!({ "stopReason": "refusal" }), told),
            End::Error => self.fail(w, &id, -32603, "something broke", told),
        }
        self.foreground.clear();
    }
}

fn clip(text: &str) -> &str {
    text.get(..240).unwrap_or(text)
}
