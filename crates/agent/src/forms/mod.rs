//! Forms: what a server or an agent wants to know, as a JSON schema of flat fields. ACP has them of MCP, whose
//! servers reach a person through any agent.

mod read;

use holdfast_core::frame::{Answer, QuestionAnswer};
use holdfast_core::limits::label;
use holdfast_core::provider::{Asked, PromptKind, PromptOption};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) use self::read::{Schema, fields};
use crate::ordinals::json_bytes;

/// The kind of an option that is an answer, neither a leave nor a refusal.
pub(crate) const CHOICE: &str = "choice";
/// Bytes of one stored field beside its name, at most.
const FIELD_BYTES: usize = 42;

/// What kind of value a field of a form takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FieldType {
    /// Any text.
    Text,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// Yes or no.
    Boolean,
    /// One of its options.
    Choice,
    /// Any of its options.
    Many,
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormField {
    #[serde(rename = "n")]
    pub(crate) name: String,
    #[serde(rename = "t")]
    pub(crate) kind: FieldType,
    /// The field that takes a text beside an option.
    #[serde(rename = "w", default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// The option that stands for a text alone.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub(crate) other: Option<String>,
}

impl FormField {
    /// Bytes of it as it is stored, at most.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [Some(&self.name), self.note.as_ref(), self.other.as_ref()];
        FIELD_BYTES + texts.into_iter().flatten().map(|text| json_bytes(text)).sum::<usize>()
    }
}

/// What the option of a form without fields says when the person does not agree.
pub(crate) const DECLINE: &str = "decline";
/// What it says when the person agrees.
pub(crate) const ACCEPT: &str = "accept";

/// The result of a form with these fields.
pub(crate) fn outcome(fields: &[FormField], answer: &Answer) -> Value {
    let mut content = Map::new();
    match answer {
        Answer::Cancelled => return json!({ "action": "cancel" }),
        Answer::Answers { answers } if answers.is_empty() => return json!({ "action": "decline" }),
        Answer::Option { option, .. } if option == DECLINE && !is_choice(fields) => {
            return json!({ "action": "decline" });
        }
        Answer::Option { option, text } => {
            if let Some(field) = fields.first() {
                let one = QuestionAnswer {
                    question: field.name.clone(),
                    options: vec![option.clone()],
                    text: text.clone(),
                };
                put(field, &one, &mut content);
            }
        }
        // The host refuses it: this agent takes no other input than it proposed.
        Answer::Changed { .. } => {}
        Answer::Answers { answers } => {
            for field in fields {
                if let Some(one) = answers.iter().find(|answer| answer.question == field.name) {
                    put(field, one, &mut content);
                }
            }
        }
    }
    json!({ "action": "accept", "content": content })
}

/// The result of a form of a tool's server, beside whose questions there is an option to decline all of it:
/// whatever its only field takes, that word is no value of it.
pub(crate) fn outcome_of_server(fields: &[FormField], answer: &Answer) -> Value {
    match answer {
        Answer::Option { option, .. } if option == DECLINE => json!({ "action": "decline" }),
        Answer::Option { .. }
        | Answer::Changed { .. }
        | Answer::Answers { .. }
        | Answer::Cancelled => outcome(fields, answer),
    }
}

/// Whether an option by itself may be the value of a form's only field.
fn is_choice(fields: &[FormField]) -> bool {
    matches!(fields, [FormField { kind: FieldType::Choice | FieldType::Boolean, .. }])
}

/// Puts the answer to one question where the form wants it.
fn put(field: &FormField, answer: &QuestionAnswer, content: &mut Map<String, Value>) {
    let mut answer = answer.clone();
    let text = answer.text.take_if(|text| field.note.is_some() && !text.is_empty());
    if let (Some(note), Some(text)) = (&field.note, text) {
        content.insert(note.clone(), Value::from(text));
        if answer.options.is_empty() {
            answer.options.extend(field.other.clone());
        }
    }
    content.extend(value(field, &answer).map(|value| (field.name.clone(), value)));
}

/// The value of one field; none where it was left open.
fn value(field: &FormField, answer: &QuestionAnswer) -> Option<Value> {
    let text = answer.text.as_deref().filter(|text| !text.is_empty());
    let option = answer.options.first().map(String::as_str);
    match field.kind {
        FieldType::Text => text.or(option).map(Value::from),
        FieldType::Choice => option.or(text).map(Value::from),
        FieldType::Boolean => option.or(text).map(|word| Value::from(word == "true")),
        FieldType::Many => Some(Value::from(answer.options.clone())),
        FieldType::Integer => {
            let word = text.or(option)?;
            Some(word.trim().parse::<i64>().map_or_else(|_| Value::from(word), Value::from))
        }
        FieldType::Number => {
            let word = text.or(option)?;
            Some(word.trim().parse::<f64>().map_or_else(|_| Value::from(word), Value::from))
        }
    }
}

/// What a tool's server asks of a person: a question for each field of its form, beside which it can be
/// declined, or a yes or no where it has none. `words` are the server's own. None for a form that cannot be
/// shown.
pub(crate) fn of_server(
    server: Option<&str>,
    words: &[Option<&str>],
    schema: Option<&Schema<'_>>,
) -> Option<(Asked, Vec<FormField>)> {
    let (fields, questions): (Vec<_>, Vec<_>) = fields(schema)?.into_iter().unzip();
    let option = |id: &str, text: &str| PromptOption {
        id: id.to_owned(),
        label: text.to_owned(),
        kind: CHOICE.to_owned(),
    };
    let accept = fields.is_empty().then(|| option(ACCEPT, "Accept"));
    let options = accept.into_iter().chain([option(DECLINE, "Decline")]).collect();
    let words: Vec<&str> = words.iter().copied().flatten().collect();
    let label = label(&format!("{}: {}", server.unwrap_or("A tool"), words.join(" ")));
    let kind = PromptKind::Question;
    Some((Asked { kind, label, options, questions, deed: None }, fields))
}
