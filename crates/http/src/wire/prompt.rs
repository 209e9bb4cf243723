//! Approvals and questions.

use holdfast_core::frame::Answer;
use holdfast_core::ids::{ItemId, PromptId};
use holdfast_core::provider::PromptOption;
use holdfast_store::{Given, PromptRow};
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// A prompt and, where there is one, its answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct Prompt {
    #[schema(value_type = ids::PromptId)]
    id: PromptId,
    #[schema(value_type = ids::ItemId)]
    item: ItemId,
    kind: words::PromptKind,
    state: words::PromptState,
    label: String,
    at: Time,
    options: Vec<Choosable>,
    questions: Option<Vec<Question>>,
    answer: Option<Answered>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = PromptOption)]
struct Choosable {
    id: String,
    label: String,
    kind: String,
}

#[derive(Serialize, ToSchema)]
struct Question {
    id: String,
    text: String,
    multi: bool,
    free: bool,
    options: Vec<Choosable>,
}

/// The one answer of a prompt, and how far it got.
#[derive(Serialize, ToSchema)]
#[schema(as = PromptAnswer)]
pub(crate) struct Answered {
    option: Option<String>,
    text: Option<String>,
    answers: Option<Vec<OneAnswer>>,
    by: String,
    device: Option<String>,
    at: Time,
    life: words::AnswerLife,
}

#[derive(Serialize, ToSchema)]
#[schema(as = QuestionAnswer)]
struct OneAnswer {
    question: String,
    options: Vec<String>,
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
        let (option, text, answers) = match given.answer {
            Answer::Option { option, text } => (Some(option), text, None),
            Answer::Answers { answers } => (None, None, Some(answers)),
            Answer::Cancelled => (None, None, None),
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
