//! Which refusals a call may answer with. A route names its own; the others follow from its form.

use holdfast_core::refusal::Code;
use serde_json::{Map, Value, json};

/// What matters of a call's form.
pub(super) struct Form<'a> {
    /// The names of the ids in its path.
    pub(super) ids: &'a [&'a str],
    /// Whether it is below `/api`, behind a token.
    pub(super) guarded: bool,
    /// Whether it is a write: it takes an idempotency key and commits.
    pub(super) write: bool,
    /// Whether it takes parameters in the query.
    pub(super) query: bool,
    /// Whether it takes a body with fields.
    pub(super) fields: bool,
}

impl Form<'_> {
    /// The codes that every call of this form may answer with.
    pub(super) fn codes(&self) -> Vec<Code> {
        let mut codes = vec![Code::ForeignHost, Code::ForeignOrigin, Code::Internal];
        let mut add = |when: bool, more: &[Code]| {
            if when {
                codes.extend_from_slice(more);
            }
        };
        add(self.guarded, &[Code::NotAuthorised, Code::Overloaded, Code::Stopping]);
        add(!self.ids.is_empty() || self.fields, &[Code::InvalidId]);
        add(self.query || self.write, &[Code::InvalidField, Code::UnknownField]);
        add(
            self.write,
            &[
                Code::InvalidJson,
                Code::InvalidOperationKey,
                Code::OperationConflict,
                Code::OperationExpired,
                Code::BodyTooLarge,
                Code::NotDurable,
                Code::StorageFull,
            ],
        );
        add(self.fields, &[Code::MissingField, Code::EmptyField, Code::FieldTooLong]);
        for id in self.ids {
            match *id {
                "chat" => {
                    add(true, &[Code::ChatNotFound]);
                    add(self.write, &[Code::ChatReadOnly]);
                }
                "message" => add(true, &[Code::MessageNotFound]),
                "attachment" => add(true, &[Code::AttachmentNotFound]),
                "item" => add(true, &[Code::ItemNotFound]),
                "prompt" => add(true, &[Code::PromptNotFound]),
                "task" => add(true, &[Code::TaskNotFound]),
                "grant" => add(true, &[Code::GrantNotFound]),
                "receipt" => add(true, &[Code::ReceiptNotFound]),
                _ => {}
            }
        }
        codes
    }
}

/// The codes as answers, one for each status. Each is told once, in `shared`, under the names of its
/// codes.
pub(super) fn answers(codes: &[Code], shared: &mut Map<String, Value>) -> Map<String, Value> {
    // In the order of the registry, which is that of the statuses.
    let mut statuses: Vec<(u16, Vec<&str>)> = Vec::new();
    for code in Code::ALL.iter().filter(|code| codes.contains(code)) {
        match statuses.last_mut() {
            Some((status, words)) if *status == code.status() => words.push(code.as_str()),
            _ => statuses.push((code.status(), vec![code.as_str()])),
        }
    }
    let told = |(status, words): (u16, Vec<&str>)| {
        let name = words.join(".");
        let answer = json!({ "$ref": format!("#/components/responses/{name}") });
        shared.entry(name).or_insert_with(|| refused(&words));
        (status.to_string(), answer)
    };
    statuses.into_iter().map(told).collect()
}

fn refused(words: &[&str]) -> Value {
    json!({
        "description": format!("Refused: {}.", words.join(", ")),
        "content": {"application/problem+json": {"schema": {"allOf": [
            {"$ref": "#/components/schemas/Problem"},
            {"type": "object", "properties": {"code": {"enum": words}}},
        ]}}},
    })
}
