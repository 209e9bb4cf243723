//! Driving an ACP agent by raw JSON-RPC, without any host between.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an agent may take to say what a test waits for.
pub const ANSWER_BOUND: Duration = Duration::from_secs(60);

/// A running agent and everything it has said. Dropping it kills the agent.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    heard: Arc<Heard>,
    next_id: u64,
}

#[derive(Default)]
struct Heard {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    lines: Vec<Vec<u8>>,
    messages: Vec<Value>,
    ended: bool,
}

impl Client {
    /// Starts the agent with its stdin and stdout as pipes; stderr is inherited.
    ///
    /// # Panics
    ///
    /// When the program cannot be started.
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = child.unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let stdout = child.stdout.take().expect("stdout is a pipe");
        let heard = Arc::new(Heard::default());
        let listener = Arc::clone(&heard);
        thread::spawn(move || listen(&listener, BufReader::new(stdout)));
        Self { stdin: child.stdin.take(), child, heard, next_id: 1 }
    }

    /// The pid of the agent.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes one line as it is and its newline. An agent that is gone is no error here.
    pub fn send_line(&mut self, line: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            drop(stdin.write_all(&[line, b"\n"].concat()).and_then(|()| stdin.flush()));
        }
    }

    /// Writes one message.
    pub fn send(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request and gives its id, for [`Self::reply`].
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Waits for the reply to a request: its result, or its error.
    ///
    /// # Errors
    ///
    /// The agent's JSON-RPC error object.
    ///
    /// # Panics
    ///
    /// When no reply comes within [`ANSWER_BOUND`].
    #[track_caller]
    pub fn reply(&self, id: u64) -> Result<Value, Value> {
        let reply = self.wait_for(&format!("the reply to request {id}"), |message| {
            message.get("method").is_none() && message["id"] == json!(id)
        });
        match reply.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(reply["result"].clone()),
        }
    }

    /// Sends a request and waits for its result.
    ///
    /// # Panics
    ///
    /// When it is answered with an error, or not in time.
    #[track_caller]
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        match self.reply(id) {
            Ok(result) => result,
            Err(error) => panic!("{method} was answered with {error}"),
        }
    }

    /// Answers a request of the agent.
    pub fn answer(&mut self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// `initialize` as protocol version 1 with these client capabilities.
    #[track_caller]
    pub fn initialize(&mut self, capabilities: Value) -> Value {
        self.call(
            "initialize",
            json!({
                "protocolVersion": 1,
                "clientInfo": { "name": "testkit", "version": "0" },
                "clientCapabilities": capabilities,
            }),
        )
    }

    /// `session/new` in a folder; gives the session's id.
    #[track_caller]
    pub fn new_session(&mut self, cwd: &str) -> String {
        let result = self.call("session/new", json!({ "cwd": cwd, "mcpServers": [] }));
        result["sessionId"].as_str().expect("a session id").to_owned()
    }

    /// Sends a prompt of one text and gives the request's id.
    pub fn prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request("session/prompt", json!({ "sessionId": session, "prompt": prompt }))
    }

    /// Runs a whole turn and gives its stop reason.
    #[track_caller]
    pub fn turn(&mut self, session: &str, text: &str) -> String {
        let id = self.prompt(session, text);
        let result = self.reply(id).unwrap_or_else(|error| panic!("the turn failed: {error}"));
        result["stopReason"].as_str().expect("a stop reason").to_owned()
    }

    /// Waits for the first message, among all that were heard so far and will be, that fits.
    ///
    /// # Panics
    ///
    /// When the agent's output ends before, or [`ANSWER_BOUND`] is over.
    #[track_caller]
    pub fn wait_for(&self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        self.wait_after(0, what, fits)
    }

    /// As [`Self::wait_for`], passing over the first `skip` messages; see [`Self::heard_count`].
    ///
    /// # Panics
    ///
    /// As [`Self::wait_for`] does.
    #[track_caller]
    pub fn wait_after(&self, skip: usize, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + ANSWER_BOUND;
        let mut state = self.state();
        let mut looked_at = skip;
        loop {
            let messages = state.messages.get(looked_at..).unwrap_or_default();
            if let Some(found) = messages.iter().find(|message| fits(message)) {
                return found.clone();
            }
            looked_at = looked_at.max(state.messages.len());
            assert!(!state.ended, "the agent's output ended before {what}");
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "gave up waiting for {what} after {ANSWER_BOUND:?}");
            let waited = self.heard.more.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// How many messages were heard so far.
    pub fn heard_count(&self) -> usize {
        self.state().messages.len()
    }

    /// All messages heard so far; a line that is not JSON is not among them.
    pub fn messages(&self) -> Vec<Value> {
        self.state().messages.clone()
    }

    /// All lines heard so far, without their newlines.
    pub fn lines(&self) -> Vec<Vec<u8>> {
        self.state().lines.clone()
    }

    /// The updates of one kind heard after the first `skip` messages.
    pub fn updates_after(&self, skip: usize, kind: &str) -> Vec<Value> {
        let state = self.state();
        let messages = state.messages.iter().skip(skip);
        messages
            .filter(|message| message["method"] == "session/update")
            .map(|message| &message["params"]["update"])
            .filter(|update| update["sessionUpdate"] == kind)
            .cloned()
            .collect()
    }

    /// The joined text of the chunks of one kind heard after the first `skip` messages.
    pub fn text_after(&self, skip: usize, kind: &str) -> String {
        let updates = self.updates_after(skip, kind);
        updates.iter().filter_map(|update| update["content"]["text"].as_str()).collect()
    }

    /// Closes the agent's stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Kills the agent with SIGKILL and waits for its death.
    ///
    /// # Panics
    ///
    /// When it cannot be waited for.
    pub fn kill_9(&mut self) -> ExitStatus {
        drop(self.child.kill());
        self.child.wait().expect("the child can be waited for")
    }

    /// Waits until the agent has ended.
    ///
    /// # Panics
    ///
    /// When it has not within [`ANSWER_BOUND`].
    #[track_caller]
    pub fn wait_exit(&mut self) -> ExitStatus {
        let mut status = None;
        crate::wait_until(ANSWER_BOUND, "the end of the agent", || {
            status = self.child.try_wait().expect("the child can be waited for");
            status.is_some()
        });
        status.expect("the wait ended with a status")
    }

    /// Waits until the agent's stdout has ended; then [`Self::messages`] is all it has said.
    ///
    /// # Panics
    ///
    /// When it has not within [`ANSWER_BOUND`].
    #[track_caller]
    pub fn wait_output_end(&self) {
        crate::wait_until(ANSWER_BOUND, "the end of the agent's output", || self.state().ended);
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.heard.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn listen(heard: &Heard, mut output: impl BufRead) {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = output.read_until(b'\n', &mut line);
        let mut state = heard.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(read, Ok(1..)) {
            state.ended = true;
            heard.more.notify_all();
            return;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if let Ok(message) = serde_json::from_slice(&line) {
            state.messages.push(message);
        }
        state.lines.push(line.clone());
        heard.more.notify_all();
    }
}
