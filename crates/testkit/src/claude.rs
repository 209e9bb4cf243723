//! The real Claude Code, pinned, driven offline.
//!
//! What it does is written down where its codec is; this is how it is started without any account,
//! and what a test writes to let the scripted model use its tools.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::lines::Lines;
use crate::scripted::{agent_table, tool};

/// Writes a home for Claude Code into `scratch` and gives the environment that makes it live there,
/// talk only to the model server on `model_port`, and ask nobody else.
///
/// # Errors
///
/// When the folders cannot be made.
pub fn home(scratch: &Path, model_port: u16) -> io::Result<Vec<(String, String)>> {
    let mut environment = Vec::new();
    for (name, below) in [("HOME", "home"), ("CLAUDE_CODE_TMPDIR", "tmp"), ("TMPDIR", "tmp")] {
        let folder = scratch.join(below);
        fs::create_dir_all(&folder)?;
        let folder = folder.into_os_string().into_string();
        let folder = folder.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        environment.push((name.to_owned(), folder));
    }
    let url = format!("http://127.0.0.1:{model_port}");
    for (name, value) in [
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("ANTHROPIC_API_KEY", "scripted"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        // Else it refuses some permission modes where a test runs as root.
        ("IS_SANDBOX", "1"),
        // Else the model has to look for some tools before it can call them.
        ("ENABLE_TOOL_SEARCH", "false"),
        // Else a model that only fails is asked eleven times, with growing pauses.
        ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ("NO_PROXY", "127.0.0.1,localhost"),
    ] {
        environment.push((name.to_owned(), value.to_owned()));
    }
    Ok(environment)
}

/// As [`home`], as a table of a host's configuration: the agent `claude`.
///
/// # Errors
///
/// As for [`home`].
pub fn agent(program: &Path, scratch: &Path, model_port: u16) -> io::Result<String> {
    Ok(agent_table("claude", "claude", program, &[], &home(scratch, model_port)?))
}

/// The arguments with which a program drives it: lines of JSON both ways.
pub const ARGUMENTS: [&str; 8] = [
    "--print",
    "--verbose",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--permission-prompt-tool",
    "stdio",
];

/// Claude Code, driven by hand.
pub struct Claude {
    /// What it said.
    pub lines: Lines,
    requests: u64,
}

impl Claude {
    /// Starts it and waits until it has answered `initialize`.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let mut claude = Self { lines: Lines::start(command), requests: 0 };
        claude.control(json!({ "subtype": "initialize" }));
        claude
    }

    /// Sends a request of control and waits for its answer.
    ///
    /// # Panics
    ///
    /// When it is answered with an error, or not in time.
    #[track_caller]
    pub fn control(&mut self, request: Value) -> Value {
        self.requests += 1;
        let id = format!("host-{}", self.requests);
        self.lines
            .send(&json!({ "type": "control_request", "request_id": id, "request": request }));
        let answer = self.lines.wait_for(&format!("the answer to {request}"), |line| {
            line["type"] == "control_response" && line["response"]["request_id"] == id.as_str()
        });
        assert_eq!(answer["response"]["subtype"], "success", "{answer}");
        answer["response"]["response"].clone()
    }

    /// Sends a message of the user.
    pub fn say(&mut self, uuid: &str, text: &str) {
        self.say_all(uuid, json!([{ "type": "text", "text": text }]));
    }

    /// Sends a message of the user that has these blocks of content.
    pub fn say_all(&mut self, uuid: &str, content: Value) {
        self.lines.send(&json!({
            "type": "user",
            "message": { "role": "user", "content": content },
            "parent_tool_use_id": null,
            "session_id": "",
            "uuid": uuid,
        }));
    }

    /// Answers a request of its own.
    pub fn answer(&mut self, request: &Value, response: Value) {
        let id = &request["request_id"];
        let response = json!({ "subtype": "success", "request_id": id, "response": response });
        self.lines.send(&json!({ "type": "control_response", "response": response }));
    }

    /// Waits for the next `result` after the first `skip` lines.
    #[track_caller]
    pub fn result(&self, skip: usize) -> Value {
        self.lines.wait_after(skip, "a result", |line| line["type"] == "result")
    }

    /// Waits for the next question after the first `skip` lines whether a tool may be used.
    #[track_caller]
    pub fn asked(&self, skip: usize) -> Value {
        self.lines.wait_after(skip, "a permission request", |line| {
            line["type"] == "control_request" && line["request"]["subtype"] == "can_use_tool"
        })
    }
}

/// A directive: run a command.
pub fn bash(command: &str) -> String {
    tool("Bash", &json!({ "command": command, "description": "a test" }))
}

/// A directive: run a command in the background.
pub fn bash_in_background(command: &str) -> String {
    let input = json!({ "command": command, "description": "a test", "run_in_background": true });
    tool("Bash", &input)
}

/// A directive: write a file.
pub fn write(path: &Path, text: &str) -> String {
    tool("Write", &json!({ "file_path": path, "content": text }))
}

/// A directive: read a file; one that is there has to be read before it is edited.
pub fn read(path: &Path) -> String {
    tool("Read", &json!({ "file_path": path }))
}

/// A directive: replace a text in a file.
pub fn edit(path: &Path, old: &str, new: &str) -> String {
    tool("Edit", &json!({ "file_path": path, "old_string": old, "new_string": new }))
}

/// A directive: ask the user one question.
pub fn ask(question: &str, options: &[&str]) -> String {
    let options: Vec<Value> = options
        .iter()
        .map(|label| json!({ "label": label, "description": format!("take {label}") }))
        .collect();
    let question = json!({
        "question": question, "header": "Choice", "multiSelect": false, "options": options,
    });
    tool("AskUserQuestion", &json!({ "questions": [question] }))
}

/// A directive: put a plan before the user.
pub fn exit_plan_mode(plan: &str) -> String {
    tool("ExitPlanMode", &json!({ "plan": plan }))
}

/// A directive: let a subagent do this; the prompt may hold directives for the subagent's model.
pub fn subagent(prompt: &str) -> String {
    tool("Agent", &agent_input(prompt, false))
}

/// A directive: let a subagent do this in the background.
pub fn subagent_in_background(prompt: &str) -> String {
    tool("Agent", &agent_input(prompt, true))
}

fn agent_input(prompt: &str, run_in_background: bool) -> Value {
    json!({
        "description": "a test",
        "prompt": prompt,
        "subagent_type": "general-purpose",
        "run_in_background": run_in_background,
    })
}

/// A directive: watch what a command prints. The oldest version that is tested has no such tool.
pub fn monitor(command: &str) -> String {
    let input = json!({
        "command": command, "description": "a test", "timeout_ms": 600_000, "persistent": false,
    });
    tool("Monitor", &input)
}

/// A directive: be woken with this text at the full minute after so many seconds, which are sixty
/// at least. The oldest version that is tested refuses it.
pub fn schedule_wakeup(seconds: u32, prompt: &str) -> String {
    tool(
        "ScheduleWakeup",
        &json!({ "delaySeconds": seconds, "reason": "a test", "prompt": prompt }),
    )
}
