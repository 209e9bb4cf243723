//! Answers to approvals and questions.

use axum::Json;
use axum::extract::State;
use holdfast_core::frame::{Answer as Given, QuestionAnswer};
use holdfast_core::ids::{ChatId, PromptId};
use holdfast_core::input::{Command, Reply};
use holdfast_core::limits::{ANSWER_BYTES_MAX, OPEN_PROMPTS_MAX, PROMPT_OPTIONS_MAX};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::PromptStatus;
use serde_json::{Map, Value};

use crate::app::App;
use crate::extract::fields::Most;
use crate::extract::{At, Call, Fields, PlainBody};
use crate::openapi::{Request, request};
use crate::problem::Problem;
use crate::routes::{Answer, chat, odd_reply, unread};
use crate::wire::prompt::Answered;
use crate::wire::receipt::Received;

/// Answers that one call may give, one for each question.
const ANSWERS_MAX: usize = OPEN_PROMPTS_MAX;
/// Bytes of an agent's id of an option or a question.
const AGENT_ID_BYTES_MAX: usize = 4096;

request! {
    /// An answer: an option for an approval or a single question, answers for several questions.
    pub(super) struct NewAnswer {
        /// The id of an option.
        option: Option<String>,
        /// Words beside the option.
        text: Option<String>,
        /// Of an approval, where the agent takes one: the whole input, a JSON object as text, that is to be
        /// taken in place of the one that it proposed.
        input: Option<String>,
        /// One answer for each question.
        answers: Option<Vec<NewQuestionAnswer>>,
    }

    /// The answer to one question.
    struct NewQuestionAnswer {
        /// The id of the question.
        question: String,
        /// The ids of options.
        options: Option<Vec<String>>,
        /// Words.
        text: Option<String>,
    }
}

/// Answers a prompt, once.
#[utoipa::path(
    post,
    path = "/chats/{chat}/prompts/{prompt}/answer",
    request_body = NewAnswer,
    responses((status = OK, description = "It is kept, and will be told to the agent.", body = Received)),
    extensions(("x-refusals" = json!([Code::InvalidAnswer, Code::AlreadyAnswered, Code::PromptGone]))),
)]
pub(super) async fn answer(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Received>> {
    let (id, prompt) = (at.id("chat")?, at.id("prompt")?);
    let fields = call.fields::<NewAnswer>();
    let answer = match fields.and_then(given) {
        Ok(answer) => answer,
        Err(refusal) => return Err(formless(&app, id, prompt, refusal).await),
    };
    let by = call.principal.name.to_string();
    let command = Command::Answer { prompt, answer, by, device: call.device };
    match app.host.submit(id, command, call.caller).await {
        Ok(Reply::Answered { receipt }) => Ok(Json(Received { receipt: Some(receipt) })),
        Ok(other) => Err(odd_reply(&other)),
        Err(refusal) => Err(with_winner(&app, id, prompt, refusal).await),
    }
}

/// What is wrong with an answer matters only to a prompt that waits for one.
async fn formless(app: &App, id: ChatId, prompt: PromptId, refusal: Refusal) -> Problem {
    if let Err(problem) = chat(app, id).await {
        return problem;
    }
    match app.store.prompt(id, prompt).await {
        Err(fault) => unread(fault),
        Ok(Some(row)) if row.state == PromptStatus::Open => refusal.into(),
        Ok(Some(_) | None) => {
            let text = "The agent no longer waits for this answer.";
            with_winner(app, id, prompt, Refusal::new(Code::PromptGone, text)).await
        }
    }
}

/// Tells who comes too late what was answered, by whom and on which device; and who names a prompt
/// that never was, that it was not. The rules know only what is not over: an answer is told for ever.
async fn with_winner(app: &App, chat: ChatId, prompt: PromptId, refusal: Refusal) -> Problem {
    if !matches!(refusal.code, Code::AlreadyAnswered | Code::PromptGone) {
        return refusal.into();
    }
    let Ok(row) = app.store.prompt(chat, prompt).await else { return refusal.into() };
    let Some(row) = row else {
        let text = format!("The chat never had a prompt {prompt}.");
        return Refusal::new(Code::PromptNotFound, text).into();
    };
    match row.given.map(Answered::of).and_then(|given| serde_json::to_value(given).ok()) {
        Some(winner) => {
            let text = "Somebody answered this first.";
            Problem::from(Refusal::new(Code::AlreadyAnswered, text)).winner(winner)
        }
        None => refusal.into(),
    }
}

/// One option, or one answer for each question.
fn given(mut fields: Fields) -> Result<Given, Refusal> {
    let id = Most::Bytes(AGENT_ID_BYTES_MAX);
    match (fields.has("option"), fields.has("answers")) {
        (true, false) => {
            let option = fields.raw_text("option", id)?.unwrap_or_default();
            if let Some(input) = fields.raw_text("input", word())? {
                let object: Result<Map<String, Value>, _> = serde_json::from_str(&input);
                if object.is_err() || fields.has("text") {
                    let text = "input is a JSON object as text, and stands without text. The prompt is \
                                still open.";
                    return Err(Refusal::new(Code::InvalidAnswer, text).field("input"));
                }
                return Ok(Given::Changed { option, input });
            }
            Ok(Given::Option { option, text: fields.raw_text("text", word())? })
        }
        (false, true) if !fields.has("text") && !fields.has("input") => {
            let answers = fields.list("answers", ANSWERS_MAX)?.unwrap_or_default();
            let answers = answers.into_iter().enumerate().map(|(n, value)| one(n, value));
            Ok(Given::Answers { answers: answers.collect::<Result<_, _>>()? })
        }
        _ => Err(Refusal::new(
            Code::InvalidAnswer,
            "An answer is {option, text?} for an approval or a single question, or {answers: \
             [{question, options, text?}]} for several questions. The prompt is still open.",
        )),
    }
}

fn one(n: usize, value: Value) -> Result<QuestionAnswer, Refusal> {
    let Value::Object(object) = value else {
        let text = format!("The field answers[{n}] has to be an object. The prompt is still open.");
        return Err(Refusal::new(Code::InvalidField, text).field(format!("answers[{n}]")));
    };
    let known = NewQuestionAnswer::FIELDS;
    let mut fields = Fields::within(object, known, format!("answers[{n}]."))?;
    let question = fields.raw_text("question", Most::Bytes(AGENT_ID_BYTES_MAX))?;
    let options = fields.texts("options", PROMPT_OPTIONS_MAX, AGENT_ID_BYTES_MAX)?;
    Ok(QuestionAnswer {
        question: question.ok_or_else(|| fields.missing("question"))?,
        options: options.unwrap_or_default(),
        text: fields.raw_text("text", word())?,
    })
}

const fn word() -> Most {
    Most::Bytes(ANSWER_BYTES_MAX)
}
