//! Following a chat across the lives of its host.

use std::cell::Cell;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use holdfast_testkit::host::{PATIENCE, Place};
use serde_json::{Value, json};

use crate::fake::scripted;
use crate::scene::{command, place, run};

/// A `chat tail` that runs.
struct Tail {
    child: Child,
    lines: Receiver<String>,
    heard: Vec<String>,
}

impl Tail {
    fn start(place: &Place, args: &[&str]) -> Self {
        Self::of(command(place, &[&["chat", "tail", "-f"], args].concat()))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = sync_channel(100_000);
        thread::Builder::new()
            .spawn(move || out.lines().map_while(Result::ok).all(|line| tell.send(line).is_ok()))
            .unwrap();
        Self { child, lines, heard: Vec::new() }
    }

    /// Hears on until a line fits, and answers all that was heard.
    #[track_caller]
    fn until(&mut self, fits: impl Fn(&str) -> bool) -> &[String] {
        while !self.heard.last().is_some_and(|line| fits(line)) {
            let line = self.lines.recv_timeout(PATIENCE);
            self.heard.push(line.unwrap_or_else(|_| panic!("no such line after {:?}", self.heard)));
        }
        &self.heard
    }

    /// The exit code, once it ends by itself.
    fn end(mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn numbered(heard: &[String]) -> Vec<&str> {
    let text = |line: &'_ String| line.find("line ").map(|_| ()).is_some();
    let lines = heard.iter().filter(|line| text(line));
    lines.filter_map(|line| line.get(line.find("line ")?..)).collect()
}

#[test]
fn a_tail_loses_and_doubles_nothing_when_the_host_is_killed() {
    const LINES: usize = 150;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let mut host = place.start();
    let chat = host.open();
    let mut person = Tail::start(&place, &[&chat]);
    let mut program = Tail::start(&place, &["--json", &chat]);
    host.send(&chat, &format!("[[stream {LINES} 20]]"));
    for at in [LINES / 4, LINES / 2] {
        person.until(|line| line.ends_with(&format!("line {at}")));
        host.kill();
        host = place.start();
    }
    host.wait_shown(&chat, "idle");
    host.send(&chat, "the end");
    person.until(|line| line.ends_with("agent    the end"));
    program.until(|line| line.contains(r#""role":"agent""#) && line.contains("the end"));

    let expected: Vec<String> = (1..=LINES).map(|n| format!("line {n}")).collect();
    assert_eq!(numbered(&person.heard), expected, "each line once, in order");
    assert_eq!(person.heard.iter().filter(|line| line.starts_with("you ")).count(), 2);

    let items: Vec<Value> =
        program.heard.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let places: Vec<u64> = items.iter().map(|item| item["seq"].as_u64().unwrap()).collect();
    let mut once = places.clone();
    once.dedup();
    assert_eq!(places, once, "each item once");
    let written = place.evidence().text_written();
    let said = items.iter().filter(|item| item["role"] == "agent" && item["kind"] == "message");
    let said: String = said.filter_map(|item| item["text"].as_str()).collect();
    assert_eq!(said, written, "all that the agent wrote, by its own log");
    host.stop();
}

/// The cursor of what was taken, and of nothing else: a snapshot that was announced but not read is
/// asked for again.
#[test]
fn a_tail_comes_back_with_the_cursor_of_what_it_has_taken() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let listens = Cell::new(0);
    let hello = "data: {\"type\":\"hello\",\"cursor\":\"c-9\",\"verdict\":\"gap\"}\n\n";
    let snapshot = "id: c-1\ndata: {\"type\":\"snapshot\",\"cursor\":\"c-1\"}\n\n";
    let changes = "id: c-2\ndata: {\"type\":\"changes\",\"cursor\":\"c-2\",\"changes\":[]}\n\n";
    let (url, targets) = scripted(move |target| {
        if !target.contains("/events") {
            return r#"{"items": [], "next": null}"#.to_owned();
        }
        listens.set(listens.get() + 1);
        match listens.get() {
            1 => hello.to_owned(),
            // The last event is cut short: it is not taken.
            2 => format!("{hello}{snapshot}{changes}id: c-3\ndata: {{\"type\":\"chan"),
            _ => String::new(),
        }
    });
    let chat = format!("chat_{}", "0".repeat(32));
    let mut tail = command(&place, &["chat", "tail", "-f", &chat, "--host", &url]);
    tail.env("HOLDFAST_TOKEN", "hf_any");
    let tail = Tail::of(tail);
    let listens = targets.iter().filter(|target| target.contains("/events"));
    let base = format!("/api/v1/events?chat={chat}");
    let expected = [base.clone(), base.clone(), format!("{base}&after=c-2")];
    assert_eq!(listens.take(3).collect::<Vec<_>>(), expected);
    drop(tail);
}

/// After a gap the stream tells no more what was missed: it is read.
#[test]
fn a_tail_reads_what_it_missed_in_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let item = |seq: u64, text: &str, closed: bool| {
        json!({
            "seq": seq, "kind": "message", "role": "agent", "text": text, "closed": closed,
            "full": null, "delivery": null,
        })
    };
    let listens = Cell::new(0);
    let page = |items: &[Value]| json!({ "items": items, "next": null }).to_string();
    let (url, _targets) = scripted(move |target| {
        if target.contains("/events") {
            listens.set(listens.get() + 1);
            let hello = "data: {\"type\":\"hello\",\"cursor\":\"c-9\",\"verdict\":\"gap\"}";
            let snapshot = "data: {\"type\":\"snapshot\",\"cursor\":\"c-1\"}";
            return match listens.get() {
                1 | 2 => format!("{hello}\n\nid: c-1\n{snapshot}\n\n"),
                _ => String::new(),
            };
        }
        let all = [
            item(1, "one", true),
            item(2, "two: first half, second half", true),
            item(3, "three", true),
            item(4, "four", true),
        ];
        let after = target.split_once("after=").map(|(_, rest)| rest.chars().next().unwrap());
        match (listens.get(), after) {
            (1, _) => page(&[all[0].clone(), item(2, "two: first half,", false)]),
            (_, Some('2')) => page(&all[2..3]),
            (_, Some('3')) => page(&all[3..]),
            (_, Some(_)) => page(&[]),
            (_, None) => page(&all),
        }
    });
    let chat = format!("chat_{}", "0".repeat(32));
    let mut tail = command(&place, &["chat", "tail", "-f", &chat, "--host", &url]);
    tail.env("HOLDFAST_TOKEN", "hf_any");
    let mut tail = Tail::of(tail);
    let heard = tail.until(|line| line.ends_with("four"));
    let expected = ["one", "two: first half, second half", "three", "four"];
    assert_eq!(heard, expected.map(|text| format!("agent    {text}")));
}

#[test]
fn a_tail_shows_what_came_of_things_once_each() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "before");
    host.wait_shown(&chat, "idle");
    let mut tail = Tail::start(&place, &["-n", "0", &chat]);
    // Only what is told after this is new; a marker says that the tail listens.
    let mut program = Tail::start(&place, &["-n", "1", "--json", &chat]);
    program.until(|line| line.contains("before"));
    host.send(&chat, "[[tool make 0.2]] [[ask Which colour?|Red|Blue]]");
    let prompt = host.wait_prompts(&chat, 1).remove(0);
    tail.until(|line| line.contains("2  Blue"));
    host.answer(&chat, &prompt, "Blue").ok();
    tail.until(|line| line.contains("Answer: Blue"));
    let heard = tail.heard.join("\n");
    for once in ["asks ", "answer   Blue", "make: completed"] {
        assert_eq!(heard.matches(once).count(), 1, "{once}: {heard}");
    }
    program.until(|line| line.contains("Answer: Blue"));
    let states: Vec<Value> = program
        .heard
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|item| item["kind"] == "prompt")
        .map(|item| item["prompt"]["state"].clone())
        .collect();
    assert_eq!(states, ["open", "answered"]);

    run(&place, &["chat", "rm", "--yes", &chat]).ok();
    assert_eq!(tail.end(), 3, "a deleted chat is no more");
    host.stop();
}

#[test]
fn a_tail_without_follow_shows_the_end_of_the_transcript() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    // More than one page, and a text that is shown only in part elsewhere.
    host.send(&chat, &"[[tool make 0]]".repeat(250));
    host.wait_shown(&chat, "idle");
    host.send(&chat, "[[flood 100000]]");
    host.wait_shown(&chat, "idle");
    let lines = |args: &[&str]| {
        let out = run(&place, &[&["chat", "tail", "--json"], args].concat()).ok();
        let items = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        items.collect::<Vec<_>>()
    };
    let all = lines(&["-n", "1000", &chat]);
    let places: Vec<u64> = all.iter().map(|item| item["seq"].as_u64().unwrap()).collect();
    assert_eq!(places, (1..=places.len() as u64).collect::<Vec<_>>());
    assert!(places.len() > 250);
    assert_eq!(lines(&["-n", "3", &chat]), all[all.len() - 3..]);
    assert_eq!(lines(&["-n", "0", &chat]), [] as [Value; 0]);
    let flood = all.last().unwrap();
    assert_eq!(flood["text"].as_str().unwrap().len(), 100_000, "the whole text");
    assert!(flood["full"].is_null());
    let shown = run(&place, &["chat", "tail", "-n", "1", &chat]).ok();
    assert!(shown.len() > 100_000, "to a person too");
    host.stop();
}
