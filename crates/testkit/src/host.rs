//! A real host as a real process, driven over HTTP as any client would.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Client;
use crate::evidence::Evidence;
use crate::raw::{self, RawAnswer, RawRequest};
use crate::{proc, wait_until};

/// How long anything that has to happen may take.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A place with everything of one host: its data, its agents' work and their evidence.
#[derive(Debug)]
pub struct Place {
    /// The program under test.
    pub program: PathBuf,
    /// Below this everything is.
    pub root: PathBuf,
    /// What is added to the host's environment.
    pub env: BTreeMap<String, String>,
    /// Further arguments of `serve`.
    pub args: Vec<String>,
}

impl Place {
    /// A place below `root` for this program.
    pub fn new(program: impl Into<PathBuf>, root: impl Into<PathBuf>) -> Self {
        let root: PathBuf = root.into();
        for dir in ["work", "home", "demo"] {
            std::fs::create_dir_all(root.join(dir)).unwrap();
        }
        Self { program: program.into(), root, env: BTreeMap::new(), args: Vec::new() }
    }

    /// The same, with a variable for the host, and so for its agents where it is theirs.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.env.insert(name.to_owned(), value.into());
        self
    }

    /// The same, with a configuration file of this text, in which agents are tables
    /// (`claude::agent`, `codex::agent`, `scripted::agent_table`).
    #[must_use]
    pub fn configured(mut self, text: &str) -> Self {
        let config = self.root.join("config.toml");
        std::fs::write(&config, text).unwrap();
        self.args.push("--config".to_owned());
        self.args.push(config.into_os_string().into_string().unwrap());
        self
    }

    /// The data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.root.join("data")
    }

    /// The directory that chats work in.
    pub fn work_dir(&self) -> PathBuf {
        self.root.join("work")
    }

    /// What the demo agents saw and said.
    pub fn evidence(&self) -> Evidence {
        Evidence::at(self.root.join("evidence.jsonl"))
    }

    /// The command that serves here.
    pub fn command(&self) -> Command {
        let log = File::options().append(true).create(true).open(self.root.join("host.log"));
        let mut command = Command::new(&self.program);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--json", "--data-dir"])
            .arg(self.data_dir())
            .args(&self.args)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.join("home"))
            .env("RUST_BACKTRACE", "1")
            .env("HOLDFAST_DEMO_DIR", self.root.join("demo"))
            .env("HOLDFAST_DEMO_LOG", self.evidence().path())
            .envs(&self.env)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.unwrap());
        command
    }

    /// The host's log, for the words of a failing test.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.root.join("host.log")).unwrap_or_default()
    }

    /// Starts a host here and waits until it serves.
    pub fn start(&self) -> TestHost<'_> {
        self.try_start().unwrap_or_else(|status| {
            panic!("the host ended with {status} before it served:\n{}", self.log())
        })
    }

    /// Starts a host here; the exit status where it ended before it served.
    ///
    /// # Errors
    ///
    /// How it ended.
    pub fn try_start(&self) -> Result<TestHost<'_>, ExitStatus> {
        let mut child = self.command().spawn().expect("the program under test can be started");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("stdout is piped");
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let Ok(ready) = serde_json::from_str::<Value>(&line) else {
            return Err(child.wait().unwrap());
        };
        Ok(TestHost::attached(self, child, &ready))
    }

    /// The pids of the keepers of this place, by the records on disk.
    pub fn keepers(&self) -> Vec<u32> {
        self.records().iter().filter_map(|r| pid(&r["keeper"]["pid"])).filter(alive).collect()
    }

    /// The attempts on disk.
    pub fn attempts(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.data_dir().join("attempts")) else {
            return Vec::new();
        };
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
    }

    /// How many demo agents live that have not said a word: they are starting. Whoever speaks while
    /// this is counted is not among them, so that it is never too many.
    pub fn silent_agents(&self) -> usize {
        let log = self.evidence();
        let living = proc::with_variable("HOLDFAST_DEMO_LOG", &log.path().to_string_lossy());
        let spoke = log.pids();
        let silent = living.into_iter().filter(|pid| {
            !spoke.contains(&u64::from(*pid))
                && proc::arguments(*pid).iter().any(|word| word == "demo")
        });
        silent.count()
    }

    /// Every living process of every attempt of this place, found by its cookie.
    pub fn processes(&self) -> Vec<u32> {
        self.attempts().iter().flat_map(|attempt| proc::of_attempt(attempt)).collect()
    }

    fn records(&self) -> Vec<Value> {
        let dir = self.data_dir().join("attempts");
        let read = |attempt: &String| std::fs::read(dir.join(attempt).join("record")).ok();
        let attempts = self.attempts();
        attempts.iter().filter_map(read).filter_map(|r| serde_json::from_slice(&r).ok()).collect()
    }

    /// Kills with -9 whatever lives here: keepers, then agents and all that they started.
    pub fn kill_agents(&self) {
        // Once more as long as there is anything: what was just being born is seen late.
        wait_until(PATIENCE, "the death of everything", || {
            let living = self.keepers().into_iter().chain(self.processes());
            living.fold(true, |_, pid| {
                proc::kill_9(pid).unwrap();
                false
            })
        });
    }
}

fn pid(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|pid| u32::try_from(pid).ok())
}

fn alive(pid: &u32) -> bool {
    proc::is_alive(*pid)
}

impl Drop for Place {
    fn drop(&mut self) {
        // No test leaves a process behind, however it ended.
        for pid in self.keepers().into_iter().chain(self.processes()) {
            let _ = proc::kill_9(pid);
        }
    }
}

/// An answer of a host.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body; null where it is no JSON.
    pub body: Value,
}

impl Answer {
    /// The body of an answer that has to be a success.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert!(self.status < 300, "{} {}", self.status, self.body);
        self.body
    }
}

/// A serving host.
#[derive(Debug)]
pub struct TestHost<'a> {
    /// Where it is.
    pub place: &'a Place,
    /// Its address.
    pub url: String,
    /// Its token.
    pub token: String,
    /// Its generation.
    pub generation: u64,
    child: Child,
    client: Client,
}

impl<'a> TestHost<'a> {
    /// The host that a test started by its own means, and what it said when it was ready.
    pub fn attached(place: &'a Place, child: Child, ready: &Value) -> Self {
        let url = ready["url"].as_str().unwrap().to_owned();
        let token = ready["token"].as_str().unwrap().to_owned();
        let client = Client::new(&url, &token);
        Self { place, url, token, generation: ready["generation"].as_u64().unwrap(), child, client }
    }

    /// Another client of the same host, for another thread.
    pub fn beside(&self) -> Client {
        Client::new(&self.url, &self.token)
    }

    /// The host's pid.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process still runs.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// How it ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// One request; none where no answer came.
    pub fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Option<Answer> {
        self.request_with(method, path, body, &[])
    }

    /// One request with further headers.
    pub fn request_with(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
        headers: &[(&str, &str)],
    ) -> Option<Answer> {
        self.client.request_with(method, path, body, headers)
    }

    /// A GET that has to succeed.
    #[track_caller]
    pub fn get(&self, path: &str) -> Value {
        self.request("GET", path, None).unwrap_or_else(|| self.no_answer(path)).ok()
    }

    /// A POST that has to be answered.
    #[track_caller]
    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", path, Some(body)).unwrap_or_else(|| self.no_answer(path))
    }

    /// A request by hand to this host, with its name and token.
    pub fn raw(&self, method: &str, target: &str) -> RawRequest {
        RawRequest::new(method, target)
            .header("host", raw::address(&self.url))
            .header("authorization", format!("Bearer {}", self.token))
    }

    /// Sends a request by hand.
    #[track_caller]
    pub fn exchange(&self, request: &RawRequest) -> RawAnswer {
        raw::exchange(&self.url, request)
    }

    /// A part of a big text.
    #[track_caller]
    pub fn range(&self, href: &str, range: &str) -> RawAnswer {
        self.exchange(&self.raw("GET", href).header("range", range))
    }

    #[track_caller]
    fn no_answer(&self, path: &str) -> ! {
        panic!("no answer to {path}; the host's log:\n{}", self.place.log())
    }

    /// Opens a chat with the demo agent, without a message, and answers its id.
    #[track_caller]
    pub fn open(&self) -> String {
        self.open_with("demo")
    }

    /// Opens a chat with this agent, without a message, and answers its id.
    #[track_caller]
    pub fn open_with(&self, agent: &str) -> String {
        let body = json!({ "agent": agent, "cwd": self.place.work_dir() });
        self.post("/chats", &body).ok()["id"].as_str().unwrap().to_owned()
    }

    /// Sends a message and answers its id.
    #[track_caller]
    pub fn send(&self, chat: &str, text: &str) -> String {
        let answer = self.post(&format!("/chats/{chat}/messages"), &json!({ "text": text }));
        assert_eq!(answer.status, 202, "{}", answer.body);
        answer.body["message"]["id"].as_str().unwrap().to_owned()
    }

    /// An agent as it is listed.
    ///
    /// # Panics
    ///
    /// When there is no such agent.
    #[track_caller]
    pub fn agent(&self, id: &str) -> Value {
        let agents = self.get("/agents");
        let mut listed = agents["items"].as_array().into_iter().flatten();
        listed.find(|agent| agent["id"] == id).cloned().unwrap_or_else(|| panic!("{agents}"))
    }

    /// Gives a message to the running turn, and answers its id.
    #[track_caller]
    pub fn steer(&self, chat: &str, text: &str) -> String {
        let body = json!({ "text": text, "delivery": "steer" });
        let answer = self.post(&format!("/chats/{chat}/messages"), &body).ok();
        assert_eq!(answer["note"], Value::Null, "{answer}");
        answer["message"]["id"].as_str().unwrap().to_owned()
    }

    /// What became of a message that was given to a running turn.
    #[track_caller]
    pub fn steered(&self, chat: &str, message: &str) -> Value {
        let items = self.items(chat);
        let own = items.into_iter().find(|item| item["delivery"]["message"] == message);
        own.map(|item| item["delivery"]["steer"].clone()).unwrap_or_default()
    }

    /// The row of a chat.
    #[track_caller]
    pub fn chat(&self, chat: &str) -> Value {
        self.get(&format!("/chats/{chat}"))
    }

    /// The newest items of a chat.
    #[track_caller]
    pub fn items(&self, chat: &str) -> Vec<Value> {
        let page = self.get(&format!("/chats/{chat}/items?limit=200"));
        page["items"].as_array().unwrap().clone()
    }

    /// What the agent said in a chat, its messages one after the other.
    #[track_caller]
    pub fn said(&self, chat: &str) -> String {
        let items = self.items(chat);
        let messages = items.iter().filter(|i| i["kind"] == "message" && i["role"] == "agent");
        messages.filter_map(|item| item["text"].as_str()).collect()
    }

    /// Waits until the chat shows this state.
    #[track_caller]
    pub fn wait_shown(&self, chat: &str, shown: &str) {
        self.wait(&format!("the chat to be {shown}"), || {
            self.chat(chat)["status"]["shown"] == shown
        });
    }

    /// Waits until a message has this state.
    #[track_caller]
    pub fn wait_message(&self, chat: &str, message: &str, state: &str) {
        self.wait(&format!("the message to be {state}"), || {
            let items = self.items(chat);
            let own = items.iter().find(|item| item["delivery"]["message"] == message);
            own.is_some_and(|item| item["delivery"]["state"] == state)
        });
    }

    /// Waits for anything; the host's log is in the words of the failure.
    #[track_caller]
    pub fn wait(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let deadline = std::time::Instant::now() + PATIENCE;
        while !condition() {
            assert!(
                std::time::Instant::now() < deadline,
                "gave up waiting for {what}; the host's log:\n{}",
                self.place.log()
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Kills the host with -9.
    pub fn kill(mut self) {
        proc::kill_9(self.pid()).unwrap();
        self.child.wait().unwrap();
    }

    /// Kills host, keepers and agents with -9.
    pub fn kill_everything(mut self) {
        proc::kill_9(self.pid()).unwrap();
        self.child.wait().unwrap();
        self.place.kill_agents();
    }

    /// Tells the host to stop, agents too, and waits for its end.
    pub fn stop(mut self) -> ExitStatus {
        proc::signal(self.pid(), rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap()
    }

    /// Waits for the host to end by itself.
    pub fn wait_end(mut self) -> ExitStatus {
        wait_until(PATIENCE, "the host's own end", || self.child.try_wait().unwrap().is_some());
        self.child.wait().unwrap()
    }
}

impl Drop for TestHost<'_> {
    fn drop(&mut self) {
        if self.is_running() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// The program's path beside the test that asks, for programs of this workspace.
pub fn beside_test(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let dir = test.ancestors().find(|dir| dir.file_name().is_some_and(|n| n == "deps"));
    dir.and_then(Path::parent).unwrap_or_else(|| Path::new(".")).join(name)
}
