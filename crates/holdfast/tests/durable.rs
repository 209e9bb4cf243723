//! Acknowledged means durable: the sync that covers a write's commit has returned before its answer
//! goes to the socket. The system calls themselves are watched.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "tests, and what they stand on: what goes wrong has to fail them, with words"
)]

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Barrier;

use holdfast_testkit::host::{Place, TestHost};
use serde_json::{Value, json};

/// Writes that come one after the other.
const IN_A_ROW: usize = 5;
/// The system calls that are watched.
const CALLS: &str =
    "trace=fsync,fdatasync,write,pwrite64,writev,pwritev,sendto,sendmsg,openat,link,linkat";
/// Writes that come at once, so that commits are shared.
const AT_ONCE: usize = 6;

/// Starts a host whose writes and syncs are traced into `trace`. The tracer is a process beside it:
/// what was started is the host itself.
fn start_traced<'a>(place: &'a Place, trace: &std::path::Path) -> TestHost<'a> {
    let plain = place.command();
    let mut traced = Command::new("strace");
    traced
        .args(["-D", "-f", "-qq", "-s", "8192"])
        .args(["-e", CALLS])
        .arg("-o")
        .arg(trace)
        .arg(plain.get_program())
        .args(plain.get_args())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    for (name, value) in plain.get_envs() {
        traced.env(name, value.unwrap_or_default());
    }
    let mut child = traced.spawn().expect("strace is installed");
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).expect("the traced host serves");
    assert_eq!(ready["pid"], child.id());
    TestHost::attached(place, child, &ready)
}

#[test]
fn the_sync_of_a_commit_returns_before_its_answer_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path());
    let host = start_traced(&place, &trace);
    let chat = host.open();
    let path = format!("/chats/{chat}/messages");
    let mut answered: Vec<(String, String)> = Vec::new();
    for n in 0..IN_A_ROW {
        let text = format!("alone-{n}-durable");
        answered.push((host.send(&chat, &text), text));
    }
    let start = Barrier::new(AT_ONCE);
    let shared: Vec<_> = std::thread::scope(|scope| {
        let ask = |n: usize| {
            let (host, start, path) = (&host, &start, &path);
            scope.spawn(move || {
                let client = host.beside();
                let text = format!("shared-{n}-durable");
                start.wait();
                let body = json!({ "text": text });
                let answer = client.request_with("POST", path, Some(&body), &[]).unwrap().ok();
                (answer["message"]["id"].as_str().unwrap().to_owned(), text)
            })
        };
        let asked: Vec<_> = (0..AT_ONCE).map(ask).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    answered.extend(shared);
    for (message, _) in &answered {
        host.wait_message(&chat, message, "settled");
    }
    assert!(host.stop().success());

    let calls = calls(&std::fs::read_to_string(&trace).unwrap());
    for (message, text) in &answered {
        let committed = calls
            .iter()
            .find(|call| call.name.starts_with("pwrite") && call.text.contains(text))
            .unwrap_or_else(|| panic!("{text} is not seen to be written to the disk"));
        let synced = calls
            .iter()
            .find(|call| {
                matches!(call.name.as_str(), "fsync" | "fdatasync")
                    && (call.thread, &call.fd) == (committed.thread, &committed.fd)
                    && call.begun > committed.ended
                    && call.succeeded
            })
            .unwrap_or_else(|| panic!("no sync covers the commit of {text}"));
        let told = calls
            .iter()
            .find(|call| call.text.contains("HTTP/1.1 202") && call.text.contains(message))
            .unwrap_or_else(|| panic!("the answer to {text} is not seen"));
        assert!(
            synced.ended < told.begun,
            "{text}: the answer began at line {} of the trace, the sync ended at {}",
            told.begun,
            synced.ended
        );
    }
}

/// The bytes of a file are synced, then linked under its name, then the folder is synced; only then its
/// row is committed, and only then it is answered.
#[test]
fn a_file_stays_before_its_row_and_its_answer() {
    const BYTES: &str = "these bytes are to stay";
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace");
    let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path());
    let host = start_traced(&place, &trace);
    let chat = host.open();
    let target = format!("/api/v1/chats/{chat}/attachments");
    let answer = host.exchange(&host.raw("POST", &target).body(BYTES)).json();
    let id = answer["id"].as_str().unwrap();
    assert!(host.stop().success());

    let calls = calls(&std::fs::read_to_string(&trace).unwrap());
    let after = |at: usize, what: &str, fits: &dyn Fn(&Call) -> bool| {
        let found = calls.iter().find(|call| call.begun > at && call.succeeded && fits(call));
        found.unwrap_or_else(|| panic!("not seen: {what}"))
    };
    let sync_of = |at: usize, what: &str, fd: &str| {
        let sync = |call: &Call| call.name == "fsync" && call.fd == fd;
        after(at, what, &sync).ended
    };
    let written = after(0, "the bytes", &|call| call.name == "write" && call.text.contains(BYTES));
    let synced = sync_of(written.ended, "their sync", &written.fd);
    let name = format!("/{chat}/{id}");
    let link = |call: &Call| call.name.starts_with("link") && call.text.contains(&name);
    let linked = after(synced, "the link", &link).ended;
    let folder = format!("attachments/{chat}\"");
    let open = |call: &Call| call.name == "openat" && call.text.contains(&folder);
    let opened = after(linked, "the folder, opened", &open);
    let fd = opened.text.rsplit(" = ").next().unwrap().trim();
    let kept = sync_of(opened.ended, "the folder's sync", fd);
    let row =
        |call: &Call| call.name.starts_with("pwrite") && call.text.contains("attachment_added");
    let row = calls.iter().find(|call| row(call)).expect("the row is written");
    assert!(row.begun > kept, "the row was written at {}, the folder synced at {kept}", row.begun);
    let committed = calls.iter().find(|call| {
        matches!(call.name.as_str(), "fsync" | "fdatasync")
            && (call.thread, &call.fd) == (row.thread, &row.fd)
            && call.begun > row.ended
            && call.succeeded
    });
    let committed = committed.expect("a sync covers the commit").ended;
    let told =
        calls.iter().find(|call| call.text.contains("HTTP/1.1 201") && call.text.contains(id));
    assert!(told.expect("the answer is seen").begun > committed);
}

/// A system call, with the lines of the trace at which it began and ended. The tracer stops a thread
/// at either side of a call, so that the lines are in the order of what caused what.
#[derive(Debug)]
struct Call {
    thread: u32,
    name: String,
    fd: String,
    text: String,
    begun: usize,
    ended: usize,
    succeeded: bool,
}

fn calls(trace: &str) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    let mut unfinished: HashMap<u32, usize> = HashMap::new();
    for (at, line) in trace.lines().enumerate() {
        let Some((thread, rest)) = line.split_once(' ') else { continue };
        let Ok(thread) = thread.parse() else { continue };
        let rest = rest.trim_start();
        let succeeded = !rest.rsplit_once(" = ").is_some_and(|(_, result)| result.starts_with('-'));
        if rest.starts_with("<... ") {
            if let Some(begun) = unfinished.remove(&thread) {
                calls[begun].ended = at;
                calls[begun].succeeded = succeeded;
                calls[begun].text.push_str(rest);
            }
            continue;
        }
        let Some((name, arguments)) = rest.split_once('(') else { continue };
        let fd = arguments.split([',', ')', ' ']).next().unwrap_or_default().to_owned();
        if rest.ends_with("<unfinished ...>") {
            unfinished.insert(thread, calls.len());
        }
        let text = rest.to_owned();
        calls.push(Call {
            thread,
            name: name.to_owned(),
            fd,
            text,
            begun: at,
            ended: at,
            succeeded,
        });
    }
    // What never returned covers nothing.
    for at in unfinished.into_values() {
        calls[at].ended = usize::MAX;
        calls[at].succeeded = false;
    }
    calls
}
