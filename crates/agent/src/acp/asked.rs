//! Reads what an agent asks: the options of a permission, the fields of a form.

use holdfast_core::digest;
use holdfast_core::limits::{PROMPT_OPTIONS_MAX, cut, label};
use holdfast_core::provider::{Asked, PromptKind, PromptOption, Question};

use super::prompts::{ACCEPT, DECLINE, FieldType, FormField};
use super::wire;
use crate::ordinals::head;

/// Bytes of the agent's id of an option or of a field. It has to be given back exactly, so one with
/// a longer id cannot be offered.
const OPTION_ID_BYTES_MAX: usize = 1024;
/// Bytes of the name of a form's field.
const FIELD_NAME_BYTES_MAX: usize = 256;
/// Fields of a form.
const FIELDS_MAX: usize = 32;
/// Bytes of the text of one question.
const QUESTION_BYTES_MAX: usize = 4 * 1024;
/// Characters of an agent's word for the kind of an option.
const KIND_CHARS_MAX: usize = 32;
/// The kind of an option that is an answer, neither a leave nor a refusal.
const CHOICE: &str = "choice";

/// What a permission request asks. `known` is the name of the call, where it was told before.
pub(super) fn permission(told: &wire::Permission<'_>, known: Option<&str>) -> Asked {
    let question = told
        .meta
        .as_ref()
        .and_then(|meta| meta.holdfast.as_ref())
        .and_then(|holdfast| wire::text(holdfast.kind))
        .is_some_and(|kind| kind == "question");
    let kind = if question { PromptKind::Question } else { PromptKind::Approval };
    let title = told.call.as_ref().and_then(|call| call.title.as_deref()).map(label);
    let options = told
        .options
        .as_ref()
        .map(|options| options.each::<wire::PermissionOption>().filter_map(option(kind)).collect())
        .unwrap_or_default();
    Asked {
        kind,
        label: title
            .filter(|title| !title.is_empty())
            .or_else(|| known.map(str::to_owned))
            .unwrap_or_else(|| "Permission".to_owned()),
        options: first(options),
        questions: Vec::new(),
        deed: deed(told),
    }
}

/// All that a call is to do, as far as the agent tells it: without its input nothing is known of it.
fn deed(told: &wire::Permission<'_>) -> Option<String> {
    let call = told.call.as_ref()?;
    let input = call.input.map(|input| input.get()).filter(|input| *input != "null")?;
    let [kind, title] = [&call.kind, &call.title].map(|text| text.as_deref().unwrap_or_default());
    let content = call.content.iter().flat_map(|list| list.0.iter().map(|one| one.get()));
    let content: Vec<&str> = content.collect();
    Some(digest(&format!("{kind}\n{title}\n{input}\n{}", content.join("\n"))))
}

fn option(prompt: PromptKind) -> impl Fn(wire::PermissionOption) -> Option<PromptOption> {
    move |told| {
        let id = told.id.filter(|id| id.len() <= OPTION_ID_BYTES_MAX)?;
        let label = label(told.name.as_deref().unwrap_or(&id));
        let kind = match (prompt, told.kind.as_deref()) {
            (PromptKind::Question, _) | (PromptKind::Approval, None) => CHOICE.to_owned(),
            (PromptKind::Approval, Some(kind)) => cut(kind, KIND_CHARS_MAX),
        };
        Some(PromptOption { id, label, kind })
    }
}

fn first(mut options: Vec<PromptOption>) -> Vec<PromptOption> {
    options.truncate(PROMPT_OPTIONS_MAX);
    options
}

/// What a form asks, and how its answer is put. None for a form that cannot be shown: of an
/// unknown kind, with too many fields, or with a required field of an unknown type. Every question
/// has to be answered, so fields that may stay open are left out where others may not.
pub(super) fn form(told: &wire::Elicitation<'_>) -> Option<(Asked, Vec<FormField>)> {
    if told.mode.as_deref().is_some_and(|mode| mode != "form") {
        return None;
    }
    let schema = told.schema.as_ref();
    let required: Vec<String> = schema
        .and_then(|schema| schema.required.as_ref())
        .map(|names| names.each().collect())
        .unwrap_or_default();
    let properties = schema.and_then(|schema| schema.properties.as_ref());
    let properties = properties.map(|entries| entries.0.as_slice()).unwrap_or_default();
    let mut fields = Vec::new();
    let mut notes = Vec::new();
    for (name, property) in properties {
        let told: wire::Property<'_> = serde_json::from_str(property.get()).unwrap_or_default();
        if let Some(question) = note_to(&told) {
            notes.push((question, name));
            continue;
        }
        let wanted = required.is_empty() || required.contains(name);
        match field(name, &told) {
            Some(field) if wanted => fields.push(field),
            None if wanted && !required.is_empty() => return None,
            Some(_) | None => {}
        }
    }
    if fields.len() > FIELDS_MAX {
        return None;
    }
    for (question, note) in notes.into_iter().filter(|(_, note)| note.len() <= FIELD_NAME_BYTES_MAX)
    {
        let noted = fields.iter_mut().find(|(field, _)| field.name == question);
        if let Some((field, asked)) = noted {
            field.note = Some(note.clone());
            asked.free = true;
        }
    }
    let message = told.message.as_deref().unwrap_or_default();
    let (fields, questions) = fields.into_iter().unzip();
    Some((asked(message, questions), fields))
}

/// The question that this field takes a note to.
fn note_to(told: &wire::Property<'_>) -> Option<String> {
    let codex = told.meta.as_ref()?.codex.as_ref()?;
    let note = wire::text(codex.role).is_some_and(|role| role == "user_note");
    codex.question.clone().filter(|_| note)
}

fn asked(message: &str, questions: Vec<Question>) -> Asked {
    let single = match questions.as_slice() {
        [] => {
            let agree = |id: &str, text: &str| PromptOption {
                id: id.to_owned(),
                label: text.to_owned(),
                kind: CHOICE.to_owned(),
            };
            Some((message.to_owned(), vec![agree(ACCEPT, "Accept"), agree(DECLINE, "Decline")]))
        }
        [one] if !one.free && !one.multi => Some((one.text.clone(), one.options.clone())),
        [_, ..] => None,
    };
    let (text, options, questions) = match single {
        Some((text, options)) => (text, options, Vec::new()),
        None => {
            let text = match questions.as_slice() {
                [one] => one.text.clone(),
                [] | [_, ..] => message.to_owned(),
            };
            (text, Vec::new(), questions)
        }
    };
    let text = label(&text);
    let named = [text, label(message)].into_iter().find(|text| !text.is_empty());
    let label = named.unwrap_or_else(|| "Question".to_owned());
    Asked { kind: PromptKind::Question, label, options, questions, deed: None }
}

fn field(name: &str, told: &wire::Property<'_>) -> Option<(FormField, Question)> {
    if name.len() > FIELD_NAME_BYTES_MAX {
        return None;
    }
    let choice = options(told.one_of.as_ref(), told.any_of.as_ref(), told.values.as_ref());
    let (kind, options) = match told.kind.as_deref() {
        Some("string") | None if !choice.is_empty() => (FieldType::Choice, choice),
        Some("string") => (FieldType::Text, Vec::new()),
        Some("integer") => (FieldType::Integer, Vec::new()),
        Some("number") => (FieldType::Number, Vec::new()),
        Some("boolean") => (FieldType::Boolean, yes_or_no()),
        Some("array") => {
            let items = told.items.as_ref()?;
            let many = options(items.one_of.as_ref(), items.any_of.as_ref(), items.values.as_ref());
            if many.is_empty() {
                return None;
            }
            (FieldType::Many, many)
        }
        Some(_) | None => return None,
    };
    let text = [&told.title, &told.description].into_iter().flatten().find(|text| !text.is_empty());
    let question = Question {
        id: name.to_owned(),
        text: head(text.map_or(name, String::as_str), QUESTION_BYTES_MAX).to_owned(),
        multi: kind == FieldType::Many,
        free: matches!(kind, FieldType::Text | FieldType::Integer | FieldType::Number),
        options,
    };
    let codex = told.meta.as_ref().and_then(|meta| meta.codex.as_ref());
    let takes_other = codex.and_then(|codex| codex.is_other) == Some(true);
    let last = question.options.last().map(|option| option.id.clone());
    let other = last.filter(|id| takes_other && id.len() <= FIELD_NAME_BYTES_MAX);
    Some((FormField { name: name.to_owned(), kind, note: None, other }, question))
}

fn yes_or_no() -> Vec<PromptOption> {
    [("true", "Yes"), ("false", "No")]
        .map(|(id, label)| PromptOption {
            id: id.to_owned(),
            label: label.to_owned(),
            kind: CHOICE.to_owned(),
        })
        .into()
}

/// The options of a field, titled or bare.
fn options(
    one_of: Option<&wire::List<'_>>,
    any_of: Option<&wire::List<'_>>,
    values: Option<&wire::List<'_>>,
) -> Vec<PromptOption> {
    let titled = one_of.or(any_of).into_iter().flat_map(|list| list.each::<wire::PropertyOption>());
    let titled = titled.filter_map(|told| told.value.map(|value| (value, told.title)));
    let bare = values.into_iter().flat_map(|list| list.each::<String>()).map(|value| (value, None));
    let options = titled.chain(bare).filter(|(value, _)| value.len() <= OPTION_ID_BYTES_MAX);
    first(
        options
            .map(|(id, title)| PromptOption {
                label: label(title.as_deref().unwrap_or(&id)),
                id,
                kind: CHOICE.to_owned(),
            })
            .collect(),
    )
}
