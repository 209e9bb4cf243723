//! Recorded talks between a host and Claude Code, played to the codec. Each line of a recording has a
//! direction: `in` to the CLI, `out` from it. The ids that the recorded host gave are replaced by those
//! that this one gives.

#![allow(dead_code, reason = "each test program uses its part of this module")]

use std::collections::BTreeMap;

use holdfast_agent::claude::ids::message_id;
use holdfast_agent::codec::{AgentKind, CodecState, History, Inward, SessionSpec};
use holdfast_core::frame::{Answer, Outgoing, Setting};
use holdfast_core::ids::{AttemptId, FrameNo, MessageId, PromptId, TaskId};
use holdfast_core::limits::CODEC_STATE_BYTES_MAX;
use holdfast_core::provider::{Handle, ProtocolFrame, ProviderEvent};
use serde_json::Value;

pub(crate) const ATTEMPT: AttemptId = AttemptId::new(uuid::Uuid::from_u128(0x1_0000));

/// The names of all recordings.
pub(crate) fn names() -> Vec<String> {
    let dir = format!("{}/tests/fixtures/claude", env!("CARGO_MANIFEST_DIR"));
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .into_string()
                .unwrap()
                .strip_suffix(".jsonl")
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

/// What the host does, as a frame of its own.
#[derive(Clone, Debug)]
enum Did {
    Initialize,
    Frame(Outgoing),
    /// The answer to what the CLI asked with this id.
    Answer(String, String),
}

pub(crate) struct Talk {
    session: String,
    /// Messages that the recorded host gave an id.
    named: usize,
    /// Lines of the CLI, and what the host did, in their order.
    steps: Vec<Result<String, (u64, Did)>>,
}

/// A recording, made ready to be played.
pub(crate) fn talk(name: &str) -> Talk {
    let path = format!("{}/tests/fixtures/claude/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut frame = 1;
    let mut renamed: Vec<(String, String)> = Vec::new();
    let mut steps = Vec::new();
    let mut named = 0;
    for record in &records {
        let message = &record["msg"];
        match record["dir"].as_str().unwrap() {
            "out" => steps.push(Ok(message.to_string())),
            "in" => {
                let did = did(message);
                let initialize = matches!(did, Did::Initialize);
                let number = if initialize { 1 } else { frame + 1 };
                if !initialize {
                    frame += 1;
                }
                if let Some(id) = message["request_id"].as_str() {
                    renamed.push((id.to_owned(), format!("holdfast-{number}")));
                }
                if let Some(id) = message["uuid"].as_str() {
                    named += 1;
                    renamed.push((id.to_owned(), message_id(ATTEMPT, FrameNo(number)).to_string()));
                }
                steps.push(Err((number, did)));
            }
            _ => {}
        }
    }
    for step in steps.iter_mut().filter_map(|step| step.as_mut().ok()) {
        for (theirs, ours) in &renamed {
            *step = step.replace(theirs, ours);
        }
    }
    let session = records
        .iter()
        .find_map(|record| record["msg"]["session_id"].as_str().filter(|id| !id.is_empty()));
    Talk { session: session.unwrap_or("none").to_owned(), named, steps }
}

fn did(message: &Value) -> Did {
    let request = &message["request"];
    match (message["type"].as_str().unwrap(), request["subtype"].as_str()) {
        ("control_request", Some("initialize")) => Did::Initialize,
        ("control_request", Some("interrupt")) => Did::Frame(Outgoing::Interrupt),
        ("control_request", Some("stop_task")) => {
            Did::Frame(Outgoing::StopTask { task: TaskId::new(1, 1) })
        }
        ("control_request", Some("set_model")) => {
            let model = request["model"].as_str().unwrap().to_owned();
            Did::Frame(Outgoing::Set { setting: Setting::Model(model) })
        }
        ("control_request", Some("set_permission_mode")) => {
            let mode = request["mode"].as_str().unwrap().to_owned();
            Did::Frame(Outgoing::Set { setting: Setting::Mode(mode) })
        }
        ("control_request", other) => {
            let (method, params) = (other.unwrap().to_owned(), "{}".to_owned());
            Did::Frame(Outgoing::Protocol(ProtocolFrame::Request { method, params }))
        }
        ("user", _) => Did::Frame(Outgoing::Message { message: MessageId::new(uuid::Uuid::nil()) }),
        ("control_response", _) => {
            let response = &message["response"];
            let behaviour = response["response"]["behavior"].as_str().unwrap_or("deny");
            let id = response["request_id"].as_str().unwrap().to_owned();
            Did::Answer(id, behaviour.to_owned())
        }
        (other, _) => panic!("{other}"),
    }
}

/// What was played, and the events that came of it.
pub(crate) type Played = Vec<(String, Vec<ProviderEvent>)>;

impl Talk {
    pub(crate) fn spec(&self) -> SessionSpec {
        let id = self.session.clone();
        SessionSpec {
            cwd: "/w".to_owned(),
            handle: Some(Handle { root: id.clone(), leaf: id }),
            fork_of: None,
            history: History::Skip,
            model: None,
            mode: None,
            effort: None,
            sought: Vec::new(),
            holds: 0,
            attempt: (ATTEMPT, 1),
        }
    }

    /// The CLI's lines as bytes.
    pub(crate) fn agent_lines(&self) -> Vec<String> {
        self.steps.iter().filter_map(|step| step.as_ref().ok().cloned()).collect()
    }

    pub(crate) fn messages(&self) -> usize {
        self.named
    }

    pub(crate) fn play(&self) -> Played {
        self.played(|state| state)
    }

    /// The same, with a codec that is written down and read back before each step.
    pub(crate) fn play_restoring(&self) -> Played {
        self.played(|state| {
            let bytes = state.to_bytes();
            assert!(bytes.len() <= CODEC_STATE_BYTES_MAX);
            let again = CodecState::from_bytes(&bytes).unwrap();
            assert_eq!(again, state);
            again
        })
    }

    fn played(&self, crash: fn(CodecState) -> CodecState) -> Played {
        let (state, events) = CodecState::start(AgentKind::Claude, &self.spec());
        let mut player = Player { state, crash, prompts: BTreeMap::new() };
        let mut played = vec![("start".to_owned(), events)];
        for step in &self.steps {
            let events = match step {
                Ok(line) => player.line(line),
                Err((number, did)) => player.does(*number, did),
            };
            let what = match step {
                Ok(line) => line.clone(),
                Err((number, did)) => format!("{number} {did:?}"),
            };
            played.push((what, events));
        }
        played
    }
}

struct Player {
    state: CodecState,
    crash: fn(CodecState) -> CodecState,
    /// The CLI's request ids, and the prompts that they became.
    prompts: BTreeMap<String, u32>,
}

impl Player {
    fn step(&mut self, input: Inward<'_>) -> Vec<ProviderEvent> {
        self.state = (self.crash)(self.state.clone());
        self.state.step(input)
    }

    fn line(&mut self, line: &str) -> Vec<ProviderEvent> {
        let events = self.step(Inward::Line(line.as_bytes()));
        for event in &events {
            if let ProviderEvent::PromptOpened { prompt, .. } = event {
                let message: Value = serde_json::from_str(line).unwrap();
                self.prompts.insert(message["request_id"].as_str().unwrap().to_owned(), *prompt);
            }
        }
        events
    }

    fn does(&mut self, number: u64, did: &Did) -> Vec<ProviderEvent> {
        let out = match did {
            Did::Initialize => {
                let (method, params) = ("initialize".to_owned(), "{}".to_owned());
                Outgoing::Protocol(ProtocolFrame::Request { method, params })
            }
            Did::Frame(out) => out.clone(),
            Did::Answer(id, behaviour) => {
                let Some(prompt) = self.prompts.remove(id) else { return Vec::new() };
                let prompt = PromptId::new(1, prompt);
                let answer = Answer::Option { option: behaviour.clone(), text: None };
                Outgoing::Answer { prompt, answer }
            }
        };
        let frame = FrameNo(number);
        let mut events = self.step(Inward::Issued { frame, out: &out });
        events.extend(self.step(Inward::Begun { frame }));
        events.extend(self.step(Inward::Written { frame }));
        events
    }
}
