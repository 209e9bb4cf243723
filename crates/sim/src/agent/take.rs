//! What an agent is told.

use serde_json::{Value, json};

use super::home::By;
use super::plan::{Act, Reception, reception};
use super::{Agent, Turn, short};
use crate::check;
use crate::evidence::{Sighting, Told};
use crate::world::World;

const INVALID_PARAMS: i64 = -32602;
const NOT_FOUND: i64 = -32002;
const INTERNAL: i64 = -32603;

impl Agent {
    /// Reads one line of its stdin.
    pub(super) fn take_line(&mut self, w: &mut World) {
        let Some(end) = self.stdin.iter().position(|byte| *byte == b'\n') else { return };
        let line: Vec<u8> = self.stdin.drain(..=end).collect();
        let Ok(line) = serde_json::from_slice::<Value>(&line) else {
            return w.fail("an agent was given a line that is not JSON".to_owned());
        };
        w.say(|| {
            let text = line.to_string();
            format!("agent {} < {}", short(self.attempt), text.get(..240).unwrap_or(&text))
        });
        let id = line.get("id").cloned().unwrap_or(Value::Null);
        let params = line.get("params").unwrap_or(&Value::Null);
        match line.get("method").and_then(Value::as_str) {
            Some("initialize") => self.initialize(w, &id),
            Some("session/new") => {
                let session = w.homes.create();
                self.session = Some(session.clone());
                self.reply(w, &id, &json!({ "sessionId": session }), Told::Other);
            }
            Some("session/load") => self.reopen(w, &id, params, Replay::Whole),
            Some("session/resume") => self.reopen(w, &id, params, Replay::Nothing),
            Some("session/prompt") => self.prompt(w, &id, params),
            Some("session/cancel") => self.cancel(w),
            Some("_holdfast/task_stop") => self.stop_task(w, &id, params),
            Some(other) => w.fail(format!("an agent was asked for {other}")),
            None => self.answered(w, &id, &line),
        }
    }

    fn initialize(&mut self, w: &mut World, id: &Value) {
        let mut session = json!({});
        if self.traits.resumes {
            session = json!({ "resume": {} });
        }
        let result = json!({
            "protocolVersion": 1,
            "agentInfo": { "name": "scripted" },
            "agentCapabilities": {
                "loadSession": self.traits.loads,
                "sessionCapabilities": session,
                "_meta": { "holdfast": { "taskStop": true } },
            },
        });
        self.reply(w, id, &result, Told::Other);
    }

    fn reopen(&mut self, w: &mut World, id: &Value, params: &Value, replay: Replay) {
        let session = text(params, "sessionId");
        let Some(found) = w.homes.get(&session).cloned() else {
            return self.fail(w, id, NOT_FOUND, "session not found", Told::Other);
        };
        self.session = Some(session);
        if replay == Replay::Whole {
            for entry in &found.entries {
                let kind = match entry.by {
                    By::User(..) => "user_message_chunk",
                    By::Agent => "agent_message_chunk",
                };
                let update = json!({
                    "sessionUpdate": kind, "messageId": format!("m-{}", entry.id),
                    "content": { "type": "text", "text": entry.text },
                });
                self.update(w, &update, Told::Other);
            }
        }
        self.reply(w, id, &json!({}), Told::Other);
    }

    fn prompt(&mut self, w: &mut World, id: &Value, params: &Value) {
        let frame = id.as_u64().unwrap_or(0);
        let said = params.pointer("/prompt/0/text").and_then(Value::as_str).unwrap_or_default();
        let session = self.session.clone().unwrap_or_default();
        check::sighting::saw(w, self.attempt, frame, said, &session);
        if self.turn.is_some() {
            return w.fail("a message was given to an agent whose turn was open".to_owned());
        }
        let reception = if w.calm {
            Reception::Work([Act::Say(super::Voice::Message)].into())
        } else {
            let manners = self.traits.manners;
            reception(&mut w.rng, manners)
        };
        let acts = match reception {
            Reception::Rejected => {
                self.sighted(w, frame, |seen| seen.rejected = true);
                let told = Told::Ended { frame };
                return self.fail(w, id, INVALID_PARAMS, "bad prompt", told);
            }
            Reception::Failed => {
                if w.rng.permille(500) {
                    self.note(w, By::User(self.attempt, frame), said);
                }
                let told = Told::Ended { frame };
                return self.fail(w, id, INTERNAL, "something broke", told);
            }
            Reception::Work(acts) => acts,
        };
        let noted = !self.traits.lazy;
        if noted {
            self.note(w, By::User(self.attempt, frame), said);
        }
        let text = said.to_owned();
        self.turn = Some(Turn { frame, text, noted, acts, waits: None });
    }

    fn sighted(&self, w: &mut World, frame: u64, change: impl FnOnce(&mut Sighting)) {
        let attempt = w.evidence.attempts.get_mut(&self.attempt);
        let sightings = attempt.map(|attempt| &mut attempt.sightings);
        let seen = sightings.and_then(|all| all.iter_mut().rfind(|seen| seen.frame == frame));
        if let Some(seen) = seen {
            change(seen);
        }
    }

    fn cancel(&mut self, w: &mut World) {
        if !w.calm && self.traits.manners == super::Manners::Odd && w.rng.permille(200) {
            return;
        }
        if self.turn.is_none() {
            return;
        }
        if w.rng.permille(300) {
            self.take_back(w);
        }
        let Some(turn) = self.turn.take() else { return };
        self.foreground.clear();
        let told = Told::Ended { frame: turn.frame };
        let result = json!({ "stopReason": "cancelled" });
        self.reply(w, &json!(turn.frame), &result, told);
    }

    fn stop_task(&mut self, w: &mut World, id: &Value, params: &Value) {
        let task = text(params, "taskId");
        self.reply(w, id, &json!({}), Told::Other);
        if let Some(at) = self.tasks.iter().position(|(live, _)| *live == task) {
            self.tasks.remove(at);
            self.end_task(w, task, "stopped");
        }
    }

    /// The answer to a question of its own.
    fn answered(&mut self, w: &mut World, id: &Value, line: &Value) {
        // The refusal of what was noise.
        let Some(request) = id.as_u64() else { return };
        let option = line.pointer("/result/outcome/optionId").and_then(Value::as_str);
        check::prompts::reached(w, self.attempt, request, option);
        let turn = self.turn.as_mut().filter(|turn| turn.waits == Some(request));
        if let Some(turn) = turn {
            turn.waits = None;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Replay {
    Whole,
    Nothing,
}

fn text(params: &Value, name: &str) -> String {
    params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
