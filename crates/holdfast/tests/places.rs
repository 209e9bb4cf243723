//! Where a host and its agents live: odd and vanished directories, data that is another user's or
//! read-only, and what nobody else may read.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::proc;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Nobody in particular.
const NOBODY: u32 = 65534;

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

fn open_in(host: &TestHost<'_>, cwd: &str) -> String {
    let row = host.post("/chats", &json!({ "agent": "demo", "cwd": cwd })).ok();
    row["id"].as_str().unwrap().to_owned()
}

#[track_caller]
fn turn(host: &TestHost<'_>, chat: &str, text: &str) {
    let message = host.send(chat, text);
    host.wait_message(chat, &message, "settled");
}

fn text_of(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The directories in which the agents of a place work.
fn agents_cwds(place: &Place) -> Vec<PathBuf> {
    let agents = place.keepers().into_iter().flat_map(proc::children);
    agents.map(|pid| fs::read_link(format!("/proc/{pid}/cwd")).unwrap()).collect()
}

#[test]
fn an_agent_works_in_a_directory_of_any_name() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let work = fs::canonicalize(place.work_dir()).unwrap();
    for name in [
        "with space",
        "crab \u{1f980} \u{e9}",
        "quo'te\"s",
        "new\nline",
        "$HOME;`x`",
        "-rf",
        "a\\b",
    ] {
        let real = work.join(name);
        fs::create_dir(&real).unwrap();
        let chat = open_in(&host, text_of(&real));
        turn(&host, &chat, "[[say here]]");
        assert_eq!(host.chat(&chat)["cwd"], text_of(&real));
        assert_eq!(agents_cwds(&place), [real], "{name:?}");
        // Also after a kill of everything: what is recorded is where it goes on.
        host.post(&format!("/chats/{chat}/close"), &json!({})).ok();
        host.wait("the agent's end", || place.processes().is_empty());
    }

    // What leads to a directory by another spelling is recorded as the directory itself.
    let (real, link) = (work.join("real"), work.join("link"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    let spellings =
        [text_of(&link), &format!("{}/", text_of(&real)), &format!("{}/./../real", text_of(&real))];
    let chats = spellings.map(|cwd| open_in(&host, cwd));
    for chat in &chats {
        assert_eq!(host.chat(chat)["cwd"], text_of(&real));
    }
    turn(&host, &chats[0], "[[say one]]");
    host.kill_everything();
    // The link leads elsewhere now: the chat stays where it was.
    fs::remove_file(&link).unwrap();
    symlink(&work, &link).unwrap();
    let host = place.start();
    turn(&host, &chats[0], "[[say two]]");
    assert_eq!(agents_cwds(&place), [real]);
    assert_eq!(host.said(&chats[0]), "onetwo");

    for (cwd, says) in [
        (work.join("none"), "cwd"),
        (place.root.join("host.log"), "cwd"),
        (PathBuf::from("/proc/self/mem"), "cwd"),
    ] {
        let body = json!({ "agent": "demo", "cwd": text_of(&cwd) });
        let answer = host.post("/chats", &body);
        assert_eq!((answer.status, &answer.body["field"]), (400, &json!(says)), "{}", answer.body);
    }
    host.stop();
}

#[test]
fn a_directory_that_is_gone_is_a_failure_that_can_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let work = place.work_dir().join("here");
    fs::create_dir(&work).unwrap();
    let chat = open_in(&host, text_of(&work));
    turn(&host, &chat, "[[say one]]");
    host.kill_everything();
    let away = place.work_dir().join("away");
    fs::rename(&work, &away).unwrap();

    let host = place.start();
    let message = host.send(&chat, "[[say two]]");
    host.wait_shown(&chat, "to_check");
    let failures = host.get("/offers")["failures"].as_array().unwrap().clone();
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0]["code"], "directory_gone");
    assert_eq!(failures[0]["chat"], chat.as_str());
    let actions = failures[0]["actions"].as_array().unwrap();
    assert!(actions.contains(&json!("retry")), "{actions:?}");
    let queue = host.get(&format!("/chats/{chat}/queue"));
    assert_eq!(queue["items"][0]["message"], message.as_str(), "it waits");
    assert_eq!(
        (&queue["paused"], queue["items"][0]["state"].as_str()),
        (&json!(true), Some("queued"))
    );
    assert_eq!(host.get("/host")["counts"]["to_check"], 1);

    // Trying again without it files it again; nothing was started, nothing is lost.
    let answer = host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
    assert_eq!(answer["results"][0]["outcome"], "pending", "{answer}");
    host.wait_shown(&chat, "to_check");
    assert_eq!(place.evidence().prompts().len(), 1);
    assert_eq!(place.processes(), [0; 0]);

    fs::rename(&away, &work).unwrap();
    host.post("/offers/resume", &json!({ "chats": [chat] })).ok();
    host.wait_message(&chat, &message, "settled");
    assert_eq!(host.said(&chat), "onetwo");
    assert_eq!(host.get("/offers")["failures"], json!([]));
    assert_eq!(place.evidence().seen("[[say two]]"), 1);
    host.stop();
}

/// Everything below a directory that somebody else could read, write or enter.
fn open_to_others(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut paths = vec![dir.to_owned()];
    while let Some(path) = paths.pop() {
        let Ok(data) = fs::symlink_metadata(&path) else { continue };
        let mode = data.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 && !data.is_symlink() {
            found.push(format!("{} {mode:o}", path.display()));
        }
        if data.is_dir() {
            paths.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()));
        }
    }
    found
}

/// Starts a host whose umask lets everybody in, as a careless one does.
fn careless(place: &Place) -> PathBuf {
    let script = place.root.join("careless");
    let text = format!("#!/bin/sh\numask 000\nexec '{}' \"$@\"\n", place.program.display());
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    script
}

#[test]
fn nobody_else_can_read_what_is_below_the_data_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    place.program = careless(&place);
    let host = place.start();
    let chat = host.open();
    turn(&host, &chat, "[[output 300000]] [[say one]] [[monitor 600 Watch]]");
    host.request("PUT", &format!("/chats/{chat}/draft"), Some(&json!({ "text": "a" })))
        .unwrap()
        .ok();
    assert!(!place.keepers().is_empty());
    assert_eq!(open_to_others(&place.data_dir()), [""; 0], "while an agent lives");
    host.kill_everything();
    assert_eq!(open_to_others(&place.data_dir()), [""; 0], "after a kill");
    let host = place.start();
    host.wait("the offer", || host.chat(&chat)["offer"] != Value::Null);
    host.stop();
    assert_eq!(open_to_others(&place.data_dir()), [""; 0], "after a stop");
}

#[test]
fn no_secret_is_in_an_argument_or_an_environment_and_nothing_of_the_hosts_reaches_an_agent() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir)
        .env("HOLDFAST_FAULT", "host.stop.committed:1000000")
        .env("HOLDFAST_DATA_DIR", "/nonexistent")
        .env("HOLDFAST_LOG", "debug")
        .env("HOLDFAST_TOKEN", "of somebody else")
        .env("HOLDFAST_ATTEMPT", "of somebody else");
    let host = place.start();
    let chat = host.open();
    turn(&host, &chat, "[[fork]] [[say one]]");
    let keepers = place.keepers();
    let agents: Vec<u32> = keepers.iter().flat_map(|keeper| proc::children(*keeper)).collect();
    let all = place.processes();
    // The grandchild was adopted by the keeper, as is whatever outlives its parent.
    assert!(all.len() == 2 && agents == all, "{agents:?} of {all:?}");
    let attempt = &place.attempts()[0];
    for pid in keepers.iter().chain(&all) {
        for text in proc::arguments(*pid).into_iter().chain(proc::environment(*pid)) {
            assert!(!text.contains(&host.token), "the token: {text}");
            assert!(!has_secret(&text, [attempt, &chat]), "a secret: {text}");
        }
    }
    for pid in &all {
        let own: Vec<String> = proc::environment(*pid)
            .into_iter()
            .filter(|text| text.starts_with("HOLDFAST_") && !text.starts_with("HOLDFAST_DEMO_"))
            .collect();
        assert_eq!(own, [format!("HOLDFAST_ATTEMPT={attempt}")]);
    }
    for pid in keepers {
        let own = proc::environment(pid);
        let named = |name: &str| own.iter().any(|text| text.starts_with(name));
        assert!(!named("HOLDFAST_FAULT=host"), "a point of the host's is not the keeper's");
    }
    host.stop();
}

/// Whether a text has a run of digits as long as a secret is, that is none of these names.
fn has_secret(text: &str, names: [&str; 2]) -> bool {
    let text = names.iter().fold(text.to_owned(), |text, name| text.replace(name, ""));
    text.split(|c: char| !c.is_ascii_hexdigit()).any(|run| run.len() >= 32)
}

/// The program, where anybody may run it.
fn for_anybody(place: &Place) -> PathBuf {
    fs::set_permissions(&place.root, Permissions::from_mode(0o755)).unwrap();
    let program = place.root.join("holdfast");
    // By another process: a descriptor open for writing here could be inherited by what another test
    // starts just then, and what is open for writing cannot be run.
    let copied = Command::new("cp").arg(&place.program).arg(&program).status().unwrap();
    assert!(copied.success());
    fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    program
}

/// A command that is no superuser's, whoever runs the test: permissions mean nothing to one.
fn unprivileged(program: &Path) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
    let mut command = Command::new("setpriv");
    command.args(ids).arg("--clear-groups").arg(program);
    command
}

fn serve_unprivileged(place: &Place, data: &Path) -> Output {
    let program = for_anybody(place);
    let mut command = unprivileged(&program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--data-dir"]).arg(data);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &place.root);
    command.stdin(Stdio::null()).output().unwrap()
}

fn own(path: &Path, mode: u32) {
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn data_that_cannot_be_written_is_said_in_one_sentence() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    // A directory in which nothing may be made, one of somebody else, and a file in its place.
    let read_only = place.root.join("read-only");
    fs::create_dir(&read_only).unwrap();
    own(&read_only, 0o500);
    let below = read_only.join("data");
    let file = place.root.join("file");
    fs::write(&file, "not a directory").unwrap();
    own(&file, 0o600);
    let mut cases = vec![read_only.clone(), below, file];
    if rustix::process::geteuid().is_root() {
        let others = place.root.join("others");
        fs::create_dir(&others).unwrap();
        fs::set_permissions(&others, Permissions::from_mode(0o700)).unwrap();
        cases.push(others);
    }
    for data in cases {
        let output = serve_unprivileged(&place, &data);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{}: {words}", data.display());
        assert_eq!(words.trim_end().lines().count(), 1, "one sentence: {words}");
        assert!(words.starts_with("holdfast: "), "{words}");
        assert!(words.contains(text_of(&data)), "it names what cannot be used: {words}");
        assert_eq!(output.stdout, b"");
    }
    assert_eq!(fs::read_dir(&read_only).unwrap().count(), 0, "nothing was made");
    own(&read_only, 0o700);
}

#[test]
fn a_host_needs_no_privilege() {
    use std::io::{BufRead, BufReader};
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    place.program = for_anybody(&place);
    for below in ["work", "home", "demo"] {
        own(&place.root.join(below), 0o700);
    }
    let (data, evidence) = (place.data_dir(), place.evidence());
    fs::create_dir(&data).unwrap();
    own(&data, 0o700);
    fs::write(evidence.path(), "").unwrap();
    own(evidence.path(), 0o600);
    let mut command = unprivileged(&place.program);
    let plain = place.command();
    command.args(plain.get_args()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: Value = serde_json::from_str(&line).unwrap();
    let host = TestHost::attached(&place, child, &ready);
    let chat = host.open();
    turn(&host, &chat, "[[say one]]");
    assert_eq!(host.said(&chat), "one");
    proc::signal(host.pid(), Signal::TERM).unwrap();
    assert_eq!(host.wait_end().code(), Some(0));
}
