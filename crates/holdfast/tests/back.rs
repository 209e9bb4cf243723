//! Ways back to an earlier turn, with the demo agent: what it knows afterwards, also where host or keeper
//! dies at any point between what was acknowledged and what the agent does.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::person::Person;
use serde_json::{Value, json};

/// Places that are gone through at the same time.
const AT_ONCE: usize = 3;
/// What a continuation says, and no message of a person.
const CONTINUATION: &str = "was stopped from outside";
const SAID: [&str; 3] = ["[[say one]]", "[[say two]]", "[[say three]]"];

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

fn talked(host: &TestHost<'_>) -> String {
    let chat = host.open();
    for text in SAID {
        let message = host.send(&chat, text);
        host.wait_message(&chat, &message, "settled");
    }
    host.wait_shown(&chat, "idle");
    chat
}

fn ends(items: &[Value]) -> Vec<u64> {
    let ends = items.iter().filter(|item| item["turn_end"] == true);
    ends.map(|item| item["seq"].as_u64().unwrap()).collect()
}

/// What the agent said last.
fn last_said(items: &[Value]) -> &str {
    let said = items.iter().rfind(|item| item["role"] == "agent").unwrap();
    said["text"].as_str().unwrap()
}

#[test]
fn a_chat_goes_back_and_its_agent_knows_what_was_said_until_then() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = talked(&host);
    let ends = ends(&host.items(&chat));
    let path = format!("/chats/{chat}/rewind");

    let between = host.post(&path, &json!({ "at": ends[1] - 1 }));
    assert_eq!((between.status, &between.body["code"]), (409, &json!("not_supported")));
    let words = between.body["detail"].as_str().unwrap();
    assert!(words.contains(&format!("entry {}.", ends[0])), "{words}");
    let there = host.post(&path, &json!({ "at": ends[2] }));
    assert_eq!((there.status, &there.body["code"]), (400, &json!("invalid_field")));
    let empty = host.post(&path, &json!({ "at": ends[0], "text": " " }));
    assert_eq!((empty.status, &empty.body["code"]), (400, &json!("empty_field")));

    let body = json!({ "at": ends[0], "text": "[[count]]" });
    let went = host.call_as("k-1", "POST", &path, &body);
    assert_eq!(went.status, 200, "{}", went.body);
    let again = host.call_as("k-1", "POST", &path, &body);
    assert_eq!(again.body, went.body, "a repeat is the first answer");
    assert!(went.body["note"].as_str().unwrap().contains("Files were not changed."));
    let message = went.body["receipt"].as_str().unwrap();
    host.wait("the message", || host.get(&format!("/receipts/{message}"))["state"] == "settled");
    assert_eq!(last_said(&host.items(&chat)), "2", "the first, and this one");

    let turns = host.get(&format!("/chats/{chat}/turns"))["items"].clone();
    let left: Vec<bool> =
        turns.as_array().unwrap().iter().map(|turn| turn["left_behind"] == true).collect();
    assert_eq!(left, [false, true, true, false]);
    let fork = host.post(&format!("/chats/{chat}/fork"), &json!({ "at": ends[0] })).ok();
    let fork = fork["id"].as_str().unwrap();
    let count = host.send(fork, "[[count]]");
    host.wait_message(fork, &count, "settled");
    assert_eq!(last_said(&host.items(fork)), "2", "another chat from the same place");

    let busy = host.send(&chat, "[[stream 1000 100]]");
    host.wait_message(&chat, &busy, "taken");
    let refused = host.post(&path, &json!({ "at": ends[0] }));
    assert_eq!((refused.status, &refused.body["code"]), (409, &json!("chat_busy")));
}

#[test]
fn an_agent_that_names_no_turns_goes_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir).env("HOLDFAST_DEMO_NAME_NO_TURNS", "1");
    let host = place.start();
    let chat = talked(&host);
    let items = host.items(&chat);
    assert_eq!(ends(&items), [0_u64; 0]);
    let refused = host.post(&format!("/chats/{chat}/rewind"), &json!({ "at": 2 }));
    assert_eq!((refused.status, &refused.body["code"]), (409, &json!("not_supported")));
    assert!(refused.body["detail"].as_str().unwrap().contains("Nothing was changed"));
    assert_eq!(host.items(&chat), items);
}

/// The host that goes back dies at this point, or the keeper of the agent that it starts for that.
fn dies_on_the_way(fault: &str) -> bool {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    let host = place.start();
    let chat = talked(&host);
    let to = ends(&host.items(&chat))[0];
    host.kill();

    let mark = dir.path().join("mark");
    place.env.insert(holdfast_fault::ENV.to_owned(), fault.to_owned());
    let file = mark.to_str().unwrap().to_owned();
    place.env.insert(holdfast_fault::MARK.to_owned(), file);
    let mut person = Person::at(&place);
    let body = json!({ "at": to, "text": "instead [[count]]" });
    person.write("POST", &format!("/chats/{chat}/rewind"), &body).ok();
    person.settle(&chat);
    person.send(&chat, "[[count]]");
    person.settle(&chat);

    let prompts = place.evidence().prompts();
    let after: Vec<&str> = prompts[SAID.len()..].iter().map(String::as_str).collect();
    let sent: Vec<&str> =
        after.iter().copied().filter(|prompt| !prompt.contains(CONTINUATION)).collect();
    assert_eq!(sent, ["instead [[count]]", "[[count]]"], "{fault}: each once");
    // Of what was before the agent knows the first alone, whatever it was told since.
    let items = person.items(&chat);
    let known = |text: &str| 2 + after.iter().position(|prompt| *prompt == text).unwrap();
    let said: Vec<&str> = items
        .iter()
        .filter(|item| item["role"] == "agent")
        .filter_map(|item| item["text"].as_str().filter(|text| text.parse::<u32>().is_ok()))
        .collect();
    let counted = [known("instead [[count]]"), known("[[count]]")].map(|n| n.to_string());
    assert_eq!(said, counted, "{fault}");
    let went = items.iter().filter(|item| item["notice"]["kind"] == "went_back").count();
    assert_eq!(went, 1, "{fault}: once");
    mark.exists()
}

#[test]
fn a_death_at_any_point_on_the_way_back_loses_nothing_and_repeats_nothing() {
    let points = holdfast_fault::POINTS.iter();
    let faults: Vec<String> =
        points.flat_map(|name| [1, 2].map(|n| format!("{name}:{n}"))).collect();
    let (next, passed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::SeqCst)) {
                    match std::panic::catch_unwind(|| dies_on_the_way(fault)) {
                        Ok(died) => drop(passed.fetch_add(usize::from(died), Ordering::SeqCst)),
                        Err(why) => failed.lock().unwrap().push(format!("{fault}: {why:?}")),
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {}: {failed:#?}", failed.len(), faults.len());
    // Not every point is on the way, and of most there is no second passage in one process.
    assert!(passed.into_inner() >= 30, "too few of {} were passed", faults.len());
}

/// A host that dies between the files of a fork and the fork itself leaves neither.
#[test]
fn a_death_between_a_forks_files_and_the_fork_leaves_one_of_each() {
    for fault in ["host.fork.shared:1", "host.commit.before:1", "host.commit.after:1"] {
        let dir = tempfile::tempdir().unwrap();
        let mut place = place(&dir);
        let host = place.start();
        let chat = host.open();
        let path = format!("/chats/{chat}/attachments?name=note.json");
        let file = host.post(&path, &json!({ "note": "kept" })).ok()["id"].clone();
        let body = json!({ "text": "[[say seen]]", "attachments": [file] });
        let sent = host.post(&format!("/chats/{chat}/messages"), &body).ok();
        host.wait_message(&chat, sent["message"]["id"].as_str().unwrap(), "settled");
        // Named once more by a message that waits.
        host.post(&format!("/chats/{chat}/queue/pause"), &json!({})).ok();
        let body = json!({ "text": "later", "attachments": [file] });
        host.post(&format!("/chats/{chat}/messages"), &body).ok();
        let to = ends(&host.items(&chat))[0];
        host.kill();

        let mark = dir.path().join("mark");
        place.env.insert(holdfast_fault::ENV.to_owned(), fault.to_owned());
        let marked = mark.to_str().unwrap().to_owned();
        place.env.insert(holdfast_fault::MARK.to_owned(), marked);
        let mut person = Person::at(&place);
        let fork = person.write("POST", &format!("/chats/{chat}/fork"), &json!({ "at": to })).ok();
        assert!(mark.exists(), "{fault}: nobody passed this point");
        let fork = fork["id"].as_str().unwrap();
        let id = file.as_str().unwrap();
        let there = person.read(&format!("/chats/{fork}/attachments/{id}"));
        assert_eq!(there, json!({ "note": "kept" }), "{fault}");
        let chats = person.read("/chats?state=all")["items"].as_array().unwrap().len();
        assert_eq!(chats, 2, "{fault}");
        // What the dead host had put there for a chat that never was is gone after the next start.
        person.stop();
        let mut person = Person::at(&place);
        person.read(&format!("/chats/{fork}"));
        let blobs = files_below(&place.data_dir().join("attachments"));
        let of = |chat: &str| blobs.iter().filter(|path| path.contains(chat)).count();
        assert_eq!(blobs.len(), 2, "{fault}: {blobs:#?}");
        assert_eq!((of(&chat), of(fork)), (1, 1), "{fault}: {blobs:#?}");
    }
}

fn files_below(dir: &std::path::Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path.display().to_string()) }
        }
    }
    files
}
