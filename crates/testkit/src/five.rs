//! Five chats with a real agent, everything killed, and what becomes of them: what `cargo xtask real` shows
//! and the tests assert. Judged by the model server's own log, by what the agent wrote down, and by `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use holdfast_pinned::{CLAUDE, CODEX, Pinned};
use serde_json::{Value, json};

use crate::host::{Place, TestHost};
use crate::model::{ModelServer, Seen};
use crate::scenario::{Say, offers};
use crate::scripted::one_by_one;
use crate::{claude, codex};

/// What the one message of a resume says among other things.
const CONTINUES: &str = "was stopped from outside";

/// The agent of the five.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl Agent {
    /// The one that a person names so.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Claude, Self::Codex].into_iter().find(|agent| agent.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }

    const fn pinned(self) -> &'static Pinned {
        match self {
            Self::Claude => &CLAUDE,
            Self::Codex => &CODEX,
        }
    }

    /// What each of the five is at, and what its offer is to say of it.
    fn plans(self) -> [Plan; 5] {
        let text = "[[say half]] [[hang 600]]".to_owned();
        let hang = "[[hang 600]]";
        let (free, asks) = match self {
            Self::Claude => ("bypassPermissions", "acceptEdits"),
            Self::Codex => ("full-access", "read-only"),
        };
        let (tool, asked, question, behind, work) = match self {
            Self::Claude => (
                one_by_one(&[&claude::bash("touch runs; sleep 600"), hang]),
                one_by_one(&[&claude::bash("python3 -c 'print(7)'"), "[[say done]]"]),
                "Waiting for your approval: Bash: python3 -c 'print(7)'",
                [
                    claude::bash_in_background("sleep 600"),
                    claude::subagent_in_background(hang),
                    "[[say on its way]]".to_owned(),
                ],
                "Subagent running: a test · Monitoring: a test",
            ),
            Self::Codex => (
                one_by_one(&[&codex::exec("touch runs; sleep 600"), hang]),
                one_by_one(&[&codex::exec_escalated("echo 7", "for the test"), "[[say done]]"]),
                "Waiting for your approval: echo 7: for the test",
                [
                    codex::exec_in_background("sleep 600"),
                    codex::exec_in_background("sleep 601"),
                    "[[say on its way]]".to_owned(),
                ],
                "Monitoring 2 tasks",
            ),
        };
        let behind = one_by_one(&[&behind[0], &behind[1], &behind[2]]);
        [
            Plan { name: "a reply", script: text, mode: free, offer: Some("Was mid-reply") },
            Plan { name: "a tool", script: tool, mode: free, offer: Some("Was mid-reply") },
            Plan { name: "a question", script: asked, mode: asks, offer: Some(question) },
            Plan { name: "background", script: behind, mode: free, offer: Some(work) },
            Plan { name: "idle", script: "[[say done]]".to_owned(), mode: free, offer: None },
        ]
    }
}

/// What one chat is at when everything is killed.
struct Plan {
    name: &'static str,
    script: String,
    mode: &'static str,
    /// What its offer says; none for the one that rests.
    offer: Option<&'static str>,
}

impl Plan {
    /// What is said first, so that there is a conversation to go back to. Each chat is known by it.
    fn first(&self) -> String {
        format!("remember {} [[say I remember]]", self.name)
    }

    /// Whether a chat is as far as it is to be.
    fn is_there(&self, stage: &Stage, host: &TestHost<'_>, chat: &str) -> bool {
        let row = host.chat(chat);
        let status = &row["status"];
        let there = match self.name {
            "a reply" => host.said(chat).ends_with("half"),
            "a tool" => stage.place.work_dir().join("runs").exists() && status["lead"] == "working",
            "a question" => status["shown"] == "blocked",
            "background" => {
                status["lead"] == "done" && row["activity"]["tasks"].as_array().unwrap().len() == 2
            }
            _ => status["shown"] == "idle" && row["user_messages"] == 2,
        };
        there && stage.has_written(&self.script)
    }
}

/// One of the five.
struct Played {
    plan: Plan,
    chat: String,
    /// Model and mode before everything was killed.
    settings: (Value, Value),
}

/// A place with a real agent and the model that it talks to.
pub struct Stage {
    agent: Agent,
    place: Place,
    model: ModelServer,
    home: PathBuf,
}

impl Stage {
    /// A stage below `root` for this program. The agent is installed where it is not.
    ///
    /// # Panics
    ///
    /// When it cannot be.
    pub fn new(program: &Path, root: &Path, agent: Agent) -> Self {
        let installed = agent.pinned().ensure().unwrap_or_else(|error| panic!("{error}"));
        let (model, home) = (ModelServer::start(), root.join("agent"));
        let table = match agent {
            Agent::Claude => claude::agent(&installed, &home, model.port),
            Agent::Codex => codex::agent(&installed, &home, model.port),
        };
        let place = Place::new(program, root).configured(&table.unwrap());
        Self { agent, place, model, home }
    }

    /// Whether the agent has written down a message with this in it.
    fn has_written(&self, text: &str) -> bool {
        let json = json!(text).to_string();
        files(&self.home).iter().any(|path| {
            let file = fs::read_to_string(path).unwrap_or_default();
            file.contains(json.trim_matches('"'))
        })
    }

    /// What the model was asked in the conversation that begins with this.
    fn asked(&self, first: &str) -> Vec<Seen> {
        let mut turns = self.model.turns();
        turns.retain(|seen| seen.texts("user").first().is_some_and(|said| said == first));
        turns
    }

    /// Plays it, and says what is seen.
    ///
    /// # Panics
    ///
    /// When anything is not as it is to be.
    pub fn play(&self, say: Say<'_>) {
        let host = self.place.start();
        say(&format!(
            "Five chats with {} {} and a scripted model:",
            self.agent.pinned().name,
            self.agent.pinned().version
        ));
        let played = self.agent.plans().map(|plan| self.begin(&host, plan, say));
        let before = self.model.turns().len();
        let agents = self.place.keepers().len();
        assert_eq!(agents, 5, "an agent for each chat");
        let processes = self.place.processes().len();
        host.kill_everything();
        assert_eq!(self.place.processes(), [0; 0]);
        say(&format!(
            "kill -9 of the host, {agents} keepers, the agents and what they ran: {processes} processes."
        ));

        let host = self.place.start();
        host.wait("four offers", || offers(&host).len() == 4);
        say("A new host offers four chats:");
        for one in &played {
            self.offered(&host, one, say);
        }
        assert_eq!(self.model.turns().len(), before, "nothing is sent by itself");
        say("The idle chat is not offered, and nothing was sent to a model.");

        let as_of = host.get("/offers")["as_of"].clone();
        let all = json!({ "chats": "all", "as_of": as_of });
        let results = host.post("/offers/resume", &all).ok()["results"].clone();
        assert_eq!(results.as_array().unwrap().len(), 4, "{results}");
        host.wait("the end of all offers", || offers(&host).is_empty());
        for one in &played {
            host.wait_shown(&one.chat, "idle");
        }
        assert_eq!(host.get("/offers")["failures"], json!([]));
        say("Resume all. By the model's own log, each goes on where it was:");
        for one in &played {
            self.resumed(&host, one, say);
        }
        let asked = self.model.turns().len();
        assert_eq!(asked, before + 4, "one request for each that was offered, and no other");
        assert!(host.stop().success(), "it stops well");
        assert_eq!(self.place.processes(), [0; 0]);
        say("Four requests in all. The host was stopped; no process is left.");
    }

    fn begin(&self, host: &TestHost<'_>, plan: Plan, say: Say<'_>) -> Played {
        let (agent, cwd) = (self.agent.name(), self.place.work_dir());
        let body = json!({ "agent": agent, "cwd": cwd, "mode": plan.mode, "title": plan.name });
        let chat = host.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned();
        let first = host.send(&chat, &plan.first());
        host.wait_message(&chat, &first, "settled");
        host.send(&chat, &plan.script);
        host.wait(plan.name, || plan.is_there(self, host, &chat));
        let row = host.chat(&chat);
        let shown = row["status"]["shown"].as_str().unwrap();
        say(&format!("  {:<12} {shown}", plan.name));
        Played { plan, settings: (row["model"].clone(), row["mode"].clone()), chat }
    }

    fn offered(&self, host: &TestHost<'_>, one: &Played, say: Say<'_>) {
        let Plan { name, offer: wanted, .. } = &one.plan;
        let offer = offers(host).into_iter().find(|offer| offer["chat"] == one.chat.as_str());
        let text = offer.as_ref().map(|offer| offer["summary"]["text"].as_str().unwrap());
        assert_eq!(text, *wanted, "{name}");
        if let (Some(offer), Some(text)) = (&offer, text) {
            assert_eq!(offer["cause"], "host_lost");
            assert_eq!(offer["needs_choice"], false, "{name}: the agent's own file tells");
            say(&format!("  {name:<12} {text}"));
        }
    }

    fn resumed(&self, host: &TestHost<'_>, one: &Played, say: Say<'_>) {
        let name = one.plan.name;
        let asked = self.asked(&one.plan.first());
        let sessions: BTreeSet<_> = asked.iter().map(|seen| seen.session.clone()).collect();
        assert_eq!(sessions.len(), 1, "{name} stays in its session: {sessions:?}");
        let told = asked.last().unwrap().texts("user");
        let continuations = told.iter().filter(|said| said.contains(CONTINUES)).count();
        assert_eq!(told[..2], [one.plan.first(), one.plan.script.clone()], "{name}");
        let expected = usize::from(one.plan.offer.is_some());
        assert_eq!((continuations, told.len()), (expected, 2 + expected), "{name}: {told:?}");
        let row = host.chat(&one.chat);
        assert_eq!((row["model"].clone(), row["mode"].clone()), one.settings, "{name}");
        let then = if expected == 1 { "then one continuation" } else { "and nothing since" };
        say(&format!("  {name:<12} the same session, both messages from before, {then}"));
    }
}

/// The files of lines of JSON below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => found.extend(files(&path)),
            Ok(_) if path.extension().is_some_and(|it| it == "jsonl") => found.push(path),
            Ok(_) | Err(_) => {}
        }
    }
    found
}
