//! What the agent asks: permissions and forms. A prompt stays here until the agent took its answer,
//! took the question back, or the turn ended.

use holdfast_core::frame::Answer;
use holdfast_core::ids::FrameNo;
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::forms::{self, FormField};
use crate::ordinals::{digits, json_bytes};
use crate::progress::Progress;

/// Bytes of the stored table of prompts: enough for more of them than the host keeps open. What does
/// not fit is refused.
const PROMPTS_BYTES_MAX: usize = 10 * 1024;
/// Bytes of one stored prompt beside what is counted of it.
const PROMPT_BYTES: usize = 90;

/// How an answer is put.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Shape {
    /// `session/request_permission`.
    Permission,
    /// `elicitation/create`.
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
    /// The digest of the call that it is about.
    #[serde(rename = "c")]
    pub(super) call: Option<u64>,
    /// The digest of the session that asks, where it is not the chat's own.
    #[serde(rename = "f")]
    pub(super) foreign: Option<u64>,
    #[serde(rename = "s")]
    pub(super) shape: Shape,
    #[serde(rename = "p")]
    progress: Progress,
}

/// A word of the agent, as far as it says whether an answer arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The digest of the session that speaks, where it is not the chat's own.
    pub(super) foreign: Option<u64>,
    /// The known call that it is about; none where it says something new.
    pub(super) known_call: Option<u64>,
}

/// The prompts that wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Prompts(Vec<Prompt>);

impl Prompt {
    pub(super) fn new(
        prompt: u32,
        request: &str,
        call: Option<u64>,
        foreign: Option<u64>,
        shape: Shape,
    ) -> Self {
        let request = request.to_owned();
        Self { prompt, request, call, foreign, shape, progress: Progress::Open }
    }

    fn bytes(&self) -> usize {
        let fields: usize = match &self.shape {
            Shape::Permission => 0,
            Shape::Form(fields) => fields.iter().map(FormField::bytes).sum(),
        };
        let numbers = [Some(u64::from(self.prompt)), self.call, self.foreign];
        let numbers: usize = numbers.into_iter().map(|n| n.map_or("null".len(), digits)).sum();
        PROMPT_BYTES + json_bytes(&self.request) + fields + numbers
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

    /// The agent uses a request id again. If the answer to the one before was written, it has that;
    /// otherwise an answer could go to the wrong question, and neither can be answered.
    ///
    /// Gives the prompt that is in the way.
    pub(super) fn reused(&mut self, request: &str, out: &mut Vec<ProviderEvent>) -> Option<u32> {
        let place = self.0.iter().position(|row| row.request == request)?;
        let row = self.0.remove(place);
        match row.progress {
            Progress::Written => {
                out.push(ProviderEvent::AnswerTaken { prompt: row.prompt });
                None
            }
            Progress::Open | Progress::Answered(_) => Some(row.prompt),
        }
    }

    /// The agent takes its request back. Gives the prompt, if it still waited.
    pub(super) fn cancelled(&mut self, request: &str) -> Option<u32> {
        let place = self.0.iter().position(|row| row.request == request)?;
        Some(self.0.remove(place).prompt)
    }

    /// The agent said something: an answer that was written before has arrived, unless the word is
    /// about another call.
    pub(super) fn heard(&mut self, word: Word, out: &mut Vec<ProviderEvent>) {
        self.0.retain(|row| {
            let about = word.known_call.is_none() || word.known_call == row.call;
            let taken = row.progress == Progress::Written && row.foreign == word.foreign && about;
            if taken {
                out.push(ProviderEvent::AnswerTaken { prompt: row.prompt });
            }
            !taken
        });
    }

    /// The turn has ended: what was written arrived, nothing else is waited for. Subagents may
    /// outlive the turn, and so may what they ask.
    pub(super) fn turn_ended(&mut self, out: &mut Vec<ProviderEvent>) {
        self.0.retain(|row| {
            if row.foreign.is_some() {
                return true;
            }
            out.push(row.progress.over(row.prompt));
            false
        });
    }
}

/// The result member of the reply that gives this answer.
pub(super) fn outcome(shape: &Shape, answer: &Answer) -> String {
    let result = match shape {
        Shape::Permission => {
            let option = match answer {
                Answer::Option { option, .. } | Answer::Changed { option, .. } => Some(option),
                Answer::Answers { answers } => answers.first().and_then(|one| one.options.first()),
                Answer::Cancelled => None,
            };
            match option {
                Some(id) => json!({ "outcome": { "outcome": "selected", "optionId": id } }),
                None => json!({ "outcome": { "outcome": "cancelled" } }),
            }
        }
        Shape::Form(fields) => forms::outcome(fields, answer),
    };
    format!(r#""result":{result}"#)
}

#[cfg(test)]
mod tests {
    use holdfast_core::frame::QuestionAnswer;
    use serde_json::Value;

    use super::*;
    use crate::forms::FieldType;

    fn said(shape: &Shape, answer: &Answer) -> Value {
        serde_json::from_str(outcome(shape, answer).trim_start_matches(r#""result":"#)).unwrap()
    }

    fn option(option: &str) -> Answer {
        Answer::Option { option: option.to_owned(), text: None }
    }

    #[test]
    fn an_answer_has_the_words_of_its_question() {
        let field =
            |name: &str, kind| FormField { name: name.to_owned(), kind, note: None, other: None };
        let mut noted = field("q", FieldType::Choice);
        noted.note = Some("q_note".to_owned());
        noted.other = Some("else".to_owned());
        let noted = Shape::Form(vec![noted]);
        let one_answer = |one| Answer::Answers { answers: vec![one] };
        let one = Shape::Form(vec![field("q", FieldType::Choice)]);
        let all = Shape::Form(vec![
            field("text", FieldType::Text),
            field("int", FieldType::Integer),
            field("num", FieldType::Number),
            field("yes", FieldType::Boolean),
            field("many", FieldType::Many),
            field("open", FieldType::Choice),
        ]);
        let given = |question: &str, options: &[&str], text: Option<&str>| QuestionAnswer {
            question: question.to_owned(),
            options: options.iter().map(|o| (*o).to_owned()).collect(),
            text: text.map(str::to_owned),
        };
        let answers = Answer::Answers {
            answers: vec![
                given("text", &[], Some("a \"b\"")),
                given("int", &[], Some("7")),
                given("num", &[], Some("0.5")),
                given("yes", &["false"], None),
                given("many", &["x", "y"], None),
                given("stranger", &["z"], None),
            ],
        };
        for (shape, answer, words) in [
            (
                &Shape::Permission,
                option("once"),
                r#"{"outcome":{"optionId":"once","outcome":"selected"}}"#,
            ),
            (&Shape::Permission, Answer::Cancelled, r#"{"outcome":{"outcome":"cancelled"}}"#),
            (&one, option("red"), r#"{"action":"accept","content":{"q":"red"}}"#),
            (&one, Answer::Cancelled, r#"{"action":"cancel"}"#),
            (
                &noted,
                one_answer(given("q", &["red"], Some("or pink"))),
                r#"{"action":"accept","content":{"q":"red","q_note":"or pink"}}"#,
            ),
            (
                &noted,
                one_answer(given("q", &[], Some("pink"))),
                r#"{"action":"accept","content":{"q":"else","q_note":"pink"}}"#,
            ),
            (&noted, option("red"), r#"{"action":"accept","content":{"q":"red"}}"#),
            (&one, Answer::Answers { answers: vec![] }, r#"{"action":"decline"}"#),
            (&Shape::Form(vec![]), option("accept"), r#"{"action":"accept","content":{}}"#),
            (&Shape::Form(vec![]), option("decline"), r#"{"action":"decline"}"#),
            (
                &all,
                answers,
                r#"{"action":"accept","content":{"int":7,"many":["x","y"],"num":0.5,"text":"a \"b\"","yes":false}}"#,
            ),
        ] {
            let words: Value = serde_json::from_str(words).unwrap();
            assert_eq!(said(shape, &answer), words);
        }
    }

    #[test]
    fn a_word_about_another_call_says_nothing_of_an_answer() {
        let fresh = || {
            let mut prompts = Prompts::default();
            prompts.open(Prompt::new(1, "0", Some(11), None, Shape::Permission));
            prompts.answered(1, FrameNo(5));
            prompts
        };
        let word = |foreign, known_call| Word { foreign, known_call };
        for (written, word, taken) in [
            (false, word(None, None), 0),
            (true, word(None, None), 1),
            (true, word(None, Some(11)), 1),
            (true, word(None, Some(12)), 0),
            (true, word(Some(3), None), 0),
        ] {
            let mut prompts = fresh();
            if written {
                prompts.written(FrameNo(5));
            }
            let mut out = Vec::new();
            prompts.heard(word, &mut out);
            assert_eq!(out.len(), taken, "{written} {word:?}");
        }
    }

    #[test]
    fn the_table_is_bounded_in_bytes() {
        let mut prompts = Prompts::default();
        for n in 0..10_000 {
            let name = "\u{1}".repeat(usize::try_from(n).unwrap() % 90);
            let fields = vec![FormField {
                other: Some(name.clone()),
                note: Some(name.clone()),
                name,
                kind: FieldType::Boolean,
            }];
            let id = format!("\"{}\"", "\\\"".repeat(20));
            let row = Prompt::new(n, &id, Some(u64::MAX), Some(u64::MAX), Shape::Form(fields));
            if prompts.fits(&row) {
                prompts.open(row);
                prompts.answered(n, FrameNo(u64::MAX));
            }
        }
        let bytes = serde_json::to_vec(&prompts).unwrap().len();
        assert!(bytes <= PROMPTS_BYTES_MAX, "{bytes}");
    }
}
