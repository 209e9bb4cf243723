//! Background work that outlives the turn which started it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

use super::agent::Agent;
use super::directive::BackgroundKind;
use super::session::Session;
use super::store::Record;
use super::{complain, lock};

/// Most pieces of background work that one session runs at a time.
const TASKS_MAX: usize = 1024;
/// Stack of a task's thread, in bytes: it waits and writes a line.
const TASK_STACK_BYTES: usize = 256 * 1024;
/// A label that begins with this ends as failed.
const FAILS: &str = "fail:";

/// The handle by which a task is stopped.
#[derive(Default)]
pub(super) struct Task {
    stopped: Mutex<bool>,
    changed: Condvar,
}

/// How a task ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    OfItself,
    Stopped,
}

impl Task {
    pub(super) fn stop(&self) {
        *lock(&self.stopped) = true;
        self.changed.notify_all();
    }

    fn wait(&self, lasts: Duration) -> Ending {
        let deadline = Instant::now() + lasts;
        let mut stopped = lock(&self.stopped);
        loop {
            if *stopped {
                return Ending::Stopped;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ending::OfItself;
            }
            let waited = self.changed.wait_timeout(stopped, left);
            stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What is said about one task, again and again.
struct Announced {
    session: String,
    task: String,
    call: String,
    kind: BackgroundKind,
    label: String,
}

impl Announced {
    fn tell(&self, agent: &Agent, state: &str) {
        agent.out.notify(
            "_holdfast/task",
            &json!({
                "sessionId": self.session,
                "taskId": self.task,
                "toolCallId": self.call,
                "kind": self.kind.name(),
                "label": self.label,
                "state": state,
            }),
        );
    }

    /// The call that launched the task; it is over as soon as the task runs.
    fn show_call(&self, agent: &Agent) {
        let kind = match self.kind {
            BackgroundKind::Agent => "think",
            BackgroundKind::Command | BackgroundKind::Monitor => "execute",
        };
        let said = format!("started in the background: {}\n", self.label);
        agent.out.update(
            &self.session,
            &json!({
                "sessionUpdate": "tool_call",
                "toolCallId": self.call,
                "title": self.label,
                "kind": kind,
                "status": "completed",
                "content": [{ "type": "content", "content": { "type": "text", "text": said } }],
                "_meta": { "holdfast": { "taskId": self.task } },
            }),
        );
    }
}

/// Starts background work in the session and tells of it.
pub(super) fn start(
    agent: &Arc<Agent>,
    session: &Arc<Session>,
    kind: BackgroundKind,
    lasts: Duration,
    label: &str,
) {
    let id = agent.new_id("task");
    let handle = Arc::new(Task::default());
    {
        let mut tasks = lock(&session.tasks);
        if tasks.len() >= TASKS_MAX {
            drop(tasks);
            session.say(agent, &format!("Not started: {TASKS_MAX} tasks run already."));
            return;
        }
        tasks.insert(id.clone(), Arc::clone(&handle));
    }
    let announced = Announced {
        session: session.id.clone(),
        task: id.clone(),
        call: agent.new_id("call"),
        kind,
        label: label.to_owned(),
    };
    session.store(&Record::Task { id: id.clone(), kind, lasts, label: label.to_owned() });
    announced.show_call(agent);
    announced.tell(agent, "running");
    let ends = {
        let (agent, session) = (Arc::clone(agent), Arc::clone(session));
        move || run(&agent, &session, &announced, &handle, lasts)
    };
    let thread = std::thread::Builder::new().stack_size(TASK_STACK_BYTES).spawn(ends);
    if let Err(error) = thread {
        lock(&session.tasks).remove(&id);
        complain(&format!("demo agent: no thread for a task: {error}"));
        agent.out.notify(
            "_holdfast/task",
            &json!({
                "sessionId": session.id,
                "taskId": id,
                "kind": kind.name(),
                "label": label,
                "state": "failed",
            }),
        );
    }
}

fn run(agent: &Agent, session: &Session, announced: &Announced, handle: &Task, lasts: Duration) {
    let ending = handle.wait(lasts);
    lock(&session.tasks).remove(&announced.task);
    session.store(&Record::TaskEnded { id: announced.task.clone() });
    let (state, word) = match ending {
        Ending::Stopped => {
            announced.tell(agent, "stopped");
            return;
        }
        Ending::OfItself if announced.label.starts_with(FAILS) => ("failed", "failed"),
        Ending::OfItself => ("completed", "finished"),
    };
    announced.tell(agent, state);
    session.report(agent, format!("task {} {word}", announced.label));
}
