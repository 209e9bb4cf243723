//! Recorded talks between a client and an agent, played to the codec. Each line of a recording has
//! a direction: `in` from the agent, `out` to it, `note` what the
//! recorder did. A recording may hold several lives of the agent.

#![allow(dead_code, reason = "each test program uses its part of this module")]

use std::collections::BTreeMap;

use holdfast_agent::codec::{AgentKind, CodecState, History, Inward, SessionSpec};
use holdfast_core::frame::{Answer, Outgoing, QuestionAnswer};
use holdfast_core::ids::{FrameNo, MessageId, PromptId};
use holdfast_core::limits::CODEC_STATE_BYTES_MAX;
use holdfast_core::provider::{Handle, ProtocolFrame, ProviderEvent};
use serde_json::Value;

/// Frames of the host beside the recorded client's requests are numbered from here.
const OWN_FRAMES: u64 = 1_000_000;

pub(crate) fn read(name: &str) -> String {
    let path = format!("{}/tests/fixtures/acp/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    In,
    Out,
}

/// One life of a recorded agent.
pub(crate) struct Life {
    lines: Vec<(Direction, Value)>,
}

/// What a life holds, counted without the codec.
#[derive(Default)]
pub(crate) struct Told {
    pub(crate) prompts: usize,
    /// Replies to prompts.
    pub(crate) replies: usize,
    /// The text of the agent's messages, replays excepted.
    pub(crate) said: String,
}

pub(crate) fn lives(recording: &str) -> Vec<Life> {
    let mut lives: Vec<Life> = Vec::new();
    for line in recording.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let message = record["msg"].clone();
        match record["dir"].as_str().unwrap() {
            "note" if message.as_str().unwrap().starts_with("spawn") => {
                lives.push(Life { lines: Vec::new() });
            }
            "in" => lives.last_mut().unwrap().lines.push((Direction::In, message)),
            "out" => lives.last_mut().unwrap().lines.push((Direction::Out, message)),
            _ => {}
        }
    }
    lives
}

impl Life {
    /// The first request that opens a session, and its id.
    fn opening(&self) -> Option<&Value> {
        let out = self.lines.iter().filter(|(direction, _)| *direction == Direction::Out);
        out.map(|(_, message)| message).find(|message| {
            let method = message["method"].as_str().unwrap_or_default();
            matches!(method, "session/new" | "session/load" | "session/resume")
        })
    }

    fn spec(&self) -> SessionSpec {
        let opening = self.opening();
        let id = opening.and_then(|it| it["params"]["sessionId"].as_str()).map(str::to_owned);
        let resumes = opening.is_some_and(|it| it["method"] == "session/resume");
        SessionSpec {
            cwd: "/w".to_owned(),
            handle: id.map(|id| Handle { root: id.clone(), leaf: id }),
            fork_of: None,
            history: if resumes { History::Skip } else { History::Ask },
            model: None,
            mode: None,
            effort: None,
            sought: Vec::new(),
            holds: 0,
            attempt: (holdfast_core::ids::AttemptId::new(uuid::Uuid::nil()), 1),
        }
    }

    /// The session of this life, where its opening succeeded.
    fn session(&self) -> Option<&str> {
        let opening = self.opening()?;
        let reply = self.lines.iter().find(|(direction, message)| {
            *direction == Direction::In
                && message["id"] == opening["id"]
                && message.get("result").is_some()
        });
        let (_, reply) = reply?;
        reply["result"]["sessionId"].as_str().or_else(|| opening["params"]["sessionId"].as_str())
    }

    pub(crate) fn stands(&self) -> bool {
        self.session().is_some()
    }

    /// The agent's lines as bytes.
    pub(crate) fn agent_lines(&self) -> Vec<String> {
        let lines = self.lines.iter().filter(|(direction, _)| *direction == Direction::In);
        lines.map(|(_, message)| message.to_string()).collect()
    }

    pub(crate) fn told(&self) -> Told {
        let mut told = Told::default();
        let mut prompts = Vec::new();
        let mut open = false;
        let opening = self.opening().map(|opening| &opening["id"]);
        for (direction, message) in &self.lines {
            let id = message.get("id");
            match direction {
                Direction::Out if message["method"] == "session/prompt" => {
                    told.prompts += 1;
                    prompts.push(message["id"].clone());
                }
                Direction::Out => {}
                Direction::In if message.get("method").is_none() => {
                    open |= id == opening;
                    told.replies += usize::from(prompts.contains(&message["id"]));
                }
                Direction::In if message["method"] == "session/update" => {
                    let params = &message["params"];
                    let own = params["sessionId"].as_str() == self.session();
                    let update = &params["update"];
                    if open && own && update["sessionUpdate"] == "agent_message_chunk" {
                        told.said.push_str(update["content"]["text"].as_str().unwrap());
                    }
                }
                Direction::In => {}
            }
        }
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
        let (state, events) = CodecState::start(AgentKind::Acp, &self.spec());
        let mut player = Player { state, crash, frame: OWN_FRAMES, prompts: BTreeMap::new() };
        let mut played = vec![(String::new(), events)];
        for (direction, message) in &self.lines {
            let line = message.to_string();
            let events = match direction {
                Direction::In => player.inward(&line, message),
                Direction::Out => player.outward(message),
            };
            played.push((line, events));
        }
        played
    }
}

struct Player {
    state: CodecState,
    crash: fn(CodecState) -> CodecState,
    frame: u64,
    /// The agent's request ids, as JSON text, and the prompts that they became.
    prompts: BTreeMap<String, u32>,
}

impl Player {
    fn step(&mut self, input: Inward<'_>) -> Vec<ProviderEvent> {
        self.state = (self.crash)(self.state.clone());
        self.state.step(input)
    }

    fn issue(&mut self, frame: Option<u64>, out: &Outgoing) -> Vec<ProviderEvent> {
        self.frame += 1;
        let frame = FrameNo(frame.unwrap_or(self.frame));
        let mut events = self.step(Inward::Issued { frame, out });
        events.extend(self.step(Inward::Written { frame }));
        events
    }

    fn inward(&mut self, line: &str, message: &Value) -> Vec<ProviderEvent> {
        let mut events = self.step(Inward::Line(line.as_bytes()));
        for event in events.clone() {
            match event {
                ProviderEvent::PromptOpened { prompt, .. } => {
                    self.prompts.insert(message["id"].to_string(), prompt);
                }
                // The recorded client's own requests stand for those of the codec.
                ProviderEvent::Wants(ProtocolFrame::Reply { id, outcome }) => {
                    let reply = Outgoing::Protocol(ProtocolFrame::Reply { id, outcome });
                    events.extend(self.issue(None, &reply));
                }
                _ => {}
            }
        }
        events
    }

    fn outward(&mut self, message: &Value) -> Vec<ProviderEvent> {
        let id = message["id"].as_u64();
        match message["method"].as_str() {
            Some("session/prompt") => {
                let message = MessageId::new(uuid::Uuid::nil());
                self.issue(id, &Outgoing::Message { message })
            }
            Some("session/cancel") => self.issue(None, &Outgoing::Interrupt),
            Some(method) => {
                let (method, params) = (method.to_owned(), message["params"].to_string());
                self.issue(id, &Outgoing::Protocol(ProtocolFrame::Request { method, params }))
            }
            None => match self.prompts.remove(&message["id"].to_string()) {
                Some(prompt) => {
                    let prompt = PromptId::new(1, prompt);
                    let answer = answer(&message["result"]);
                    self.issue(None, &Outgoing::Answer { prompt, answer })
                }
                None => Vec::new(),
            },
        }
    }
}

fn answer(result: &Value) -> Answer {
    if let Some(option) = result["outcome"]["optionId"].as_str() {
        return Answer::Option { option: option.to_owned(), text: None };
    }
    match result["content"].as_object() {
        Some(content) => Answer::Answers {
            answers: content
                .iter()
                .map(|(question, value)| QuestionAnswer {
                    question: question.clone(),
                    options: vec![value.as_str().unwrap().to_owned()],
                    text: None,
                })
                .collect(),
        },
        None => Answer::Cancelled,
    }
}
