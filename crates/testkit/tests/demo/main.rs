//! The built-in demo agent as a real process.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: helpers may fail it, and it measures real time and starts real processes"
)]

mod carry_on;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use holdfast_testkit::acp::{ANSWER_BOUND, Client};
use holdfast_testkit::{proc, wait_until};
use serde_json::{Value, json};

const MESSAGE: &str = "agent_message_chunk";
const THOUGHT: &str = "agent_thought_chunk";
const USER: &str = "user_message_chunk";

/// A folder for one agent: its sessions and its evidence.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("log")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_demo-agent"));
        command.env("HOLDFAST_DEMO_DIR", self.dir.path().join("state"));
        command.env("HOLDFAST_DEMO_LOG", self.log());
        command
    }

    /// An agent that is initialized, without forms.
    fn agent(&self) -> Client {
        let mut client = Client::start(&mut self.command());
        client.initialize(json!({}));
        client
    }

    fn evidence(&self) -> Vec<Value> {
        read_evidence(&self.log())
    }

    fn evidence_with(&self, key: &str) -> Vec<Value> {
        self.evidence().into_iter().filter(|event| event.get(key).is_some()).collect()
    }
}

fn read_evidence(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn started() -> (Place, Client, String) {
    let place = Place::new();
    let mut client = place.agent();
    let session = client.new_session("/");
    told_commands(&client);
    (place, client, session)
}

/// Waits until the session's commands are told, which they are once, after its reply.
fn told_commands(client: &Client) {
    wait_until(ANSWER_BOUND, "the commands", || {
        client.updates_after(0, "available_commands_update").len() == 1
    });
    let told = &client.updates_after(0, "available_commands_update")[0]["availableCommands"];
    let names: Vec<&str> =
        told.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["count", "say"]);
}

#[test]
fn its_commands_do_what_they_say() {
    let (_place, mut client, session) = started();
    assert_eq!(answer(&mut client, &session, "/count"), "1");
    assert_eq!(answer(&mut client, &session, "/say good morning"), "good morning");
    assert_eq!(answer(&mut client, &session, " /count "), "3");
    assert_eq!(answer(&mut client, &session, "/other"), "/other");
    assert_eq!(answer(&mut client, &session, "/counter"), "/counter");
}

/// The text that the agent answers to one prompt, as one string.
fn answer(client: &mut Client, session: &str, text: &str) -> String {
    let before = client.heard_count();
    assert_eq!(client.turn(session, text), "end_turn");
    client.text_after(before, MESSAGE)
}

fn permission(client: &Client, skip: usize) -> Value {
    client.wait_after(skip, "a permission request", |message| {
        message["method"] == "session/request_permission"
    })
}

fn select(client: &mut Client, request: &Value, kind: &str) {
    let options = request["params"]["options"].as_array().unwrap();
    let option = options.iter().find(|option| option["kind"] == kind).unwrap();
    let outcome = json!({ "outcome": "selected", "optionId": option["optionId"] });
    client.answer(&request["id"], json!({ "outcome": outcome }));
}

fn task_state(message: &Value, state: &str) -> bool {
    message["method"] == "_holdfast/task" && message["params"]["state"] == state
}

#[test]
fn it_tells_its_capabilities() {
    let place = Place::new();
    let mut client = Client::start(&mut place.command());
    let result = client.initialize(json!({}));
    assert_eq!(result["protocolVersion"], 1);
    assert_eq!(result["agentCapabilities"]["loadSession"], true);
    for capability in ["resume", "list", "close"] {
        assert!(result["agentCapabilities"]["sessionCapabilities"][capability].is_object());
    }
}

#[test]
fn plain_text_is_echoed_in_several_chunks_of_one_message() {
    let (_place, mut client, session) = started();
    let text = "Grüße, 👩‍👩‍👧‍👧 and more";
    assert_eq!(answer(&mut client, &session, text), text);
    let chunks = client.updates_after(0, MESSAGE);
    assert!(chunks.len() > 1);
    assert!(chunks.iter().all(|chunk| chunk["messageId"] == chunks[0]["messageId"]));
    assert_eq!(answer(&mut client, &session, "see [[Page]]"), "see [[Page]]");
}

#[test]
fn directives_are_done_in_order_and_context_is_not_obeyed() {
    let (_place, mut client, session) = started();
    assert_eq!(answer(&mut client, &session, "[[say one]] x [[say two]]"), "onetwo");
    let framed = "For you:\n[Background context from \"ci\"]\n[[die]]\n\
                  [End of background context]\n";
    let own = format!("{framed}[[prompt]]");
    assert_eq!(answer(&mut client, &session, &own), own);
    assert_eq!(answer(&mut client, &session, &format!("{framed}hello")), "hello");
    let before = client.heard_count();
    client.turn(&session, "[[think hm hm]] [[plan a|b]] [[title The title]]");
    assert_eq!(client.text_after(before, THOUGHT), "hm hm");
    let plans = client.updates_after(before, "plan");
    assert_eq!(plans[0]["entries"][0]["status"], "in_progress");
    assert_eq!(plans[1]["entries"][1]["status"], "completed");
    let infos = client.updates_after(before, "session_info_update");
    assert_eq!(infos[0]["title"], "The title");
}

#[test]
fn what_cannot_be_understood_is_said() {
    let (_place, mut client, session) = started();
    let said = answer(&mut client, &session, "[[slow much]] [[say on]]");
    assert_eq!(said, "Not understood: \"slow much\"; expected: slow SECONDS.on");
}

#[test]
fn an_approval_runs_once_allowed_and_always_is_remembered() {
    let (place, mut client, session) = started();
    for (kind, status, said) in [
        ("allow_once", "completed", "Allowed: make all"),
        ("reject_once", "failed", "Rejected: make all"),
        ("allow_always", "completed", "Allowed: make all"),
    ] {
        let before = client.heard_count();
        let turn = client.prompt(&session, "[[approve make all]]");
        let request = permission(&client, before);
        assert_eq!(request["params"]["toolCall"]["title"], "make all");
        select(&mut client, &request, kind);
        assert_eq!(client.reply(turn).unwrap()["stopReason"], "end_turn");
        let call = &client.updates_after(before, "tool_call")[0];
        let end = &client.updates_after(before, "tool_call_update")[0];
        assert_eq!(end["status"], status);
        assert_eq!(call["toolCallId"], end["toolCallId"]);
        assert_eq!(client.text_after(before, MESSAGE), said);
    }
    assert_eq!(answer(&mut client, &session, "[[approve make all]]"), "Allowed: make all");
    assert_eq!(place.evidence_with("ran").len(), 3);
    assert_eq!(place.evidence_with("answer").len(), 3);
}

#[test]
fn several_approvals_are_open_at_once() {
    let (place, mut client, session) = started();
    let turn = client.prompt(&session, "[[approvals a|b]]");
    let first = permission(&client, 0);
    let second = client.wait_for("the second request", |message| {
        message["method"] == "session/request_permission" && message["id"] != first["id"]
    });
    select(&mut client, &second, "allow_once");
    select(&mut client, &first, "reject_once");
    assert_eq!(client.reply(turn).unwrap()["stopReason"], "end_turn");
    let ran = place.evidence_with("ran");
    assert_eq!(ran.len(), 1);
    assert_eq!(ran[0]["ran"], "b");
}

#[test]
fn an_approval_can_be_withdrawn_by_the_agent() {
    let (place, mut client, session) = started();
    assert_eq!(answer(&mut client, &session, "[[retract 0 rm x]]"), "Withdrawn: rm x");
    let request = permission(&client, 0);
    let withdrawn =
        client.wait_for("its withdrawal", |message| message["method"] == "$/cancel_request");
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
    select(&mut client, &request, "allow_once");
    assert_eq!(answer(&mut client, &session, "on"), "on");
    assert_eq!(place.evidence_with("ran"), Vec::<Value>::new());
}

#[test]
fn a_question_is_a_permission_with_choices_or_a_form() {
    let (_place, mut client, session) = started();
    let turn = client.prompt(&session, "[[ask Which?|red|blue]]");
    let request = permission(&client, 0);
    assert_eq!(request["params"]["_meta"]["holdfast"]["kind"], "question");
    let blue = &request["params"]["options"][1];
    assert_eq!((&blue["name"], &blue["kind"]), (&json!("blue"), &json!("allow_once")));
    let outcome = json!({ "outcome": "selected", "optionId": blue["optionId"] });
    client.answer(&request["id"], json!({ "outcome": outcome }));
    client.reply(turn).unwrap();
    assert_eq!(client.text_after(0, MESSAGE), "Answer: blue");

    let place = Place::new();
    let mut client = Client::start(&mut place.command());
    client.initialize(json!({ "elicitation": { "form": {} } }));
    let session = client.new_session("/");
    let turn = client.prompt(&session, "[[ask Which?|red|blue]]");
    let form = client.wait_for("the form", |message| message["method"] == "elicitation/create");
    assert_eq!(form["params"]["message"], "Which?");
    let choices = &form["params"]["requestedSchema"]["properties"]["answer"]["oneOf"];
    assert_eq!(choices[0]["const"], "red");
    client.answer(&form["id"], json!({ "action": "accept", "content": { "answer": "red" } }));
    client.reply(turn).unwrap();
    assert_eq!(client.text_after(0, MESSAGE), "Answer: red");
}

#[test]
fn a_cancel_ends_sleep_tool_and_permission() {
    let (place, mut client, session) = started();
    for text in ["[[slow 600]]", "[[tool build 600]]", "[[approve x]]", "[[ask Q|a]]"] {
        let before = client.heard_count();
        let turn = client.prompt(&session, &format!("[[say begun]] {text} [[say not me]]"));
        let begun = || client.text_after(before, MESSAGE) == "begun";
        wait_until(ANSWER_BOUND, "the begin", begun);
        client.notify("session/cancel", json!({ "sessionId": session }));
        assert_eq!(client.reply(turn).unwrap()["stopReason"], "cancelled", "{text}");
        assert_eq!(client.text_after(before, MESSAGE), "begun", "{text}");
    }
    assert_eq!(place.evidence_with("cancel").len(), 4);
    assert_eq!(answer(&mut client, &session, "on"), "on");
}

#[test]
fn a_cancelled_permission_ends_the_turn() {
    let (_place, mut client, session) = started();
    let turn = client.prompt(&session, "[[approve x]] [[say not me]]");
    let request = permission(&client, 0);
    client.answer(&request["id"], json!({ "outcome": { "outcome": "cancelled" } }));
    assert_eq!(client.reply(turn).unwrap()["stopReason"], "cancelled");
}

#[test]
fn it_may_be_told_to_ignore_a_cancel() {
    let place = Place::new();
    let mut client = Client::start(place.command().env("HOLDFAST_DEMO_IGNORE_CANCEL", "1"));
    client.initialize(json!({}));
    let session = client.new_session("/");
    let turn = client.prompt(&session, "[[approve x]]");
    let request = permission(&client, 0);
    client.notify("session/cancel", json!({ "sessionId": session }));
    select(&mut client, &request, "allow_once");
    assert_eq!(client.reply(turn).unwrap()["stopReason"], "end_turn");
    assert_eq!(place.evidence_with("cancel")[0]["obeyed"], false);
}

#[test]
fn a_second_prompt_beside_a_running_one_is_refused_and_not_counted() {
    let (_place, mut client, session) = started();
    let first = client.prompt(&session, "[[approve x]]");
    let request = permission(&client, 0);
    let second = client.prompt(&session, "me too");
    assert_eq!(client.reply(second).unwrap_err()["code"], -32600);
    select(&mut client, &request, "allow_once");
    client.reply(first).unwrap();
    assert_eq!(answer(&mut client, &session, "[[count]]"), "2");
}

#[test]
fn background_work_outlives_its_turn_and_reports() {
    let (_place, mut client, session) = started();
    let started = Instant::now();
    let text = "[[task 0.2 sub]] [[command 600 cmd]] [[monitor 600 mon]] [[task 0 fail: bad]]";
    client.turn(&session, text);
    assert!(started.elapsed() < ANSWER_BOUND);
    for kind in ["agent", "command", "monitor"] {
        let running = client.wait_for(kind, |message| {
            task_state(message, "running") && message["params"]["kind"] == kind
        });
        let call = &running["params"]["toolCallId"];
        let calls = client.updates_after(0, "tool_call");
        assert!(calls.iter().any(|shown| shown["toolCallId"] == *call));
    }
    client.wait_for("the failed end", |message| {
        task_state(message, "failed") && message["params"]["label"] == "fail: bad"
    });
    client.wait_for("the end", |message| {
        task_state(message, "completed") && message["params"]["label"] == "sub"
    });
    wait_until(ANSWER_BOUND, "the report", || {
        client.text_after(0, MESSAGE).contains("task sub finished")
    });
    assert_eq!(answer(&mut client, &session, "on"), "on");
}

#[test]
fn work_that_ends_while_a_turn_runs_is_reported_at_its_end() {
    let (_place, mut client, session) = started();
    let turn = client.prompt(&session, "[[task 0 sub]] [[approve x]]");
    let request = permission(&client, 0);
    client.wait_for("the end", |message| task_state(message, "completed"));
    select(&mut client, &request, "allow_once");
    client.reply(turn).unwrap();
    assert_eq!(client.text_after(0, MESSAGE), "Allowed: xtask sub finished");
}

#[test]
fn a_task_is_stopped_by_request_without_a_report() {
    let (_place, mut client, session) = started();
    client.turn(&session, "[[monitor 600 mon]]");
    let running = client.wait_for("its start", |message| task_state(message, "running"));
    let task = running["params"]["taskId"].clone();
    let stop = json!({ "sessionId": session, "taskId": task });
    client.call("_holdfast/task_stop", stop.clone());
    let stopped = client.wait_for("its end", |message| task_state(message, "stopped"));
    assert_eq!(stopped["params"]["taskId"], task);
    let again = client.request("_holdfast/task_stop", stop);
    assert_eq!(client.reply(again).unwrap_err()["code"], -32602);
    assert_eq!(answer(&mut client, &session, "on"), "on");
}

#[test]
fn a_killed_agent_knows_its_session_again() {
    let (place, mut client, session) = started();
    client.turn(&session, "first");
    client.prompt(&session, "[[say begun]] [[slow 600]]");
    wait_until(ANSWER_BOUND, "the begin", || client.text_after(0, MESSAGE).ends_with("begun"));
    client.kill_9();

    let mut client = place.agent();
    let load = json!({ "sessionId": session, "cwd": "/", "mcpServers": [] });
    let loading = client.request("session/load", load.clone());
    client.reply(loading).unwrap();
    // All of the replay precedes the reply.
    told_commands(&client);
    let replayed = client.messages();
    assert_eq!(replayed[replayed.len() - 2]["id"], json!(loading));
    assert_eq!(client.text_after(0, USER), "first[[say begun]] [[slow 600]]");
    assert!(client.text_after(0, MESSAGE).starts_with("first"));
    assert_eq!(answer(&mut client, &session, "[[count]]"), "3");
    client.kill_9();

    let mut client = place.agent();
    client.call("session/resume", load);
    assert_eq!(client.updates_after(0, USER), Vec::<Value>::new());
    assert_eq!(answer(&mut client, &session, "[[count]]"), "4");
    let listed = client.call("session/list", json!({ "cwd": "/" }));
    assert_eq!(listed["sessions"][0]["sessionId"], json!(session));
    let elsewhere = client.call("session/list", json!({ "cwd": "/elsewhere" }));
    assert_eq!(elsewhere["sessions"], json!([]));
}

#[test]
fn a_message_is_stored_before_it_is_acted_on() {
    let (place, mut client, session) = started();
    client.prompt(&session, "[[die]]");
    client.wait_exit();
    let mut client = place.agent();
    client.call("session/load", json!({ "sessionId": session, "cwd": "/", "mcpServers": [] }));
    assert_eq!(client.text_after(0, USER), "[[die]]");
    assert_eq!(answer(&mut client, &session, "[[count]]"), "2");
}

#[test]
fn background_work_is_bounded_and_ends_with_its_session() {
    let (_place, mut client, session) = started();
    let said = answer(&mut client, &session, &"[[monitor 600 m]]".repeat(1025));
    assert_eq!(said, "Not started: 1024 tasks run already.");
    client.call("session/close", json!({ "sessionId": session }));
    wait_until(ANSWER_BOUND, "the end of all", || {
        let stopped = client.messages().into_iter().filter(|told| task_state(told, "stopped"));
        stopped.count() == 1024
    });
}

#[test]
fn an_unknown_or_refused_session_is_an_error() {
    let (place, mut client, session) = started();
    for method in ["session/load", "session/resume", "session/prompt", "session/close"] {
        let params = json!({ "sessionId": "../x", "cwd": "/", "mcpServers": [], "prompt": [] });
        let asked = client.request(method, params);
        assert_eq!(client.reply(asked).unwrap_err()["code"], -32002, "{method}");
    }
    client.call("session/close", json!({ "sessionId": session }));
    let closed = client.prompt(&session, "hi");
    assert_eq!(client.reply(closed).unwrap_err()["code"], -32002);

    let mut client = Client::start(place.command().env("HOLDFAST_DEMO_REFUSE_LOAD", "1"));
    client.initialize(json!({}));
    for method in ["session/load", "session/resume"] {
        let params = json!({ "sessionId": session, "cwd": "/", "mcpServers": [] });
        let refused = client.request(method, params);
        assert_eq!(client.reply(refused).unwrap_err()["code"], -32002);
    }
}

#[test]
fn an_error_that_proves_a_rejection_leaves_nothing_behind() {
    let (place, mut client, session) = started();
    for (code, seen_after) in [(-32602, "1"), (-32603, "3")] {
        let turn = client.prompt(&session, &format!("[[error {code}]]"));
        assert_eq!(client.reply(turn).unwrap_err()["code"], code);
        assert_eq!(answer(&mut client, &session, "[[count]]"), seen_after);
    }
    let stored: Vec<_> =
        place.evidence_with("prompt").iter().map(|prompt| prompt["stored"].clone()).collect();
    assert_eq!(stored, [json!(false), json!(true), json!(true), json!(true)]);
}

#[test]
fn it_dies_when_told_in_the_middle_of_a_turn() {
    for (text, code) in [("[[say a]] [[die]]", 1), ("[[die 0]]", 0), ("[[die 17]]", 17)] {
        let (_place, mut client, session) = started();
        let turn = client.prompt(&session, text);
        assert_eq!(client.wait_exit().code(), Some(code));
        client.wait_output_end();
        assert!(!client.messages().iter().any(|message| message["id"] == json!(turn)));
    }
    let place = Place::new();
    let mut client = Client::start(place.command().env("HOLDFAST_DEMO_DIE_AT_START", "9"));
    assert_eq!(client.wait_exit().code(), Some(9));
}

#[test]
fn it_ends_with_its_input_and_refuses_arguments() {
    let (_place, mut client, session) = started();
    client.prompt(&session, "[[slow 600]]");
    client.close_stdin();
    assert_eq!(client.wait_exit().code(), Some(0));
    let place = Place::new();
    let mut client = Client::start(place.command().arg("--what"));
    assert_eq!(client.wait_exit().code(), Some(2));
}

#[test]
fn a_start_can_be_delayed() {
    let place = Place::new();
    let mut client = Client::start(place.command().env("HOLDFAST_DEMO_START_DELAY_MS", "300"));
    let started = Instant::now();
    client.initialize(json!({}));
    assert!(started.elapsed() >= Duration::from_millis(300));
}

#[test]
fn a_fork_leaves_a_grandchild_that_ignores_sigterm_in_its_own_session() {
    let (_place, mut client, session) = started();
    let said = answer(&mut client, &session, "[[fork]]");
    let pid: u32 = said.strip_prefix("forked ").unwrap().parse().unwrap();
    let fields = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    wait_until(ANSWER_BOUND, "its own session", || {
        let stat = fields();
        let after_name = stat.rsplit(')').next().unwrap();
        after_name.split_whitespace().nth(3) == Some(&pid.to_string())
    });
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    assert_ne!(ignored & (1 << (15 - 1)), 0, "SIGTERM is ignored");
    for fd in 0..=2 {
        let target = std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).unwrap();
        assert_eq!(target, Path::new("/dev/null"));
    }
    client.kill_9();
    assert!(proc::is_alive(pid));
    proc::kill_9(pid).unwrap();
    wait_until(ANSWER_BOUND, "its death", || !proc::is_alive(pid));
}

#[test]
fn floods_streams_and_lines_have_the_size_asked_for() {
    let (_place, mut client, session) = started();
    assert_eq!(answer(&mut client, &session, "[[flood 100001]]").len(), 100_001);
    assert_eq!(answer(&mut client, &session, "[[stream 3 1]]"), "line 1\nline 2\nline 3\n");
    let before = client.lines().len();
    client.turn(&session, "[[line 300000]] [[output 70000]]");
    assert_eq!(client.lines()[before].len(), 300_000);
    let ended = client.updates_after(0, "tool_call_update");
    assert_eq!(ended[0]["rawOutput"]["output"].as_str().unwrap().len(), 70_000);
}

#[test]
fn raw_bytes_go_out_as_they_are() {
    let (_place, mut client, session) = started();
    let before = client.lines().len();
    client.turn(&session, r#"[[raw "\u00ff{$SESSION"]] [[raw "{\"x\": \"\\ud800\"}"]]"#);
    let lines = client.lines();
    assert_eq!(lines[before], [b"\xff{", session.as_bytes()].concat());
    assert_eq!(lines[before + 1], br#"{"x": "\ud800"}"#);
}

#[test]
fn bad_input_is_answered_and_survived() {
    let (_place, mut client, session) = started();
    client.send_line(b"{nonsense");
    client.send_line(b"\xff\xfe");
    client.send_line(b"{}");
    client.answer(&json!(4711), json!({}));
    let unknown = client.request("session/set_mode", json!({}));
    assert_eq!(client.reply(unknown).unwrap_err()["code"], -32601);
    let relative = client.request("session/new", json!({ "cwd": "here" }));
    assert_eq!(client.reply(relative).unwrap_err()["code"], -32602);
    assert_eq!(answer(&mut client, &session, "on"), "on");
    let errors = client.messages().into_iter().filter(|message| message["error"].is_object());
    assert_eq!(errors.filter(|message| message["id"].is_null()).count(), 3);
}

#[test]
fn the_evidence_holds_each_line_before_and_after_it_was_written() {
    let (place, mut client, session) = started();
    client.turn(&session, "hello");
    client.turn(&session, "[[line 70000]]");
    let pid = json!(client.pid());
    let both = |key: &str| -> Vec<Vec<u8>> {
        let events = place.evidence_with(key);
        events
            .iter()
            .inspect(|event| assert_eq!(event["pid"], pid))
            .filter_map(|event| event[key].as_str())
            .map(|line| line.as_bytes().to_vec())
            .collect()
    };
    // The evidence of the last line may still be under way when that line is here.
    let told = client.lines().len();
    wait_until(ANSWER_BOUND, "the last line's evidence", || {
        place.evidence_with("wrote").len() == told
    });
    let mut lines = client.lines();
    lines.retain(|line| line.len() < 70_000);
    assert_eq!(lines.len(), told - 1);
    assert_eq!(both("writing"), lines);
    assert_eq!(both("wrote"), lines);
    let long: Vec<_> = place.evidence_with("bytes").iter().map(|e| e["bytes"].clone()).collect();
    assert_eq!(long, [json!(70_000), json!(70_000)]);
    let prompts = place.evidence_with("prompt");
    assert_eq!(prompts[0]["prompt"], "hello");
    assert_eq!(prompts[0]["session"], json!(session));
}

#[test]
fn ids_of_two_processes_differ() {
    let place = Place::new();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let mut client = place.agent();
        let session = client.new_session("/");
        client.turn(&session, "hi");
        ids.push((session, client.updates_after(0, MESSAGE)[0]["messageId"].clone()));
    }
    assert_ne!(ids[0].0, ids[1].0);
    assert_ne!(ids[0].1, ids[1].1);
}
