//! Files that people attach: durable before they are answered, given to the agent with their message,
//! kept through every death, and gone with their chat. What the agent got is told by its own log.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use holdfast_testkit::host::{PATIENCE, Place, TestHost};
use holdfast_testkit::raw::{RawAnswer, address};
use holdfast_testkit::wait_until;
use serde_json::{Value, json};

/// A PNG of one pixel.
const PNG: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89\
\0\0\0\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\0\x05\0\x01\xff\x89\x99=\x1d\0\0\0\0IEND\xaeB`\x82";
/// Its base64.
const PNG64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

fn scene() -> (tempfile::TempDir, Place) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path());
    (dir, place)
}

fn upload(host: &TestHost<'_>, chat: &str, name: &str, kind: &str, bytes: &[u8]) -> RawAnswer {
    let target = format!("/api/v1/chats/{chat}/attachments?name={name}");
    host.exchange(&host.raw("POST", &target).header("content-type", kind).body(bytes))
}

fn attach(host: &TestHost<'_>, chat: &str, name: &str, kind: &str, bytes: &[u8]) -> Value {
    let answer = upload(host, chat, name, kind, bytes);
    assert_eq!(answer.status, 201, "{}", answer.json());
    answer.json()
}

fn send(host: &TestHost<'_>, chat: &str, text: &str, attachments: &[&Value]) -> String {
    let ids: Vec<&Value> = attachments.iter().map(|one| &one["id"]).collect();
    let body = json!({ "text": text, "attachments": ids });
    let answer = host.post(&format!("/chats/{chat}/messages"), &body);
    assert_eq!(answer.status, 202, "{}", answer.body);
    answer.body["message"]["id"].as_str().unwrap().to_owned()
}

/// What came beside the text of this prompt, by the agent's own log.
fn got(place: &Place, text: &str) -> Vec<Value> {
    let events = place.evidence().events();
    let found: Vec<&Value> = events.iter().filter(|event| event["prompt"] == text).collect();
    assert_eq!(found.len(), 1, "{text:?} came once: {found:?}");
    found[0]["attached"].as_array().cloned().unwrap_or_default()
}

/// All files below the folder of attachments, marks among them.
fn files(place: &Place) -> Vec<PathBuf> {
    fn below(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                below(&entry.path(), found);
            } else {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    below(&place.data_dir().join("attachments"), &mut found);
    found
}

fn path_of(uri: &Value) -> PathBuf {
    let uri = uri.as_str().unwrap().strip_prefix("file://").unwrap();
    PathBuf::from(uri.replace("%20", " "))
}

#[test]
fn an_agent_gets_what_is_attached_in_the_form_it_takes() {
    let (_dir, place) = scene();
    let host = place.start();
    let chat = host.open();
    let image = attach(&host, &chat, "a%20b.png", "image/png", PNG);
    assert_eq!(image["bytes"], PNG.len());
    assert_eq!((&image["name"], &image["media_type"]), (&json!("a b.png"), &json!("image/png")));
    assert_eq!(image["sha256"].as_str().unwrap().len(), 64);
    let text = attach(&host, &chat, "n.md", "text/markdown; charset=utf-8", "grün".as_bytes());
    let other = attach(&host, &chat, "x%20y.bin", "application/zip", b"PK\x03\x04");
    let all = [&image, &text, &other];
    let message = send(&host, &chat, "[[prompt]]", &all);
    host.wait_message(&chat, &message, "settled");

    let blocks = got(&place, "[[prompt]]");
    assert_eq!(blocks[0], json!({"type": "image", "mimeType": "image/png", "data": PNG64}));
    assert_eq!(blocks[1]["resource"]["text"], "grün");
    assert_eq!(blocks[2]["type"], "resource_link");
    assert_eq!((&blocks[2]["name"], &blocks[2]["size"]), (&json!("x y.bin"), &json!(4)));
    let copy = path_of(&blocks[2]["uri"]);
    assert_eq!(copy.file_name().unwrap(), "x y.bin");
    assert_eq!(fs::read(&copy).unwrap(), b"PK\x03\x04");
    assert!(host.said(&chat).contains("resource_link"), "{}", host.said(&chat));

    // The transcript shows them, and they are served.
    let items = host.items(&chat);
    let item = items.iter().find(|item| item["delivery"]["message"] == message.as_str()).unwrap();
    assert_eq!(item["attachments"], json!(all));
    let recap = host.get(&format!("/offers/{chat}/recap"));
    let told = "[[prompt]]\n[attached: a b.png, n.md, x y.bin]";
    assert!(recap["text"].as_str().unwrap().contains(told), "{recap}");
    for (of, bytes) in [(&image, PNG), (&other, b"PK\x03\x04")] {
        let href = of["href"].as_str().unwrap();
        assert_eq!(host.exchange(&host.raw("GET", href)).body, bytes);
    }
    assert!(host.stop().success());
}

#[test]
fn what_is_attached_may_be_all_that_is_said_and_a_queue_shows_it() {
    let (_dir, place) = scene();
    let host = place.start();
    let chat = host.open();
    let image = attach(&host, &chat, "i.png", "image/png", PNG);
    host.post(&format!("/chats/{chat}/queue/pause"), &json!({})).ok();
    let message = send(&host, &chat, "", &[&image]);
    let queue = host.get(&format!("/chats/{chat}/queue"));
    assert_eq!(queue["items"][0]["attachments"], json!([image]));
    let edit = json!({ "text": "look" });
    let path = format!("/chats/{chat}/queue/{message}");
    host.request("PATCH", &path, Some(&edit)).unwrap().ok();
    host.request("PATCH", &path, Some(&json!({ "text": "" }))).unwrap().ok();
    host.post(&format!("/chats/{chat}/queue/resume"), &json!({})).ok();
    host.wait_message(&chat, &message, "settled");
    assert_eq!(got(&place, "")[0]["data"], PNG64);
    host.stop();
}

/// Killed between the upload, the message and the agent's start, and right after: nothing is lost and
/// nothing comes twice.
#[test]
fn what_was_acknowledged_outlives_every_death() {
    let (_dir, place) = scene();
    let host = place.start();
    let chat = host.open();
    let image = attach(&host, &chat, "i.png", "image/png", PNG);
    host.post(&format!("/chats/{chat}/queue/pause"), &json!({})).ok();
    host.kill_everything();

    let host = place.start();
    let message = send(&host, &chat, "first", &[&image]);
    host.kill_everything();

    let host = place.start();
    host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
    host.post(&format!("/chats/{chat}/reopen"), &json!({})).ok();
    host.post(&format!("/chats/{chat}/queue/resume"), &json!({})).ok();
    host.wait_message(&chat, &message, "settled");
    assert_eq!(got(&place, "first")[0]["data"], PNG64);

    // Its own store names the message by its words alone.
    let cut = send(&host, &chat, "cut [[slow 600]]", &[&image]);
    host.wait("it is with the agent", || place.evidence().seen("cut [[slow 600]]") == 1);
    host.kill_everything();
    let host = place.start();
    host.wait("the offer", || !host.chat(&chat)["offer"].is_null());
    host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
    host.wait_message(&chat, &cut, "settled");
    assert_eq!(place.evidence().seen("cut [[slow 600]]"), 1, "handed over once");
    let href = image["href"].as_str().unwrap();
    assert_eq!(host.exchange(&host.raw("GET", href)).body, PNG);
    assert_eq!(files(&place).len(), 1, "{:?}", files(&place));
    host.stop();
}

#[test]
fn a_repeat_is_the_first_answer_and_other_bytes_are_a_conflict() {
    let (_dir, place) = scene();
    let host = place.start();
    let chat = host.open();
    let post = |host: &TestHost<'_>, name: &str, bytes: &[u8]| {
        let target = format!("/api/v1/chats/{chat}/attachments?name={name}");
        let request = host.raw("POST", &target).header("idempotency-key", "k");
        host.exchange(&request.header("content-type", "text/plain").body(bytes))
    };
    let first = post(&host, "a.txt", b"some");
    assert_eq!(first.status, 201);
    let again = post(&host, "a.txt", b"some");
    assert_eq!((again.status, again.json()), (201, first.json()));
    for (name, bytes) in [("a.txt", b"other"), ("b.txt", b"some\0")] {
        let answer = post(&host, name, bytes);
        assert_eq!((answer.status, &answer.json()["code"]), (409, &json!("operation_conflict")));
    }
    host.kill();
    let host = place.start();
    assert_eq!(post(&host, "a.txt", b"some").json(), first.json());
    let all = host.get(&format!("/chats/{chat}/attachments"));
    assert_eq!(all["items"].as_array().unwrap().len(), 1);
    assert_eq!(files(&place).len(), 1, "{:?}", files(&place));
    host.stop();
}

#[test]
fn a_connection_that_is_cut_and_a_body_of_wrong_length_leave_nothing() {
    let (_dir, place) = scene();
    let host = place.start();
    let chat = host.open();
    let begin = |length: &str, body: &[u8]| {
        let endpoint: Value =
            serde_json::from_slice(&fs::read(place.data_dir().join("endpoint.json")).unwrap())
                .unwrap();
        let url = endpoint["url"].as_str().unwrap().to_owned();
        let mut stream = TcpStream::connect(address(&url)).unwrap();
        let head = format!(
            "POST /api/v1/chats/{chat}/attachments HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
             {length}\r\n\r\n",
            address(&url),
            endpoint["token"].as_str().unwrap()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        stream
    };
    // A part of what was said, and then nothing any more.
    let stream = begin("content-length: 1000000", &vec![7; 500_000]);
    wait_until(PATIENCE, "it is on its way in", || !files(&place).is_empty());
    drop(stream);
    wait_until(PATIENCE, "nothing is left", || files(&place).is_empty());
    let stream = begin("transfer-encoding: chunked", b"4\r\nsome\r\n");
    wait_until(PATIENCE, "it is on its way in", || !files(&place).is_empty());
    drop(stream);
    wait_until(PATIENCE, "nothing is left", || files(&place).is_empty());
    // A host that dies in the middle: the next one clears it.
    let stream = begin("content-length: 1000000", &vec![7; 500_000]);
    wait_until(PATIENCE, "it is on its way in", || !files(&place).is_empty());
    host.kill();
    drop(stream);
    assert_eq!(files(&place).len(), 1);
    let host = place.start();
    assert_eq!(files(&place), [] as [PathBuf; 0]);
    assert_eq!(host.get(&format!("/chats/{chat}/attachments"))["items"], json!([]));
    host.stop();
}

#[test]
fn with_its_chat_an_attachment_goes() {
    let (_dir, place) = scene();
    let host = place.start();
    let (chat, other) = (host.open(), host.open());
    let many: Vec<Value> = (0..40)
        .map(|n| attach(&host, &chat, &format!("{n}.txt"), "application/zip", b"bytes"))
        .collect();
    let kept = attach(&host, &other, "kept.txt", "text/plain", b"kept");
    let message = send(&host, &chat, "look", &[&many[0]]);
    host.wait_message(&chat, &message, "settled");
    let copy = path_of(&got(&place, "look")[0]["uri"]);
    assert!(copy.exists());
    let path = format!("/chats/{chat}/attachments/{}", many[0]["id"].as_str().unwrap());
    let refused = host.request("DELETE", &path, None).unwrap();
    assert_eq!((refused.status, &refused.body["code"]), (409, &json!("attachment_in_use")));
    let path = format!("/chats/{chat}/attachments/{}", many[1]["id"].as_str().unwrap());
    host.request("DELETE", &path, None).unwrap().ok();
    assert_eq!(files(&place).len(), 40);
    host.request("DELETE", &format!("/chats/{chat}"), None).unwrap().ok();
    wait_until(PATIENCE, "only what is of the other chat is left", || files(&place).len() == 1);
    wait_until(PATIENCE, "the copy is gone", || !copy.exists());
    let href = kept["href"].as_str().unwrap();
    assert_eq!(host.exchange(&host.raw("GET", href)).body, b"kept");
    host.stop();
}

#[test]
fn a_fork_keeps_what_its_messages_came_with() {
    let (_dir, place) = scene();
    let host = place.start();
    let chat = host.open();
    let file = attach(&host, &chat, "note.md", "text/markdown", b"the word is grassland");
    attach(&host, &chat, "loose.txt", "text/plain", b"no message names it");
    let message = send(&host, &chat, "[[say seen]]", &[&file]);
    host.wait_message(&chat, &message, "settled");
    let at = host.items(&chat).last().unwrap()["seq"].clone();
    let fork = host.post(&format!("/chats/{chat}/fork"), &json!({ "at": at })).ok();
    let other = fork["id"].as_str().unwrap().to_owned();
    host.request("DELETE", &format!("/chats/{chat}"), None).unwrap().ok();
    wait_until(PATIENCE, "the files of the first chat to go", || files(&place).len() == 1);
    host.kill_everything();
    let host = place.start();
    let items = host.items(&other);
    let shown = items.iter().find(|item| item["text"] == "[[say seen]]").unwrap();
    let href = shown["attachments"][0]["href"].as_str().unwrap();
    assert!(href.contains(&other), "{href}");
    let read = host.exchange(&host.raw("GET", href));
    assert_eq!((read.status, &read.body[..]), (200, &b"the word is grassland"[..]));
    let gone = host.request("DELETE", &href["/api/v1".len()..], None).unwrap();
    assert_eq!((gone.status, &gone.body["code"]), (409, &json!("attachment_in_use")));
}
