//! The real Codex, pinned, driven offline.
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

/// The models that a home of [`home`] knows. The first is what a thread gets that asks for none.
pub const MODELS: [&str; 3] = [MODEL, MODEL_OLDER_AGENTS, MODEL_CODE];
/// Tools are called directly; subagents in their newer form (`spawn_agent` wants a `task_name`).
pub const MODEL: &str = "scripted";
/// The same, with subagents in their older form.
pub const MODEL_OLDER_AGENTS: &str = "scripted-older-agents";
/// Tools are called from code only, as today's real models do it.
pub const MODEL_CODE: &str = "scripted-code";

/// The last of Codex's own models that calls tools directly: the others are made after it.
const PATTERN: &str = "gpt-5.5";

/// Writes a home for Codex into `scratch` and gives the environment that makes it live there, talk
/// only to the model server on `model_port`, and ask nobody else. Run it as `codex app-server`.
///
/// # Errors
///
/// When the files cannot be written, or `program` does not tell its models.
pub fn home(program: &Path, scratch: &Path, model_port: u16) -> io::Result<Vec<(String, String)>> {
    let mut environment = Vec::new();
    // Codex refuses to keep its helpers below the folder for temporary files: that one is apart.
    for (name, below) in [("HOME", "home"), ("CODEX_HOME", "home/.codex"), ("TMPDIR", "tmp")] {
        let folder = scratch.join(below);
        fs::create_dir_all(&folder)?;
        let folder = folder.into_os_string().into_string();
        let folder = folder.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        environment.push((name.to_owned(), folder));
    }
    for (name, value) in [("SCRIPTED_KEY", "k"), ("NO_PROXY", "127.0.0.1,localhost")] {
        environment.push((name.to_owned(), value.to_owned()));
    }
    let codex = scratch.join("home/.codex");
    let catalog = codex.join("models.json");
    fs::write(&catalog, models(program, &environment)?.to_string())?;
    fs::write(codex.join("config.toml"), configuration(&catalog, model_port))?;
    Ok(environment)
}

fn configuration(catalog: &Path, model_port: u16) -> String {
    format!(
        r#"model = "{MODEL}"
model_provider = "scripted"
model_catalog_json = {catalog:?}
suppress_unstable_features_warning = true
check_for_update_on_startup = false
[model_providers.scripted]
name = "Scripted"
base_url = "http://127.0.0.1:{model_port}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 1
stream_max_retries = 1
supports_websockets = false
[analytics]
enabled = false
[tools.update_plan]
enabled = true
[features]
enable_request_compression = false
plugins = false
apps = false
remote_plugin = false
plugin_sharing = false
skill_search = false
default_mode_request_user_input = true
"#
    )
}

/// A catalog of [`MODELS`], made after what Codex itself knows.
fn models(program: &Path, environment: &[(String, String)]) -> io::Result<Value> {
    let mut command = Command::new(program);
    command.args(["debug", "models", "--bundled"]).envs(environment.iter().cloned());
    let known: Value = serde_json::from_slice(&command.output()?.stdout)?;
    let known = known["models"].as_array().map_or(&[][..], Vec::as_slice);
    let pattern = known.iter().find(|model| model["slug"] == PATTERN);
    let pattern = pattern.ok_or_else(|| io::Error::other(format!("codex knows no {PATTERN}")))?;
    let made = |slug: &str, agents: &str| {
        let mut model = pattern.clone();
        model["slug"] = json!(slug);
        model["display_name"] = json!(slug);
        // Else the model has to look for some tools before it can call them.
        model["supports_search_tool"] = json!(false);
        model["multi_agent_version"] = json!(agents);
        model["upgrade"] = Value::Null;
        model
    };
    let mut code = made(MODEL_CODE, "v2");
    code["tool_mode"] = json!("code_mode_only");
    Ok(json!({ "models": [made(MODEL, "v2"), made(MODEL_OLDER_AGENTS, "v1"), code] }))
}

/// As [`home`], as a table of a host's configuration: the agent `codex`.
///
/// # Errors
///
/// As for [`home`].
pub fn agent(program: &Path, scratch: &Path, model_port: u16) -> io::Result<String> {
    Ok(agent_table("codex", "codex", program, &[], &home(program, scratch, model_port)?))
}

/// Codex, driven by hand.
pub struct Codex {
    /// What it said.
    pub lines: Lines,
    requests: u64,
}

impl Codex {
    /// Starts `command`, which gets the argument `app-server`, and shakes hands.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let lines = Lines::start(command.arg("app-server"));
        let mut codex = Self { lines, requests: 0 };
        codex.call(
            "initialize",
            json!({
                "clientInfo": { "name": "testkit", "title": "Test kit", "version": "0" },
                "capabilities": { "experimentalApi": true, "requestAttestation": false },
            }),
        );
        codex.lines.send(&json!({ "method": "initialized" }));
        codex
    }

    /// Sends a request and waits for its result.
    ///
    /// # Panics
    ///
    /// When it is answered with an error, or not in time.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.lines.send(&json!({ "id": id, "method": method, "params": params }));
        let reply = self.lines.wait_for(&format!("the reply to {method}"), |line| {
            line.get("method").is_none() && line["id"] == id
        });
        assert!(reply.get("error").is_none(), "{method}: {reply}");
        reply["result"].clone()
    }

    /// Begins a thread with [`MODEL`], without a sandbox, and gives its id. Approval policies are
    /// `untrusted`, `on-request` and `never`.
    #[track_caller]
    pub fn start_thread(&mut self, cwd: &Path, approval: &str) -> String {
        self.start_thread_with(cwd, approval, MODEL)
    }

    /// As [`Self::start_thread`], with one of [`MODELS`].
    #[track_caller]
    pub fn start_thread_with(&mut self, cwd: &Path, approval: &str, model: &str) -> String {
        let started = self.call(
            "thread/start",
            json!({
                "cwd": cwd, "approvalPolicy": approval, "sandbox": "danger-full-access",
                "model": model,
            }),
        );
        started["thread"]["id"].as_str().unwrap().to_owned()
    }

    /// Begins a turn and gives its id.
    #[track_caller]
    pub fn say(&mut self, thread: &str, text: &str) -> String {
        self.say_all(thread, json!([{ "type": "text", "text": text }]))
    }

    /// Begins a turn with this input and gives its id.
    #[track_caller]
    pub fn say_all(&mut self, thread: &str, input: Value) -> String {
        let started = self.call("turn/start", json!({ "threadId": thread, "input": input }));
        started["turn"]["id"].as_str().unwrap().to_owned()
    }

    /// Answers a request of its own.
    pub fn answer(&mut self, request: &Value, result: Value) {
        self.lines.send(&json!({ "id": request["id"], "result": result }));
    }

    /// Waits for the next message with this method after the first `skip` lines.
    #[track_caller]
    pub fn next(&self, skip: usize, method: &str) -> Value {
        self.lines.wait_after(skip, method, |line| line["method"] == method)
    }

    /// The messages that this thread's agent finished after the first `skip` lines.
    pub fn said(&self, skip: usize, thread: &str) -> String {
        let heard = self.lines.messages();
        let own = heard.iter().skip(skip).filter(|line| {
            line["method"] == "item/completed" && line["params"]["threadId"] == thread
        });
        let items = own.map(|line| &line["params"]["item"]);
        let messages = items.filter(|item| item["type"] == "agentMessage");
        messages.filter_map(|item| item["text"].as_str()).collect()
    }

    /// Waits for the end of a turn of this thread after the first `skip` lines.
    #[track_caller]
    pub fn ended(&self, skip: usize, thread: &str) -> Value {
        let ended = self.lines.wait_after(skip, "the end of the turn", |line| {
            line["method"] == "turn/completed" && line["params"]["threadId"] == thread
        });
        ended["params"]["turn"].clone()
    }
}

/// A directive: run a command, and go on without its end after ten seconds.
pub fn exec(command: &str) -> String {
    tool("exec_command", &json!({ "cmd": command, "yield_time_ms": 10_000 }))
}

/// A directive: run a command, and go on without its end at once.
pub fn exec_in_background(command: &str) -> String {
    tool("exec_command", &json!({ "cmd": command, "yield_time_ms": 250 }))
}

/// A directive: run a command outside the sandbox, for which the user is asked.
pub fn exec_escalated(command: &str, why: &str) -> String {
    let arguments = json!({
        "cmd": command,
        "yield_time_ms": 10_000,
        "sandbox_permissions": "require_escalated",
        "justification": why,
    });
    tool("exec_command", &arguments)
}

/// A directive: apply a patch; this is what stands between its first and its last line.
pub fn patch(hunks: &str) -> String {
    let input = format!("*** Begin Patch\n{hunks}\n*** End Patch\n");
    tool("apply_patch", &json!({ "input": input }))
}

/// A directive: add a file.
pub fn add_file(path: &str, line: &str) -> String {
    patch(&format!("*** Add File: {path}\n+{line}"))
}

/// A directive: replace a line of a file.
pub fn replace_line(path: &str, old: &str, new: &str) -> String {
    patch(&format!("*** Update File: {path}\n@@\n-{old}\n+{new}"))
}

/// A directive: state the plan; the first step is being worked on.
pub fn update_plan(steps: &[&str]) -> String {
    let state = |at| if at == 0 { "in_progress" } else { "pending" };
    let steps = steps.iter().enumerate();
    let steps: Vec<Value> =
        steps.map(|(at, step)| json!({ "step": step, "status": state(at) })).collect();
    tool("update_plan", &json!({ "plan": steps }))
}

/// A directive: ask the user one question.
pub fn ask(question: &str, options: &[&str]) -> String {
    let options: Vec<Value> = options
        .iter()
        .map(|label| json!({ "label": label, "description": format!("take {label}") }))
        .collect();
    let question =
        json!({ "id": "q1", "header": "Choice", "question": question, "options": options });
    tool("request_user_input", &json!({ "questions": [question] }))
}

/// A directive: let a subagent do this; the prompt may hold directives for the subagent's model.
/// For [`MODEL`].
pub fn spawn(task: &str, prompt: &str) -> String {
    tool("spawn_agent", &json!({ "task_name": task, "message": prompt }))
}

/// The same, for [`MODEL_OLDER_AGENTS`].
pub fn spawn_older(prompt: &str) -> String {
    tool("spawn_agent", &json!({ "message": prompt }))
}

/// A directive: wait for a subagent. For [`MODEL`].
pub fn wait_for_agents(milliseconds: u32) -> String {
    tool("wait_agent", &json!({ "timeout_ms": milliseconds }))
}

/// A directive: run this JavaScript, which calls tools. For [`MODEL_CODE`].
pub fn code(javascript: &str) -> String {
    tool("exec", &json!({ "input": javascript }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_names_loopback_only_and_is_whole() {
        let text = configuration(Path::new("/home/\"q\"/models.json"), 4711);
        assert!(text.contains("\"http://127.0.0.1:4711/v1\""));
        assert!(text.contains(r#"model_catalog_json = "/home/\"q\"/models.json""#));
        assert_eq!(text.matches("://").count(), 1);
    }
}
