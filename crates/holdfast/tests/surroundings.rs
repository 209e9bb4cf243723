//! Starting and stopping beside others: a second host, a taken port, signals, a kill in the middle
//! of a start.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime};

use holdfast_testkit::host::{PATIENCE, Place, TestHost};
use holdfast_testkit::{proc, scenario, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// How long a refused start may take.
const REFUSAL_MAX: Duration = Duration::from_secs(1);
/// How long a stop in order may take.
const STOP_MAX: Duration = Duration::from_secs(15);
/// How long an end at once may take: less than agents have from TERM to KILL.
const AT_ONCE_MAX: Duration = Duration::from_secs(2);

fn place(dir: &tempfile::TempDir) -> Place {
    Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path())
}

/// Runs `serve` with these arguments until it ends, which has to be soon.
fn refused(place: &Place, args: &[&str]) -> Output {
    let begun = Instant::now();
    let mut command = Command::new(&place.program);
    command.arg("serve").args(args).arg("--data-dir").arg(place.data_dir());
    command.env_clear().env("HOME", place.root.join("home")).stdin(Stdio::null());
    let output = command.output().unwrap();
    assert!(begun.elapsed() < REFUSAL_MAX, "it took {:?}", begun.elapsed());
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Every file below a directory, with its size and the time it was last written.
fn listing(dir: &Path) -> BTreeMap<String, (u64, Option<SystemTime>)> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let data = entry.metadata().unwrap();
            if data.is_dir() {
                dirs.push(entry.path());
            }
            let path = entry.path().to_string_lossy().into_owned();
            found.insert(path, (data.len(), data.modified().ok()));
        }
    }
    found
}

#[track_caller]
fn turn(host: &TestHost<'_>, chat: &str, text: &str) {
    let message = host.send(chat, text);
    host.wait_message(chat, &message, "settled");
}

/// What a host prints for a person can be copied into another terminal as it stands.
#[test]
fn what_a_host_says_to_call_it_with_works() {
    let dir = tempfile::tempdir().unwrap();
    let mut place = place(&dir);
    place.root = dir.path().join("it's here");
    std::fs::create_dir(&place.root).unwrap();
    let mut command = Command::new(&place.program);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(place.data_dir());
    command.env_clear().env("HOME", place.root.join("home")).env("PATH", "/usr/bin:/bin");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut line = |with: &str| told.by_ref().map(Result::unwrap).find(|line| line.contains(with));
    let shell = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).env_clear().env("HOME", place.root.join("elsewhere"));
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(shell(&line("holdfast chat new").unwrap()).contains("Hello"));
    let endpoint = std::fs::read(place.data_dir().join("endpoint.json")).unwrap();
    let endpoint: Value = serde_json::from_slice(&endpoint).unwrap();
    assert_eq!(shell(&line("holdfast token").unwrap()).trim(), endpoint["token"]);
    proc::signal(child.id(), Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_second_host_on_the_same_data_is_refused_and_the_first_is_unharmed() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    turn(&host, &chat, "[[say one]]");
    let before = listing(&place.data_dir());
    let (url, pid) = (host.url.clone(), host.pid());
    for listen in ["127.0.0.1:0", url.strip_prefix("http://").unwrap()] {
        let output = refused(&place, &["--listen", listen, "--json"]);
        assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
        let words = stderr(&output);
        assert!(words.contains(&pid.to_string()) && words.contains(&url), "{words}");
        assert!(words.contains("holdfast stop") && words.contains("holdfast restart"), "{words}");
        assert_eq!(output.stdout, b"", "it never was ready");
        assert_eq!(words.trim_end().lines().count(), 1, "one sentence: {words}");
    }
    assert_eq!(listing(&place.data_dir()), before, "nothing was touched");
    turn(&host, &chat, "[[say two]]");
    assert_eq!(host.said(&chat), "onetwo");
    assert_eq!(place.evidence().pids().len(), 1);
    host.stop();
}

#[test]
fn a_taken_port_is_said_and_no_data_is_touched() {
    let (fresh, used) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (fresh, used) = (place(&fresh), place(&used));
    let host = used.start();
    let chat = host.open();
    turn(&host, &chat, "[[say one]]");
    host.stop();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for place in [&fresh, &used] {
        let before = listing(&place.data_dir());
        let output = refused(place, &["--listen", &address]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(&address), "{}", stderr(&output));
        assert!(stderr(&output).contains("--listen 127.0.0.1:0"), "{}", stderr(&output));
        assert_eq!(listing(&place.data_dir()), before);
    }
    assert!(!fresh.data_dir().exists());
    assert_eq!(used.start().said(&chat), "one");
}

#[test]
fn wrong_arguments_and_a_wrong_configuration_are_usage() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let config = dir.path().join("wrong.toml");
    std::fs::write(&config, "[idle]\nrelease-minuts = 3\n").unwrap();
    let config = config.to_str().unwrap();
    let none = dir.path().join("none.toml");
    for (args, says) in [
        (vec!["--listen", "nowhere"], "nowhere"),
        (vec!["--liste", "127.0.0.1:0"], "--listen"),
        (vec!["--config", config], "release-minuts"),
        (vec!["--config", none.to_str().unwrap()], "none.toml"),
        (vec!["--store", "oracle"], "oracle"),
    ] {
        let output = refused(&place, &args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
        assert!(!place.data_dir().exists(), "{args:?}");
    }
}

#[test]
fn a_stop_is_over_in_time_though_nothing_of_the_agent_wants_to_end() {
    for signal in [Signal::TERM, Signal::INT] {
        let dir = tempfile::tempdir().unwrap();
        let place = place(&dir);
        let host = place.start();
        let chat = host.open();
        host.send(&chat, "[[fork]] [[slow 600]]");
        host.wait("the grandchild", || host.said(&chat).starts_with("forked"));
        assert!(place.processes().len() >= 2, "{:?}", place.processes());
        let begun = Instant::now();
        proc::signal(host.pid(), signal).unwrap();
        let status = host.wait_end();
        assert_eq!(status.code(), Some(0), "{}", place.log());
        assert!(begun.elapsed() < STOP_MAX, "{:?}", begun.elapsed());
        assert_eq!(place.processes(), [0; 0]);
        assert_eq!(place.keepers(), [0; 0]);
        let host = place.start();
        let offers = scenario::offers(&host);
        assert_eq!(offers.len(), 1);
        assert_eq!(offers[0]["cause"], "quit");
        host.stop();
    }
}

#[test]
fn a_second_signal_ends_it_at_once_and_the_next_host_finishes_the_stop() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    host.send(&chat, "[[fork]] [[slow 600]]");
    host.wait("the grandchild", || place.processes().len() >= 2);
    proc::signal(host.pid(), Signal::TERM).unwrap();
    // The stop is committed; the grandchild that ignores it holds it up for seconds.
    host.wait("the stop to be under way", || {
        let row = host.request("GET", &format!("/chats/{chat}"), None);
        row.is_some_and(|row| row.body["status"]["process"] == "stopping")
    });
    let begun = Instant::now();
    proc::signal(host.pid(), Signal::TERM).unwrap();
    host.wait_end();
    assert!(begun.elapsed() < AT_ONCE_MAX, "{:?}", begun.elapsed());
    let host = place.start();
    host.wait("the offer", || scenario::offers(&host).len() == 1);
    assert_eq!(scenario::offers(&host)[0]["cause"], "quit");
    host.wait("the death of everything", || place.processes().is_empty());
    host.stop();
}

#[test]
fn a_hangup_replaces_the_host_and_keeps_the_agents() {
    const LINES: usize = 150;
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    let chat = host.open();
    let message = host.send(&chat, &format!("[[stream {LINES} 20]]"));
    host.wait("the middle of the stream", || host.said(&chat).lines().count() > LINES / 4);
    let agents = place.processes();
    let generation = host.generation;
    proc::signal(host.pid(), Signal::HUP).unwrap();
    // The same process, address and token; another generation.
    host.wait("the next generation", || {
        let answer = host.request("GET", "/host", None);
        answer.is_some_and(|answer| answer.body["generation"].as_u64() > Some(generation))
    });
    host.wait_message(&chat, &message, "settled");
    assert_eq!(place.processes(), agents, "no agent was stopped or started");
    assert_eq!(host.said(&chat), place.evidence().text_written());
    assert_eq!(host.said(&chat).lines().count(), LINES);
    assert_eq!(place.evidence().prompts().len(), 1);
    assert_eq!(host.chat(&chat)["offer"], Value::Null);
    let endpoint: Value =
        serde_json::from_slice(&std::fs::read(place.data_dir().join("endpoint.json")).unwrap())
            .unwrap();
    assert_eq!(endpoint["token"], host.token.as_str());
    assert_eq!(endpoint["url"], host.url.as_str());
    assert_eq!(endpoint["pid"], host.pid());

    // The same by a call, twice in a row.
    for _ in 0..2 {
        let generation = host.get("/host")["generation"].as_u64();
        host.post("/host/restart", &json!({})).ok();
        host.wait("the next generation", || {
            let answer = host.request("GET", "/host", None);
            answer.is_some_and(|answer| answer.body["generation"].as_u64() > generation)
        });
    }
    turn(&host, &chat, "[[say and on]]");
    assert_eq!(place.processes(), agents);
    assert!(host.stop().success());
}

#[test]
fn a_start_that_is_killed_anywhere_stands_in_nobodys_way() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let mut sent = 0;
    // First on nothing, then beside what the rounds before have left; each a look later.
    for round in 0..2 {
        for looks in 0..25 {
            let mut child = place.command().spawn().unwrap();
            let mut looked = 0;
            wait_until(PATIENCE, "the moment of the kill", || {
                looked += 1;
                looked > looks || child.try_wait().unwrap().is_some()
            });
            proc::kill_9(child.id()).unwrap();
            child.wait().unwrap();
            if round == 0 && looks % 5 == 0 {
                // Nothing yet, or all of it: never half a host.
                place.start().stop();
            }
        }
        let host = place.start();
        let chat = host.open();
        turn(&host, &chat, "[[say one]]");
        sent += 1;
        host.kill_everything();
    }
    let host = place.start();
    assert_eq!(host.get("/chats")["items"].as_array().unwrap().len(), sent);
    assert_eq!(place.evidence().prompts().len(), sent);
    assert_eq!(host.get("/host")["damage"], json!([]));
    host.stop();
}

#[test]
fn a_stale_lock_and_a_recycled_pid_block_no_start() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let host = place.start();
    host.kill();
    // What the dead host left names a process that lives: this one.
    let endpoint = place.data_dir().join("endpoint.json");
    let mut told: Value = serde_json::from_slice(&std::fs::read(&endpoint).unwrap()).unwrap();
    told["pid"] = json!(std::process::id());
    std::fs::write(&endpoint, told.to_string()).unwrap();
    let host = place.start();
    assert!(proc::is_alive(std::process::id()));
    host.stop();
    // Nor does one that cannot be read.
    std::fs::write(&endpoint, b"\xff{").unwrap();
    place.start().stop();
}

#[test]
fn a_host_that_nobody_listens_to_lives_on() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let mut command = place.command();
    let mut child = command.stderr(Stdio::piped()).env("HOLDFAST_LOG", "trace").spawn().unwrap();
    drop(child.stderr.take());
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let mut host = TestHost::attached(&place, child, &serde_json::from_str(&line).unwrap());
    let chat = host.open();
    host.send(&chat, "[[say one]] [[die]]");
    host.wait("the offer", || host.get("/host")["counts"]["to_resume"] == 1);
    assert!(host.is_running(), "it lives");
    assert!(host.stop().success());
}

#[test]
fn a_message_right_after_a_start_is_not_given_to_the_dead() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let mut host = place.start();
    let chats: Vec<String> = (0..3).map(|_| host.open()).collect();
    for round in 0..5 {
        for chat in &chats {
            turn(&host, chat, &format!("[[say {round}]]"));
        }
        host.kill_everything();
        host = place.start();
    }
    for chat in &chats {
        turn(&host, chat, "[[say end]]");
        assert_eq!(host.said(chat), "01234end");
        assert_eq!(host.chat(chat)["offer"], Value::Null, "it was idle whenever it was stopped");
    }
    assert_eq!(place.evidence().prompts().len(), 3 * 6);
    host.stop();
}
