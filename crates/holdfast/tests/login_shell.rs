//! What agents run in: the login shell is asked, whatever it does.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use holdfast_testkit::host::{PATIENCE, Place, TestHost};
use holdfast_testkit::{proc, wait_until};
use serde_json::{Value, json};

/// The bound of the shell, and time for a start beside it.
const CAPTURE_MAX: Duration = Duration::from_secs(9);
/// How long a host that serves first may take until it does.
const SERVES_WITHIN: Duration = Duration::from_secs(4);

/// A place with this script as the person's shell. `$SHELL -l -c QUESTION` is `$0 -l -c "$3"`.
fn place(dir: &tempfile::TempDir, script: &str) -> Place {
    let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path());
    write_shell(&place, script);
    let shell = shell(&place).display().to_string();
    place.env("SHELL", shell)
}

fn shell(place: &Place) -> PathBuf {
    place.root.join("a shell")
}

fn write_shell(place: &Place, script: &str) {
    let path = shell(place);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A turn in a new chat; the agent that took it.
#[track_caller]
fn agent(host: &TestHost<'_>, place: &Place) -> (String, u32) {
    let before = place.evidence().pids();
    let chat = host.open();
    let message = host.send(&chat, "[[say one]]");
    host.wait_message(&chat, &message, "settled");
    let pid = *place.evidence().pids().iter().find(|pid| !before.contains(pid)).unwrap();
    (chat, u32::try_from(pid).unwrap())
}

/// What a process has under this name in its environment.
fn variable(pid: u32, name: &str) -> Option<String> {
    let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    bytes.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

fn shown(host: &TestHost<'_>) -> Value {
    host.get("/agents/demo/environment?values=shown")
}

fn one<'v>(environment: &'v Value, name: &str) -> &'v Value {
    let items = environment["items"].as_array().unwrap();
    items.iter().find(|item| item["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn an_agent_has_what_the_shell_says_and_nothing_of_the_host() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(
        &dir,
        "echo 'Welcome!'; printf 'A=2\\0'\n\
         test \"$1\" = -l && test \"$2\" = -c || exit 9\n\
         export MINE=\"from the shell\" GONE= PATH=\"/from/shell:/usr/bin:/bin\"; unset GONE\n\
         (sleep 1; echo late) & sleep 1; eval \"$3\"",
    )
    .env("GONE", "1")
    .env("KEPT", "2")
    .env("NOTIFY_SOCKET", "/run/n")
    .env("PATH", "/usr/bin:/of/host");
    let host = place.start();
    let (_, pid) = agent(&host, &place);
    assert_eq!(variable(pid, "MINE").as_deref(), Some("from the shell"));
    assert_eq!(variable(pid, "KEPT").as_deref(), Some("2"));
    let path = variable(pid, "PATH");
    assert_eq!(path.as_deref(), Some("/from/shell:/usr/bin:/bin:/of/host"));
    for name in ["GONE", "HOLDFAST_MARK", "HOLDFAST_PROGRAM", "HOLDFAST_SHELL", "NOTIFY_SOCKET"] {
        assert_eq!(variable(pid, name), None, "{name}");
    }
    let told = shown(&host);
    assert_eq!(told["source"], "login_shell");
    assert_eq!(told["shell"], shell(&place).to_str().unwrap());
    assert_eq!(told["note"], Value::Null);
    assert_eq!(
        one(&told, "MINE"),
        &json!({"name": "MINE", "origin": "login_shell", "value": "from the shell"})
    );
    assert_eq!(one(&told, "KEPT")["origin"], "host");
    assert_eq!(one(&told, "PATH")["origin"], "login_shell_and_host");
    let masked = host.get("/agents/demo/environment");
    assert_eq!(one(&masked, "MINE")["value"], Value::Null);
    assert!(!masked.to_string().contains("from the shell"));
    host.stop();
}

#[test]
fn a_shell_that_does_not_answer_costs_a_note_and_no_start() {
    for (what, script, says) in [
        ("it hangs", "trap '' TERM HUP INT; echo never; sleep 600 & sleep 600", "within 5 seconds"),
        ("it ends", "echo 'no such thing' >&2; exit 3", "it ended without an answer"),
        ("it floods", "while :; do echo rubbishrubbishrubbish; done", "it printed more than"),
        ("it garbles", "eval \"$3\" | sed s/HOME=/HOMEHOME=/", "something else was printed"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir, script).env("KEPT", "2");
        let begun = Instant::now();
        let host = place.start();
        assert!(begun.elapsed() < SERVES_WITHIN, "{what}: it serves first");
        assert_eq!(host.get("/chats")["items"], json!([]));
        let (_, pid) = agent(&host, &place);
        assert!(begun.elapsed() < CAPTURE_MAX, "{what}: {:?}", begun.elapsed());
        assert_eq!(variable(pid, "KEPT").as_deref(), Some("2"), "{what}");
        let told = shown(&host);
        assert_eq!(told["source"], "host", "{what}");
        let note = told["note"].as_str().unwrap();
        assert!(note.contains(says), "{what}: {note}");
        if what == "it ends" {
            assert!(note.contains("exit status: 3") && note.contains("no such thing"), "{note}");
        }
        assert!(place.log().contains(says), "{what}: {}", place.log());
        // Nothing of it lives on.
        let mark = shell(&place).display().to_string();
        wait_until(PATIENCE, what, || proc::with_variable("HOLDFAST_SHELL", &mark).is_empty());
        host.stop();
    }
}

#[test]
fn a_shell_that_is_missing_and_one_that_is_not_asked_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir, "eval \"$3\"");
    std::fs::remove_file(shell(&place)).unwrap();
    let host = place.start();
    agent(&host, &place);
    let note = shown(&host)["note"].as_str().unwrap().to_owned();
    assert!(note.contains("a shell was not heard") && note.contains("No such file"), "{note}");
    host.stop();

    let asked = dir.path().join("asked");
    write_shell(&place, &format!("touch {}; eval \"$3\"", asked.display()));
    std::fs::write(place.data_dir().join("config.toml"), "[environment]\nlogin-shell = false\n")
        .unwrap();
    let host = place.start();
    agent(&host, &place);
    assert_eq!(shown(&host)["note"], "environment.login-shell is false.");
    assert!(!asked.exists());
    host.stop();
}

#[test]
fn what_changes_is_there_after_a_refresh_and_the_ssh_agent_for_all() {
    let dir = tempfile::tempdir().unwrap();
    let says =
        |word: &str| format!("export WORD={word} SSH_AUTH_SOCK=/nowhere/{word}; eval \"$3\"");
    let place = place(&dir, &says("one"));
    let host = place.start();
    let (_, first) = agent(&host, &place);
    let link = place.data_dir().join("ssh-agent.sock");
    let aim = || std::fs::read_link(&link).unwrap().display().to_string();
    assert_eq!(variable(first, "WORD").as_deref(), Some("one"));
    assert_eq!(variable(first, "SSH_AUTH_SOCK").as_deref(), link.to_str());
    assert_eq!(aim(), "/nowhere/one");
    assert_eq!(one(&shown(&host), "SSH_AUTH_SOCK")["origin"], "holdfast");

    write_shell(&place, &says("two"));
    let told = host.post("/agents/environment/refresh", &json!({})).ok();
    assert_eq!(told["source"], "login_shell");
    assert_eq!(aim(), "/nowhere/two", "also for the agent that runs");
    let (_, second) = agent(&host, &place);
    assert_eq!(variable(second, "WORD").as_deref(), Some("two"));
    assert_eq!(variable(second, "SSH_AUTH_SOCK").as_deref(), link.to_str());

    // What it said before holds where it does not answer any more.
    write_shell(&place, "exit 3");
    let told = host.post("/agents/environment/refresh", &json!({})).ok();
    assert_eq!(told["source"], "login_shell");
    assert!(told["note"].as_str().unwrap().contains("exit status: 3"), "{told}");
    let (_, third) = agent(&host, &place);
    assert_eq!(variable(third, "WORD").as_deref(), Some("two"));

    // A host that takes its place asks for itself.
    write_shell(&place, &says("three"));
    let generation = host.get("/host")["generation"].as_u64();
    proc::signal(host.pid(), rustix::process::Signal::HUP).unwrap();
    host.wait("the next generation", || {
        let answer = host.request("GET", "/host", None);
        answer.is_some_and(|answer| answer.body["generation"].as_u64() > generation)
    });
    let (_, fourth) = agent(&host, &place);
    assert_eq!(variable(fourth, "WORD").as_deref(), Some("three"));
    assert_eq!(aim(), "/nowhere/three");
    host.stop();
}

#[test]
fn what_a_deleted_chat_left_in_its_temp_directory_goes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir, "eval \"$3\"");
    let host = place.start();
    let ((gone, pid), (kept, other)) = (agent(&host, &place), agent(&host, &place));
    let (_, living) = agent(&host, &place);
    let temp = |pid| PathBuf::from(variable(pid, "TMPDIR").unwrap());
    let (of_gone, of_kept, of_living) = (temp(pid), temp(other), temp(living));
    for dir in [&of_gone, &of_kept] {
        std::fs::create_dir(dir.join("deep")).unwrap();
        std::fs::write(dir.join("deep/file"), "x").unwrap();
    }
    let outside = dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, of_gone.join("link")).unwrap();
    host.request("DELETE", &format!("/chats/{gone}"), None).unwrap().ok();
    host.wait("the end of its temp directory", || !of_gone.exists());
    assert!(outside.exists() && of_kept.join("deep/file").exists());

    // A host that died in between is made up for by the next one.
    host.request("DELETE", &format!("/chats/{kept}"), None).unwrap().ok();
    host.wait("the end of its temp directory", || !of_kept.exists());
    std::fs::create_dir_all(of_kept.join("deep")).unwrap();
    let stranger = of_kept.with_file_name("not-a-chat");
    std::fs::create_dir(&stranger).unwrap();
    host.stop();
    let host = place.start();
    host.wait("the end of what was left", || !of_kept.exists());
    host.stop();
    assert!(stranger.exists() && of_living.exists());
}
