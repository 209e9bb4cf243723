//! A scripted model server that speaks the OpenAI chat completions API:
//! `POST /v1/chat/completions`, streamed by SSE (chunks, a chunk with usage, `[DONE]`) or whole.
//!
//! The last user text directs it: `[[say TEXT]]`, `[[slow-stream N MS]]`, `[[tool NAME {JSON}]]`,
//! `[[hang SECONDS]]`, `[[status CODE]]`, in order; without any it answers `You said: TEXT`. After
//! a tool's result it answers `tool done: HEAD OF RESULT`. It keeps every request body that it saw.

use std::convert::Infallible;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::post;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::script::{self, Step};

/// Largest request body, in bytes: a whole history goes into each.
const BODY_BYTES_MAX: usize = 256 << 20;
/// How many chunks of a reply may be ready before the agent reads them.
const CHUNKS_AHEAD: usize = 16;
/// What the model answers when it is asked for a title.
pub const TITLE: &str = "Scripted title";

/// One request as the model saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Whether it asks for the title of a session, without the session's history: opencode does so
    /// beside the first message.
    pub is_title: bool,
    /// The whole body.
    pub body: Value,
}

impl Seen {
    /// The text of the last message of the user.
    pub fn last_user_text(&self) -> String {
        script::last_user_text(self.messages())
    }

    /// The texts of all messages of one role, in order.
    pub fn texts(&self, role: &str) -> Vec<String> {
        let messages = self.messages().iter();
        messages.filter(|message| message["role"] == role).map(script::text_of).collect()
    }

    fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map_or(&[], Vec::as_slice)
    }
}

/// How a server is started.
#[derive(Debug, Default)]
pub struct Options {
    /// The port on 127.0.0.1; 0 picks one.
    pub port: u16,
    /// A file to which `{"is_title": BOOL, "body": BODY}` is appended for each request.
    pub log: Option<PathBuf>,
}

/// A running server on 127.0.0.1; dropping it ends it and cuts what it still streams.
pub struct ModelServer {
    /// The port it listens on.
    pub port: u16,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    seen: Mutex<Vec<Seen>>,
    log: Option<File>,
}

/// Replies of this process so far, over all its servers.
static REPLIES: AtomicU64 = AtomicU64::new(0);

impl ModelServer {
    /// Starts a server on a free port, without a log file.
    ///
    /// # Panics
    ///
    /// When it cannot be started.
    pub fn start() -> Self {
        let started = Self::start_with(Options::default());
        started.unwrap_or_else(|error| panic!("cannot start the scripted model: {error}"))
    }

    /// Starts a server.
    ///
    /// # Errors
    ///
    /// When the port is taken or the log file cannot be opened.
    pub fn start_with(options: Options) -> io::Result<Self> {
        let log = match options.log {
            Some(path) => Some(OpenOptions::new().append(true).create(true).open(path)?),
            None => None,
        };
        let shared = Arc::new(Shared { seen: Mutex::default(), log });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let router = Router::new()
            .route("/v1/chat/completions", post(complete))
            .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
            .with_state(Arc::clone(&shared));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener)
                    .expect("a listener of this process");
                tokio::select! {
                    served = axum::serve(listener, router) => drop(served),
                    _ = stopped => {}
                }
            });
            // What is still streamed must not hold up the end of the test.
            runtime.shutdown_background();
        });
        Ok(Self { port, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// All requests so far, in the order of their arrival.
    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All requests so far that belong to a session's conversation: those for a title left out.
    pub fn turns(&self) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| !seen.is_title).collect()
    }

    /// Waits until the server is ended from elsewhere: for ever.
    pub fn serve_on(mut self) {
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        // A dropped sender is the signal, too.
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Shared {
    fn keep(&self, seen: Seen) {
        if let Some(mut log) = self.log.as_ref() {
            let line = format!("{}\n", json!({ "is_title": seen.is_title, "body": seen.body }));
            log.write_all(line.as_bytes()).expect("the log can be written");
        }
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
}

/// A request for a title offers no tools and its instructions speak of a title.
fn is_title(body: &Value) -> bool {
    let tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let messages = body["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let instructed = messages.iter().any(|message| {
        matches!(message["role"].as_str(), Some("system" | "developer"))
            && script::text_of(message).to_lowercase().contains("title")
    });
    !tools && instructed
}

async fn complete(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    let Ok(body) = serde_json::from_slice::<Value>(&body) else {
        return failed(StatusCode::BAD_REQUEST, "the body is not JSON");
    };
    let is_title = is_title(&body);
    let steps = if is_title {
        vec![Step::Say(TITLE.to_owned())]
    } else {
        script::steps(body["messages"].as_array().map_or(&[], Vec::as_slice))
    };
    // Agents pass the ids of tool calls on as their own: a second server must not repeat them.
    let number = REPLIES.fetch_add(1, Ordering::Relaxed);
    let reply = Reply {
        id: format!("chatcmpl-{}-{number}", std::process::id()),
        model: body["model"].clone(),
    };
    let streamed = body["stream"] == true;
    shared.keep(Seen { is_title, body });
    let status = steps.iter().find_map(|step| match step {
        Step::Status(code) => Some(*code),
        Step::Say(_) | Step::Stream { .. } | Step::Tool { .. } | Step::Hang(_) => None,
    });
    if let Some(code) = status {
        let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        return failed(status, "told to fail");
    }
    let (send, receive) = mpsc::channel(CHUNKS_AHEAD);
    tokio::spawn(perform(reply, steps, send));
    if streamed { stream_reply(receive) } else { whole_reply(receive).await }
}

fn failed(status: StatusCode, message: &str) -> Response {
    let error = json!({ "error": { "message": message, "type": "scripted", "code": null } });
    (status, Json(error)).into_response()
}

fn stream_reply(receive: mpsc::Receiver<Value>) -> Response {
    let chunks = stream::unfold(Some(receive), |receive| async {
        let mut receive = receive?;
        let (data, rest) = match receive.recv().await {
            Some(chunk) => (chunk.to_string(), Some(receive)),
            None => ("[DONE]".to_owned(), None),
        };
        Some((Ok::<_, Infallible>(Event::default().data(data)), rest))
    });
    Sse::new(chunks).into_response()
}

/// Joins the chunks into one completion.
async fn whole_reply(mut receive: mpsc::Receiver<Value>) -> Response {
    let mut whole = json!({});
    let mut text = String::new();
    let mut calls = Vec::new();
    let mut finish = Value::Null;
    while let Some(chunk) = receive.recv().await {
        let choice = &chunk["choices"][0];
        text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        calls.extend(choice["delta"]["tool_calls"].as_array().cloned().unwrap_or_default());
        if !choice["finish_reason"].is_null() {
            finish = choice["finish_reason"].clone();
        }
        whole = chunk;
    }
    let mut message = json!({ "role": "assistant", "content": text });
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    whole["object"] = json!("chat.completion");
    whole["choices"] = json!([{ "index": 0, "message": message, "finish_reason": finish }]);
    Json(whole).into_response()
}

/// What all chunks of one reply have in common.
struct Reply {
    id: String,
    model: Value,
}

impl Reply {
    fn chunk(&self, choices: Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": 0,
            "model": self.model,
            "choices": choices,
        })
    }

    fn delta(&self, delta: Value) -> Value {
        self.chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }]))
    }
}

/// Sends the chunks of a reply; ends early when the agent has hung up.
async fn perform(reply: Reply, steps: Vec<Step>, send: mpsc::Sender<Value>) {
    // A failed send means that nobody listens any more.
    drop(try_perform(&reply, steps, &send).await);
}

async fn try_perform(
    reply: &Reply,
    steps: Vec<Step>,
    send: &mpsc::Sender<Value>,
) -> Result<(), mpsc::error::SendError<Value>> {
    send.send(reply.delta(json!({ "role": "assistant", "content": "" }))).await?;
    let mut calls = 0;
    for step in steps {
        match step {
            Step::Say(text) => {
                for word in text.split_inclusive(' ') {
                    send.send(reply.delta(json!({ "content": word }))).await?;
                }
            }
            Step::Stream { count, gap } => {
                for number in 1..=count {
                    let text = format!("chunk {number} ");
                    send.send(reply.delta(json!({ "content": text }))).await?;
                    tokio::time::sleep(gap).await;
                }
            }
            Step::Tool { name, arguments } => {
                let call = json!({
                    "index": calls,
                    "id": format!("call_{}_{calls}", reply.id),
                    "type": "function",
                    "function": { "name": name, "arguments": arguments.to_string() },
                });
                send.send(reply.delta(json!({ "tool_calls": [call] }))).await?;
                calls += 1;
            }
            Step::Hang(time) => tokio::time::sleep(time).await,
            Step::Status(_) => {}
        }
    }
    let finish = if calls > 0 { "tool_calls" } else { "stop" };
    let end = json!([{ "index": 0, "delta": {}, "finish_reason": finish }]);
    send.send(reply.chunk(end)).await?;
    let mut usage = reply.chunk(json!([]));
    usage["usage"] = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 });
    send.send(usage).await
}
