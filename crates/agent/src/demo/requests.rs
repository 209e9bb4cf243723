//! What the client sends: one line after the other, each answered or handed to a turn's thread.

use std::io::{BufRead, Read};
use std::sync::Arc;

use serde_json::{Value, json};

use super::agent::{Agent, Forms};
use super::directive;
use super::evidence::LOGGED_LINE_BYTES_MAX;
use super::left::Left;
use super::lock;
use super::session::{Busy, Session};
use super::settings::{Cancelling, Loading, TurnEnds};
use super::store::{Record, StoreError};
use super::turn::{self, Prompt, Turn};

/// Longest line that is read, in bytes; a longer one is a parse error.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// Stack of a turn's thread, in bytes.
const TURN_STACK_BYTES: usize = 1 << 20;
const PROTOCOL_VERSION: u64 = 1;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;
/// ACP's "resource not found".
const NOT_FOUND: i64 = -32002;

/// Why a request is answered with an error.
struct Refusal {
    code: i64,
    message: String,
}

impl Refusal {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::UnknownSession => NOT_FOUND,
            StoreError::NoFolder | StoreError::Io(_) => INTERNAL_ERROR,
        };
        Self::new(code, error.to_string())
    }
}

/// What a request is answered with, now or by its turn.
enum Reply {
    Now(Value),
    ByTurn,
}

/// Serves the client until its end of file.
pub(super) fn serve(agent: &Arc<Agent>, mut input: impl BufRead) {
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut input).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) => take(agent, &line),
            Err(error) => {
                super::complain(&format!("demo agent: stdin: {error}"));
                return;
            }
        }
    }
}

fn take(agent: &Arc<Agent>, line: &[u8]) {
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => {
            agent.out.error(&Value::Null, PARSE_ERROR, &format!("not JSON: {error}"));
            return;
        }
    };
    let id = message.get("id").filter(|id| !id.is_null());
    let params = message.get("params").unwrap_or(&Value::Null);
    match (message.get("method").and_then(Value::as_str), id) {
        (Some(method), Some(id)) => match request(agent, id, method, params) {
            Ok(Reply::Now(result)) => {
                agent.out.result(id, &result);
                announce(agent, method, params, &result);
            }
            Ok(Reply::ByTurn) => {}
            Err(refusal) => agent.out.error(id, refusal.code, &refusal.message),
        },
        (Some(method), None) => notification(agent, method, params),
        (None, Some(id)) => answer(agent, id, &message),
        (None, None) => agent.out.error(&Value::Null, INVALID_REQUEST, "neither method nor id"),
    }
}

fn request(agent: &Arc<Agent>, id: &Value, method: &str, params: &Value) -> Result<Reply, Refusal> {
    match method {
        "initialize" => Ok(Reply::Now(initialize(agent, params))),
        "session/new" => new_session(agent, params).map(Reply::Now),
        "session/load" => reopen(agent, params, Replay::Whole).map(Reply::Now),
        "session/resume" => reopen(agent, params, Replay::Nothing).map(Reply::Now),
        "session/fork" => fork(agent, params).map(Reply::Now),
        "session/list" => list(agent, params).map(Reply::Now),
        "session/close" => close(agent, params).map(Reply::Now),
        "session/prompt" => prompt(agent, id, params),
        "_holdfast/task_stop" => stop_task(agent, params).map(Reply::Now),
        _ => Err(Refusal::new(METHOD_NOT_FOUND, format!("method not found: {method}"))),
    }
}

/// Tells the commands of a session that was just opened.
fn announce(agent: &Agent, method: &str, params: &Value, result: &Value) {
    let session = match method {
        "session/new" | "session/fork" => result.get("sessionId"),
        "session/load" | "session/resume" => params.get("sessionId"),
        _ => None,
    };
    if let Some(session) = session.and_then(Value::as_str) {
        let told = directive::COMMANDS.map(|(name, description, hint)| {
            let input = hint.map_or(Value::Null, |hint| json!({ "hint": hint }));
            json!({ "name": name, "description": description, "input": input })
        });
        let update = "available_commands_update";
        agent.out.update(session, &json!({ "sessionUpdate": update, "availableCommands": told }));
    }
}

fn notification(agent: &Agent, method: &str, params: &Value) {
    // Unknown notifications are ignored, as JSON-RPC wants it.
    if method != "session/cancel" {
        return;
    }
    let obeyed = agent.settings.cancelling == Cancelling::Works;
    agent.out.evidence.note(json!({ "cancel": params.get("sessionId"), "obeyed": obeyed }));
    let turn = session_of(agent, params).ok().and_then(|session| session.turn());
    if let (true, Some(turn)) = (obeyed, turn) {
        turn.cancel();
    }
}

fn answer(agent: &Agent, id: &Value, message: &Value) {
    let result = message.get("result").cloned().unwrap_or(Value::Null);
    let told = message.get("result").or_else(|| message.get("error"));
    agent.out.evidence.note(json!({ "answer": told, "request": id }));
    let request = id.as_u64();
    if let Some((request, turn)) = request.and_then(|id| Some((id, agent.answered(id)?))) {
        turn.answer(request, result);
    }
}

fn initialize(agent: &Agent, params: &Value) -> Value {
    std::thread::sleep(agent.settings.start_delay);
    let form = params.pointer("/clientCapabilities/elicitation/form");
    *lock(&agent.forms) = match form {
        Some(Value::Null) | None => Forms::NotShown,
        Some(_) => Forms::Shown,
    };
    json!({
        "protocolVersion": PROTOCOL_VERSION,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {
                "image": true,
                "audio": false,
                "embeddedContext": true,
            },
            "sessionCapabilities": { "resume": {}, "list": {}, "close": {}, "fork": {} },
            "_meta": { "holdfast": match agent.settings.turn_ends {
                TurnEnds::Named => json!({ "turns": {} }),
                TurnEnds::Nameless => json!({}),
            } },
        },
        "authMethods": [],
        "agentInfo": {
            "name": "holdfast-demo",
            "title": "Holdfast demo agent",
            "version": env!("CARGO_PKG_VERSION"),
        },
    })
}

fn new_session(agent: &Agent, params: &Value) -> Result<Value, Refusal> {
    let cwd = text(params, "cwd")?;
    if !cwd.starts_with('/') {
        return Err(Refusal::new(INVALID_PARAMS, "cwd must be an absolute path"));
    }
    let id = agent.new_id("demo");
    let file = agent.store.create(&id, cwd)?;
    agent.keep(Session::new(id.clone(), file, 0, Left::default()));
    Ok(json!({ "sessionId": id }))
}

/// What the client is shown of a session's history when it is opened again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replay {
    Whole,
    Nothing,
}

fn reopen(agent: &Agent, params: &Value, replay: Replay) -> Result<Value, Refusal> {
    let id = text(params, "sessionId")?;
    if agent.settings.loading == Loading::Refused {
        return Err(Refusal::new(NOT_FOUND, format!("told to refuse session {id}")));
    }
    if let Some(live) = agent.forget(id) {
        live.shut();
    }
    let (mut seen, mut left) = (0, Left::default());
    let file = agent.store.open(id, |record| {
        left.follow(&record);
        seen += u64::from(matches!(record, Record::User { .. }));
        if replay == Replay::Whole {
            show(agent, id, &record);
        }
    })?;
    agent.keep(Session::new(id.to_owned(), file, seen, left));
    Ok(json!({}))
}

/// A new session that begins with all that another one holds, or with that up to the end of a turn, shown
/// as it is copied.
fn fork(agent: &Agent, params: &Value) -> Result<Value, Refusal> {
    let (from, cwd) = (text(params, "sessionId")?, text(params, "cwd")?);
    if !cwd.starts_with('/') {
        return Err(Refusal::new(INVALID_PARAMS, "cwd must be an absolute path"));
    }
    let until = params.pointer("/_meta/holdfast/until").and_then(Value::as_str);
    let until = until.map(|turn| turn.parse::<u64>());
    let until = until.transpose().map_err(|_| Refusal::new(INVALID_PARAMS, "no such turn"))?;
    let mut records = Vec::new();
    agent.store.open(from, |record| records.push(record))?;
    let id = agent.new_id("demo");
    let mut file = agent.store.create(&id, cwd)?;
    let mut seen = 0;
    for record in records {
        if matches!(record, Record::User { .. }) && until.is_some_and(|until| seen >= until) {
            break;
        }
        match record {
            // What the other session is at stays its own.
            Record::Opened { .. }
            | Record::Did(_)
            | Record::Ended
            | Record::Task { .. }
            | Record::TaskEnded { .. } => continue,
            Record::User { .. } => seen += 1,
            Record::Agent { .. } | Record::Title { .. } => {}
        }
        file.append(&record)?;
        show(agent, &id, &record);
    }
    // Nothing of the copy is left undone.
    file.append(&Record::Ended)?;
    agent.keep(Session::new(id.clone(), file, seen, Left::default()));
    Ok(json!({ "sessionId": id }))
}

fn show(agent: &Agent, session: &str, record: &Record) {
    let (kind, text, message_id) = match record {
        Record::User { text, message_id } => ("user_message_chunk", text, message_id),
        Record::Agent { text, message_id } => ("agent_message_chunk", text, message_id),
        Record::Opened { .. }
        | Record::Title { .. }
        | Record::Did(_)
        | Record::Ended
        | Record::Task { .. }
        | Record::TaskEnded { .. } => return,
    };
    let content = json!({ "type": "text", "text": text });
    let update = json!({ "sessionUpdate": kind, "messageId": message_id, "content": content });
    agent.out.update(session, &update);
}

fn list(agent: &Agent, params: &Value) -> Result<Value, Refusal> {
    let wanted = params.get("cwd").and_then(Value::as_str);
    let mut stored = agent.store.list()?;
    stored.retain(|stored| wanted.is_none_or(|cwd| cwd == stored.cwd));
    stored.sort_by(|a, b| a.session.cmp(&b.session));
    let sessions: Vec<_> = stored
        .into_iter()
        .map(|stored| {
            json!({ "sessionId": stored.session, "cwd": stored.cwd, "title": stored.title })
        })
        .collect();
    Ok(json!({ "sessions": sessions }))
}

fn close(agent: &Agent, params: &Value) -> Result<Value, Refusal> {
    let id = text(params, "sessionId")?;
    let session = agent.forget(id).ok_or_else(|| unknown_session(id))?;
    session.shut();
    Ok(json!({}))
}

fn stop_task(agent: &Agent, params: &Value) -> Result<Value, Refusal> {
    let session = session_of(agent, params)?;
    let id = text(params, "taskId")?;
    agent.out.evidence.note(json!({ "stop": id }));
    match lock(&session.tasks).get(id) {
        Some(task) => task.stop(),
        None => return Err(Refusal::new(INVALID_PARAMS, format!("no such task: {id}"))),
    }
    Ok(json!({}))
}

fn prompt(agent: &Arc<Agent>, id: &Value, params: &Value) -> Result<Reply, Refusal> {
    let session = session_of(agent, params)?;
    let (text, attached) = blocks(params)?;
    let note = |stored: bool| {
        let mut event = json!({ "prompt": text, "session": session.id, "stored": stored });
        if !attached.is_empty() {
            let logged = attached.iter().map(|block| shortened(block, LOGGED_LINE_BYTES_MAX));
            event["attached"] = logged.collect();
        }
        agent.out.evidence.note(event);
    };
    if let Some(code) = turn::rejection(&text) {
        note(false);
        turn::error_as_told(agent, id, code);
        return Ok(Reply::ByTurn);
    }
    let turn = Arc::new(Turn::default());
    if let Err(Busy) = session.begin(&turn) {
        note(false);
        return Err(Refusal::new(INVALID_REQUEST, "a turn of this session is running"));
    }
    if let Err(error) = session.store_user(agent, &text) {
        note(false);
        drop(session.end());
        return Err(error.into());
    }
    note(true);
    let attached = attached.iter().map(|block| shortened(block, 0).to_string()).collect();
    let prompt = Prompt { request: id.clone(), text, attached };
    let runs = {
        let (agent, session) = (Arc::clone(agent), Arc::clone(&session));
        move || turn::run(&agent, &session, &turn, &prompt)
    };
    match std::thread::Builder::new().stack_size(TURN_STACK_BYTES).spawn(runs) {
        Ok(_) => Ok(Reply::ByTurn),
        Err(error) => {
            drop(session.end());
            Err(Refusal::new(INTERNAL_ERROR, format!("no thread for the turn: {error}")))
        }
    }
}

/// The text blocks of a prompt, joined as they are, and its other blocks.
fn blocks(params: &Value) -> Result<(String, Vec<Value>), Refusal> {
    let blocks = params.get("prompt").and_then(Value::as_array);
    let blocks = blocks.ok_or_else(|| Refusal::new(INVALID_PARAMS, "prompt must be a list"))?;
    let (mut joined, mut others) = (String::new(), Vec::new());
    for block in blocks {
        match block.get("text").and_then(Value::as_str) {
            Some(text) => joined.push_str(text),
            None => others.push(block.clone()),
        }
    }
    Ok((joined, others))
}

/// A block whose data, where it is longer than this, is only counted.
fn shortened(block: &Value, most: usize) -> Value {
    let mut block = block.clone();
    if let Some(length) = block["data"].as_str().map(str::len).filter(|length| *length > most) {
        block["data"] = json!(format!("({length} characters)"));
    }
    block
}

fn session_of(agent: &Agent, params: &Value) -> Result<Arc<Session>, Refusal> {
    let id = text(params, "sessionId")?;
    agent.session(id).ok_or_else(|| unknown_session(id))
}

fn unknown_session(id: &str) -> Refusal {
    Refusal::new(NOT_FOUND, format!("session not found: {id}"))
}

fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, Refusal> {
    let value = params.get(name).and_then(Value::as_str);
    value.ok_or_else(|| Refusal::new(INVALID_PARAMS, format!("{name} must be a text")))
}
