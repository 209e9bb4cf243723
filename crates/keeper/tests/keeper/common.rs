//! What the tests with real processes share.

use holdfast_keeper::Record;
use holdfast_keeper::connect::{Events, Greeting, Link};
use holdfast_keeper::protocol::{
    Call, Hello, Message, Refusal, Reply, Start, Stop, StopScope, Welcome,
};
use holdfast_keeper::record::ProcessId;
use holdfast_keeper::registry::{self, AttemptDir, Limits, Secret, Spec};
use holdfast_keeper::tree;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use uuid::Uuid;

/// How long any condition is waited for.
pub(crate) const BOUND: Duration = Duration::from_secs(30);

/// Set where a test runs again, as the superuser of a namespace: the file that says that it did.
const INSIDE: &str = "HOLDFAST_TEST_INSIDE";

pub(crate) const KEEPER: &str = env!("CARGO_BIN_EXE_holdfast-keeper-test");

/// One attempt with a real keeper. What still lives of it is ended when the test ends.
pub(crate) struct Attempt {
    pub(crate) data: TempDir,
    pub(crate) dir: AttemptDir,
    pub(crate) spec: Spec,
}

pub(crate) fn spec() -> Spec {
    Spec {
        attempt: Uuid::new_v4(),
        secret: Secret::random().unwrap(),
        incarnation: Uuid::new_v4(),
        limits: Limits::default(),
    }
}

impl Attempt {
    pub(crate) fn spawn() -> Self {
        Self::spawn_with(|_| {})
    }

    pub(crate) fn spawn_with(limits: impl FnOnce(&mut Limits)) -> Self {
        Self::spawn_in(tempfile::tempdir().unwrap(), limits)
    }

    pub(crate) fn spawn_in(data: TempDir, limits: impl FnOnce(&mut Limits)) -> Self {
        let path = data.path().to_owned();
        Self::spawn_at(data, &path, limits)
    }

    pub(crate) fn spawn_at(data: TempDir, path: &Path, limits: impl FnOnce(&mut Limits)) -> Self {
        let mut spec = spec();
        limits(&mut spec.limits);
        let born = registry::create(path, &spec).unwrap();
        let dir = registry::spawn(born, Path::new(KEEPER), [] as [&str; 0]).unwrap().dir;
        Self { data, dir, spec }
    }

    pub(crate) fn greeting(&self, start: Option<Start>) -> Greeting {
        let (secret, incarnation) = (self.spec.secret.clone(), self.spec.incarnation);
        Greeting { secret, incarnation, start }
    }

    pub(crate) async fn attach(&self) -> (Link, Welcome) {
        Link::attach(&self.dir, self.greeting(None)).await.unwrap()
    }

    /// Starts a shell script as the agent.
    pub(crate) async fn start(&self, script: &str) -> (Link, Welcome) {
        Link::attach(&self.dir, self.greeting(Some(shell(script)))).await.unwrap()
    }

    /// Starts a shell script as the agent and reads from the beginning.
    pub(crate) async fn run(&self, script: &str) -> (Link, Events) {
        let (link, _) = self.start(script).await;
        let events = link.read_from(0).await.unwrap();
        (link, events)
    }

    pub(crate) fn keeper(&self) -> ProcessId {
        self.dir.record().unwrap().unwrap().keeper
    }

    pub(crate) fn agent(&self) -> ProcessId {
        self.dir.record().unwrap().unwrap().agent.unwrap()
    }

    /// Kills the keeper as `kill -9` does, and waits until it is dead.
    pub(crate) async fn kill_keeper(&self) {
        kill(self.keeper(), 9);
        self.keeper_is_dead().await;
    }

    pub(crate) async fn keeper_is_dead(&self) {
        until("the keeper is dead", || !self.dir.is_alive().unwrap()).await;
    }

    pub(crate) fn dead_records(&self, position: u64) -> Vec<Record> {
        let reader = registry::read_dead(&self.dir, position).unwrap();
        reader.map(|record| record.unwrap().0).collect()
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Ok(Some(record)) = self.dir.record()
            && tree::is_alive(record.keeper)
        {
            // It may be ending right now.
            let _ = send(record.keeper, 9);
        }
        let _ = tree::end_survivors(self.spec.attempt, None, &[]);
    }
}

pub(crate) fn shell(script: &str) -> Start {
    Start {
        argv: vec!["sh".into(), "-c".into(), script.into()],
        env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
        cwd: PathBuf::from("/"),
    }
}

pub(crate) fn kill(process: ProcessId, signal: i32) {
    assert!(tree::is_alive(process), "{process:?} is dead already");
    send(process, signal).unwrap();
}

fn send(process: ProcessId, signal: i32) -> rustix::io::Result<()> {
    let pid = rustix::process::Pid::from_raw(process.pid.cast_signed()).unwrap();
    let signal = rustix::process::Signal::from_named_raw(signal).unwrap();
    rustix::process::kill_process(pid, signal)
}

/// Runs a test that only the superuser can run: at once by the superuser, otherwise as the one of a
/// namespace that `unshare` makes with these `flags`. It fails where neither is possible.
pub(crate) fn as_superuser(name: &str, flags: &[&str], test: impl Future<Output = ()>) {
    let inside = std::env::var_os(INSIDE);
    if inside.is_some() || rustix::process::geteuid().is_root() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(test);
        if let Some(ran) = inside {
            std::fs::write(ran, "").unwrap();
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let ran = dir.path().join("ran");
    let mut command = Command::new("unshare");
    command.arg("--map-root-user").args(flags).arg(std::env::current_exe().unwrap());
    let status = command.args(["--exact", name, "--nocapture"]).env(INSIDE, &ran).status().unwrap();
    assert!(
        status.success() && ran.exists(),
        "{name} was not run, or failed, in `unshare --map-root-user {}`: it needs root, or a system \
         where that works (for other users: newuidmap, and a range in /etc/subuid and /etc/subgid)",
        flags.join(" ")
    );
}

pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let bound = Instant::now() + BOUND;
    while !holds() {
        assert!(Instant::now() < bound, "waited too long until {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub(crate) async fn next(events: &mut Events) -> (Record, u64) {
    let next = tokio::time::timeout(BOUND, events.recv()).await.expect("waited too long");
    next.expect("the events go on")
}

/// The records up to the first for which `last` holds, that included.
pub(crate) async fn records_until(
    events: &mut Events,
    last: impl Fn(&Record) -> bool,
) -> Vec<(Record, u64)> {
    let mut records = Vec::new();
    loop {
        let (record, position) = next(events).await;
        let is_last = last(&record);
        records.push((record, position));
        if is_last {
            return records;
        }
    }
}

pub(crate) async fn all_records(events: &mut Events) -> Vec<Record> {
    let records = records_until(events, |record| matches!(record, Record::Exited { .. })).await;
    records.into_iter().map(|(record, _)| record).collect()
}

pub(crate) fn line(text: &str) -> Record {
    Record::Line(text.as_bytes().to_vec())
}

pub(crate) fn frame(text: &str) -> Arc<[u8]> {
    text.as_bytes().into()
}

pub(crate) fn stop_tree(grace: Duration) -> Stop {
    Stop { scope: StopScope::Tree { grace }, unless_after: None }
}

/// A connection without the library's own client.
pub(crate) struct Raw {
    pub(crate) stream: tokio::net::UnixStream,
    pub(crate) buffer: Vec<u8>,
    last_id: u32,
}

impl Raw {
    pub(crate) async fn connect(attempt: &Attempt) -> Self {
        let path = attempt.dir.path().join("sock");
        let bound = Instant::now() + BOUND;
        let stream = loop {
            match tokio::net::UnixStream::connect(&path).await {
                Ok(stream) => break stream,
                // Not bound or not listening yet.
                Err(error) => assert!(Instant::now() < bound, "{error}"),
            }
        };
        Self { stream, buffer: Vec::new(), last_id: 0 }
    }

    pub(crate) fn hello(attempt: &Attempt, start: Option<Start>) -> Call<'static> {
        Call::Hello(Box::new(Hello {
            version: 1,
            attempt: attempt.spec.attempt,
            secret: attempt.spec.secret.clone(),
            incarnation: attempt.spec.incarnation,
            start,
        }))
    }

    pub(crate) async fn greeted(attempt: &Attempt) -> Self {
        let mut raw = Self::connect(attempt).await;
        raw.send(&Self::hello(attempt, None)).await;
        raw.reply().await;
        raw
    }

    pub(crate) async fn send(&mut self, call: &Call<'_>) {
        self.last_id += 1;
        let mut out = Vec::new();
        call.encode(self.last_id, &mut out);
        self.stream.write_all(&out).await.unwrap();
    }

    /// The kind and the body of the next message.
    pub(crate) async fn reply(&mut self) -> (u16, Vec<u8>) {
        self.try_reply().await.expect("a reply")
    }

    pub(crate) async fn try_reply(&mut self) -> Option<(u16, Vec<u8>)> {
        loop {
            if let Some((message, taken)) = Message::take(&self.buffer, usize::MAX).unwrap() {
                let reply = (message.kind, message.body.to_vec());
                self.buffer.drain(..taken);
                return Some(reply);
            }
            let read = self.stream.read_buf(&mut self.buffer);
            match tokio::time::timeout(BOUND, read).await.expect("waited too long") {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// The refusal that comes next.
    pub(crate) async fn refusal(&mut self) -> Refusal {
        let (kind, body) = self.reply().await;
        match Reply::decode(&Message { kind, id: 0, body: &body }).unwrap() {
            Reply::Refused(refusal) => refusal,
            other => panic!("{other:?} is no refusal"),
        }
    }

    pub(crate) async fn is_closed(&mut self) -> bool {
        self.try_reply().await.is_none()
    }
}
