//! Reads what an agent asks: the options of a permission, the fields of a form.

use holdfast_core::digest;
use holdfast_core::limits::{PROMPT_OPTIONS_MAX, cut, label};
use holdfast_core::provider::{Asked, PromptKind, PromptOption, Question};

use super::wire;
use crate::forms::{self, ACCEPT, CHOICE, DECLINE, FormField};

/// Bytes of the agent's id of an option or of a field. It has to be given back exactly, so one with
/// a longer id cannot be offered.
const OPTION_ID_BYTES_MAX: usize = 1024;
/// Characters of an agent's word for the kind of an option.
const KIND_CHARS_MAX: usize = 32;

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

/// What a form asks, and how its answer is put. None for a form that cannot be shown, or is of an unknown
/// kind.
pub(super) fn form(told: &wire::Elicitation<'_>) -> Option<(Asked, Vec<FormField>)> {
    if told.mode.as_deref().is_some_and(|mode| mode != "form") {
        return None;
    }
    let fields = forms::fields(told.schema.as_ref())?;
    let message = told.message.as_deref().unwrap_or_default();
    let (fields, questions) = fields.into_iter().unzip();
    Some((asked(message, questions), fields))
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
