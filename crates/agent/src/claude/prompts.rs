//! What the CLI asks, while it waits: a prompt stays here until the CLI took its answer, took the
//! question back, or the turn ended.

use holdfast_core::frame::{Answer, QuestionAnswer};
use holdfast_core::ids::FrameNo;
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::forms::{self, FormField};
use crate::ordinals::{digits, json_bytes};
use crate::progress::Progress;

/// Bytes of the stored table of prompts: what does not fit is refused.
const PROMPTS_BYTES_MAX: usize = 20 * 1024;
/// Bytes of one stored prompt beside what is counted of it.
const PROMPT_BYTES: usize = 110;
/// Bytes of an input that is kept to be given back. Version 2.1.332 goes on with its own.
const INPUT_BYTES_MAX: usize = 6 * 1024;
/// Bytes of what may be allowed for good.
const SUGGESTIONS_BYTES_MAX: usize = 4 * 1024;

/// Allow it this once.
pub(super) const ALLOW: &str = "allow";
/// Allow what is like it as long as the session runs.
pub(super) const ALLOW_SESSION: &str = "allow_session";
/// Allow what is like it for good, as the CLI itself writes it down.
pub(super) const ALLOW_SAVED: &str = "allow_saved";
/// Approve a plan, and changes of files with it.
pub(super) const ALLOW_EDITS: &str = "allow_edits";
/// Do not allow it; the turn goes on.
pub(super) const DENY: &str = "deny";
/// Do not allow it, and end the turn.
pub(super) const DENY_STOP: &str = "deny_stop";

/// How an answer is put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    /// Whether a tool may be used. The CLI's suggestions of what else to allow, as JSON text.
    Permission {
        /// A list.
        suggestions: Option<String>,
    },
    /// Whether a plan is carried out.
    Plan,
    /// Questions of the model; they are in the input.
    Questions,
    /// What a tool's server wants to know, by the fields of its form.
    Form(Vec<FormField>),
}

/// One prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prompt {
    #[serde(rename = "n")]
    pub(super) prompt: u32,
    /// The id of the CLI's request.
    #[serde(rename = "i")]
    pub(super) request: String,
    /// The digest of the call that it is about.
    #[serde(rename = "c")]
    call: u64,
    /// Whether a subagent asks, so that the end of the turn does not end it.
    #[serde(rename = "a")]
    subagent: bool,
    #[serde(rename = "s")]
    shape: Shape,
    /// The input of the tool, as JSON text, where it is short enough to be kept.
    #[serde(rename = "u")]
    input: Option<String>,
    #[serde(rename = "p")]
    progress: Progress,
}

/// A word of the CLI, as far as it says whether an answer arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// The main conversation goes on.
    Main,
    /// It is about the call with this digest.
    Call(u64),
}

/// The prompts that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prompts(Vec<Prompt>);

impl Prompt {
    /// A prompt; what is too long of it is not kept.
    pub(super) fn new(
        prompt: u32,
        request: &str,
        (call, subagent): (u64, bool),
        shape: Shape,
        input: &str,
    ) -> Self {
        let keep = |text: &str, max| (json_bytes(text) <= max).then(|| text.to_owned());
        let shape = match shape {
            Shape::Permission { suggestions } => {
                let suggestions = suggestions.and_then(|it| keep(&it, SUGGESTIONS_BYTES_MAX));
                Shape::Permission { suggestions }
            }
            Shape::Plan | Shape::Questions | Shape::Form(_) => shape,
        };
        let max = match shape {
            // Without them it cannot be answered: what does not fit is not asked.
            Shape::Questions => usize::MAX,
            Shape::Permission { .. } | Shape::Plan | Shape::Form(_) => INPUT_BYTES_MAX,
        };
        let input = keep(input, max);
        let (request, progress) = (request.to_owned(), Progress::Open);
        Self { prompt, request, call, subagent, shape, input, progress }
    }

    fn bytes(&self) -> usize {
        let suggestions = match &self.shape {
            Shape::Permission { suggestions } => suggestions.as_deref(),
            Shape::Plan | Shape::Questions | Shape::Form(_) => None,
        };
        let fields: usize = match &self.shape {
            Shape::Form(fields) => fields.iter().map(FormField::bytes).sum(),
            Shape::Permission { .. } | Shape::Plan | Shape::Questions => 0,
        };
        let texts = [Some(&*self.request), suggestions, self.input.as_deref()];
        let texts: usize = texts.into_iter().flatten().map(json_bytes).sum();
        PROMPT_BYTES + texts + fields + digits(self.call) + digits(u64::from(self.prompt))
    }

    /// Whether more than this once can be allowed.
    pub(super) const fn suggests(&self) -> bool {
        matches!(self.shape, Shape::Permission { suggestions: Some(_) })
    }

    /// What the CLI is told.
    pub(super) fn response(&self, answer: &Answer) -> Value {
        if let Shape::Form(fields) = &self.shape {
            return forms::outcome_of_server(fields, answer);
        }
        match answer {
            Answer::Cancelled => deny("The user stopped the turn.", true),
            Answer::Changed { option, input } => match serde_json::from_str(input) {
                Ok(input) => self.allow(option, Some(input)),
                Err(_) => deny("The user gave an input that cannot be read.", false),
            },
            Answer::Option { option, text } => match &self.shape {
                Shape::Questions | Shape::Form(_) => self.answers(&[QuestionAnswer {
                    question: "0".to_owned(),
                    options: vec![option.clone()],
                    text: text.clone(),
                }]),
                Shape::Permission { .. } | Shape::Plan => match &**option {
                    DENY | DENY_STOP => {
                        let usual = match self.shape {
                            Shape::Plan => "The user wants to go on planning.",
                            Shape::Permission { .. } | Shape::Questions | Shape::Form(_) => {
                                "The user does not allow this."
                            }
                        };
                        let words = text.as_deref().filter(|text| !text.trim().is_empty());
                        deny(words.unwrap_or(usual), option == DENY_STOP)
                    }
                    option => self.allow(option, None),
                },
            },
            Answer::Answers { answers } => self.answers(answers),
        }
    }

    fn input(&self) -> Option<Value> {
        serde_json::from_str(self.input.as_deref()?).ok()
    }

    fn allow(&self, option: &str, changed: Option<Value>) -> Value {
        let mut allow = Map::new();
        allow.insert("behavior".to_owned(), json!("allow"));
        if let Some(input) = changed.or_else(|| self.input()) {
            allow.insert("updatedInput".to_owned(), input);
        }
        if let Some(permissions) = self.permissions(option) {
            allow.insert("updatedPermissions".to_owned(), permissions);
        }
        Value::Object(allow)
    }

    /// What is allowed from now on.
    fn permissions(&self, option: &str) -> Option<Value> {
        if option == ALLOW_EDITS {
            return Some(json!([
                { "type": "setMode", "mode": "acceptEdits", "destination": "session" }
            ]));
        }
        let Shape::Permission { suggestions: Some(suggestions) } = &self.shape else { return None };
        let mut list: Vec<Map<String, Value>> = serde_json::from_str(suggestions).ok()?;
        match option {
            ALLOW_SAVED => {}
            ALLOW_SESSION => {
                for one in &mut list {
                    one.insert("destination".to_owned(), json!("session"));
                }
            }
            _ => return None,
        }
        serde_json::to_value(list).ok()
    }

    /// The questions with their answers, by the text of each, as the CLI wants them.
    fn answers(&self, answers: &[QuestionAnswer]) -> Value {
        let mut input = self.input().unwrap_or_else(|| json!({}));
        let mut given = Map::new();
        for answer in answers {
            let place: usize = answer.question.parse().unwrap_or(usize::MAX);
            let Some(question) = input["questions"].get(place) else { continue };
            let Some(text) = question["question"].as_str() else { continue };
            let label = |id: &String| {
                let option = &question["options"][id.parse::<usize>().ok()?];
                Some(option["label"].as_str()?.to_owned())
            };
            let chosen = answer.options.iter().filter_map(label);
            let words = answer.text.iter().filter(|text| !text.trim().is_empty()).cloned();
            let all: Vec<String> = chosen.chain(words).collect();
            given.insert(text.to_owned(), json!(all.join(", ")));
        }
        if let Some(input) = input.as_object_mut() {
            input.insert("answers".to_owned(), Value::Object(given));
        }
        json!({ "behavior": "allow", "updatedInput": input })
    }
}

fn deny(message: &str, interrupt: bool) -> Value {
    if interrupt {
        return json!({ "behavior": "deny", "message": message, "interrupt": true });
    }
    json!({ "behavior": "deny", "message": message })
}

impl Prompts {
    /// Whether there is room for one more.
    pub(super) fn fits(&self, prompt: &Prompt) -> bool {
        let bytes: usize = self.0.iter().map(Prompt::bytes).sum();
        bytes + prompt.bytes() <= PROMPTS_BYTES_MAX
    }

    pub(super) fn open(&mut self, prompt: Prompt) {
        self.0.push(prompt);
    }

    /// The prompt with this ordinal.
    pub(super) fn get(&self, prompt: u32) -> Option<&Prompt> {
        self.0.iter().find(|row| row.prompt == prompt)
    }

    /// Whether the CLI asks with this id already.
    pub(super) fn holds(&self, request: &str) -> bool {
        self.0.iter().any(|row| row.request == request)
    }

    /// An answer has a frame.
    pub(super) fn answered(&mut self, prompt: u32, frame: FrameNo) {
        if let Some(row) = self.0.iter_mut().find(|row| row.prompt == prompt) {
            row.progress = Progress::Answered(frame);
        }
    }

    /// A frame was written; it may be an answer.
    pub(super) fn written(&mut self, frame: FrameNo) {
        self.0.iter_mut().for_each(|row| row.progress.written(frame));
    }

    /// The CLI takes its request back. Gives the prompt.
    pub(super) fn taken_back(&mut self, request: &str) -> Option<u32> {
        let place = self.0.iter().position(|row| row.request == request)?;
        Some(self.0.remove(place).prompt)
    }

    /// The CLI repeats the answer to a request of its own: it has it. (The mark of the frame may come
    /// behind: the CLI reads a line as soon as it is there.)
    pub(super) fn repeated(&mut self, request: &str, out: &mut Vec<ProviderEvent>) {
        let answered = |row: &Prompt| row.request == request && row.progress != Progress::Open;
        if let Some(place) = self.0.iter().position(answered) {
            let prompt = self.0.remove(place).prompt;
            out.push(ProviderEvent::AnswerTaken { prompt });
        }
    }

    /// The CLI said something: an answer that was written before has arrived.
    pub(super) fn heard(&mut self, word: Word, out: &mut Vec<ProviderEvent>) {
        self.0.retain(|row| {
            let about = match word {
                Word::Main => !row.subagent,
                Word::Call(call) => row.call == call,
            };
            let taken = row.progress == Progress::Written && about;
            if taken {
                out.push(ProviderEvent::AnswerTaken { prompt: row.prompt });
            }
            !taken
        });
    }

    /// The turn has ended: what was written arrived, nothing else is waited for. Subagents may outlive
    /// the turn, and so may what they ask.
    pub(super) fn turn_ended(&mut self, out: &mut Vec<ProviderEvent>) {
        self.0.retain(|row| {
            if row.subagent {
                return true;
            }
            out.push(row.progress.over(row.prompt));
            false
        });
    }
}
