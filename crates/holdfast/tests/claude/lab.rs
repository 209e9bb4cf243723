//! A place whose configuration has the real Claude Code, with a home of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use holdfast_pinned::{CLAUDE, CLAUDE_OLDEST, Pinned};
use holdfast_testkit::claude;
use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::model::ModelServer;
use holdfast_testkit::{proc, wait_until};
use serde_json::{Value, json};

/// How long the CLI may take to write something down.
const PATIENCE: Duration = Duration::from_secs(20);

/// The versions that are tested.
pub(crate) const VERSIONS: [&Pinned; 2] = [&CLAUDE, &CLAUDE_OLDEST];

pub(crate) struct Lab {
    pub(crate) place: Place,
    pub(crate) model: ModelServer,
    dir: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new(version: &Pinned) -> Self {
        let program = version.ensure().unwrap_or_else(|error| panic!("{error}"));
        let (dir, model) = (tempfile::tempdir().unwrap(), ModelServer::start());
        let agent = claude::agent(&program, &dir.path().join("agent"), model.port).unwrap();
        let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path()).configured(&agent);
        Self { place, model, dir }
    }

    /// The same, where the CLI finds this in its environment besides.
    pub(crate) fn with(version: &Pinned, name: &str, value: &str) -> Self {
        let mut lab = Self::new(version);
        let program = version.ensure().unwrap_or_else(|error| panic!("{error}"));
        let agent = claude::agent(&program, &lab.dir.path().join("agent"), lab.model.port);
        let agent = agent.unwrap().replace("env = {", &format!("env = {{ {name} = {value:?},"));
        let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), lab.dir.path());
        lab.place = place.configured(&agent);
        lab
    }

    /// The folder in which all of it is.
    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    /// Writes the CLI's own configuration of its user.
    pub(crate) fn configure(&self, settings: &Value) {
        let path = self.dir.path().join("agent/home/.claude.json");
        fs::write(path, settings.to_string()).unwrap();
    }

    /// What the model was told last, in short, notes of the CLI left out.
    pub(crate) fn told(&self) -> Vec<String> {
        self.model.turns().last().map(|seen| seen.told()).unwrap_or_default()
    }

    /// Runs the CLI as a person does in a terminal, in the directory of chats, with one message.
    pub(crate) fn by_hand(&self, version: &Pinned, arguments: &[&str], message: &str) -> String {
        let program = version.ensure().unwrap_or_else(|error| panic!("{error}"));
        let home = claude::home(&self.dir.path().join("agent"), self.model.port).unwrap();
        let mut command = Command::new(program);
        command.arg("--print").args(arguments).arg(message);
        command.current_dir(self.place.work_dir()).envs(home).stdin(Stdio::null());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
        said
    }

    /// Starts the CLI as a program does that goes on with a session, and says nothing to it.
    pub(crate) fn opened_by_hand(&self, version: &Pinned, arguments: &[&str]) -> Child {
        let program = version.ensure().unwrap_or_else(|error| panic!("{error}"));
        let home = claude::home(&self.dir.path().join("agent"), self.model.port).unwrap();
        let mut command = Command::new(program);
        command.args(claude::ARGUMENTS).args(arguments).envs(home);
        command.current_dir(self.place.work_dir()).stdin(Stdio::piped()).stdout(Stdio::null());
        command.spawn().unwrap()
    }

    /// The same place, where nobody is logged in.
    pub(crate) fn without_a_key(&self, version: &Pinned) -> Place {
        let program = version.ensure().unwrap_or_else(|error| panic!("{error}"));
        let agent = claude::agent(&program, &self.dir.path().join("agent"), self.model.port);
        let agent = agent.unwrap().replace("ANTHROPIC_API_KEY = \"scripted\"", "NO_KEY = \"1\"");
        assert!(agent.contains("NO_KEY"), "{agent}");
        Place::new(env!("CARGO_BIN_EXE_holdfast"), self.dir.path()).configured(&agent)
    }

    /// Takes the last message and all after it out of its only session.
    pub(crate) fn forget_last(&self) {
        self.lose("[[say and on]]");
    }

    /// What the file of its only session holds.
    pub(crate) fn session_file(&self) -> Vec<u8> {
        let sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        fs::read(&sessions[0]).unwrap()
    }

    /// Where the CLI keeps its sessions.
    pub(crate) fn projects(&self) -> PathBuf {
        self.dir.path().join("agent/home/.claude/projects")
    }

    /// The files of its sessions.
    fn sessions(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.projects()).into_iter().flatten();
        let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
        let files = files.map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect()
    }

    /// Waits until the CLI has written down a message of the user with this in it.
    pub(crate) fn wait_written(&self, text: &str) {
        let json = json!(text).to_string();
        let inner = json.trim_matches('"').to_owned();
        wait_until(PATIENCE, "the message in the session's file", || {
            let told = |path| fs::read_to_string(path).unwrap_or_default();
            let files = self.sessions().into_iter().map(told);
            let lines: Vec<String> = files
                .flat_map(|file| file.lines().map(str::to_owned).collect::<Vec<_>>())
                .collect();
            lines.iter().any(|line| line.contains(r#""type":"user""#) && line.contains(&inner))
        });
    }

    /// Waits until the CLI has written down that so many messages have come to its queue.
    pub(crate) fn wait_queued(&self, count: usize) {
        wait_until(PATIENCE, "the message in the CLI's queue", || {
            let text = self.session_text();
            text.lines().filter(|line| line.contains(r#""operation":"enqueue""#)).count() >= count
        });
    }

    /// Waits until the CLI has written down that the turn which runs took up a message with this in it.
    pub(crate) fn wait_noted(&self, text: &str) {
        wait_until(PATIENCE, "the message beside the session's others", || {
            let file = self.session_text();
            let mut noted = file.lines().filter(|line| line.contains(r#""queued_command""#));
            noted.any(|line| line.contains(text))
        });
    }

    /// All that the CLI has written down of its sessions.
    fn session_text(&self) -> String {
        self.sessions()
            .into_iter()
            .map(|path| fs::read_to_string(path).unwrap_or_default())
            .collect()
    }

    /// Takes what begins with this message out of the session, as if the CLI had not come to write it
    /// down; a file that then holds nothing was not begun.
    pub(crate) fn lose(&self, text: &str) {
        let json = json!(text).to_string();
        let inner = json.trim_matches('"').to_owned();
        for path in self.sessions() {
            let file = fs::read_to_string(&path).unwrap();
            let kept: Vec<&str> = file.lines().take_while(|line| !line.contains(&inner)).collect();
            let holds = kept.iter().any(|line| line.contains(r#""type":"user""#));
            if holds {
                fs::write(&path, kept.join("\n") + "\n").unwrap();
            } else {
                fs::remove_file(&path).unwrap();
            }
        }
    }

    /// The pid of the CLI itself.
    pub(crate) fn agent(&self) -> u32 {
        let keepers = self.place.keepers();
        let agents: Vec<u32> = keepers.iter().flat_map(|keeper| proc::children(*keeper)).collect();
        assert_eq!(agents.len(), 1, "one agent under {keepers:?}: {agents:?}");
        agents[0]
    }
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

/// Answers the next prompt with one of its options.
pub(crate) fn choose(host: &TestHost<'_>, chat: &str, option: &str) {
    let prompt = open_prompt(host, chat);
    answer(host, chat, &prompt, &json!({ "option": option }));
}

/// The transcript in short words, one to an item.
pub(crate) fn transcript(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let items = host.items(chat);
    let place = |id: &Value| items.iter().position(|item| item["id"] == *id);
    items
        .iter()
        .map(|item| {
            let text = item["text"].as_str().unwrap_or_default();
            let within = match place(&item["parent"]) {
                Some(place) if !item["parent"].is_null() => format!(" within {place}"),
                Some(_) | None => String::new(),
            };
            let what = match item["kind"].as_str().unwrap() {
                "message" => format!("{}: {text}", item["role"].as_str().unwrap()),
                "tool_call" => {
                    let call = &item["call"];
                    let output = call["output"]["text"].as_str().unwrap_or_default();
                    let output = output.lines().next().unwrap_or_default();
                    format!(
                        "{} {}: {output}",
                        call["name"].as_str().unwrap(),
                        call["state"].as_str().unwrap()
                    )
                }
                "prompt" => {
                    let prompt = &item["prompt"];
                    let given = &prompt["answer"];
                    let given = match (given["option"].as_str(), given["life"].as_str()) {
                        (option, Some(life)) => format!(" {} {life}", option.unwrap_or("answers")),
                        (_, None) => String::new(),
                    };
                    format!(
                        "{} {} {}{given}",
                        prompt["kind"].as_str().unwrap(),
                        prompt["label"].as_str().unwrap(),
                        prompt["state"].as_str().unwrap()
                    )
                }
                "notice" => format!("notice {}: {text}", item["notice"]["kind"].as_str().unwrap()),
                "unrecognised" => format!("unrecognised {}: {text}", item["reason"]),
                kind => format!("{kind}: {text}"),
            };
            format!("{what}{within}")
        })
        .collect()
}

/// The states of the turns of a chat, oldest first, with who opened each.
pub(crate) fn turns(host: &TestHost<'_>, chat: &str) -> Vec<String> {
    let page = host.get(&format!("/chats/{chat}/turns"));
    let word = |turn: &Value| {
        format!("{} {}", turn["opened_by"].as_str().unwrap(), turn["state"].as_str().unwrap())
    };
    page["items"].as_array().unwrap().iter().map(word).collect()
}
