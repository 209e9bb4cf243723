//! All that the API shows of a chat and all that the model was told, made fit to be compared whole.
//!
//! Left out is only what no run has twice: ids become numbers in the order in which they appear, folders
//! words, times and counts of events the word `…`. What is null is not printed.

use std::collections::HashMap;
use std::path::Path;

use holdfast_testkit::host::TestHost;
use serde_json::{Map, Value, json};

use crate::lab::Lab;

/// Fields that hold a time.
const TIMES: [&str; 7] =
    ["at", "since", "started_at", "ended_at", "created_at", "updated_at", "ends"];
/// Fields that count what was noted down: a text that comes in fewer parts is noted less often.
const COUNTS: [&str; 1] = ["version"];
/// What stands before and behind a name that the CLI makes up.
const MADE_UP: [(&str, &str); 4] = [
    ("/tasks/", ".output"),
    ("Monitor started (task ", ","),
    ("agentId: ", " "),
    ("/.claude/plans/", ".md"),
];

/// The chat as it is now: its row, what waits, its transcript and its turns.
pub(crate) fn now(host: &TestHost<'_>, chat: &str) -> Value {
    let mut row = host.chat(chat);
    // As the versions of items.
    row["seq"] = json!("…");
    json!({
        "row": row,
        "queue": host.get(&format!("/chats/{chat}/queue")),
        "items": host.items(chat),
        "turns": host.get(&format!("/chats/{chat}/turns"))["items"],
    })
}

/// What the model was told, request by request: the main agent's first, then each subagent's; what was
/// told in the request before is not told again.
pub(crate) fn told(lab: &Lab) -> Value {
    let mut before: HashMap<Option<String>, Vec<String>> = HashMap::new();
    let mut requests = Vec::new();
    for seen in lab.model.seen() {
        let (told, of) = (seen.told(), seen.subagent.clone());
        let known = before.get(&of).filter(|known| told.starts_with(known)).map_or(0, Vec::len);
        let mut new: Vec<String> = told[known..].to_vec();
        if known > 0 {
            new.insert(0, "(the same)".to_owned());
        }
        before.insert(of.clone(), told);
        let of = of.unwrap_or_default();
        requests.push(json!({
            "purpose": format!("{:?}", seen.purpose),
            "model": seen.body["model"],
            "subagent": of,
            "told": new,
        }));
    }
    requests.sort_by_key(|request| request["subagent"] != "");
    Value::from(requests)
}

/// Puts words and numbers in the place of what differs from run to run.
pub(crate) struct Redaction {
    places: Vec<(String, String)>,
    numbers: HashMap<String, String>,
}

impl Redaction {
    pub(crate) fn new(lab: &Lab) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        // Claude Code names the folder of a project after its path.
        let slug = text(&lab.place.work_dir()).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let places = [
            (text(&lab.place.work_dir()), "WORK"),
            (slug, "WORK-SLUG"),
            (text(lab.root()), "ROOT"),
            (format!("/claude-{}/", rustix::process::getuid().as_raw()), "/claude-UID/"),
            (format!("127.0.0.1:{}", lab.model.port), "MODEL"),
        ];
        let places = places.map(|(place, word)| (place, word.to_owned())).to_vec();
        Self { places, numbers: HashMap::new() }
    }

    /// The whole, fit to be compared.
    pub(crate) fn whole(mut self, value: &Value) -> Value {
        let text = value.to_string();
        for (before, behind) in MADE_UP {
            for after in text.split(before).skip(1) {
                let name = after.split_once(behind).map_or("", |(name, _)| name).to_owned();
                if !name.is_empty() && !self.places.iter().any(|(known, _)| *known == name) {
                    let made_up = self.places.iter().filter(|(_, word)| word.starts_with("NAME"));
                    let word = format!("NAME-{}", made_up.count() + 1);
                    self.places.push((name, word));
                }
            }
        }
        self.of(value)
    }

    fn of(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                let fields = fields.iter().filter(|(_, value)| !value.is_null());
                let fields = fields.map(|(name, value)| {
                    let is_time = TIMES.contains(&name.as_str()) && value.is_string();
                    let is_count = COUNTS.contains(&name.as_str()) && value.is_number();
                    let value = if is_time || is_count { json!("…") } else { self.of(value) };
                    (name.clone(), value)
                });
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Value::Array(values) => values.iter().map(|value| self.of(value)).collect(),
            Value::String(text) => Value::from(self.text(text)),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn text(&mut self, text: &str) -> String {
        let places = &self.places;
        let text =
            places.iter().fold(text.to_owned(), |text, (path, word)| text.replace(path, word));
        let text = without_tokens(text);
        let mut shown = String::new();
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let is_in_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            let begins = rest.find(is_in_word).unwrap_or(rest.len());
            let (between, behind) = rest.split_at(begins);
            let ends = behind.find(|c| !is_in_word(c)).unwrap_or(behind.len());
            let (word, behind) = behind.split_at(ends);
            shown.push_str(between);
            shown.push_str(&self.word(word));
            rest = behind;
        }
        shown
    }

    fn word(&mut self, word: &str) -> String {
        let Some(kind) = kind_of_id(word) else { return word.to_owned() };
        let next = self.numbers.values().filter(|number| number.starts_with(kind)).count() + 1;
        self.numbers.entry(word.to_owned()).or_insert_with(|| format!("{kind}{next}")).clone()
    }
}

/// A notice of a compaction without how many tokens there were: the CLI guesses them from the length of
/// texts that hold folders.
fn without_tokens(text: String) -> String {
    let begins = "The conversation was shortened from ";
    match text.strip_prefix(begins).and_then(|after| after.split_once(" tokens.")) {
        Some((_, behind)) => format!("{begins}… to … tokens.{behind}"),
        None => text,
    }
}

/// What kind of id a word is, if it is one.
fn kind_of_id(word: &str) -> Option<&'static str> {
    let is_long = |rest: &str| rest.len() >= 8 && rest.chars().any(|c| c.is_ascii_digit());
    for (prefix, kind) in
        [("chat_", "chat-"), ("msg_", "msg-"), ("toolu_", "tool-"), ("file_", "file-")]
    {
        if word.strip_prefix(prefix).is_some_and(is_long) {
            return Some(kind);
        }
    }
    let is_hex = |part: &str| part.chars().all(|c| c.is_ascii_hexdigit());
    let is_uuid = word.len() == 36 && word.split('-').count() == 5 && word.split('-').all(is_hex);
    is_uuid.then_some("uuid-")
}
