//! A full disk: what cannot be kept is refused at the door, what was acknowledged is kept, what can
//! be read is read, and with room again everything goes on, without a restart.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use holdfast_testkit::host::{PATIENCE, Place, TestHost};
use holdfast_testkit::scenario::agent_pid;
use holdfast_testkit::{proc, wait_until};
use serde_json::{Value, json};

/// The size of the disk; the spool of an agent alone keeps a megabyte of it for its own end.
const DISK: &str = "size=16m";
/// Posts of a kilobyte until the room that the store had left has to be used up.
const POSTS_MAX: usize = 5000;
/// How long a stop may take that can record nothing: less than it would wait for deaths.
const STOP_MAX: Duration = Duration::from_secs(5);
/// Set where a test runs again, as the superuser of a namespace of its own: the file that says that
/// it did.
const INSIDE: &str = "HOLDFAST_TEST_INSIDE";

/// A small disk, gone with this value.
struct Disk(PathBuf);

impl Disk {
    fn mounted_at(path: &Path) -> Self {
        fs::create_dir_all(path).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", DISK, "tmpfs"]).arg(path).status();
        assert!(mounted.unwrap().success(), "a disk can be mounted");
        Self(path.to_owned())
    }

    /// Fills the disk to its last byte.
    fn fill(&self) {
        let mut file = File::options().create(true).append(true).open(self.filler()).unwrap();
        for size in [1 << 16, 1 << 12, 1] {
            let some = vec![b'x'; size];
            while file.write_all(&some).is_ok() {}
        }
    }

    fn make_room(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// Runs a test that mounts: at once by the superuser, otherwise as the one of a namespace.
fn with_mounts(name: &str, test: impl FnOnce()) {
    let inside = std::env::var_os(INSIDE);
    if rustix::process::geteuid().is_root() || inside.is_some() {
        test();
        if let Some(ran) = inside {
            fs::write(ran, "").unwrap();
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let ran = dir.path().join("ran");
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount"]).arg(std::env::current_exe().unwrap());
    let status = command.args(["--exact", name, "--nocapture"]).env(INSIDE, &ran).status();
    assert!(status.unwrap().success() && ran.exists(), "{name} did not pass in its namespace");
}

fn with_disk(name: &str, test: impl FnOnce(&Place, &Disk)) {
    with_mounts(name, || {
        let dir = tempfile::tempdir().unwrap();
        // A failing test unwinds: the place ends its keepers by what is on the disk, which goes after it.
        let disk = Disk::mounted_at(&dir.path().join("data"));
        let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path());
        assert_eq!(place.data_dir(), disk.0);
        test(&place, &disk);
    });
}

/// Posts messages until one is refused; gives what was acknowledged.
fn post_until_refused(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let mut accepted = Vec::new();
    for number in 0..POSTS_MAX {
        let text = format!("{number} {}", "x".repeat(1000));
        let answer = host.post(&format!("/chats/{chat}/messages"), &json!({ "text": text }));
        match answer.status {
            202 => accepted.push(text),
            507 => {
                assert_eq!(answer.body["code"], "storage_full", "{}", answer.body);
                return accepted;
            }
            status => panic!("{status} {}", answer.body),
        }
    }
    panic!("{POSTS_MAX} messages were taken on a full disk");
}

fn queued(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let queue = host.get(&format!("/chats/{chat}/queue"));
    let waiting = queue["items"].as_array().unwrap();
    waiting.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_cannot_be_kept_is_refused_and_what_was_taken_is_delivered_once() {
    let name = "what_cannot_be_kept_is_refused_and_what_was_taken_is_delivered_once";
    with_disk(name, |place, disk| {
        let host = place.start();
        let (chat, reader) = (host.open(), host.open());
        let first = host.send(&reader, "[[say to be read]]");
        host.wait_message(&reader, &first, "settled");
        host.post(&format!("/chats/{chat}/queue/pause"), &json!({})).ok();
        disk.fill();
        let accepted = post_until_refused(&host, &chat);

        // Nothing else is taken either; everything can be read.
        for (method, path, body) in [
            ("POST", "/chats".to_owned(), json!({ "agent": "demo" })),
            ("PATCH", format!("/chats/{reader}"), json!({ "title": "t".repeat(200) })),
            ("PUT", format!("/chats/{reader}/draft"), json!({ "text": "d".repeat(10_000) })),
            ("POST", format!("/chats/{reader}/messages"), json!({ "text": "m".repeat(10_000) })),
        ] {
            let answer = host.request(method, &path, Some(&body)).unwrap();
            assert_eq!(answer.body["code"], "storage_full", "{method} {path}: {}", answer.body);
            assert_eq!(answer.status, 507);
        }
        assert_eq!(host.said(&reader), "to be read");
        assert_eq!(queued(&host, &chat), accepted);
        assert_eq!(host.get("/host")["counts"]["open"], 2);
        assert_eq!(host.get("/offers")["offers"], json!([]));

        // A kill takes nothing of it, and a host starts on what is there once there is room.
        disk.make_room();
        host.kill_everything();
        let host = place.start();
        assert_eq!(queued(&host, &chat), accepted);
        host.post(&format!("/chats/{chat}/queue/resume"), &json!({})).ok();
        host.wait("all of them", || host.chat(&chat)["queue_length"] == 0);
        host.wait_shown(&chat, "idle");
        let seen: Vec<String> =
            place.evidence().prompts().into_iter().filter(|text| accepted.contains(text)).collect();
        assert_eq!(seen, accepted, "each once, in order");
        host.stop();
    });
}

#[test]
fn it_goes_on_without_a_restart_once_there_is_room() {
    let name = "it_goes_on_without_a_restart_once_there_is_room";
    with_disk(name, |place, disk| {
        const LINES: usize = 400;
        let host = place.start();
        let chat = host.open();
        let message = host.send(&chat, &format!("[[stream {LINES} 10]]"));
        host.wait("the first lines", || host.said(&chat).lines().count() > 20);
        // It is full in the middle of a stream, and stays so until the agent has said all.
        disk.fill();
        let refused = post_large(&host, &chat);
        assert_eq!(refused["code"], "storage_full", "{refused}");
        let whole: String = (1..=LINES).map(|number| format!("line {number}\n")).collect();
        wait_until(PATIENCE, "the agent to have said all", || {
            place.evidence().text_written().len() >= whole.len()
        });
        let known = host.said(&chat);
        assert!(whole.starts_with(&known), "what is shown is what was said");

        disk.make_room();
        host.wait_message(&chat, &message, "settled");
        assert_eq!(host.said(&chat), whole, "nothing lost, nothing doubled");
        let next = host.send(&chat, "[[say after]]");
        host.wait_message(&chat, &next, "settled");
        assert_eq!(host.said(&chat), format!("{whole}after"));
        assert_eq!(place.evidence().prompts().len(), 2);
        assert_eq!(place.evidence().pids().len(), 1, "the same agent all along");
        assert_eq!(host.chat(&chat)["offer"], Value::Null);
        host.stop();
    });
}

#[test]
fn a_file_for_which_there_is_no_room_leaves_nothing() {
    let name = "a_file_for_which_there_is_no_room_leaves_nothing";
    with_disk(name, |place, disk| {
        let host = place.start();
        let chat = host.open();
        let path = format!("/api/v1/chats/{chat}/attachments");
        let attach = |bytes: usize| {
            let answer = host.exchange(&host.raw("POST", &path).body(vec![7; bytes]));
            (answer.status, answer.json()["code"].clone())
        };
        let files = || {
            let folders = fs::read_dir(disk.0.join("attachments")).unwrap().flatten();
            folders.map(|dir| fs::read_dir(dir.path()).unwrap().count()).sum::<usize>()
        };
        assert_eq!(attach(1000).0, 201);
        // It is full before the first byte, and in the middle of one that is larger than the disk.
        assert_eq!(attach(20 * 1024 * 1024), (507, json!("storage_full")));
        assert_eq!(files(), 1);
        disk.fill();
        assert_eq!(attach(100_000), (507, json!("storage_full")));
        assert_eq!(files(), 1);
        disk.make_room();
        assert_eq!(attach(100_000).0, 201);
        assert_eq!(files(), 2);
        let all = host.get(&format!("/chats/{chat}/attachments"));
        assert_eq!(all["items"].as_array().unwrap().len(), 2);
        host.stop();
    });
}

/// Sends a message for which there surely is no room.
fn post_large(host: &TestHost<'_>, chat: &str) -> Value {
    let text = "x".repeat(900_000);
    let answer = host.post(&format!("/chats/{chat}/messages"), &json!({ "text": text }));
    assert_eq!(answer.status, 507, "{}", answer.body);
    answer.body
}

#[test]
fn a_stop_on_a_full_disk_and_a_start_on_one_lose_nothing() {
    let name = "a_stop_on_a_full_disk_and_a_start_on_one_lose_nothing";
    with_disk(name, |place, disk| {
        let host = place.start();
        let chat = host.open();
        host.send(&chat, "[[say half]] [[slow 600]]");
        host.wait("the half", || host.said(&chat) == "half");
        disk.fill();
        let waiting = post_until_refused(&host, &chat);
        host.kill_everything();

        // Whatever a host does on a full disk, it says so, and spoils nothing.
        match place.try_start() {
            Ok(host) => {
                assert_eq!(host.said(&chat), "half");
                host.kill();
            }
            Err(status) => assert_eq!(status.code(), Some(1), "{}", place.log()),
        }
        disk.make_room();
        let host = place.start();
        host.wait("the offer", || host.chat(&chat)["offer"]["cause"] == "host_lost");
        assert_eq!(host.said(&chat), "half");
        assert_eq!(queued(&host, &chat), waiting);
        host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
        host.wait("all of them", || host.chat(&chat)["queue_length"] == 0);
        host.wait_shown(&chat, "idle");
        let prompts = place.evidence().prompts();
        assert_eq!(prompts.len(), 2 + waiting.len());
        assert_eq!(prompts[2..], waiting);
        host.stop();
    });
}

/// Uses up the room that is left within the store's files, down to the smallest of writes.
fn use_up(host: &TestHost<'_>, chat: &str) {
    post_until_refused(host, chat);
    for number in 0..POSTS_MAX {
        let body = json!({ "text": number.to_string() });
        let answer = host.call("PUT", &format!("/chats/{chat}/draft"), &body);
        if answer.body["code"] == "storage_full" {
            return;
        }
    }
    panic!("{POSTS_MAX} drafts were taken on a full disk");
}

#[test]
fn a_stop_that_cannot_be_recorded_says_so_at_once_and_stops_no_agent() {
    let name = "a_stop_that_cannot_be_recorded_says_so_at_once_and_stops_no_agent";
    with_disk(name, |place, disk| {
        let host = place.start();
        let (chat, other) = (host.open(), host.open());
        host.post(&format!("/chats/{other}/queue/pause"), &json!({})).ok();
        let message = host.send(&chat, "[[approve ls]] [[say done]]");
        let prompt = host.wait_prompts(&chat, 1).remove(0);
        let agent = agent_pid(place);
        let born = proc::start_time(agent);
        disk.fill();
        use_up(&host, &other);

        let asked = Instant::now();
        let status = host.stop();
        let took = asked.elapsed();
        let log = place.log();
        assert_eq!(status.code(), Some(1), "{log}");
        assert!(took < STOP_MAX, "{took:?}: {log}");
        let said = log.lines().rfind(|line| line.starts_with("holdfast: ")).unwrap_or_default();
        assert!(said.contains("could not be recorded"), "{log}");
        assert!(said.contains("left running under their keepers"), "{log}");
        assert!(proc::is_alive(agent) && place.keepers().len() == 1, "{log}");

        disk.make_room();
        let host = place.start();
        host.wait("the agent", || host.chat(&chat)["status"]["process"] == "running");
        assert_eq!(host.get("/offers")["offers"], json!([]), "it was not stopped");
        host.answer(&chat, &prompt, "allow-once").ok();
        host.wait_message(&chat, &message, "settled");
        assert!(host.said(&chat).ends_with("done"), "{}", host.said(&chat));
        assert_eq!((agent_pid(place), proc::start_time(agent)), (agent, born));
        assert_eq!(place.evidence().pids().len(), 1, "the same agent all along");
        host.stop();
    });
}
