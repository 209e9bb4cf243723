//! Driving an ACP agent by raw JSON-RPC, without any host between.

use std::ops::{Deref, DerefMut};
use std::process::Command;

use serde_json::{Value, json};

pub use crate::lines::ANSWER_BOUND;
use crate::lines::Lines;

/// A running agent and everything it has said. Dropping it kills the agent.
pub struct Client {
    lines: Lines,
    next_id: u64,
}

impl Deref for Client {
    type Target = Lines;

    fn deref(&self) -> &Lines {
        &self.lines
    }
}

impl DerefMut for Client {
    fn deref_mut(&mut self) -> &mut Lines {
        &mut self.lines
    }
}

impl Client {
    /// Starts the agent with its stdin and stdout as pipes; stderr is inherited.
    ///
    /// # Panics
    ///
    /// When the program cannot be started.
    pub fn start(command: &mut Command) -> Self {
        Self { lines: Lines::start(command), next_id: 1 }
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

    /// The updates of one kind heard after the first `skip` messages.
    pub fn updates_after(&self, skip: usize, kind: &str) -> Vec<Value> {
        let messages = self.lines.messages();
        messages
            .iter()
            .skip(skip)
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
}
