//! The server: what comes in is kept, and answered as the script says.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
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
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{self, Sse};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::chat::{self, Chat};
use super::messages::{self, Messages};
use super::perform::perform;
use super::responses::{self, Responses};
use super::script::{self, Step};
use super::seen::{Api, Purpose, Seen};
use super::wire::{Event, Part, Reply, Wire};
use super::{SUMMARY, TITLE};

/// Largest request body, in bytes: a whole history goes into each.
const BODY_BYTES_MAX: usize = 256 << 20;
/// How many pieces of a reply may be ready before the agent reads them.
const PARTS_AHEAD: usize = 16;
/// What a reply's usage says of its input where the script does not, in tokens.
const INPUT_TOKENS: u64 = 100;

/// How a server is started.
#[derive(Debug, Default)]
pub struct Options {
    /// The port on 127.0.0.1; 0 picks one.
    pub port: u16,
    /// A file to which a line of JSON is appended for each request: `api`, `is_title`, `session`,
    /// `subagent`, `told` (the conversation in the compact form) and `body`.
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
    /// What was done a counted number of times, by the place where the script says so.
    done: Mutex<BTreeMap<String, u32>>,
    gates: watch::Sender<BTreeSet<String>>,
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
        let (seen, done) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { seen, log, done, gates: watch::Sender::default() });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let router = Router::new()
            // Claude Code looks whether anybody is there.
            .route("/", get(|| async {}))
            .route("/v1/chat/completions", post(chat))
            .route("/v1/messages", post(messages))
            .route("/v1/messages/count_tokens", post(count_tokens))
            .route("/v1/responses", post(responses))
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

    /// All requests so far that go on with a main agent's conversation: those for a title or a
    /// summary, and those of subagents, left out.
    pub fn turns(&self) -> Vec<Seen> {
        let turn = |seen: &Seen| seen.purpose == Purpose::Turn && seen.subagent.is_none();
        self.seen().into_iter().filter(turn).collect()
    }

    /// All requests so far that go on with a subagent's conversation.
    pub fn subagent_turns(&self) -> Vec<Seen> {
        let turn = |seen: &Seen| seen.purpose == Purpose::Turn && seen.subagent.is_some();
        self.seen().into_iter().filter(turn).collect()
    }

    /// Opens a gate, for those who wait there (`[[gate NAME]]`) and those who come.
    pub fn open(&self, gate: &str) {
        self.shared.gates.send_modify(|open| {
            open.insert(gate.to_owned());
        });
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
            log.write_all(seen.line().as_bytes()).expect("the log can be written");
        }
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }

    /// The steps without those that were done as often as they say.
    fn still_to_do(&self, place: &str, steps: Vec<Step>) -> Vec<Step> {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_to_do = |(number, step): (usize, &Step)| {
            let (Step::Status { times: Some(times), .. }
            | Step::Cut { times: Some(times) }
            | Step::Empty { times: Some(times) }) = step
            else {
                return true;
            };
            let done = done.entry(format!("{place} {number}")).or_default();
            *done += 1;
            *done <= *times
        };
        let mut left = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            let ends = matches!(step, Step::Status { .. } | Step::Cut { .. } | Step::Empty { .. });
            if is_to_do((number, &step)) {
                left.push(step);
                // What comes behind is not reached, and so not counted.
                if ends {
                    break;
                }
            }
        }
        left
    }
}

async fn chat(shared: State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    asked(Api::Chat, &shared, &headers, &body).await
}

async fn messages(shared: State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    asked(Api::Messages, &shared, &headers, &body).await
}

async fn responses(shared: State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    asked(Api::Responses, &shared, &headers, &body).await
}

async fn asked(api: Api, shared: &Arc<Shared>, headers: &HeaderMap, body: &[u8]) -> Response {
    let Ok(body) = serde_json::from_slice::<Value>(body) else {
        let error = json!({ "error": { "message": "the body is not JSON", "type": "scripted" } });
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    };
    let conversation = match api {
        Api::Chat => chat::conversation(&body),
        Api::Messages => messages::conversation(&body),
        Api::Responses => responses::conversation(&body),
    };
    let purpose = match api {
        Api::Chat => chat::purpose(&body, &conversation),
        Api::Messages => messages::purpose(&body, &conversation),
        Api::Responses => responses::purpose(&conversation),
    };
    let (session, subagent) = match api {
        Api::Chat => (None, None),
        Api::Messages => {
            (header(headers, "x-claude-code-session-id"), header(headers, "x-claude-code-agent-id"))
        }
        Api::Responses => {
            let subagent = header(headers, "x-openai-subagent");
            let thread = header(headers, "thread-id");
            (header(headers, "session-id"), subagent.and(thread))
        }
    };
    answer(shared, Seen { api, purpose, session, subagent, conversation, body }).await
}

/// Nobody counts here: any figure will do.
async fn count_tokens() -> Json<Value> {
    Json(json!({ "input_tokens": INPUT_TOKENS }))
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn steps_for(shared: &Shared, seen: &Seen) -> Vec<Step> {
    match (seen.purpose, seen.api) {
        (Purpose::Title, Api::Messages) => {
            vec![Step::Say(json!({ "title": TITLE }).to_string())]
        }
        (Purpose::Title, Api::Chat | Api::Responses) => vec![Step::Say(TITLE.to_owned())],
        (Purpose::Summary, Api::Messages) => {
            let analysis = "<analysis>\nnone\n</analysis>";
            vec![Step::Say(format!("{analysis}\n\n<summary>\n{SUMMARY}\n</summary>"))]
        }
        (Purpose::Summary, Api::Chat | Api::Responses) => vec![Step::Say(SUMMARY.to_owned())],
        (Purpose::Turn, _) => {
            let told = seen.told().join("\n");
            let place = format!("{:?} {:?} {told}", seen.session, seen.subagent);
            shared.still_to_do(&place, script::steps(&seen.conversation))
        }
    }
}

async fn answer(shared: &Arc<Shared>, seen: Seen) -> Response {
    let steps = steps_for(shared, &seen);
    let number = REPLIES.fetch_add(1, Ordering::Relaxed);
    let id = format!("{}-{number}", std::process::id());
    let input_tokens = steps.iter().find_map(|step| match step {
        Step::Usage(tokens) => Some(*tokens),
        _ => None,
    });
    let reply = Reply {
        id,
        model: seen.body["model"].clone(),
        input_tokens: input_tokens.unwrap_or(INPUT_TOKENS),
    };
    let mut wire: Box<dyn Wire> = match seen.api {
        Api::Chat => Box::new(Chat::new(reply.clone())),
        Api::Messages => Box::new(Messages::new(reply.clone())),
        Api::Responses => Box::new(Responses::new(reply.clone(), &seen.body)),
    };
    let is_streamed = seen.body["stream"] == true;
    shared.keep(seen);
    let status = steps.iter().find_map(|step| match step {
        Step::Status { code, .. } => Some(*code),
        _ => None,
    });
    if let Some(code) = status {
        let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        return (status, Json(wire.refused(code))).into_response();
    }
    let (send, receive) = mpsc::channel(PARTS_AHEAD);
    let gates = shared.gates.subscribe();
    let request = format!("req_{}", reply.id);
    tokio::spawn(perform(reply.id, steps, gates, send));
    let answer = if is_streamed {
        streamed(wire, receive)
    } else {
        match whole(wire.as_mut(), receive).await {
            Some(body) => Json(body).into_response(),
            None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    };
    ([("request-id", request)], answer).into_response()
}

/// The reply as one body; none where it was cut or failed.
async fn whole(wire: &mut dyn Wire, mut receive: mpsc::Receiver<Part>) -> Option<Value> {
    let mut parts = Vec::new();
    while let Some(part) = receive.recv().await {
        if matches!(part, Part::Cut | Part::Failed(_)) {
            return None;
        }
        parts.push(part);
    }
    Some(wire.whole(&parts))
}

/// What is left to be streamed.
struct Streaming {
    wire: Box<dyn Wire>,
    receive: mpsc::Receiver<Part>,
    ready: VecDeque<Event>,
    is_cut: bool,
}

fn streamed(mut wire: Box<dyn Wire>, receive: mpsc::Receiver<Part>) -> Response {
    let ready = wire.begin().into();
    let streaming = Streaming { wire, receive, ready, is_cut: false };
    Sse::new(stream::unfold(streaming, next)).into_response()
}

async fn next(mut left: Streaming) -> Option<(io::Result<sse::Event>, Streaming)> {
    while left.ready.is_empty() {
        if left.is_cut {
            return None;
        }
        match left.receive.recv().await? {
            Part::Cut => {
                left.is_cut = true;
                return Some((Err(io::ErrorKind::ConnectionReset.into()), left));
            }
            part => left.ready.extend(left.wire.part(&part)),
        }
    }
    let Event { name, data } = left.ready.pop_front()?;
    let event = sse::Event::default().data(data);
    let event = match name {
        Some(name) => event.event(name),
        None => event,
    };
    Some((Ok(event), left))
}
