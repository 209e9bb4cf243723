//! The real opencode against the scripted model, driven by raw JSON-RPC: what the host may rely on.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test: helpers may fail it, and it starts real processes"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use holdfast_pinned::OPENCODE;
use holdfast_testkit::acp::{ANSWER_BOUND, Client};
use holdfast_testkit::model::ModelServer;
use holdfast_testkit::opencode::{self, Alone};
use holdfast_testkit::{proc, wait_until};
use serde_json::{Value, json};

const MESSAGE: &str = "agent_message_chunk";

/// One opencode home, and the right to run it.
struct Lab {
    _alone: Alone,
    program: PathBuf,
    scratch: tempfile::TempDir,
}

impl Lab {
    fn new() -> Self {
        let program = opencode::ensure().unwrap_or_else(|error| panic!("{error}"));
        let alone = opencode::alone().unwrap();
        Self { _alone: alone, program, scratch: tempfile::tempdir().unwrap() }
    }

    fn work(&self) -> PathBuf {
        let work = self.scratch.path().join("work");
        fs::create_dir_all(&work).unwrap();
        work
    }

    /// Gives a command the environment and the folder of this home.
    fn dress(&self, command: &mut Command, model_port: u16) {
        let home = opencode::home(&self.scratch.path().join("home"), model_port).unwrap();
        command.envs(home).current_dir(self.work());
    }

    fn start(&self, model: &ModelServer) -> Client {
        let mut command = Command::new(&self.program);
        self.dress(command.arg("acp"), model.port);
        let mut client = Client::start(&mut command);
        let result = client.initialize(json!({}));
        assert_eq!(result["protocolVersion"], 1);
        assert_eq!(result["agentCapabilities"]["loadSession"], true);
        assert_eq!(result["agentInfo"]["version"], OPENCODE.version);
        client
    }
}

fn text_of(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn bash(command: &str) -> String {
    format!("[[tool bash {}]]", json!({ "command": command, "description": "a test" }))
}

fn answer_permission(client: &mut Client, skip: usize, kind: &str) {
    let request = client.wait_after(skip, "a permission request", |message| {
        message["method"] == "session/request_permission"
    });
    let options = request["params"]["options"].as_array().unwrap();
    let option = options.iter().find(|option| option["kind"] == kind).unwrap();
    let outcome = json!({ "outcome": "selected", "optionId": option["optionId"] });
    client.answer(&request["id"], json!({ "outcome": outcome }));
}

fn last_update_of_call(client: &Client, skip: usize) -> Value {
    client.updates_after(skip, "tool_call_update").pop().unwrap()
}

#[test]
fn it_talks_runs_what_is_allowed_and_stops_when_cancelled() {
    let lab = Lab::new();
    let model = ModelServer::start();
    let mut client = lab.start(&model);
    let work = lab.work();
    let session = client.new_session(text_of(&work));

    // A plain turn: streamed, and the model saw the text.
    assert_eq!(client.turn(&session, "[[say one two three]]"), "end_turn");
    assert_eq!(client.text_after(0, MESSAGE), "one two three");
    let turns = model.turns();
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].last_user_text(), "[[say one two three]]");

    // A tool that is allowed runs, and its result goes to the model.
    let before = client.heard_count();
    let turn = client.prompt(&session, &bash("echo hi > f.txt; cat f.txt"));
    answer_permission(&mut client, before, "allow_once");
    assert_eq!(client.reply(turn).unwrap()["stopReason"], "end_turn");
    assert_eq!(last_update_of_call(&client, before)["status"], "completed");
    assert_eq!(client.text_after(before, MESSAGE), "tool done: hi");
    assert_eq!(fs::read_to_string(work.join("f.txt")).unwrap(), "hi\n");

    // One that is rejected does not run, and the model is not asked again.
    let before = client.heard_count();
    let asked = model.turns().len();
    let turn = client.prompt(&session, &bash("touch nope.txt"));
    answer_permission(&mut client, before, "reject_once");
    assert_eq!(client.reply(turn).unwrap()["stopReason"], "end_turn");
    assert_eq!(last_update_of_call(&client, before)["status"], "failed");
    assert!(!work.join("nope.txt").exists());
    assert_eq!(model.turns().len(), asked + 1);

    // A cancel ends the stream, and the session goes on.
    let before = client.heard_count();
    let turn = client.prompt(&session, "[[slow-stream 100000 20]]");
    wait_until(ANSWER_BOUND, "the first chunk", || {
        client.text_after(before, MESSAGE).contains("chunk 1")
    });
    client.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(client.reply(turn).unwrap()["stopReason"], "cancelled");
    assert_eq!(client.turn(&session, "[[say still here]]"), "end_turn");
    client.close_stdin();
    client.wait_exit();
}

#[test]
fn a_killed_one_knows_its_session_again() {
    let lab = Lab::new();
    let model = ModelServer::start();
    let work = lab.work();
    let mut client = lab.start(&model);
    let session = client.new_session(text_of(&work));
    client.turn(&session, "remember this [[say I remember]]");
    client.prompt(&session, "cut short [[say half]] [[hang 600]]");
    wait_until(ANSWER_BOUND, "the half", || client.text_after(0, MESSAGE).ends_with("half"));
    let pid = client.pid();
    client.kill_9();
    assert!(!proc::is_alive(pid));

    let mut client = lab.start(&model);
    let load = client.request(
        "session/load",
        json!({ "sessionId": session, "cwd": text_of(&work), "mcpServers": [] }),
    );
    client.reply(load).unwrap();
    let messages = client.messages();
    let reply = messages.iter().position(|message| message["id"] == json!(load)).unwrap();
    let replayed: Vec<_> = messages[..reply]
        .iter()
        .map(|message| &message["params"]["update"])
        .filter(|update| update["sessionUpdate"] == "user_message_chunk")
        .map(|update| update["content"]["text"].as_str().unwrap().to_owned())
        .collect();
    let sent = ["remember this [[say I remember]]", "cut short [[say half]] [[hang 600]]"];
    assert_eq!(replayed, sent);

    // It goes on with its whole history: the model is told what it was told before.
    let before = client.heard_count();
    assert_eq!(client.turn(&session, "and now?"), "end_turn");
    assert_eq!(client.text_after(before, MESSAGE), "You said: and now?");
    let told = model.turns().pop().unwrap().texts("user");
    assert_eq!(told, [sent[0], sent[1], "and now?"]);
}

/// The port of the model inside the network namespace, where nothing else can have it.
const PORT_INSIDE: u16 = 18080;

/// Runs the model and, in the shell's own place, opencode under strace. The model is started from a
/// subshell: strace would wait for a child that it inherits.
const INSIDE: &str = r#"
ip link set lo up
(
    "$MODEL" --port "$PORT" >"$SCRATCH/ready" </dev/null &
    echo $! >"$SCRATCH/model.pid"
)
exec strace -f -qq -e trace=connect -o "$SCRATCH/strace" "$OPENCODE" acp
"#;

/// Ends the model of the namespace, however the test ends.
struct ModelInside(PathBuf);

impl Drop for ModelInside {
    fn drop(&mut self) {
        let pid = fs::read_to_string(&self.0).ok().and_then(|pid| pid.trim().parse().ok());
        if let Some(pid) = pid {
            drop(proc::kill_9(pid));
        }
    }
}

#[test]
fn it_needs_and_asks_nothing_but_loopback() {
    let lab = Lab::new();
    let scratch = lab.scratch.path();
    let work = lab.work();
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--net", "/bin/sh", "-ec", INSIDE]);
    lab.dress(&mut command, PORT_INSIDE);
    command
        .env("MODEL", env!("CARGO_BIN_EXE_scripted-model"))
        .env("PORT", PORT_INSIDE.to_string())
        .env("SCRATCH", scratch)
        .env("OPENCODE", &lab.program);
    let _model = ModelInside(scratch.join("model.pid"));
    let mut client = Client::start(&mut command);
    client.initialize(json!({}));
    wait_until(ANSWER_BOUND, "the model", || {
        fs::read_to_string(scratch.join("ready")).is_ok_and(|ready| ready.contains("ready"))
    });
    let session = client.new_session(text_of(&work));
    assert_eq!(client.turn(&session, "[[say alone]]"), "end_turn");
    assert_eq!(client.text_after(0, MESSAGE), "alone");
    client.close_stdin();
    client.wait_exit();

    let strace = fs::read_to_string(scratch.join("strace")).unwrap();
    let network: Vec<_> = strace.lines().filter(|line| line.contains("AF_INET")).collect();
    assert!(!network.is_empty(), "strace saw the connection to the model");
    for line in network {
        let loopback = line.contains("inet_addr(\"127.") || line.contains("\"::1\"");
        assert!(loopback, "not loopback: {line}");
    }
}

#[test]
fn an_install_that_is_there_is_left_alone_and_one_that_cannot_be_made_is_an_error() {
    let first = opencode::ensure().unwrap_or_else(|error| panic!("{error}"));
    let installed = fs::metadata(&first).unwrap().modified().unwrap();
    let second = opencode::ensure().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(first, second);
    assert_eq!(fs::metadata(&second).unwrap().modified().unwrap(), installed);

    let scratch = tempfile::tempdir().unwrap();
    let blocked = scratch.path().join("file");
    fs::write(&blocked, "").unwrap();
    let error = OPENCODE.ensure_in(&blocked.join("opencode")).unwrap_err();
    assert!(error.to_string().starts_with("installing opencode into"), "{error}");
}
