//! The life of one driver: bring the keeper forth or find it, pump its records to the actor, see
//! the attempt through to its death, clear its traces.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use holdfast_agent::codec::AgentKind;
use holdfast_agent::codex;
use holdfast_core::fact::Death;
use holdfast_core::ids::AttemptId;
use holdfast_core::input::KeeperEvent;
use holdfast_core::provider::StartFault;
use holdfast_keeper::Record;
use holdfast_keeper::connect::{CallError, Events, Greeting, Link};
use holdfast_keeper::protocol::{Refusal, Start};
use holdfast_keeper::record::ProcessId;
use holdfast_keeper::registry::{self, AttemptDir, Secret, Spec};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tracing::Instrument;

use super::turn::{Turn, hold, turn};
use super::verdict::{self, Course, Verdict, course};
use super::{
    Driver, Orders, Origin, Reading, StartSpec, Word, bury, claude, leftovers, silent, writer,
};
use crate::host::Shared;

/// How soon a keeper that does not answer is tried again.
const ATTACH_RETRY: Duration = Duration::from_secs(1);
/// Bytes of stderr that a death carries.
const STDERR_BYTES: usize = 4096;

/// Starts the driver of an attempt.
pub fn spawn(
    shared: Arc<Shared>,
    start: StartSpec,
    origin: Origin,
    speak: mpsc::Sender<(AttemptId, Word)>,
) -> Driver {
    shared.count_attempt();
    let (orders, ordered) = watch::channel(Orders::default());
    let (found, finding) = oneshot::channel();
    let attempt = start.attempt;
    let run = Run {
        dir: AttemptDir::of(&shared.options.data_dir, attempt.uuid()),
        reading: Reading::from(start.position.0),
        shared,
        start,
        served: false,
        spawned: false,
        keeper: None,
        place: None,
        orders: ordered,
        speak,
        found: Some(found),
    };
    let span = tracing::info_span!("attempt", chat = %run.start.chat, %attempt);
    tokio::spawn(run.run(origin).instrument(span));
    Driver { attempt, orders, finding: Some(finding) }
}

/// How serving a link ended.
enum Served {
    /// The connection is lost.
    Lost,
    /// The attempt's last record was read, and its death told.
    Ended,
}

pub(super) struct Run {
    pub(super) shared: Arc<Shared>,
    pub(super) dir: AttemptDir,
    pub(super) start: StartSpec,
    pub(super) reading: Reading,
    /// Whether its keeper was served by this driver: a loss then is the keeper's, not the host's.
    pub(super) served: bool,
    /// Whether this driver started its keeper: if nothing was born of it, the start has failed.
    pub(super) spawned: bool,
    /// The keeper that this driver started: all that is known of one that has not written its record.
    pub(super) keeper: Option<ProcessId>,
    pub(super) orders: watch::Receiver<Orders>,
    /// Its place among the resumes that start at once, as long as it has one.
    place: Option<AbortOnDrop>,
    speak: mpsc::Sender<(AttemptId, Word)>,
    /// Told once it is known whether the attempt lives.
    found: Option<oneshot::Sender<()>>,
}

impl Run {
    async fn run(mut self, origin: Origin) {
        let alive = match origin {
            Origin::Fresh => self.bring_forth().await,
            Origin::Adopted => self.dir.path().exists(),
        };
        self.spawned = alive && origin == Origin::Fresh;
        if !alive {
            self.end(verdict::without_folder(origin, self.without_folder())).await;
        } else {
            self.keep().await;
        }
        self.clear().await;
        self.shared.uncount_attempt();
    }

    /// What still lives of an attempt whose folder is gone. It is shown, not ended: whoever removed
    /// the folder, or made this copy of the store without it, may know more.
    fn without_folder(&self) -> Vec<u32> {
        match holdfast_keeper::tree::count(self.start.attempt.uuid()) {
            Ok(0) => Vec::new(),
            Ok(_) | Err(_) => vec![self.start.pid.unwrap_or_default()],
        }
    }

    /// Tells the actor.
    pub(super) async fn say(&self, word: Word) {
        let _ = self.speak.send((self.start.attempt, word)).await;
    }

    /// Takes a record in, and tells the actor.
    pub(super) async fn take(&mut self, record: Record, next: u64) {
        if matches!(record, Record::Line(_) | Record::Oversized { .. }) {
            self.place = None;
        }
        for word in self.reading.take(record, next) {
            self.say(word).await;
        }
    }

    /// Tells the actor how the attempt has ended.
    pub(super) async fn end(&mut self, verdict: Verdict) {
        self.place = None;
        // What may still live may still write.
        if verdict.survivors.is_empty() && verdict.death != Death::NeverBorn {
            self.tell_what_it_wrote_down().await;
        }
        let tail = self.dir.stderr_tail(STDERR_BYTES).unwrap_or_default();
        for word in verdict.words(String::from_utf8_lossy(&tail).into_owned()) {
            self.say(word).await;
        }
        self.is_found();
    }

    /// Reads what the dead agent has written down of its session, where it does that, and tells which
    /// messages that names.
    async fn tell_what_it_wrote_down(&self) {
        let options = &self.shared.options;
        let Some(agent) = options.agents.get(&self.start.agent) else { return };
        let order = self.orders.borrow().session.clone();
        let Some(order) = order.filter(|_| agent.kind == AgentKind::Claude) else { return };
        let known = options.agents.environment(agent);
        let (cwd, attempt) = (self.start.cwd.clone(), self.start.attempt);
        let read = move || claude::named(&known, &cwd, attempt, &order);
        if let Ok(Some(frames)) = tokio::task::spawn_blocking(read).await {
            self.say(Word::Event(KeeperEvent::StoreRead { frames })).await;
        }
    }

    /// The actor has been told whether the attempt lives.
    fn is_found(&mut self) {
        if let Some(found) = self.found.take() {
            // An actor that did not wait for it does not mind.
            let _ = found.send(());
        }
    }

    async fn fault(&self, fault: StartFault, text: String) {
        self.say(Word::Event(KeeperEvent::SpawnFailed { fault, text })).await;
    }

    /// Waits for a place among the resumes that start at once; it is free again when the agent has said
    /// its first line, or will not. `false` where the attempt is not to start any more.
    async fn take_turn(&mut self) -> bool {
        match turn(Arc::clone(&self.shared.resumes), self.orders.clone()).await {
            Turn::Place(place) => {
                let holding = tokio::spawn(hold(place, self.orders.clone()));
                self.place = Some(AbortOnDrop(holding.abort_handle()));
                true
            }
            Turn::Free => true,
            Turn::Off => false,
        }
    }

    /// Puts the attempt on disk and starts its keeper.
    async fn bring_forth(&mut self) -> bool {
        if self.start.resuming && !self.take_turn().await {
            return false;
        }
        if !Path::new(&self.start.cwd).is_dir() {
            self.fault(StartFault::DirectoryGone, self.start.cwd.clone()).await;
            return false;
        }
        if self.shared.options.agents.get(&self.start.agent).is_none() {
            let text = format!("The configuration has no agent {:?}.", self.start.agent);
            self.fault(StartFault::AgentMissing, text).await;
            return false;
        }
        let Some(secret) = self.secret() else {
            self.fault(StartFault::AgentRefused, "The attempt's secret is damaged.".into()).await;
            return false;
        };
        let spec = Spec {
            attempt: self.start.attempt.uuid(),
            secret,
            incarnation: self.shared.store.incarnation(),
            limits: self.shared.options.limits,
        };
        holdfast_fault::point("host.attempt.create.before");
        let born = match registry::create(&self.shared.options.data_dir, &spec) {
            Ok(born) => born,
            Err(error) => {
                self.fault(StartFault::AgentRefused, chain(&error)).await;
                return false;
            }
        };
        holdfast_fault::point("host.attempt.created");
        let exe = &self.shared.options.keeper;
        match registry::spawn(born, &exe.program, &exe.args) {
            Ok(spawned) => {
                self.keeper = spawned.keeper;
                holdfast_fault::point("host.attempt.spawned");
                true
            }
            Err(error) => {
                self.fault(StartFault::AgentRefused, chain(&error)).await;
                false
            }
        }
    }

    fn secret(&self) -> Option<Secret> {
        let hex = &self.start.secret.0;
        let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
        Secret::from_slice(&bytes?)
    }

    fn greeting(&self) -> Option<Greeting> {
        let options = &self.shared.options;
        let start = options.agents.get(&self.start.agent).map(|agent| {
            let temp = options.agents.temp_dir(self.start.chat);
            let mut known = options.agents.environment(agent);
            if DirBuilder::new().recursive(true).mode(0o700).create(&temp).is_ok() {
                known.set("TMPDIR", temp.clone().into_os_string());
            }
            let env = known.iter().map(|(name, variable)| (name.clone(), variable.value.clone()));
            let env = env.collect();
            let cwd = self.start.cwd.clone().into();
            let mut start = Start { argv: agent.command.clone(), env, cwd };
            match agent.kind {
                AgentKind::Claude => claude::complete(&mut start, &self.start, &known, &temp),
                AgentKind::Codex => start.argv = codex::argv(&agent.command),
                AgentKind::Acp => {}
            }
            start
        });
        let incarnation = self.shared.store.incarnation();
        Some(Greeting { secret: self.secret()?, incarnation, start })
    }

    /// Serves the keeper while it lives, over any number of connections; then its death is told.
    async fn keep(&mut self) {
        // An agent that may run already waits for nothing, nor does one that is dead.
        if self.start.pid.is_none() && self.dir.is_alive().unwrap_or(true) {
            self.shared.options.agents.environment_known().await;
        }
        while !self.speak.is_closed() {
            let Some(greeting) = self.greeting() else {
                bury::unadopted(self).await;
                return;
            };
            match Link::attach(&self.dir, greeting).await {
                Ok((link, welcome)) => {
                    holdfast_fault::point("host.attempt.attached");
                    self.served = true;
                    tracing::debug!("the keeper answers");
                    self.say(Word::Event(KeeperEvent::Answers)).await;
                    match self.serve(link, welcome.end).await {
                        Served::Lost => {}
                        Served::Ended => return,
                    }
                }
                Err(error) => match course(&error) {
                    Course::Bury => return bury::bury(self).await,
                    Course::Leave => {
                        tracing::error!(attempt = %self.start.attempt, "not adopted: {error}");
                        return bury::unadopted(self).await;
                    }
                    Course::Again => {
                        tracing::warn!(attempt = %self.start.attempt, "{}", chain(&error));
                        silent::unattached(self, &error).await;
                        tokio::time::sleep(ATTACH_RETRY).await;
                    }
                },
            }
        }
    }

    /// Serves a keeper whose spool had this end when it was attached to.
    async fn serve(&mut self, link: Link, end_then: u64) -> Served {
        let mut events = match self.read(&link).await {
            Ok(events) => events,
            Err(CallError::Refused(Refusal::Ahead { end })) => {
                // The host knows of more than the keeper has: not its life.
                tracing::error!(attempt = %self.start.attempt, "the spool ends at {end}");
                bury::unadopted(self).await;
                return Served::Ended;
            }
            Err(error) => {
                tracing::warn!(attempt = %self.start.attempt, "cannot read: {error}");
                tokio::time::sleep(ATTACH_RETRY).await;
                return Served::Lost;
            }
        };
        let (orders, speak) = (self.orders.clone(), self.speak.clone());
        let writer = writer::run(self.start.attempt, link.clone(), orders, speak);
        let writer = AbortOnDrop(tokio::spawn(writer).abort_handle());
        // Once at the start: a host that comes back does not know what is left over.
        let spoke = Arc::new(Notify::new());
        spoke.notify_one();
        let watch = leftovers::watch(
            link.clone(),
            self.dir.clone(),
            self.start.attempt,
            self.speak.clone(),
            Arc::clone(&spoke),
            self.start.kept.clone(),
        );
        let watch = AbortOnDrop(tokio::spawn(watch).abort_handle());
        let asking = silent::ask(link.clone(), self.orders.clone());
        let _asking = AbortOnDrop(tokio::spawn(asking).abort_handle());
        self.reading.attached(end_then);
        if self.reading.finds_life() {
            self.is_found();
        }
        while let Some((record, next)) = events.recv().await {
            spoke.notify_one();
            self.take(record, next).await;
            if self.speak.is_closed() {
                return Served::Lost;
            }
            if self.reading.finds_life() {
                self.is_found();
            }
            if let Some((death, survivors)) = self.reading.end().cloned() {
                drop(watch);
                self.end(verdict::told(death, survivors)).await;
                self.let_go(&link).await;
                drop(writer);
                return Served::Ended;
            }
        }
        silent::lost(self, &link).await;
        Served::Lost
    }

    async fn read(&self, link: &Link) -> Result<Events, CallError> {
        match link.read_from(self.reading.position()).await {
            Err(CallError::Refused(Refusal::Gone { first })) => {
                let text =
                    format!("The agent's output up to record {first} is not on disk any more.");
                self.say(Word::Event(KeeperEvent::LineSkipped { text })).await;
                link.read_from(first).await
            }
            other => other,
        }
    }

    /// Waits until the death is committed. It is not if the actor is gone before: whatever the
    /// attempt left is then for the next one, and nothing may be acknowledged or removed.
    async fn is_finished(&mut self) -> bool {
        self.orders.wait_for(|orders| orders.finished).await.is_ok()
    }

    /// Once the death is committed, the keeper is told that it may go.
    async fn let_go(&mut self, link: &Link) {
        if !self.is_finished().await {
            return;
        }
        holdfast_fault::point("host.acknowledge.before");
        let _ = link.acknowledge(self.reading.position()).await;
        super::is_gone(&self.dir).await;
    }

    /// Removes the attempt from the disk, once its death is committed and its keeper is gone.
    async fn clear(&mut self) {
        if !self.is_finished().await {
            return;
        }
        if !self.dir.path().exists() || self.dir.is_alive().unwrap_or(true) {
            return;
        }
        holdfast_fault::point("host.attempt.remove.before");
        if let Err(error) = registry::remove(&self.dir) {
            tracing::warn!(attempt = %self.start.attempt, "{}", chain(&error));
        }
    }
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An error with its sources, in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
