//! Approvals and questions.

use holdfast_core::frame::Answer;
use holdfast_core::ids::{ItemId, PromptId};
use holdfast_core::provider::PromptOption;
use holdfast_store::{Given, PromptRow};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// A prompt and, where there is one, its answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct Prompt {
    #[schema(value_type = ids::PromptId)]
    id: PromptId,
    /// Where it stands in the transcript.
    #[schema(value_type = ids::ItemId)]
    item: ItemId,
    kind: words::PromptKind,
    state: words::PromptState,
    /// What is asked, in one line.
    label: String,
    /// When.
    at: Time,
    /// What can be chosen; empty where there are questions.
    options: Vec<Choosable>,
    /// Several questions, answered together.
    questions: Option<Vec<Question>>,
    /// The one answer.
    answer: Option<Answered>,
}

/// Something that can be chosen.
#[derive(Serialize, ToSchema)]
#[schema(as = PromptOption)]
struct Choosable {
    /// The agent's id of it.
    id: String,
    /// What a person reads.
    label: String,
    /// `allow_once`, `allow_always`, `reject_once`, `reject_always` or `choice`.
    kind: String,
}

/// One of several questions.
#[derive(Serialize, ToSchema)]
struct Question {
    /// The agent's id of it.
    id: String,
    /// What is asked.
    text: String,
    /// Whether several options may be chosen.
    multi: bool,
    /// Whether words may be given.
    free: bool,
    /// What can be chosen.
    options: Vec<Choosable>,
}

/// The one answer of a prompt, and how far it got.
#[derive(Serialize, ToSchema)]
#[schema(as = PromptAnswer)]
pub(crate) struct Answered {
    /// The id of the option that was chosen.
    option: Option<String>,
    /// Words beside it.
    text: Option<String>,
    /// The input that was given in place of the agent's.
    input: Option<Value>,
    /// One answer for each question.
    answers: Option<Vec<OneAnswer>>,
    /// Who answered.
    by: String,
    /// On which device.
    device: Option<String>,
    /// When.
    at: Time,
    /// How far the answer got.
    life: words::AnswerLife,
}

/// The answer to one question.
#[derive(Serialize, ToSchema)]
#[schema(as = QuestionAnswer)]
struct OneAnswer {
    /// The id of the question.
    question: String,
    /// The ids of the options that were chosen.
    options: Vec<String>,
    /// Words.
    text: Option<String>,
}

impl Prompt {
    /// A prompt from its row.
    pub(crate) fn of(row: PromptRow) -> Self {
        let asked = row.asked;
        let questions: Vec<Question> = asked
            .questions
            .into_iter()
            .map(|question| Question {
                id: question.id,
                text: question.text,
                multi: question.multi,
                free: question.free,
                options: choosable(question.options),
            })
            .collect();
        Self {
            id: row.id,
            item: row.item,
            kind: words::prompt_kind(asked.kind),
            state: words::prompt_state(row.state),
            label: asked.label,
            at: rfc3339(row.at),
            options: choosable(asked.options),
            questions: if questions.is_empty() { None } else { Some(questions) },
            answer: row.given.map(Answered::of),
        }
    }
}

impl Answered {
    /// An answer that was given.
    pub(crate) fn of(given: Given) -> Self {
        let (option, text, input, answers) = match given.answer {
            Answer::Option { option, text } => (Some(option), text, None, None),
            Answer::Changed { option, input } => {
                let input = serde_json::from_str(&input).unwrap_or(Value::String(input));
                (Some(option), None, Some(input), None)
            }
            Answer::Answers { answers } => (None, None, None, Some(answers)),
            Answer::Cancelled => (None, None, None, None),
        };
        let answers = answers.map(|answers| {
            let one = |answer: holdfast_core::frame::QuestionAnswer| OneAnswer {
                question: answer.question,
                options: answer.options,
                text: answer.text,
            };
            answers.into_iter().map(one).collect()
        });
        Self {
            option,
            text,
            input,
            answers,
            by: given.by,
            device: given.device,
            at: rfc3339(given.at),
            life: words::answer_life(given.life),
        }
    }
}

fn choosable(options: Vec<PromptOption>) -> Vec<Choosable> {
    let one =
        |option: PromptOption| Choosable { id: option.id, label: option.label, kind: option.kind };
    options.into_iter().map(one).collect()
}
