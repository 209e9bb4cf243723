//! What the CLI asks: whether a tool may be used, whether a plan is carried out, what the model wants to
//! know.

use holdfast_core::limits::{PROMPT_OPTIONS_MAX, label};
use holdfast_core::provider::{
    Asked, PromptKind, PromptOption, ProtocolFrame, ProviderEvent, Question,
};
use serde_json::json;
use serde_json::value::RawValue;

use super::prompts::{
    ALLOW, ALLOW_EDITS, ALLOW_SAVED, ALLOW_SESSION, DENY, DENY_STOP, Prompt, Shape, Word,
};
use super::wire::{self, is_true};
use super::{Line, Stage, State, read};
use crate::forms;
use crate::ordinals::digest;

/// Bytes of the id of a request of the CLI's. It has to be given back exactly.
const REQUEST_ID_BYTES_MAX: usize = 256;
/// Questions of one prompt.
const QUESTIONS_MAX: usize = 32;
/// Bytes of a question's text.
const QUESTION_BYTES_MAX: usize = 4 * 1024;

impl State {
    pub(super) fn asks(
        &mut self,
        line: Line<'_>,
        frame: &wire::Frame<'_>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let id = frame.request_id.as_deref().unwrap_or_default();
        let (Some(told), true) = (&frame.request, id.len() <= REQUEST_ID_BYTES_MAX) else {
            return self.unrecognised("bad_request", line.0, out);
        };
        let subtype = told.subtype.as_deref().filter(|_| self.stage == Stage::Ready);
        if !matches!(subtype, Some("can_use_tool" | "elicitation")) {
            refuse(id, "This host does not answer this.", out);
            return self.unrecognised("unknown_request", line.0, out);
        }
        if self.prompts.holds(id) {
            return self.unrecognised("duplicate_request", line.0, out);
        }
        if subtype == Some("elicitation") {
            return self.elicits(line, id, told, out);
        }
        let tool = told.tool.as_deref().unwrap_or("tool");
        let input = told.input.map_or("{}", RawValue::get);
        let shape = match tool {
            "AskUserQuestion" => Shape::Questions,
            "ExitPlanMode" => Shape::Plan,
            _ => Shape::Permission { suggestions: suggestions(told) },
        };
        let call = digest(told.call.as_deref().unwrap_or_default().as_bytes());
        let subagent = told.agent.is_some();
        let row = Prompt::new(0, id, (call, subagent), shape.clone(), input);
        if !self.prompts.fits(&row) {
            refuse(id, "Too many questions wait.", out);
            return self.unrecognised("too_many_prompts", line.0, out);
        }
        if subagent {
            self.prompts.heard(Word::Call(call), out);
        } else {
            self.says(Word::Main, out);
        }
        let asked = match shape {
            Shape::Permission { .. } => permission(tool, told, input, &row),
            Shape::Plan => plan(),
            Shape::Questions | Shape::Form(_) => questions(input),
        };
        self.puts(row, asked, out);
    }

    /// A tool's server wants to know something of the person.
    fn elicits(
        &mut self,
        line: Line<'_>,
        id: &str,
        told: &wire::Request<'_>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let words = [told.message.as_deref(), told.url.as_deref()];
        let read = forms::of_server(told.server.as_deref(), &words, told.schema.as_ref());
        let Some((asked, fields)) = read else {
            refuse(id, "This form cannot be shown.", out);
            return self.unrecognised("unknown_form", line.0, out);
        };
        // It names no call; whose it is, is not told either.
        let row = Prompt::new(0, id, (digest(id.as_bytes()), false), Shape::Form(fields), "");
        if !self.prompts.fits(&row) {
            refuse(id, "Too many questions wait.", out);
            return self.unrecognised("too_many_prompts", line.0, out);
        }
        self.puts(row, asked, out);
    }

    fn puts(&mut self, mut row: Prompt, asked: Asked, out: &mut Vec<ProviderEvent>) {
        let (prompt, item) = (self.ordinals.prompt(), self.ordinals.item());
        row.prompt = prompt;
        self.prompts.open(row);
        out.push(ProviderEvent::PromptOpened { prompt, item, asked });
    }

    /// The CLI takes a request back.
    pub(super) fn takes_back(&mut self, frame: &wire::Frame<'_>, out: &mut Vec<ProviderEvent>) {
        let id = frame.request_id.as_deref().unwrap_or_default();
        let prompt = self.prompts.taken_back(id);
        out.extend(prompt.map(|prompt| ProviderEvent::PromptGone { prompt }));
    }
}

fn refuse(id: &str, words: &str, out: &mut Vec<ProviderEvent>) {
    let id = json!(id).to_string();
    let outcome = format!(r#""subtype":"error","error":{}"#, json!(words));
    out.push(ProviderEvent::Wants(ProtocolFrame::Reply { id, outcome }));
}

/// The CLI's suggestions of what to allow for good, as it gave them.
fn suggestions(told: &wire::Request<'_>) -> Option<String> {
    let list = told.suggestions.as_ref().filter(|list| !list.0.is_empty())?;
    let list: Vec<&str> = list.0.iter().map(|one| one.get()).collect();
    Some(format!("[{}]", list.join(",")))
}

fn option(id: &str, label: impl Into<String>, kind: &str) -> PromptOption {
    PromptOption { id: id.to_owned(), label: label.into(), kind: kind.to_owned() }
}

fn permission(tool: &str, told: &wire::Request<'_>, input: &str, row: &Prompt) -> Asked {
    let mut options = vec![option(ALLOW, "Allow", "allow_once")];
    if row.suggests() {
        options.push(option(ALLOW_SESSION, "Always in this session", "allow_always"));
        if let Some(file) = saved_in(told) {
            options.push(option(ALLOW_SAVED, format!("Always, saved in {file}"), "allow_always"));
        }
    }
    options.push(option(DENY, "Deny", "reject_once"));
    options.push(option(DENY_STOP, "Deny and stop", "reject_once"));
    let read: wire::ToolInput<'_> = read(input);
    let subject = [
        read.command,
        read.path,
        read.notebook,
        read.url,
        read.query,
        read.pattern,
        told.description.clone(),
        read.description,
    ];
    let subject = subject.into_iter().flatten().find(|text| !text.trim().is_empty());
    let text = match subject {
        Some(subject) => format!("{tool}: {subject}"),
        None => tool.to_owned(),
    };
    let (kind, questions) = (PromptKind::Approval, Vec::new());
    // Two asks with the same tool, input and suggestions are for the very same thing.
    let suggests = suggestions(told).unwrap_or_default();
    let deed = Some(holdfast_core::digest(&format!("{tool}\u{0}{input}\u{0}{suggests}")));
    Asked { kind, label: label(&text), options, questions, deed }
}

/// The file that the CLI writes a permanent rule into, where it suggests one.
fn saved_in(told: &wire::Request<'_>) -> Option<&'static str> {
    let each = told.suggestions.as_ref()?.each::<wire::Suggestion>();
    each.filter_map(|one| match one.destination.as_deref() {
        Some("localSettings") => Some(".claude/settings.local.json"),
        Some("projectSettings") => Some(".claude/settings.json"),
        Some("userSettings") => Some("~/.claude/settings.json"),
        Some(_) | None => None,
    })
    .next()
}

fn plan() -> Asked {
    Asked {
        kind: PromptKind::Question,
        label: "Carry out this plan?".to_owned(),
        options: vec![
            option(ALLOW, "Carry it out", "allow_once"),
            option(ALLOW_EDITS, "Carry it out, and accept edits", "allow_always"),
            option(DENY, "Go on planning", "reject_once"),
        ],
        questions: Vec::new(),
        deed: None,
    }
}

fn questions(input: &str) -> Asked {
    let told: wire::ToolInput<'_> = read(input);
    let questions: Vec<Question> = told
        .questions
        .iter()
        .flat_map(|list| list.each::<wire::Question<'_>>())
        .enumerate()
        .take(QUESTIONS_MAX)
        .map(|(n, question)| {
            let options = question.options.iter().flat_map(|list| list.each());
            let options = options.enumerate().map(|(n, told): (usize, wire::QuestionOption)| {
                let name = told.label.unwrap_or_default();
                let text = match told.description.filter(|text| !text.is_empty() && *text != name) {
                    Some(description) => format!("{name}: {description}"),
                    None => name,
                };
                option(&n.to_string(), label(&text), "choice")
            });
            let text = question.text.unwrap_or_default();
            let mut options: Vec<PromptOption> = options.collect();
            options.truncate(PROMPT_OPTIONS_MAX);
            Question {
                id: n.to_string(),
                text: crate::ordinals::head(&text, QUESTION_BYTES_MAX).to_owned(),
                multi: is_true(question.multi),
                free: true,
                options,
            }
        })
        .collect();
    let text = questions.first().map_or("A question", |question| question.text.as_str());
    Asked {
        kind: PromptKind::Question,
        label: label(text),
        options: Vec::new(),
        questions,
        deed: None,
    }
}
