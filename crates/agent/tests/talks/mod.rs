//! Recorded talks with the app-server of Codex, played to the codec. The recorded client stands for
//! the host: its `turn/start`s are the host's messages, its answers the person's. The start of a
//! thread is the codec's own; what it asks beyond the recording is answered here.

#![allow(dead_code, reason = "each test program uses its part of this module")]

use std::collections::BTreeMap;

use holdfast_agent::codec::{AgentKind, CodecState, History, Inward, SessionSpec};
use holdfast_core::frame::{Answer, Outgoing, QuestionAnswer};
use holdfast_core::ids::{FrameNo, MessageId, PromptId};
use holdfast_core::limits::CODEC_STATE_BYTES_MAX;
use holdfast_core::provider::{Handle, ProtocolFrame, ProviderEvent};
use serde_json::{Value, json};

/// Frames of the host beside the recorded client's requests are numbered from here.
const OWN_FRAMES: u64 = 1_000_000;

pub(crate) const TALKS: &[&str] = &[
    "approve",
    "ask",
    "bg",
    "codemode",
    "errors",
    "escalate",
    "extra",
    "fork",
    "interrupt",
    "kill-int-text",
    "kill-kill9-approval",
    "kill-kill9-text",
    "kill-kill9-tool",
    "kill-term-approval",
    "kill-term-text",
    "kill-term-tool",
    "nokey",
    "patch",
    "plain",
    "spawn",
    "spawn2",
    "steer",
];

pub(crate) fn read(name: &str) -> String {
    let path = format!("{}/tests/fixtures/codex/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    Out,
}

/// One life of a recorded agent.
pub(crate) struct Life {
    pub(crate) lines: Vec<(Direction, Value)>,
}

pub(crate) fn lives(recording: &str) -> Vec<Life> {
    let mut lives: Vec<Life> = Vec::new();
    for line in recording.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let message = record["msg"].clone();
        let note = message.as_str().unwrap_or_default();
        match record["dir"].as_str().unwrap() {
            "note" if note.starts_with("spawn") || note.starts_with("connect") => {
                lives.push(Life { lines: Vec::new() });
            }
            "in" => lives.last_mut().unwrap().lines.push((Direction::In, message)),
            "out" => lives.last_mut().unwrap().lines.push((Direction::Out, message)),
            _ => {}
        }
    }
    lives
}

/// Every life that opens a thread, with its name.
pub(crate) fn all() -> Vec<(String, Life)> {
    let lives = TALKS.iter().flat_map(|name| {
        let lives = lives(&read(name)).into_iter().enumerate();
        lives.map(move |(n, life)| (format!("{name} life {n}"), life))
    });
    lives.filter(|(_, life)| life.thread().is_some()).collect()
}

/// What a life holds, counted without the codec.
#[derive(Default)]
pub(crate) struct Told {
    /// Messages of the host that the agent has written into its thread.
    pub(crate) taken: usize,
    /// Turns of the chat's own thread that have ended.
    pub(crate) ended: usize,
    /// The texts of the agent's messages in the chat's own thread, in the order of their beginning.
    pub(crate) said: String,
    /// The whole outputs of commands of the own thread, by item.
    pub(crate) outputs: Vec<String>,
}

fn is_opening(message: &Value) -> bool {
    matches!(message["method"].as_str(), Some("thread/start" | "thread/resume"))
}

impl Life {
    /// The request that opens the thread, and the agent's answer.
    fn opening(&self) -> Option<(&Value, &Value)> {
        let out = |(direction, message): &&(Direction, Value)| {
            *direction == Direction::Out && is_opening(message)
        };
        for (_, asked) in self.lines.iter().filter(out) {
            let answer = self.lines.iter().find(|(direction, message)| {
                *direction == Direction::In
                    && message["id"] == asked["id"]
                    && message["result"]["thread"]["id"].is_string()
            });
            if let Some((_, answer)) = answer {
                return Some((asked, answer));
            }
        }
        None
    }

    /// The chat's own thread.
    pub(crate) fn thread(&self) -> Option<&str> {
        self.opening()?.1["result"]["thread"]["id"].as_str()
    }

    fn spec(&self) -> SessionSpec {
        let asked = self.opening().map(|(asked, _)| asked);
        let id = asked.and_then(|it| it["params"]["threadId"].as_str()).map(str::to_owned);
        SessionSpec {
            cwd: "/w".to_owned(),
            handle: id.map(|id| Handle { root: id.clone(), leaf: id }),
            fork_of: None,
            history: History::Skip,
            model: None,
            mode: None,
            effort: None,
            sought: Vec::new(),
            holds: 1,
            attempt: (holdfast_core::ids::AttemptId::new(uuid::Uuid::nil()), 1),
        }
    }

    /// The agent's lines as bytes.
    pub(crate) fn agent_lines(&self) -> Vec<String> {
        let lines = self.lines.iter().filter(|(direction, _)| *direction == Direction::In);
        lines.map(|(_, message)| message.to_string()).collect()
    }

    pub(crate) fn told(&self) -> Told {
        let own = self.thread().unwrap();
        let mut told = Told::default();
        let mut said: Vec<(String, String)> = Vec::new();
        let mut messages = 0;
        for (direction, line) in &self.lines {
            let params = &line["params"];
            let of_own = params["threadId"] == own;
            match (direction, line["method"].as_str()) {
                (Direction::Out, Some("turn/start")) if of_own => messages += 1,
                (Direction::In, Some("turn/completed")) if of_own => told.ended += 1,
                (Direction::In, Some("item/agentMessage/delta")) if of_own => {
                    let id = params["itemId"].as_str().unwrap();
                    let delta = params["delta"].as_str().unwrap();
                    match said.iter_mut().find(|(known, _)| known == id) {
                        Some((_, text)) => text.push_str(delta),
                        None => said.push((id.to_owned(), delta.to_owned())),
                    }
                }
                (Direction::In, Some("item/completed")) if of_own => {
                    let item = &params["item"];
                    match item["type"].as_str().unwrap() {
                        "userMessage" if told.taken < messages && item["clientId"].is_null() => {
                            told.taken += 1;
                        }
                        "agentMessage" => {
                            let (id, text) = (item["id"].as_str(), item["text"].as_str().unwrap());
                            match said.iter_mut().find(|(known, _)| Some(known.as_str()) == id) {
                                Some((_, known)) => text.clone_into(known),
                                None => said.push((id.unwrap().to_owned(), text.to_owned())),
                            }
                        }
                        "commandExecution" => {
                            let output = item["aggregatedOutput"].as_str().unwrap_or_default();
                            told.outputs.push(output.to_owned());
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        told.said = said.into_iter().map(|(_, text)| text).collect();
        told
    }

    /// What the codec makes of each line.
    pub(crate) fn play(&self) -> Vec<(String, Vec<ProviderEvent>)> {
        self.run(|state| state)
    }

    /// The same with a codec that is written down and read back before each step.
    pub(crate) fn play_restoring(&self) -> Vec<(String, Vec<ProviderEvent>)> {
        self.run(|state| {
            let bytes = state.to_bytes();
            assert!(bytes.len() <= CODEC_STATE_BYTES_MAX);
            CodecState::from_bytes(&bytes).unwrap()
        })
    }

    fn run(&self, crash: fn(CodecState) -> CodecState) -> Vec<(String, Vec<ProviderEvent>)> {
        let (state, events) = CodecState::start(AgentKind::Codex, &self.spec());
        let mut player = Player {
            state,
            crash,
            frame: OWN_FRAMES,
            thread: self.thread().unwrap().to_owned(),
            stands: false,
            opening: None,
            prompts: BTreeMap::new(),
            sent: Vec::new(),
            left_out: Vec::new(),
        };
        let mut played = vec![(String::new(), player.did(events))];
        for (direction, message) in &self.lines {
            let events = match direction {
                Direction::In => player.inward(message.clone()),
                Direction::Out => player.outward(message),
            };
            played.push((message.to_string(), events));
        }
        played
    }
}

struct Player {
    state: CodecState,
    crash: fn(CodecState) -> CodecState,
    frame: u64,
    thread: String,
    stands: bool,
    /// The number of the frame in which the codec asked for its thread.
    opening: Option<u64>,
    /// The agent's request ids, as JSON text, and the prompts that they became.
    prompts: BTreeMap<String, u32>,
    /// Messages that the agent has not told, with their texts.
    sent: Vec<(MessageId, Value)>,
    /// Recorded requests that the codec would not make, and whose answers are left out.
    left_out: Vec<Value>,
}

impl Player {
    fn step(&mut self, input: Inward<'_>) -> Vec<ProviderEvent> {
        self.state = (self.crash)(self.state.clone());
        self.state.step(input)
    }

    fn issue(&mut self, frame: Option<u64>, out: &Outgoing) -> (u64, Vec<ProviderEvent>) {
        self.frame += 1;
        let number = frame.unwrap_or(self.frame);
        let frame = FrameNo(number);
        let mut events = self.step(Inward::Issued { frame, out });
        events.extend(self.step(Inward::Begun { frame }));
        events.extend(self.step(Inward::Written { frame }));
        (number, events)
    }

    /// Does what the host does about events. What the recorded client never asked is answered as a
    /// server does that has nothing to tell.
    fn did(&mut self, events: Vec<ProviderEvent>) -> Vec<ProviderEvent> {
        let mut all = Vec::new();
        for event in events {
            all.push(event.clone());
            let ProviderEvent::Wants(wanted) = event else { continue };
            let (frame, more) = self.issue(None, &Outgoing::Protocol(wanted.clone()));
            all.extend(more);
            let ProtocolFrame::Request { method, .. } = wanted else { continue };
            let answer = match method.as_str() {
                "account/read" => json!({ "account": null, "requiresOpenaiAuth": false }),
                "thread/start" | "thread/resume" => {
                    self.opening = Some(frame);
                    continue;
                }
                "thread/backgroundTerminals/list" => json!({ "data": [] }),
                // Its answer is in the recording.
                "initialize" => continue,
                _ => json!({}),
            };
            let line = json!({ "id": frame, "result": answer }).to_string();
            let more = self.step(Inward::Line(line.as_bytes()));
            all.extend(self.did(more));
        }
        all
    }

    fn inward(&mut self, mut message: Value) -> Vec<ProviderEvent> {
        if message["method"].is_null() && self.left_out.contains(&message["id"]) {
            return Vec::new();
        }
        if message["result"]["userAgent"].is_string() {
            message["id"] = json!(OWN_FRAMES + 1);
        } else if message["result"]["thread"]["id"] == self.thread.as_str()
            && let Some(frame) = self.opening.take()
        {
            message["id"] = json!(frame);
            self.stands = true;
        }
        let told = &message["params"]["item"];
        if told["type"] == "userMessage"
            && told["clientId"].is_null()
            && message["params"]["threadId"] == self.thread.as_str()
        {
            let place = self.sent.iter().position(|(_, text)| *text == told["content"][0]["text"]);
            let client = place.map(|place| self.sent[place].0.to_string());
            if message["method"] == "item/completed"
                && let Some(place) = place
            {
                self.sent.remove(place);
            }
            message["params"]["item"]["clientId"] = json!(client);
        }
        let events = self.step(Inward::Line(message.to_string().as_bytes()));
        for event in &events {
            if let ProviderEvent::PromptOpened { prompt, .. } = event {
                self.prompts.insert(message["id"].to_string(), *prompt);
            }
        }
        self.did(events)
    }

    fn outward(&mut self, message: &Value) -> Vec<ProviderEvent> {
        let id = message["id"].as_u64();
        let own = message["params"]["threadId"] == self.thread.as_str();
        match message["method"].as_str() {
            Some("initialize" | "initialized") => Vec::new(),
            Some("thread/start" | "thread/resume") if self.opening.is_some() => Vec::new(),
            // Before the thread stands the codec alone asks.
            Some(_) if message["id"].is_u64() && !self.stands => {
                self.left_out.push(message["id"].clone());
                Vec::new()
            }
            Some("turn/start") if own => {
                let number = uuid::Uuid::from_u128(u128::from(id.unwrap()));
                let message_id = MessageId::new(number);
                self.sent.push((message_id, message["params"]["input"][0]["text"].clone()));
                self.issue(id, &Outgoing::Message { message: message_id }).1
            }
            Some("turn/interrupt") if own => self.issue(id, &Outgoing::Interrupt).1,
            Some(method) => {
                let (method, params) = (method.to_owned(), message["params"].to_string());
                let asked = ProtocolFrame::Request { method, params };
                self.issue(id, &Outgoing::Protocol(asked)).1
            }
            None => match self.prompts.remove(&message["id"].to_string()) {
                Some(prompt) => {
                    let prompt = PromptId::new(1, prompt);
                    let answer = answer(&message["result"]);
                    self.issue(None, &Outgoing::Answer { prompt, answer }).1
                }
                None => Vec::new(),
            },
        }
    }
}

fn answer(result: &Value) -> Answer {
    if let Some(option) = result["decision"].as_str() {
        return Answer::Option { option: option.to_owned(), text: None };
    }
    match result["answers"].as_object() {
        Some(answers) => Answer::Answers {
            answers: answers
                .iter()
                .map(|(question, value)| QuestionAnswer {
                    question: question.clone(),
                    options: vec![value["answers"][0].as_str().unwrap().to_owned()],
                    text: None,
                })
                .collect(),
        },
        None => Answer::Cancelled,
    }
}
