//! Calls to a host. A write carries a key of its own, so that it can be repeated when its answer is
//! lost: the host does it once.

use std::cell::RefCell;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, CONTENT_TYPE, RANGE};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::events::Events;
use crate::fault::{Exit, Fault};
use crate::reach::{Found, Target};

/// Where the calls are, below the address.
const API: &str = "/api/v1";
/// How long an answer is waited for where the caller does not say.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a connection may take to come about.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);
/// Time between two attempts at the same call, at first and at most.
const PAUSE: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Attempts at a host that refuses the connection though its process lives: it starts, or is being
/// replaced.
const ATTEMPTS_AT_A_LIVING_HOST: u32 = 12;
/// Attempts at a host that says that it has too much to do.
const ATTEMPTS_AT_A_BUSY_HOST: u32 = 5;

/// A client of one host.
#[derive(Debug)]
pub struct Client {
    runtime: Runtime,
    http: reqwest::Client,
    target: Target,
    timeout: Option<Duration>,
}

/// One call.
struct Call<'a> {
    method: Method,
    path: &'a str,
    body: Content<'a>,
    key: Option<&'a str>,
}

/// What a call brings.
enum Content<'a> {
    Nothing,
    Json(&'a Value),
    File { bytes: Bytes, media_type: &'a str },
}

/// What came of one attempt at a call.
enum Attempt {
    /// The host answered.
    Answer(StatusCode, Vec<u8>),
    /// No connection came about: nothing was sent.
    NotSent(Fault),
    /// It may have been sent, but no answer came.
    Lost(Fault),
}

impl Client {
    /// A client of this host, which waits for each answer at most this long.
    ///
    /// # Errors
    /// The machine has no resources left for one.
    pub fn new(target: Target, timeout: Option<Duration>) -> Result<Self, Fault> {
        let no = |error: &dyn std::fmt::Display| {
            Fault::new(Exit::Failed, "client", format!("Cannot call a host: {error}."))
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let http = reqwest::Client::builder()
            // What is told to a host is told to it alone.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_PATIENCE)
            .build();
        Ok(Self {
            runtime: runtime.map_err(|error| no(&error))?,
            http: http.map_err(|error| no(&error))?,
            target,
            timeout,
        })
    }

    /// Which host this is a client of.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// How long the caller wants to wait for what takes as long as it takes.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Reads.
    ///
    /// # Errors
    /// What the host refuses, or that none answers.
    pub fn get(&self, path: &str) -> Result<Value, Fault> {
        self.call(&Call { method: Method::GET, path, body: Content::Nothing, key: None })
    }

    /// Every item of a list that comes in pages.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub fn all(&self, path: &str) -> Result<Vec<Value>, Fault> {
        let mut items = Vec::new();
        let mut before = String::new();
        loop {
            let mut page = self.get(&format!("{path}{before}"))?;
            if let Value::Array(rows) = page["items"].take() {
                items.extend(rows);
            }
            match page["next"].as_str() {
                Some(next) => before = format!("&before={}", query(next)),
                None => return Ok(items),
            }
        }
    }

    /// Writes, once.
    ///
    /// # Errors
    /// As [`Client::get`].
    pub fn post(&self, path: &str, body: &Value) -> Result<Value, Fault> {
        self.write(Method::POST, path, body, None)
    }

    /// Writes, once, as the operation that this key names, or a new one.
    pub(crate) fn write(
        &self,
        method: Method,
        path: &str,
        body: &Value,
        key: Option<&str>,
    ) -> Result<Value, Fault> {
        let own = Uuid::new_v4().to_string();
        let key = Some(key.unwrap_or(&own));
        self.call(&Call { method, path, body: Content::Json(body), key })
    }

    /// Sends a file, once, as the operation that this key names, or a new one.
    pub(crate) fn upload(
        &self,
        path: &str,
        bytes: Vec<u8>,
        media_type: &str,
        key: Option<&str>,
    ) -> Result<Value, Fault> {
        let own = Uuid::new_v4().to_string();
        let key = Some(key.unwrap_or(&own));
        let body = Content::File { bytes: bytes.into(), media_type };
        self.call(&Call { method: Method::POST, path, body, key })
    }

    /// A text that is shown only in part elsewhere, from this byte on.
    pub(crate) fn text(&self, href: &str, from: u64) -> Result<String, Fault> {
        self.runtime.block_on(self.within(async {
            let found = self.target.find()?;
            let url = format!("{}{href}", found.url);
            let request = self.http.get(url).bearer_auth(found.token);
            let request = request.header(RANGE, format!("bytes={from}-"));
            let answer = request.send().await.map_err(|error| lost(&found.url, &error))?;
            let status = answer.status();
            let bytes = answer.bytes().await.map_err(|error| lost(&found.url, &error))?;
            match status {
                StatusCode::RANGE_NOT_SATISFIABLE => Ok(String::new()),
                status if status.is_success() => Ok(String::from_utf8_lossy(&bytes).into_owned()),
                status => Err(no(status, &bytes)),
            }
        }))
    }

    /// Listens to what changes in a chat, from a cursor on.
    pub(crate) fn events(&self, chat: &str, after: Option<&str>) -> Result<Events, Fault> {
        let after = after.map(|after| format!("&after={}", query(after))).unwrap_or_default();
        self.runtime.block_on(self.within(async {
            let found = self.target.find()?;
            let url = format!("{}{API}/events?chat={chat}{after}", found.url);
            let request = self.http.get(url).bearer_auth(&found.token);
            let request = request.header(ACCEPT, "text/event-stream");
            let answer = request.send().await.map_err(|error| lost(&found.url, &error))?;
            let status = answer.status();
            if !status.is_success() {
                let bytes = answer.bytes().await.unwrap_or_default();
                return Err(no(status, &bytes));
            }
            Ok(Events::of(answer))
        }))
    }

    /// Runs to its end what is still to be awaited.
    pub(crate) fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Waits before something is tried again.
    pub(crate) fn pause(&self, time: Duration) {
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }

    async fn within<T>(&self, call: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        let patience = self.timeout.unwrap_or(PATIENCE);
        tokio::time::timeout(patience, call).await.unwrap_or_else(|_| Err(timed_out(patience)))
    }

    fn call(&self, call: &Call<'_>) -> Result<Value, Fault> {
        let patience = self.timeout.unwrap_or(PATIENCE);
        // Why the last attempt failed says more than that time ran out.
        let last = RefCell::new(None);
        let answered = self
            .runtime
            .block_on(async { tokio::time::timeout(patience, self.attempts(call, &last)).await });
        answered.unwrap_or_else(|_| Err(last.take().unwrap_or_else(|| timed_out(patience))))
    }

    async fn attempts(
        &self,
        call: &Call<'_>,
        last: &RefCell<Option<Fault>>,
    ) -> Result<Value, Fault> {
        let mut sent = false;
        let mut pause = PAUSE;
        for attempt in 1_u32.. {
            let found = match self.target.find() {
                // What was sent to a host that is gone is sent to the next one.
                Err(fault) if !sent => return Err(fault),
                Err(fault) => {
                    last.replace(Some(fault));
                    None
                }
                Ok(found) => Some(found),
            };
            if let Some(found) = found {
                match self.attempt(call, &found).await {
                    Attempt::Answer(status, bytes) if status.is_success() => {
                        return serde_json::from_slice(&bytes).map_err(|error| {
                            let text = format!("The answer of {} is no JSON: {error}.", found.url);
                            Fault::new(Exit::Failed, "odd_answer", text)
                                .advice("Is it a Holdfast host?")
                        });
                    }
                    Attempt::Answer(status, bytes) => {
                        let fault = no(status, &bytes);
                        let busy = fault.code == "overloaded" && attempt < ATTEMPTS_AT_A_BUSY_HOST;
                        let passing = status == StatusCode::SERVICE_UNAVAILABLE;
                        if !busy && !passing {
                            return Err(fault);
                        }
                        sent = true;
                        last.replace(Some(fault));
                    }
                    Attempt::NotSent(fault) => {
                        let starts = found.lives && attempt < ATTEMPTS_AT_A_LIVING_HOST;
                        if !sent && !starts {
                            return Err(fault);
                        }
                        last.replace(Some(fault));
                    }
                    Attempt::Lost(fault) => {
                        sent = true;
                        last.replace(Some(fault));
                    }
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
        Err(timed_out(PATIENCE))
    }

    async fn attempt(&self, call: &Call<'_>, found: &Found) -> Attempt {
        let url = format!("{}{API}{}", found.url, call.path);
        let mut request = self.http.request(call.method.clone(), url).bearer_auth(&found.token);
        request = match &call.body {
            Content::Nothing => request,
            Content::Json(body) => request.json(body),
            // Sharing the bytes, however often it is tried.
            Content::File { bytes, media_type } => {
                request.header(CONTENT_TYPE, *media_type).body(bytes.clone())
            }
        };
        if let Some(key) = call.key {
            request = request.header("idempotency-key", key);
        }
        match request.send().await {
            Err(error) if error.is_connect() => Attempt::NotSent(lost(&found.url, &error)),
            Err(error) => Attempt::Lost(lost(&found.url, &error)),
            Ok(answer) => whole(answer, found).await,
        }
    }
}

async fn whole(answer: Response, found: &Found) -> Attempt {
    let status = answer.status();
    match answer.bytes().await {
        Ok(bytes) => Attempt::Answer(status, bytes.into()),
        Err(error) => Attempt::Lost(lost(&found.url, &error)),
    }
}

fn no(status: StatusCode, bytes: &[u8]) -> Fault {
    Fault::of(status.as_u16(), serde_json::from_slice(bytes).unwrap_or_default())
}

/// No answer: the innermost cause says most.
fn lost(url: &str, error: &reqwest::Error) -> Fault {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = format!("No host answers at {url}: {cause}.");
    Fault::new(Exit::Unreachable, "unreachable", text)
        .advice("Does it run? `holdfast serve` starts one, `holdfast doctor` looks what is wrong.")
}

fn timed_out(patience: Duration) -> Fault {
    let text = format!("There was no answer within {} seconds.", patience.as_secs_f64());
    Fault::new(Exit::TimedOut, "timed_out", text)
        .advice("A write may have been done all the same. --timeout SECONDS waits longer.")
}

/// A text within a query.
pub(crate) fn query(text: &str) -> String {
    let mut written = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                written.push(char::from(byte));
            }
            _ => written.push_str(&format!("%{byte:02X}")),
        }
    }
    written
}
