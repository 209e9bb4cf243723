//! What the agent asks: leave for a command or a patch, more permissions, answers to questions. A
//! prompt stays here until the agent says that it is resolved, or its turn has ended.

use holdfast_core::frame::{Answer, QuestionAnswer};
use holdfast_core::ids::FrameNo;
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::forms::{self, FormField};
use crate::ordinals::{digits, json_bytes};
use crate::progress::Progress;

/// Bytes of the stored table of prompts: enough for more of them than the host keeps open. What does
/// not fit is refused.
const PROMPTS_BYTES_MAX: usize = 10 * 1024;
/// Bytes of one stored prompt beside what is counted of it.
const PROMPT_BYTES: usize = 120;

/// The decision that refuses, and lets the turn go on.
pub(super) const DECLINE: &str = "decline";
/// The option that grants for the session.
pub(super) const FOR_SESSION: &str = "acceptForSession";

/// How an answer is put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    /// A decision. Those that are more than a word are kept as the agent put them: the option that
    /// names one, and its JSON text.
    Decision(Vec<(String, String)>),
    /// Permissions, as JSON text.
    Permissions(String),
    /// Answers to questions; the id of the first.
    Answers(String),
    /// Yes or no to what a tool's server asks.
    Elicitation,
    /// The fields of a form of such a server.
    Form(Vec<FormField>),
}

/// One prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prompt {
    #[serde(rename = "n")]
    pub(super) prompt: u32,
    /// The id of the agent's request, as JSON text.
    #[serde(rename = "i")]
    pub(super) request: String,
    /// The digest of the item that it is about.
    #[serde(rename = "c")]
    call: Option<u64>,
    /// The digest of the thread that asks.
    #[serde(rename = "h")]
    thread: u64,
    #[serde(rename = "s")]
    pub(super) shape: Shape,
    #[serde(rename = "p")]
    progress: Progress,
}

/// The prompts that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prompts(Vec<Prompt>);

impl Prompt {
    pub(super) fn new(request: &str, thread: u64, call: Option<u64>, shape: Shape) -> Self {
        let (request, progress) = (request.to_owned(), Progress::Open);
        Self { prompt: 0, request, call, thread, shape, progress }
    }

    fn bytes(&self) -> usize {
        let shape = match &self.shape {
            Shape::Decision(kept) => {
                kept.iter().map(|(id, json)| 8 + json_bytes(id) + json_bytes(json)).sum()
            }
            Shape::Permissions(json) => json_bytes(json),
            Shape::Answers(first) => json_bytes(first),
            Shape::Elicitation => 0,
            Shape::Form(fields) => fields.iter().map(FormField::bytes).sum(),
        };
        let numbers = [u64::from(self.prompt), self.call.unwrap_or(u64::MAX), self.thread];
        PROMPT_BYTES
            + json_bytes(&self.request)
            + shape
            + numbers.into_iter().map(digits).sum::<usize>()
    }
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

    /// Whether a call waits for leave that nobody has given.
    pub(super) fn awaited(&self, call: u64) -> bool {
        let open = |row: &Prompt| match row.progress {
            Progress::Open | Progress::Answered(_) => true,
            Progress::Written => false,
        };
        self.0.iter().any(|row| row.call == Some(call) && open(row))
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

    /// The agent is done with a request: it has the answer, or waits for none any more. It says the
    /// same of an id that it is about to use again.
    pub(super) fn resolved(&mut self, request: &str, out: &mut Vec<ProviderEvent>) {
        self.over(|row| row.request == request, out);
    }

    /// A turn of this thread has ended: what was written arrived, nothing else is waited for.
    pub(super) fn turn_ended(&mut self, thread: u64, out: &mut Vec<ProviderEvent>) {
        self.over(|row| row.thread == thread, out);
    }

    fn over(&mut self, which: impl Fn(&Prompt) -> bool, out: &mut Vec<ProviderEvent>) {
        self.0.retain(|row| {
            let over = which(row);
            if over {
                out.push(row.progress.over(row.prompt));
            }
            !over
        });
    }
}

/// The result member of the reply that gives this answer.
pub(super) fn outcome(shape: &Shape, answer: &Answer) -> String {
    let result = match shape {
        Shape::Decision(kept) => decision(kept, chosen(answer)),
        Shape::Permissions(asked) => permissions(asked, chosen(answer)),
        Shape::Answers(first) => json!({ "answers": answers(first, answer) }),
        Shape::Elicitation => {
            let action = chosen(answer).unwrap_or("cancel");
            // A form without fields has an empty content.
            let content = (action == "accept").then(|| json!({}));
            json!({ "action": action, "content": content, "_meta": null })
        }
        Shape::Form(fields) => {
            let said = forms::outcome_of_server(fields, answer);
            json!({ "action": said["action"], "content": said["content"], "_meta": null })
        }
    };
    format!(r#""result":{result}"#)
}

fn chosen(answer: &Answer) -> Option<&str> {
    match answer {
        Answer::Option { option, .. } | Answer::Changed { option, .. } => Some(option),
        Answer::Answers { answers } => {
            answers.first().and_then(|one| one.options.first()).map(String::as_str)
        }
        Answer::Cancelled => None,
    }
}

/// What nobody answers is declined: that lets the turn go on, and a turn that is to end is
/// interrupted by a word of its own.
fn decision(kept: &[(String, String)], option: Option<&str>) -> Value {
    let option = option.unwrap_or(DECLINE);
    let kept = kept.iter().find(|(id, _)| id == option);
    match kept.and_then(|(_, json)| serde_json::from_str::<Box<RawValue>>(json).ok()) {
        Some(raw) => json!({ "decision": raw }),
        None => json!({ "decision": option }),
    }
}

fn permissions(asked: &str, option: Option<&str>) -> Value {
    let granted = option.filter(|option| *option != DECLINE);
    let scope = if granted == Some(FOR_SESSION) { "session" } else { "turn" };
    let all = granted.and_then(|_| serde_json::from_str::<Map<String, Value>>(asked).ok());
    // What was not asked for is told as nothing, and is not to be granted as such.
    let granted: Map<String, Value> =
        all.unwrap_or_default().into_iter().filter(|(_, value)| !value.is_null()).collect();
    json!({ "permissions": granted, "scope": scope })
}

/// The answers by question, as Codex's own terminal puts them: the chosen label, then what was
/// written, marked as a note.
fn answers(first: &str, answer: &Answer) -> Map<String, Value> {
    let one = |options: &[String], text: Option<&str>| {
        let note = text.filter(|text| !text.trim().is_empty());
        let note = note.map(|text| format!("user_note: {text}"));
        let said: Vec<String> = options.iter().cloned().chain(note).collect();
        json!({ "answers": said })
    };
    match answer {
        Answer::Option { option, text } => {
            let said = one(std::slice::from_ref(option), text.as_deref());
            Map::from_iter([(first.to_owned(), said)])
        }
        Answer::Answers { answers } => {
            let each =
                |it: &QuestionAnswer| (it.question.clone(), one(&it.options, it.text.as_deref()));
            answers.iter().map(each).collect()
        }
        Answer::Changed { .. } | Answer::Cancelled => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(shape: &Shape, answer: &Answer) -> Value {
        serde_json::from_str(outcome(shape, answer).trim_start_matches(r#""result":"#)).unwrap()
    }

    fn option(option: &str) -> Answer {
        Answer::Option { option: option.to_owned(), text: None }
    }

    #[test]
    fn an_answer_has_the_words_of_its_request() {
        let rule = r#"{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["ls"]}}"#;
        let decision = Shape::Decision(vec![("rule".to_owned(), rule.to_owned())]);
        let asked = r#"{"network":{"enabled":true},"fileSystem":null}"#;
        let permissions = Shape::Permissions(asked.to_owned());
        let question = Shape::Answers("q1".to_owned());
        let written = |options: &[&str], text: Option<&str>| QuestionAnswer {
            question: "q1".to_owned(),
            options: options.iter().map(|it| (*it).to_owned()).collect(),
            text: text.map(str::to_owned),
        };
        let several = |one| Answer::Answers { answers: vec![one] };
        for (shape, answer, words) in [
            (&decision, option("accept"), r#"{"decision":"accept"}"#.to_owned()),
            (&decision, option("rule"), format!(r#"{{"decision":{rule}}}"#)),
            (&decision, Answer::Cancelled, r#"{"decision":"decline"}"#.to_owned()),
            (
                &permissions,
                option("accept"),
                r#"{"permissions":{"network":{"enabled":true}},"scope":"turn"}"#.to_owned(),
            ),
            (
                &permissions,
                option(FOR_SESSION),
                r#"{"permissions":{"network":{"enabled":true}},"scope":"session"}"#.to_owned(),
            ),
            (&permissions, option(DECLINE), r#"{"permissions":{},"scope":"turn"}"#.to_owned()),
            (&permissions, Answer::Cancelled, r#"{"permissions":{},"scope":"turn"}"#.to_owned()),
            (&question, option("red"), r#"{"answers":{"q1":{"answers":["red"]}}}"#.to_owned()),
            (
                &question,
                several(written(&["red"], Some("or pink"))),
                r#"{"answers":{"q1":{"answers":["red","user_note: or pink"]}}}"#.to_owned(),
            ),
            (
                &question,
                several(written(&[], Some("pink"))),
                r#"{"answers":{"q1":{"answers":["user_note: pink"]}}}"#.to_owned(),
            ),
            (&question, Answer::Cancelled, r#"{"answers":{}}"#.to_owned()),
            (
                &Shape::Elicitation,
                option("accept"),
                r#"{"action":"accept","content":{},"_meta":null}"#.to_owned(),
            ),
            (
                &Shape::Elicitation,
                Answer::Cancelled,
                r#"{"action":"cancel","content":null,"_meta":null}"#.to_owned(),
            ),
        ] {
            let words: Value = serde_json::from_str(&words).unwrap();
            assert_eq!(said(shape, &answer), words);
        }
    }

    #[test]
    fn the_table_is_bounded_in_bytes() {
        let mut prompts = Prompts::default();
        for n in 0..10_000 {
            let text = "\u{1}".repeat(usize::try_from(n).unwrap() % 90);
            let kept = Shape::Decision(vec![(text.clone(), text.clone()), (text.clone(), text)]);
            let id = format!("\"{}\"", "\\\"".repeat(20));
            let mut row = Prompt::new(&id, u64::MAX, Some(u64::MAX), kept);
            row.prompt = n;
            if prompts.fits(&row) {
                prompts.open(row);
                prompts.answered(n, FrameNo(u64::MAX));
            }
        }
        let bytes = serde_json::to_vec(&prompts).unwrap().len();
        assert!(bytes <= PROMPTS_BYTES_MAX, "{bytes}");
    }
}
