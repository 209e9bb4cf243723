//! Death at every commit and frame boundary. A person works through one day at a host; host or keeper
//! dies at the chosen point; the person starts again, asks again, settles what is asked. At the end
//! what was acknowledged is compared with the agents' own log: nothing lost, nothing twice.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use holdfast_testkit::host::{PATIENCE, Place};
use holdfast_testkit::person::{Person, Reached, is_idle};
use holdfast_testkit::{proc, wait_until};
use serde_json::{Value, json};

/// Days that are lived at the same time.
const AT_ONCE: usize = 3;
/// What a continuation says, and no message of a person.
const CONTINUATION: &str = "was stopped from outside";
/// Bytes of a tool's output: more than a segment of the spool.
const OUTPUT_BYTES: usize = 700_000;
/// Bytes of a message whose frame is collected on disk by the keeper.
const LONG_MESSAGE_BYTES: usize = 70_000;

/// What is passed often enough, and by one process, for a later passage to be chosen.
const BUSY: [&str; 16] = [
    "host.commit.after",
    "host.commit.batch.after",
    "host.commit.batch.before",
    "host.commit.before",
    "host.effects.before",
    "host.frame.write.after",
    "host.frame.write.before",
    "host.reply.before",
    "keeper.ack.before",
    "keeper.frame.accepted",
    "keeper.frame.begin.after",
    "keeper.frame.begin.before",
    "keeper.frame.done.after",
    "keeper.frame.done.before",
    "keeper.frame.mid",
    "keeper.line.after",
];

#[test]
fn every_point_is_passed_and_survived() {
    live_through(holdfast_fault::POINTS.iter().map(|name| format!("{name}:1")).collect());
}

#[test]
fn later_passages_are_survived() {
    let busy = |n: u32| BUSY.iter().map(move |name| format!("{name}:{n}"));
    // Of the keeper's: the answer to the prompt, the turn that is interrupted, the interrupt.
    let late = [
        ("host.commit.after", &[4, 7, 11, 19, 31][..]),
        ("keeper.frame.done.before", &[8, 11, 12]),
        ("keeper.frame.mid", &[8, 11, 12]),
    ];
    let late =
        late.into_iter().flat_map(|(name, ns)| ns.iter().map(move |n| format!("{name}:{n}")));
    live_through(busy(2).chain(busy(3)).chain(late).collect());
}

/// Lives one day for each of these faults. All that went wrong is told at the end.
fn live_through(faults: Vec<String>) {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let lived = std::panic::catch_unwind(|| Day::live(fault));
                    if let Err(why) = lived {
                        let said = why.downcast_ref::<String>().cloned();
                        let said = said.or_else(|| Some((*why.downcast_ref::<&str>()?).to_owned()));
                        failed
                            .lock()
                            .unwrap()
                            .push(format!("{fault}: {}", said.unwrap_or_default()));
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), faults.len(), failed.join("\n\n"));
}

/// One day at a host that dies once.
struct Day<'a> {
    person: Person<'a>,
    chat: String,
    /// What was acknowledged in that chat, in order.
    sent: Vec<(String, String)>,
}

impl Day<'_> {
    fn live(fault: &str) {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
            .env(holdfast_fault::ENV, fault)
            .env(holdfast_fault::MARK, mark.to_str().unwrap());
        let mut person = Person::at(&place);
        let chat = open(&mut person);
        let mut day = Day { person, chat, sent: Vec::new() };
        day.messages();
        day.prompt();
        day.cancelled_frame();
        day.interrupt();
        day.fork();
        day.other_chat();
        day.stop();
        day.judge(fault);
        day.close();

        let told = std::fs::read_to_string(&mark)
            .unwrap_or_else(|_| panic!("nobody passed this point:\n{}", place.log()));
        let (name, pid) = told.split_once(' ').unwrap();
        assert_eq!(fault.split_once(':').unwrap().0, name);
        assert!(!proc::is_alive(pid.parse().unwrap()), "whoever passed it is dead");
        let killed = day.person.ends.iter().filter(|end| end.signal() == Some(9)).count();
        assert_eq!(killed, usize::from(name.starts_with("host.")), "{:?}", day.person.ends);
    }

    fn send(&mut self, text: &str) -> String {
        let chat = self.chat.clone();
        let message = self.person.send(&chat, text);
        self.sent.push((message.clone(), text.to_owned()));
        message
    }

    /// A message with a file.
    fn attached(&mut self, text: &str) {
        let path = format!("/chats/{}/attachments?name=note.json", self.chat);
        let file = self.person.write("POST", &path, &json!({ "note": "kept" })).ok();
        let body = json!({ "text": text, "attachments": [file["id"]] });
        let path = format!("/chats/{}/messages", self.chat);
        let sent = self.person.write("POST", &path, &body).ok();
        let message = sent["message"]["id"].as_str().unwrap().to_owned();
        self.sent.push((message, text.to_owned()));
    }

    fn reach(&mut self, what: &str, goal: impl Fn(&Value) -> bool) -> Reached {
        let chat = self.chat.clone();
        self.person.reach(&chat, what, |_, row| goal(row))
    }

    /// A turn that streams, and behind it a queue of three with a large output and a long message. None
    /// is given to the agent before all are accepted: one that a person sends after a death goes first.
    fn messages(&mut self) {
        let queue = format!("/chats/{}/queue", self.chat);
        self.person.write("POST", &format!("{queue}/pause"), &json!({})).ok();
        self.send("a1 [[stream 12 8]]");
        self.attached("a2");
        self.send(&format!("a3 [[output {OUTPUT_BYTES}]]"));
        let long = "x".repeat(LONG_MESSAGE_BYTES);
        self.send(&format!("a4 [[say short]] {long}"));
        self.person.write("POST", &format!("{queue}/resume"), &json!({})).ok();
        self.reach("the queue to run dry", is_idle);
    }

    /// A prompt, answered.
    fn prompt(&mut self) {
        self.send("a5 [[approve ls]]");
        let asked = self.reach("the prompt", |row| row["status"]["shown"] == "blocked");
        if asked == Reached::Goal {
            let row = self.person.read(&format!("/chats/{}", self.chat));
            // The agent may have died since it was looked at.
            if let Some(prompt) = row["activity"]["prompts"][0]["id"].as_str() {
                let path = format!("/chats/{}/prompts/{prompt}/answer", self.chat);
                let answer = self.person.write("POST", &path, &json!({ "option": "allow-once" }));
                assert!(matches!(answer.status, 200 | 410), "{}", answer.body);
            }
            self.reach("the end of the turn", is_idle);
        }
    }

    /// A stop of a task that has no id by which the agent could be told: its frame is taken back.
    fn cancelled_frame(&mut self) {
        let task = |state: &str| {
            let line = json!({
                "jsonrpc": "2.0",
                "method": "_holdfast/task",
                "params": {
                    "sessionId": "$SESSION", "taskId": "t".repeat(100), "kind": "monitor",
                    "label": "Nameless", "state": state,
                },
            });
            format!("[[raw {}]]", json!(line.to_string()))
        };
        self.send(&format!("a6 {}", task("running")));
        let running = self.reach("the task", |row| row["status"]["shown"] == "monitoring");
        if running == Reached::Goal {
            let row = self.person.read(&format!("/chats/{}", self.chat));
            if let Some(id) = row["activity"]["tasks"][0]["id"].as_str() {
                let path = format!("/chats/{}/tasks/{id}/stop", self.chat);
                self.person.write("POST", &path, &json!({}));
            }
        }
        self.send(&format!("a7 {}", task("completed")));
        self.reach("the end of the task", is_idle);
    }

    /// A turn that is interrupted with a message behind it, which then waits for a person.
    fn interrupt(&mut self) {
        let (chat, slow) = (self.chat.clone(), self.send("a8 [[say working]] [[slow 600]]"));
        let reached = self.person.reach(&chat, "the turn", |me, row| {
            let item = message(me, &chat, &slow);
            row["status"]["lead"] == "working" && item["delivery"]["state"] == "taken"
        });
        self.send("a9");
        if reached == Reached::Goal {
            let path = format!("/chats/{chat}/interrupt");
            let answer = self.person.write("POST", &path, &json!({}));
            assert!(matches!(answer.status, 200 | 409), "{}", answer.body);
            self.reach("the interrupt", |row| row["status"]["lead"] == "done");
        }
        self.person.settle(&chat);
    }

    /// The chat is forked with what is attached to it, once, and the fork is closed.
    fn fork(&mut self) {
        let chat = self.chat.clone();
        let at = self.person.items(&chat).last().unwrap()["seq"].clone();
        let path = format!("/chats/{chat}/fork");
        let fork = self.person.write("POST", &path, &json!({ "at": at })).ok();
        let fork = fork["id"].as_str().unwrap();
        let kept = self.person.read(&format!("/chats/{fork}/attachments"));
        let id = kept["items"][0]["id"].as_str().unwrap();
        let file = self.person.read(&format!("/chats/{fork}/attachments/{id}"));
        assert_eq!(file, json!({ "note": "kept" }));
        self.person.write("POST", &format!("/chats/{fork}/close"), &json!({})).ok();
        let chats = self.person.read("/chats?state=all")["items"].as_array().unwrap().len();
        assert_eq!(chats, 2, "it was opened once");
    }

    /// Another chat, whose agent leaves a process behind, is closed.
    fn other_chat(&mut self) {
        let other = open(&mut self.person);
        self.person.send(&other, "b1 [[fork]]");
        self.person.reach(&other, "the fork", |_, row| is_idle(row));
        self.person.write("POST", &format!("/chats/{other}/close"), &json!({})).ok();
        assert_eq!(self.person.place.evidence().seen("b1 [[fork]]"), 1);
    }

    /// The host is told to stop while a subagent works; then it is resumed.
    fn stop(&mut self) {
        self.send("a10 [[task 600 Read]] [[say begun]]");
        let working = self.reach("the subagent", |row| {
            row["status"]["shown"] == "working" && row["status"]["lead"] == "done"
        });
        self.person.stop();
        if working == Reached::Goal {
            let offered = format!("/chats/{}", self.chat);
            self.person.until("the offer", |me| me.read(&offered)["offer"] != Value::Null);
        }
        let chat = self.chat.clone();
        self.person.settle(&chat);
    }

    fn judge(&mut self, fault: &str) {
        let evidence = self.person.place.evidence();
        let of_chat = |prompt: &str| prompt.starts_with('a');
        let prompts = evidence.prompts();
        let seen: Vec<&str> = prompts.iter().filter(|p| of_chat(p)).map(|p| head(p)).collect();
        let sent: Vec<&str> = self.sent.iter().map(|(_, text)| head(text)).collect();
        assert_eq!(seen, sent, "the agent saw what was acknowledged, in order, once");
        let came = evidence.events().into_iter().find(|event| event["prompt"] == "a2").unwrap();
        let file = came["attached"][0]["resource"]["text"].as_str().unwrap();
        assert_eq!(file, json!({ "note": "kept" }).to_string(), "what was attached came with it");
        let path = format!("/chats/{}/attachments", self.chat);
        let kept = self.person.read(&path)["items"].as_array().unwrap().len();
        assert_eq!(kept, 1, "it was kept once");
        let continued = prompts.iter().filter(|prompt| prompt.contains(CONTINUATION)).count();
        assert!(continued >= 1, "the stop was resumed");

        let chat = self.chat.clone();
        for (id, text) in self.sent.clone() {
            let items = self.person.items(&chat);
            let of = items.iter().filter(|item| item["delivery"]["message"] == id.as_str());
            let states: Vec<&Value> = of.map(|item| &item["delivery"]["state"]).collect();
            assert_eq!(states, ["settled"], "{}", head(&text));
        }
        let turns = self.person.read(&format!("/chats/{chat}/turns"));
        let open = turns["items"].as_array().unwrap().iter().any(|turn| turn["state"] == "running");
        assert!(!open, "every turn has ended: {turns}");

        let said = evidence.said_in(&evidence.sessions(of_chat));
        let shown = self.person.host().said(&chat);
        let whole = fault.starts_with("host.");
        assert!(agrees(&shown, &said, whole), "shown: {shown:?}\nsaid: {said:?}");
        if whole {
            self.judge_whole(&chat);
        }
    }

    /// No agent was disturbed but by the stop: its output is all there, its question had one answer.
    fn judge_whole(&mut self, chat: &str) {
        let items = self.person.items(chat);
        let output = |item: &Value| item["call"]["output"]["full"]["bytes"].as_u64();
        let outputs: Vec<u64> = items.iter().filter_map(output).collect();
        assert_eq!(outputs, [OUTPUT_BYTES as u64]);
        let evidence = self.person.place.evidence();
        let chosen = |answer: &Value| answer["answer"]["outcome"]["optionId"] == "allow-once";
        assert_eq!(evidence.answers().iter().filter(|answer| chosen(answer)).count(), 1);
        assert_eq!(evidence.events().iter().filter(|event| event["ran"] == "ls").count(), 1);
    }

    /// The chat is closed: nothing of any agent lives, and nothing is left on disk or in doubt.
    fn close(&mut self) {
        let chat = self.chat.clone();
        self.person.write("POST", &format!("/chats/{chat}/close"), &json!({})).ok();
        let place = self.person.place;
        wait_until(PATIENCE, "the end of every process", || {
            place.processes().is_empty() && place.keepers().is_empty()
        });
        self.person.until("the attempts to be cleared", |_| place.attempts().is_empty());
        let host = self.person.read("/host");
        assert_eq!(host["damage"], json!([]));
        assert_eq!(host["counts"]["to_check"], 0);
        assert_eq!(host["counts"]["to_resume"], 0);
        let pids: BTreeSet<u64> = place.evidence().pids().into_iter().collect();
        let alive = |pid: &u64| proc::is_alive(u32::try_from(*pid).unwrap());
        assert!(!pids.iter().any(alive), "no agent lives");
    }
}

fn open(person: &mut Person<'_>) -> String {
    let body = json!({ "agent": "demo", "cwd": person.place.work_dir() });
    let row = person.write("POST", "/chats", &body).ok();
    row["id"].as_str().unwrap().to_owned()
}

fn message(person: &mut Person<'_>, chat: &str, id: &str) -> Value {
    let items = person.items(chat);
    items.into_iter().find(|item| item["delivery"]["message"] == id).unwrap_or_default()
}

/// Enough of a text to know it by.
fn head(text: &str) -> &str {
    text.get(..40).unwrap_or(text)
}

/// Whether the text shown is what the agents said, one after the other: of each all, or, where agents
/// died in the middle of their words, its beginning.
fn agrees(shown: &str, said: &[String], whole: bool) -> bool {
    let mut reached = BTreeSet::from([0]);
    for words in said {
        let mut next = BTreeSet::new();
        for at in reached {
            let common = shown.as_bytes()[at..]
                .iter()
                .zip(words.as_bytes())
                .take_while(|(shown, said)| shown == said)
                .count();
            if whole && common == words.len() {
                next.insert(at + common);
            } else if !whole {
                next.extend(at..=at + common);
            }
        }
        reached = next;
    }
    reached.contains(&shown.len())
}

/// A keeper that dies at its birth again and again is a start that failed: it is not tried for ever.
#[test]
fn keepers_that_cannot_be_born_are_no_loop() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
        .env(holdfast_fault::ENV, "keeper.record.written:1");
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "hello");
    host.wait_shown(&chat, "to_check");
    let queue = host.get(&format!("/chats/{chat}/queue"));
    assert_eq!(queue["items"][0]["text"], "hello");
    assert_eq!(queue["reason"], "start_failed");
    host.kill();

    let mut place = place;
    place.env.clear();
    let host = place.start();
    let next = host.send(&chat, "and again");
    host.wait_message(&chat, &next, "settled");
    assert_eq!(place.evidence().prompts(), ["hello", "and again"]);
}
