//! All that the API shows of a chat, and all that the model was told, each case as one whole.
//!
//! A snapshot leaves out what is null or an empty list; what is another in each run stands there by its
//! kind (`<time>`, `<message 1>`). Everything else is compared.

mod asks;
mod odds;
mod talks;
mod work;

use std::fmt::Write as _;

use holdfast_testkit::host::TestHost;
use holdfast_testkit::model::Seen;
use serde_json::{Map, Value, json};

use crate::lab::{Lab, open};

/// Fields that are another time in each run.
const TIMES: [&str; 6] = ["at", "since", "created_at", "updated_at", "started_at", "ended_at"];
/// Counts how many pieces a text came in.
const VERSION: &str = "version";
/// What Codex tells the model of a command: how the line begins, for lines that differ in each run.
const OF_A_COMMAND: [&str; 3] = ["Chunk ID: ", "Wall time: ", "Process running with session ID "];
/// What Codex calls the lead of its agents; those below it are named like files, which they are not.
const LEAD: &str = "/root";
/// How the person's shell is called, behind its name.
const RUN: &str = " -lc ";
/// Where the model is, without its port.
const HOST: &str = "http://127.0.0.1:";

/// A chat, and what has been shown of it.
struct Whole<'a> {
    host: &'a TestHost<'a>,
    lab: &'a Lab,
    chat: String,
    shown: String,
    /// Fields that are another number in each run.
    counters: Vec<&'static str>,
}

impl<'a> Whole<'a> {
    /// A chat that is opened in this mode.
    fn open(host: &'a TestHost<'a>, lab: &'a Lab, mode: &str) -> Self {
        Self {
            host,
            lab,
            chat: open(host, lab, mode),
            shown: String::new(),
            counters: vec![VERSION],
        }
    }

    fn path(&self, below: &str) -> String {
        format!("/chats/{}{below}", self.chat)
    }

    /// Sends a message, and waits until its turn is over and nothing goes on.
    fn say(&self, text: &str) {
        let message = self.host.send(&self.chat, text);
        self.rests(&message);
    }

    /// Waits until this message is settled and nothing goes on.
    fn rests(&self, message: &str) {
        self.host.wait_message(&self.chat, message, "settled");
        self.idle();
    }

    /// Waits until nothing goes on.
    fn idle(&self) {
        self.host.wait("the chat's rest", || {
            let row = self.host.chat(&self.chat);
            let open = |item: &Value| item["closed"] != true;
            row["status"]["shown"] == "idle"
                && row["queue_length"] == 0
                && !self.host.items(&self.chat).iter().any(open)
        });
    }

    /// Adds all that the API shows of the chat by now.
    fn look(&mut self, when: &str) {
        let list = |below: &str| self.host.get(&self.path(below))["items"].clone();
        let mut row = self.host.chat(&self.chat);
        // How many facts there are depends on the pieces that texts came in.
        row["seq"] = json!("<count>");
        let all = json!({
            "row": row,
            "items": list("/items?limit=200"),
            "turns": list("/turns"),
            "queue": self.host.get(&self.path("/queue")),
        });
        writeln!(self.shown, "== {when}\n{:#}", trimmed(all, &self.counters)).unwrap();
    }

    /// Looks at the end, adds what the models were told, and compares the whole.
    fn is(mut self, name: &str) {
        self.look("at rest");
        let asked = self.lab.model.seen();
        let (own, others): (Vec<&Seen>, Vec<&Seen>) =
            asked.iter().partition(|seen| seen.subagent.is_none());
        self.tell("the model", &own);
        if !others.is_empty() {
            self.tell("the subagent's model", &others);
        }
        let root = self.lab.place.root.to_str().unwrap();
        insta::assert_snapshot!(name, numbered(&self.shown.replace(root, "<place>")));
    }

    /// Adds of each request what the one before it did not tell.
    fn tell(&mut self, whom: &str, asked: &[&Seen]) {
        writeln!(self.shown, "== {whom} was told").unwrap();
        let mut before = Vec::new();
        for seen in asked {
            let mut told: Vec<String> = seen.told().iter().map(|text| steady(text)).collect();
            // What ran side by side ends in any order.
            for results in told.chunk_by_mut(|one, other| is_result(one) && is_result(other)) {
                results.sort();
            }
            let model = seen.body["model"].as_str().unwrap();
            writeln!(self.shown, "{:?} of {model}", seen.purpose).unwrap();
            let known = told.starts_with(&before);
            let begin = if known { before.len() } else { 0 };
            let sign = if known { '+' } else { '=' };
            for text in &told[begin..] {
                writeln!(self.shown, "  {sign} {text:?}").unwrap();
            }
            before = told;
        }
    }
}

fn is_result(told: &str) -> bool {
    told.starts_with("tool: ")
}

/// Without what is null or an empty list, times and counters by their kind.
fn trimmed(value: Value, counters: &[&str]) -> Value {
    match value {
        Value::Object(fields) => {
            let kept =
                fields.into_iter().filter(|(_, value)| !value.is_null() && *value != json!([]));
            let kept = kept.map(|(name, value)| {
                let value = if TIMES.contains(&&*name) {
                    json!("<time>")
                } else if counters.contains(&&*name) {
                    json!("<count>")
                } else {
                    trimmed(value, counters)
                };
                (name, value)
            });
            Value::Object(kept.collect::<Map<_, _>>())
        }
        Value::Array(values) => values.into_iter().map(|value| trimmed(value, counters)).collect(),
        Value::String(text) => json!(steady(&text)),
        other => other,
    }
}

/// A text without what Codex measures of a command, the person's own shell, and the model's port.
fn steady(text: &str) -> String {
    let line = |line: &str| {
        let known = OF_A_COMMAND.iter().find_map(|known| Some((known, line.split_once(known)?)));
        known.map_or_else(|| line.to_owned(), |(known, (before, _))| format!("{before}{known}<…>"))
    };
    let text = text.replace(&format!("{LEAD}/"), "<lead>/");
    let text = text.split('\n').map(line).collect::<Vec<_>>().join("\n");
    let text = match text.split_once(RUN) {
        Some((before, after)) => {
            let shell = before.rfind(['`', ' ']).map_or(0, |at| at + 1);
            format!("{}<shell>{RUN}{after}", &before[..shell])
        }
        None => text,
    };
    let mut parts = text.split(HOST);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(HOST);
        text.push_str("<port>");
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    text
}

/// Each id by its kind and the order in which they come.
fn numbered(text: &str) -> String {
    let mut known: Vec<String> = Vec::new();
    let (mut out, mut rest) = (String::new(), text);
    let of_id = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    while let Some(begin) = rest.find(of_id) {
        let (before, word) = rest.split_at(begin);
        let (word, after) = word.split_at(word.find(|c| !of_id(c)).unwrap_or(word.len()));
        out.push_str(before);
        rest = after;
        let kind = word.split_once('_').map_or("id", |(kind, _)| kind);
        let digits = word.rsplit('_').next().unwrap_or(word).replace('-', "");
        if digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let at = known.iter().position(|id| id == word).unwrap_or_else(|| {
                known.push(word.to_owned());
                known.len() - 1
            });
            write!(out, "<{kind} {}>", at + 1).unwrap();
        } else {
            out.push_str(word);
        }
    }
    out + rest
}
