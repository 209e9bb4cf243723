//! A transcript as it is read: each thing once, and again only when something came of it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::answer::questions;
use super::attach::names;
use crate::client::Client;
use crate::fault::Fault;
use crate::out::Out;
use crate::rows::{cause, list, number, word};
use crate::text::{bytes, cut, line};

/// Items whose last shown state is remembered; older ones do not change any more.
const REMEMBERED_ITEMS_MAX: usize = 10_000;
/// Columns of the name before a text.
const NAME_COLUMNS: usize = 9;
/// Characters that are shown of a tool's input or output.
const CALL_CHARS_MAX: usize = 160;

/// The whole text of an item.
pub(super) fn whole(client: &Client, item: &Value) -> Result<String, Fault> {
    match item["full"]["href"].as_str() {
        Some(href) => client.text(href, 0),
        None => Ok(word(item, "text").to_owned()),
    }
}

/// Prints items.
pub(super) struct Transcript<'a> {
    client: &'a Client,
    out: Out,
    numbers: bool,
    /// What stands behind the number of an item: `*` where the agent can be taken back to it.
    mark: char,
    /// What comes before this place is not shown, whatever becomes of it.
    floor: u64,
    /// By place: what was shown of it.
    shown: BTreeMap<u64, Shown>,
    /// The place whose text stands unfinished at the end of the output.
    open: Option<u64>,
    /// Whether the output stands at the beginning of a line of that text.
    fresh: bool,
}

/// What was shown of an item.
#[derive(Default)]
struct Shown {
    /// Bytes of its text.
    bytes: u64,
    /// The state that a person was told.
    state: String,
}

impl<'a> Transcript<'a> {
    pub(super) fn new(client: &'a Client, out: Out, numbers: bool) -> Self {
        let (shown, mark) = (BTreeMap::new(), ' ');
        Self { client, out, numbers, mark, floor: 0, shown, open: None, fresh: false }
    }

    /// Nothing before this place is shown.
    pub(super) fn begin(&mut self, floor: u64) {
        self.floor = floor;
    }

    /// The place after which everything is new.
    pub(super) fn last(&self) -> u64 {
        let shown = self.shown.keys().next_back().copied();
        shown.unwrap_or(0).max(self.floor.saturating_sub(1))
    }

    /// Takes an item in the state that it has now. What was shown of it is not shown again.
    pub(super) fn take(&mut self, item: &Value) -> Result<(), Fault> {
        if number(item, "seq") < self.floor {
            return Ok(());
        }
        self.mark = if item["turn_end"] == true { '*' } else { ' ' };
        if self.out.is_json() { self.record(item) } else { self.tell(item) }?;
        while self.shown.len() > REMEMBERED_ITEMS_MAX {
            if let Some((place, _)) = self.shown.pop_first() {
                self.floor = place + 1;
            }
        }
        Ok(())
    }

    /// An item for a program: whole, when it is, and again when its state has changed.
    fn record(&mut self, item: &Value) -> Result<(), Fault> {
        let place = number(item, "seq");
        let state = stage(item);
        if self.shown.get(&place).is_some_and(|shown| shown.state == state) {
            return Ok(());
        }
        if state == UNFINISHED {
            self.shown.entry(place).or_default();
            return Ok(());
        }
        self.shown.insert(place, Shown { bytes: 0, state });
        let mut item = item.clone();
        if !item["full"].is_null() {
            item["text"] = json!(whole(self.client, &item)?);
            item["full"] = Value::Null;
        }
        self.out.json(&item)
    }

    /// An item for a person.
    fn tell(&mut self, item: &Value) -> Result<(), Fault> {
        let place = number(item, "seq");
        match (word(item, "kind"), word(item, "role")) {
            ("message" | "thinking", "agent") => self.text(place, item),
            _ => {
                let state = stage(item);
                let known = self.shown.get(&place);
                if known.is_some_and(|shown| shown.state == state) {
                    return Ok(());
                }
                let again = known.is_some();
                let lines = described(self.client, item, again)?;
                self.shown.insert(place, Shown { bytes: 0, state });
                self.entry(place, lines)
            }
        }
    }

    /// What is new of a text that grows.
    fn text(&mut self, place: u64, item: &Value) -> Result<(), Fault> {
        let from = self.shown.get(&place).map_or(0, |shown| shown.bytes);
        let head = word(item, "text");
        let start = usize::try_from(from).unwrap_or(usize::MAX);
        let new = match (item["full"]["href"].as_str(), head.get(start..)) {
            (Some(href), _) => self.client.text(href, from)?,
            (None, new) => new.unwrap_or_default().to_owned(),
        };
        let shown = self.shown.entry(place).or_default();
        shown.bytes = from + new.len() as u64;
        if !new.is_empty() {
            if self.open != Some(place) {
                self.finish()?;
                let name = if word(item, "kind") == "thinking" { "thinks" } else { "agent" };
                self.name(place, if from > 0 { "…" } else { name })?;
                self.open = Some(place);
                self.fresh = false;
            }
            for part in new.split_inclusive('\n') {
                if self.fresh && part != "\n" {
                    self.out.piece(&" ".repeat(self.margin()))?;
                }
                self.out.piece(part)?;
                self.fresh = part.ends_with('\n');
            }
        }
        if item["closed"] == true && self.open == Some(place) {
            self.finish()?;
        }
        Ok(())
    }

    /// A name and the lines that belong to it.
    fn entry(&mut self, place: u64, (name, lines): (String, Vec<String>)) -> Result<(), Fault> {
        if lines.is_empty() {
            return Ok(());
        }
        self.finish()?;
        for (n, line) in lines.iter().enumerate() {
            if n == 0 {
                self.name(place, &name)?;
            } else if !line.is_empty() {
                self.out.piece(&" ".repeat(self.margin()))?;
            }
            self.out.line(line)?;
        }
        Ok(())
    }

    fn name(&self, place: u64, name: &str) -> Result<(), Fault> {
        let mark = self.mark;
        let number = if self.numbers { format!("{place:>6}{mark} ") } else { String::new() };
        self.out.piece(&format!("{number}{name:<NAME_COLUMNS$}"))
    }

    fn margin(&self) -> usize {
        NAME_COLUMNS + if self.numbers { 8 } else { 0 }
    }

    /// Ends a text that stands unfinished.
    pub(super) fn finish(&mut self) -> Result<(), Fault> {
        if self.open.take().is_some() && !self.fresh {
            self.out.piece("\n")?;
        }
        self.fresh = false;
        Ok(())
    }
}

/// The stage of an item that a program waits for.
const UNFINISHED: &str = "unfinished";

/// What a person or a program is told of once: it changes when something came of the item.
fn stage(item: &Value) -> String {
    match word(item, "kind") {
        "prompt" => word(&item["prompt"], "state").to_owned(),
        "tool_call" => word(&item["call"], "state").to_owned(),
        "plan" => item["plan"].to_string(),
        "message" if !item["delivery"].is_null() => match word(&item["delivery"], "state") {
            // On its way, as it should be.
            "queued" | "handed" | "taken" | "settled" => "sent".to_owned(),
            "unknown" if item["delivery"]["asking"] == true => "sent".to_owned(),
            other => other.to_owned(),
        },
        _ if item["closed"] == false => UNFINISHED.to_owned(),
        _ => "whole".to_owned(),
    }
}

/// An item in lines, under the name of who or what it is of.
fn described(client: &Client, item: &Value, again: bool) -> Result<(String, Vec<String>), Fault> {
    let named = |name: &str, lines: Vec<String>| Ok((name.to_owned(), lines));
    match word(item, "kind") {
        "message" => {
            let delivery = &item["delivery"];
            match word(delivery, "state") {
                state @ ("refused" | "unknown" | "withdrawn") if delivery["asking"] != true => {
                    let mut lines = if again { Vec::new() } else { split(&whole(client, item)?) };
                    let why = line(word(&delivery["refused"], "text"));
                    let words = match state {
                        "refused" => format!("the agent did not take it {why}"),
                        "unknown" => "nobody knows whether the agent has it".to_owned(),
                        _ => "taken back".to_owned(),
                    };
                    lines.push(format!("({}, {})", words.trim_end(), word(delivery, "message")));
                    named("you", lines)
                }
                _ => {
                    let mut lines = split(&whole(client, item)?);
                    if let Some(names) = names(item) {
                        if lines == [""] {
                            lines.clear();
                        }
                        lines.push(names);
                    }
                    named(by(delivery), lines)
                }
            }
        }
        "prompt" => {
            let prompt = &item["prompt"];
            match word(prompt, "state") {
                "open" => named(
                    "asks",
                    questions(std::slice::from_ref(item)).iter().flat_map(|q| q.lines()).collect(),
                ),
                "answered" if again => named("answer", vec![answered(prompt)]),
                "answered" => {
                    let label = line(word(prompt, "label"));
                    named("asked", vec![label, format!("  {}", answered(prompt))])
                }
                _ => named(
                    "asked",
                    vec![format!(
                        "{} (nobody waits for an answer now)",
                        line(word(prompt, "label"))
                    )],
                ),
            }
        }
        "tool_call" => named("tool", call(&item["call"], again)),
        "plan" => {
            let step = |step: &Value| {
                let mark = match word(step, "state") {
                    "completed" => "[x]",
                    "in_progress" => "[>]",
                    _ => "[ ]",
                };
                format!("{mark} {}", line(word(step, "text")))
            };
            named("plan", list(item, "plan").iter().map(step).collect())
        }
        "notice" => named("host", vec![notice(item)]),
        "note" => named("note", split(&whole(client, item)?)),
        kind => {
            let text = line(word(item, "text"));
            let reason = line(word(item, "reason"));
            let parts: Vec<String> =
                [text, reason].into_iter().filter(|part| !part.is_empty()).collect();
            named(
                kind,
                vec![format!("({}) {}", line(kind), cut(&parts.join(": "), CALL_CHARS_MAX))],
            )
        }
    }
}

fn by(delivery: &Value) -> &'static str {
    match word(delivery, "by") {
        "app" => "app",
        "channel" => "channel",
        "schedule" => "schedule",
        // What an agent is told when its work is carried on.
        "host" => "resume",
        _ => "you",
    }
}

fn split(text: &str) -> Vec<String> {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() { vec![String::new()] } else { lines }
}

fn answered(prompt: &Value) -> String {
    let answer = &prompt["answer"];
    let questions = list(prompt, "questions");
    let label = |options: &[Value], id: &str| {
        let found = options.iter().find(|option| word(option, "id") == id);
        found.map_or_else(|| line(id), |option| line(word(option, "label")))
    };
    let mut parts = Vec::new();
    if let Some(option) = answer["option"].as_str() {
        parts.push(label(list(prompt, "options"), option));
    }
    for one in list(answer, "answers") {
        let question = questions.iter().find(|q| word(q, "id") == word(one, "question"));
        let options = question.map(|question| list(question, "options")).unwrap_or_default();
        let chosen = list(one, "options").iter().filter_map(Value::as_str);
        parts.extend(chosen.map(|id| label(options, id)));
        parts.extend(one["text"].as_str().map(line));
    }
    parts.extend(answer["text"].as_str().map(line));
    format!("{} (by {})", parts.join(", "), line(word(answer, "by")))
}

fn call(call: &Value, again: bool) -> Vec<String> {
    let state = word(call, "state");
    let name = line(word(call, "name"));
    let mut lines = vec![match state {
        "running" => name,
        _ => format!(
            "{name}: {}",
            if state == "unknown" { "nobody knows how it ended" } else { state }
        ),
    }];
    if !again && !call["input"].is_null() {
        let input = call["input"].as_str().map_or_else(|| call["input"].to_string(), str::to_owned);
        lines.push(format!("  {}", cut(&line(&input), CALL_CHARS_MAX)));
    }
    let output = &call["output"];
    let text = line(word(output, "text"));
    if state != "running" && !text.is_empty() {
        let all = output["full"]["bytes"].as_u64();
        let rest = all.map(|all| format!(" ({} in all)", bytes(all))).unwrap_or_default();
        lines.push(format!("  {}{rest}", cut(&text, CALL_CHARS_MAX)));
    }
    lines
}

fn notice(item: &Value) -> String {
    let notice = &item["notice"];
    let words = match word(notice, "kind") {
        "stopped" => cause(word(notice, "cause")),
        "resumed" => "resumed".to_owned(),
        "started_fresh" => "a new session of the agent was started".to_owned(),
        "start_failed" => {
            format!("the agent could not be started ({})", line(word(notice, "code")))
        }
        "turn_failed" => "the turn failed".to_owned(),
        "prompt_cancelled" => "the agent no longer waits for an answer".to_owned(),
        "task_not_stopped" => "the task was not stopped".to_owned(),
        "forked" => match notice["chat"].as_str() {
            Some(chat) => format!("forked from {chat}"),
            None => "forked from another chat".to_owned(),
        },
        "went_back" => {
            format!(
                "went back to entry {}; what is between that and here is left behind",
                notice["to"]
            )
        }
        "fork_holds_more" => {
            "the other chat went on before its session was copied: the agent knows more than is \
                shown here"
                .to_owned()
        }
        "message_lost" => "the agent has lost this message".to_owned(),
        "line_skipped" => "something that the agent wrote could not be stored".to_owned(),
        "retrying" => format!("the agent tries again ({} of {})", notice["tried"], notice["tries"]),
        "agent_says" => "the agent's program says".to_owned(),
        "setting_refused" => "the agent did not take the setting".to_owned(),
        other => line(other),
    };
    let text = line(word(item, "text"));
    if text.is_empty() { words } else { format!("{words}: {text}") }
}
