//! Reads what the agent asks of a person: decisions about a call, permissions, questions.

use holdfast_core::digest;
use holdfast_core::limits::{PROMPT_OPTIONS_MAX, label};
use holdfast_core::provider::{Asked, PromptKind, PromptOption, Question};

use serde_json::value::RawValue;

use super::prompts::{DECLINE, FOR_SESSION, Shape};
use super::{view, wire};
use crate::forms::{self, CHOICE};
use crate::ordinals::head;

/// Bytes of a decision that is more than a word. It is given back exactly, so a longer one cannot be
/// offered.
const DECISION_BYTES_MAX: usize = 1024;
/// Bytes of the permissions that are asked for; more cannot be granted here.
const PERMISSIONS_BYTES_MAX: usize = 4 * 1024;
/// Bytes of the agent's id of a question or of a choice's label, which is given back exactly.
const ANSWER_ID_BYTES_MAX: usize = 1024;
/// Questions of one request.
const QUESTIONS_MAX: usize = 32;
/// Bytes of the text of one question.
const QUESTION_BYTES_MAX: usize = 4 * 1024;

fn option(id: &str, text: &str, kind: &str) -> PromptOption {
    PromptOption { id: id.to_owned(), label: label(text), kind: kind.to_owned() }
}

/// What leave for a command is asked for. `known` is the name of the call, where it was told before.
pub(super) fn command(told: &wire::Approval<'_>, known: Option<&str>) -> (Asked, Shape) {
    let (line, _) = view::command(told.command.as_deref(), told.actions.as_ref());
    let host = told.network.as_ref().and_then(|network| network.host.clone());
    let about = match (host, line.is_empty()) {
        (Some(host), _) => format!("Network: {host}"),
        (None, false) => line,
        (None, true) => known.unwrap_or("A command").to_owned(),
    };
    decide(told, &about, rules(told), command_deed(told))
}

/// All that a command is to do: what runs, where, and what it is let do beyond its sandbox.
fn command_deed(told: &wire::Approval<'_>) -> Option<String> {
    let command = told.command.as_deref()?;
    let host = told.network.as_ref().and_then(|network| network.host.as_deref());
    let more = told.more.map_or("null", RawValue::get);
    let all = [command, told.cwd.as_deref()?, host.unwrap_or_default(), more];
    Some(digest(&all.join("\u{0}")))
}

/// What leave for a patch is asked for. The request does not say what it changes: its item does.
pub(super) fn patch(told: &wire::Approval<'_>, known: Option<&str>) -> (Asked, Shape) {
    // The same change again is another one.
    decide(told, known.unwrap_or("Edit files"), Vec::new(), None)
}

/// Decisions that are more than a word: option, its text, its JSON.
fn rules(told: &wire::Approval<'_>) -> Vec<(PromptOption, String)> {
    let decisions = told.decisions.as_ref();
    let objects = decisions.into_iter().flat_map(|list| list.0.iter());
    let objects =
        objects.filter(|raw| raw.get().starts_with('{') && raw.get().len() <= DECISION_BYTES_MAX);
    let rule = |(n, raw): (usize, &&RawValue)| {
        let told: wire::ExecPolicy<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
        let words: Vec<String> = told.inner?.words?.each().collect();
        let text = format!(
            "Yes, and always what begins with `{}` (a rule of Codex's own)",
            words.join(" ")
        );
        Some((option(&format!("rule-{n}"), &text, "allow_always"), raw.get().to_owned()))
    };
    objects.enumerate().filter_map(rule).collect()
}

fn decide(
    told: &wire::Approval<'_>,
    about: &str,
    rules: Vec<(PromptOption, String)>,
    deed: Option<String>,
) -> (Asked, Shape) {
    let about = match told.reason.as_deref().filter(|reason| !reason.trim().is_empty()) {
        Some(reason) => format!("{about}: {reason}"),
        None => about.to_owned(),
    };
    let kept = rules.iter().map(|(option, json)| (option.id.clone(), json.clone())).collect();
    let mut options = vec![
        option("accept", "Yes", "allow_once"),
        option(FOR_SESSION, "Yes, and the same again in this session", "allow_always"),
    ];
    options.extend(rules.into_iter().map(|(option, _)| option));
    options.truncate(PROMPT_OPTIONS_MAX - 2);
    options.push(option(DECLINE, "No", "reject_once"));
    options.push(option("cancel", "No, and stop the turn", "reject_once"));
    let asked = Asked {
        kind: PromptKind::Approval,
        label: label(&about),
        options,
        questions: Vec::new(),
        deed,
    };
    (asked, Shape::Decision(kept))
}

/// What more the agent wants to be allowed; none where that is too much to be granted here.
pub(super) fn permissions(told: &wire::Approval<'_>) -> Option<(Asked, Shape)> {
    let wanted = told.permissions.map(|raw| raw.get()).unwrap_or("{}");
    if wanted.len() > PERMISSIONS_BYTES_MAX {
        return None;
    }
    let about = told.reason.clone().unwrap_or_else(|| format!("More permissions: {wanted}"));
    let asked = Asked {
        kind: PromptKind::Approval,
        label: label(&about),
        options: vec![
            option("accept", "Yes, for this turn", "allow_once"),
            option(FOR_SESSION, "Yes, for this session", "allow_always"),
            option(DECLINE, "No", "reject_once"),
        ],
        questions: Vec::new(),
        deed: Some(digest(wanted)),
    };
    Some((asked, Shape::Permissions(wanted.to_owned())))
}

/// What a tool's server wants to know; none where that cannot be shown.
pub(super) fn elicitation(told: &wire::Elicitation<'_>) -> Option<(Asked, Shape)> {
    let words = [told.message.as_deref(), told.url.as_deref()];
    let (asked, fields) = forms::of_server(told.server.as_deref(), &words, told.schema.as_ref())?;
    let shape = if fields.is_empty() { Shape::Elicitation } else { Shape::Form(fields) };
    Some((asked, shape))
}

/// The questions of a request; none where one of them cannot be asked or answered exactly.
pub(super) fn questions(told: &wire::UserInput<'_>) -> Option<(Asked, Shape)> {
    let list = told.questions.as_ref()?;
    if list.0.is_empty() || list.0.len() > QUESTIONS_MAX {
        return None;
    }
    let questions: Option<Vec<Question>> = list.0.iter().map(|raw| question(raw.get())).collect();
    let questions = questions?;
    let first = questions.first()?;
    let (id, text) = (first.id.clone(), label(&first.text));
    let plain = match questions.as_slice() {
        [one] if !one.free => Some(one.options.clone()),
        [] | [_, ..] => None,
    };
    let asked = Asked {
        kind: PromptKind::Question,
        label: if text.is_empty() { "Question".to_owned() } else { text },
        questions: if plain.is_some() { Vec::new() } else { questions },
        options: plain.unwrap_or_default(),
        deed: None,
    };
    Some((asked, Shape::Answers(id)))
}

fn question(json: &str) -> Option<Question> {
    let told: wire::Question<'_> = serde_json::from_str(json).ok()?;
    let id = told.id.filter(|id| id.len() <= ANSWER_ID_BYTES_MAX)?;
    let choices = told.options.unwrap_or_default();
    let choices = choices.each::<wire::Choice>().filter_map(|choice| {
        let id = choice.label.filter(|label| label.len() <= ANSWER_ID_BYTES_MAX)?;
        let text = match choice.description.filter(|text| !text.is_empty()) {
            Some(description) => format!("{id}: {description}"),
            None => id.clone(),
        };
        Some(option(&id, &text, CHOICE))
    });
    let mut options: Vec<PromptOption> = choices.collect();
    options.truncate(PROMPT_OPTIONS_MAX);
    let texts = [told.question, told.header].into_iter().flatten();
    let text = texts.into_iter().find(|text| !text.trim().is_empty())?;
    Some(Question {
        id,
        text: head(&text, QUESTION_BYTES_MAX).to_owned(),
        multi: false,
        free: told.other == Some(true) || options.is_empty(),
        options,
    })
}
