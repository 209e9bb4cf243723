//! A place whose configuration has the real Codex, with a home of its own.

use std::process::Command;

use holdfast_pinned::CODEX;
use holdfast_testkit::codex::{self, Codex};
use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::model::ModelServer;
use holdfast_testkit::proc;
use serde_json::{Value, json};

/// A place whose configuration has Codex, with a home of its own.
pub(crate) struct Lab {
    pub(crate) place: Place,
    pub(crate) model: ModelServer,
    dir: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let program = CODEX.ensure().unwrap_or_else(|error| panic!("{error}"));
        let (dir, model) = (tempfile::tempdir().unwrap(), ModelServer::start());
        let agent = codex::agent(&program, &dir.path().join("agent"), model.port).unwrap();
        let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path()).configured(&agent);
        Self { place, model, dir }
    }

    /// Codex in the same home, run by somebody else.
    pub(crate) fn by_hand(&self) -> Codex {
        let program = CODEX.ensure().unwrap_or_else(|error| panic!("{error}"));
        let scratch = self.dir.path().join("agent");
        let home = codex::home(&program, &scratch, self.model.port).unwrap();
        let mut command = Command::new(program);
        Codex::start(command.current_dir(self.place.work_dir()).envs(home))
    }

    /// Adds to Codex's own configuration.
    pub(crate) fn configure(&self, text: &str) {
        let path = self.dir.path().join("agent/home/.codex/config.toml");
        let known = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, format!("{known}{text}")).unwrap();
    }

    /// What the user said, in order, in the last conversation that the model was asked to go on.
    pub(crate) fn told(&self) -> Vec<String> {
        self.model.turns().last().map(|seen| seen.texts("user")).unwrap_or_default()
    }

    /// How often the model was asked to answer exactly this.
    pub(crate) fn asked(&self, text: &str) -> usize {
        self.model.turns().iter().filter(|seen| seen.last_user_text() == text).count()
    }
}

/// Opens a chat in this mode.
pub(crate) fn open(host: &TestHost<'_>, lab: &Lab, mode: &str) -> String {
    let body = json!({ "agent": "codex", "cwd": lab.place.work_dir(), "mode": mode });
    host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned()
}

/// The pid of Codex itself.
pub(crate) fn agent(place: &Place) -> u32 {
    let keepers = place.keepers();
    let agents: Vec<u32> = keepers.iter().flat_map(|keeper| proc::children(*keeper)).collect();
    assert_eq!(agents.len(), 1, "one agent under {keepers:?}: {agents:?}");
    agents[0]
}

/// Waits for the one prompt that is open.
pub(crate) fn open_prompt(host: &TestHost<'_>, chat: &str) -> Value {
    let mut found = Value::Null;
    host.wait("an open prompt", || {
        let items = host.items(chat);
        let open = items.into_iter().find(|item| item["prompt"]["state"] == "open");
        found = open.map(|item| item["prompt"].clone()).unwrap_or_default();
        !found.is_null()
    });
    found
}

/// Answers a prompt.
pub(crate) fn answer(host: &TestHost<'_>, chat: &str, prompt: &Value, answer: &Value) {
    let path = format!("/chats/{chat}/prompts/{}/answer", prompt["id"].as_str().unwrap());
    host.post(&path, answer).ok();
}

/// The calls of a chat, with their states.
pub(crate) fn calls(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let items = host.items(chat);
    let calls = items.iter().filter(|item| item["kind"] == "tool_call");
    calls
        .map(|item| {
            let word = |name: &str| item["call"][name].as_str().unwrap().to_owned();
            format!("{} {}", word("name"), word("state"))
        })
        .collect()
}

/// How the turns of a chat ended.
pub(crate) fn turns(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let turns = host.get(&format!("/chats/{chat}/turns"));
    let turns = turns["items"].as_array().unwrap().iter();
    turns.map(|turn| turn["state"].as_str().unwrap().to_owned()).collect()
}

/// The live tasks of a chat, in short words.
pub(crate) fn tasks(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let row = host.chat(chat);
    let word = |task: &Value| {
        format!("{} {}", task["kind"].as_str().unwrap(), task["label"].as_str().unwrap())
    };
    row["activity"]["tasks"].as_array().unwrap().iter().map(word).collect()
}

/// The processes of this place that run a command with this in its arguments.
pub(crate) fn running(place: &Place, words: &str) -> usize {
    let runs = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(words)
    };
    place.processes().iter().filter(|pid| runs(pid)).count()
}
