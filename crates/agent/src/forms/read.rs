//! Reads the schema of a form.

use holdfast_core::limits::{PROMPT_OPTIONS_MAX, label};
use holdfast_core::provider::{PromptOption, Question};
use serde::Deserialize;

use super::{CHOICE, FieldType, FormField};
use crate::ordinals::head;
use crate::tolerant::{Entries, List, Raw, Text, text, wire};

/// Bytes of the id of an option. It has to be given back exactly, so one with a longer id cannot be
/// offered.
const OPTION_ID_BYTES_MAX: usize = 1024;
/// Bytes of the name of a form's field.
const FIELD_NAME_BYTES_MAX: usize = 256;
/// Fields of a form.
const FIELDS_MAX: usize = 32;
/// Bytes of the text of one question.
const QUESTION_BYTES_MAX: usize = 4 * 1024;

wire! {
    /// What a form wants to know.
    Schema<'a> { properties: Option<Entries<'a>>, required: Option<List<'a>> }
}
wire! {
    /// One field of a form.
    Property<'a> {
        kind as "type": Text,
        title: Text,
        description: Text,
        one_of as "oneOf": Option<List<'a>>,
        any_of as "anyOf": Option<List<'a>>,
        values as "enum": Option<List<'a>>,
        items: Option<Items<'a>>,
        meta as "_meta": Option<PropertyMeta<'a>>,
    }
}
wire! {
    PropertyMeta<'a> { codex: Option<CodexProperty<'a>> }
}
wire! {
    /// codex-acp: a field that takes a note to another one, or a question that takes one.
    CodexProperty<'a> {
        question as "questionId": Text,
        role: Raw<'a>,
        is_other as "isOther": Option<bool>,
    }
}
wire! {
    /// What a field of several values may hold.
    Items<'a> {
        one_of as "oneOf": Option<List<'a>>,
        any_of as "anyOf": Option<List<'a>>,
        values as "enum": Option<List<'a>>,
    }
}
wire! {
    PropertyOption { value as "const": Text, title: Text }
}
/// The fields of a form, each with the question that asks for it. None for a form that cannot be shown:
/// with too many fields, or with a required field of an unknown type. Every question has to be answered,
/// so fields that may stay open are left out where others may not.
pub(crate) fn fields(schema: Option<&Schema<'_>>) -> Option<Vec<(FormField, Question)>> {
    let required: Vec<String> = schema
        .and_then(|schema| schema.required.as_ref())
        .map(|names| names.each().collect())
        .unwrap_or_default();
    let properties = schema.and_then(|schema| schema.properties.as_ref());
    let properties = properties.map(|entries| entries.0.as_slice()).unwrap_or_default();
    let mut fields = Vec::new();
    let mut notes = Vec::new();
    for (name, property) in properties {
        let told: Property<'_> = serde_json::from_str(property.get()).unwrap_or_default();
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
    Some(fields)
}

/// The question that this field takes a note to.
fn note_to(told: &Property<'_>) -> Option<String> {
    let codex = told.meta.as_ref()?.codex.as_ref()?;
    let note = text(codex.role).is_some_and(|role| role == "user_note");
    codex.question.clone().filter(|_| note)
}

fn field(name: &str, told: &Property<'_>) -> Option<(FormField, Question)> {
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
    one_of: Option<&List<'_>>,
    any_of: Option<&List<'_>>,
    values: Option<&List<'_>>,
) -> Vec<PromptOption> {
    let titled = one_of.or(any_of).into_iter().flat_map(|list| list.each::<PropertyOption>());
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

fn first(mut options: Vec<PromptOption>) -> Vec<PromptOption> {
    options.truncate(PROMPT_OPTIONS_MAX);
    options
}
