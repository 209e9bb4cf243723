//! Work beside the chat's own turn: threads of subagents, commands that outlive their turn, a goal
//! that Codex goes on with by itself. Each is a task of the chat.

use std::collections::VecDeque;

use holdfast_core::ids::{ItemId, TaskId};
use holdfast_core::item::Body;
use holdfast_core::limits::cut;
use holdfast_core::provider::{ProviderEvent, TaskEnd, TaskKind, TurnEnd};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::calls::{At, Terminal};
use super::handshake::{THREAD_ID_BYTES_MAX, request};
use super::turns::TURN_ID_BYTES_MAX;
use super::{State, view, wire};
use crate::jsonrpc::PeerError;
use crate::ordinals::{digest, digest_within, digits, json_bytes};
use crate::tasks::{Stop, Target};

/// The request that lists the terminals of a thread.
pub(super) const LIST: &str = "thread/backgroundTerminals/list";

/// Bytes of the stored table of threads.
const SUBAGENTS_BYTES_MAX: usize = 6 * 1024;
/// Bytes of one stored thread beside what is counted of it.
const SUBAGENT_BYTES: usize = 60;
/// Characters of what a thread is called that are kept.
const LABEL_CHARS_MAX: usize = 60;
/// What a task is called in the table of tasks: a subagent's thread, a command's item, the goal.
const AGENT: &str = "a";
const COMMAND: &str = "c";
const GOAL: &str = "g";

/// A thread beside the chat's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Subagent {
    #[serde(rename = "h")]
    digest: u64,
    #[serde(rename = "i")]
    id: String,
    /// What it is called.
    #[serde(rename = "l", default, skip_serializing_if = "String::is_empty")]
    label: String,
    /// The turn that it runs.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    turn: Option<String>,
    /// The item of the call that began it.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    call: Option<u32>,
}

/// The threads that are known, oldest first. One that is forgotten loses its name and cannot be
/// stopped by itself; its task goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Subagents(VecDeque<Subagent>);

impl Subagents {
    fn at(&mut self, id: &str) -> Option<&mut Subagent> {
        if id.len() > THREAD_ID_BYTES_MAX {
            return None;
        }
        let key = digest(id.as_bytes());
        if !self.0.iter().any(|known| known.digest == key) {
            let id = id.to_owned();
            let (label, turn, call) = (String::new(), None, None);
            self.0.push_back(Subagent { digest: key, id, label, turn, call });
        }
        self.0.iter_mut().find(|known| known.digest == key)
    }

    fn get(&self, digest: u64) -> Option<&Subagent> {
        self.0.iter().find(|known| known.digest == digest)
    }

    fn fit(&mut self) {
        let bytes = |known: &Subagent| {
            SUBAGENT_BYTES
                + digits(known.digest)
                + digits(u64::from(known.call.unwrap_or_default()))
                + json_bytes(&known.id)
                + json_bytes(&known.label)
                + known.turn.as_deref().map_or(0, json_bytes)
        };
        while self.0.iter().map(bytes).sum::<usize>() > SUBAGENTS_BYTES_MAX {
            // Those that rest first.
            let place = self.0.iter().position(|known| known.turn.is_none()).unwrap_or_default();
            self.0.remove(place);
        }
    }
}

/// The digest of the thread that a request for its terminals names.
pub(super) fn listed_thread(params: &str) -> u64 {
    let told: wire::Place = serde_json::from_str(params).unwrap_or_default();
    digest(told.thread.unwrap_or_default().as_bytes())
}

impl State {
    /// A call has begun a subagent, which has a name from now on.
    fn subagent_begun(&mut self, thread: &str, name: &str, call: Option<u32>) {
        if let Some(known) = self.subagents.at(thread) {
            known.call = known.call.or(call);
            if !name.is_empty() {
                known.label = cut(name, LABEL_CHARS_MAX);
            }
        }
        self.subagents.fit();
    }

    /// The call that a thread's items belong to; none for the chat's own thread. Nothing is shown of a
    /// thread that no call is known to have begun.
    pub(super) fn within(&self, thread: u64) -> Within {
        if thread == digest(self.thread.as_bytes()) {
            return Within::Own;
        }
        match self.subagents.get(thread).and_then(|known| known.call) {
            Some(call) => Within::Call(ItemId::new(self.origin, call)),
            None => Within::Unknown,
        }
    }

    /// A subagent works.
    pub(super) fn subagent_runs(
        &mut self,
        thread: &str,
        turn: Option<String>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let turn = turn.filter(|turn| turn.len() <= TURN_ID_BYTES_MAX);
        let mut label = String::new();
        if let Some(known) = self.subagents.at(thread) {
            known.turn = turn;
            label.clone_from(&known.label);
        }
        self.subagents.fit();
        let label = if label.is_empty() { "Subagent" } else { &label };
        let described = (TaskKind::Agent, label, false);
        let key = format!("{AGENT}{thread}");
        self.tasks.runs(&key, Stop::ById, described, &mut self.ordinals, out);
    }

    /// A subagent rests, or is gone.
    pub(super) fn subagent_rests(
        &mut self,
        thread: &str,
        how: TaskEnd,
        out: &mut Vec<ProviderEvent>,
    ) {
        if let Some(known) = self.subagents.at(thread) {
            known.turn = None;
        }
        self.subagents.fit();
        self.tasks.ended(&format!("{AGENT}{thread}"), how, out);
    }

    /// What an item tells of subagents beside itself.
    pub(super) fn subagents_told(
        &mut self,
        item: &wire::Item<'_>,
        call: Option<u32>,
        out: &mut Vec<ProviderEvent>,
    ) {
        if let Some(thread) = item.agent.as_deref() {
            match item.activity.as_deref() {
                Some("started") => {
                    let name = view::agent_name(item.agent_path.as_deref());
                    self.subagent_begun(thread, name, call);
                }
                Some("completed") => self.subagent_rests(thread, TaskEnd::Completed, out),
                Some("interrupted") => self.subagent_rests(thread, TaskEnd::Stopped, out),
                Some(_) | None => {}
            }
        }
        if item.tool.as_deref() == Some("spawnAgent") {
            let receivers = item.receivers.as_ref().into_iter().flat_map(|list| list.each());
            for thread in receivers.collect::<Vec<String>>() {
                let name = item.prompt.as_deref().unwrap_or_default();
                self.subagent_begun(&thread, name, call);
            }
        }
        let states = item.states.as_ref().map(|states| states.0.as_slice()).unwrap_or_default();
        for (thread, state) in states {
            let state: wire::AgentState = serde_json::from_str(state.get()).unwrap_or_default();
            let how = match state.status.as_deref() {
                Some("completed") => TaskEnd::Completed,
                Some("errored") => TaskEnd::Failed,
                Some("interrupted" | "shutdown" | "notFound") => TaskEnd::Stopped,
                Some(_) | None => continue,
            };
            self.subagent_rests(thread, how, out);
        }
    }

    /// A turn of a thread has ended, and what ends with it. What goes on of its commands is a task
    /// from now on; the agent is asked which they are, and those of a turn that was stopped are
    /// ended then.
    pub(super) fn thread_rests(&mut self, at: At, how: TurnEnd, out: &mut Vec<ProviderEvent>) {
        self.texts.close(at.thread, out);
        let stopped = how == TurnEnd::Interrupted;
        let prompts = &self.prompts;
        let terminals = self.calls.turn_ended(at, stopped, &|call| prompts.awaited(call), out);
        self.prompts.turn_ended(at.thread, out);
        for Terminal { id, name } in &terminals {
            let described = (TaskKind::Command, name.as_str(), false);
            let key = format!("{COMMAND}{id}");
            let task = self.tasks.runs(&key, Stop::ById, described, &mut self.ordinals, out);
            if let Some(task) = task {
                self.calls.is_task(*id, TaskId::new(self.origin, task), out);
            }
        }
        if let Some(thread) = self.thread_id(at.thread).filter(|_| !terminals.is_empty()) {
            out.push(request(LIST, &json!({ "threadId": thread })));
        }
    }

    /// The agent's id of a thread.
    fn thread_id(&self, key: u64) -> Option<&str> {
        if key == digest(self.thread.as_bytes()) {
            return Some(&self.thread);
        }
        self.subagents.get(key).map(|known| known.id.as_str())
    }

    /// The terminals of a thread that live.
    pub(super) fn terminals(
        &mut self,
        thread: u64,
        outcome: Result<Option<&RawValue>, PeerError<'_>>,
        out: &mut Vec<ProviderEvent>,
    ) {
        let Some(id) = self.thread_id(thread).map(str::to_owned) else { return };
        let told: wire::Terminals<'_> =
            outcome.map_or_else(|_| Ok(wire::Terminals::default()), wire::read).unwrap_or_default();
        for terminal in told.data.unwrap_or_default().each::<wire::Terminal>() {
            let Some(item) = terminal.item else { continue };
            let process = terminal.process.clone();
            if self.calls.listed(digest_within(&id, &item), terminal.process)
                && let Some(process) = process
            {
                let params = json!({ "threadId": id, "processId": process });
                out.push(request("thread/backgroundTerminals/terminate", &params));
            }
        }
    }

    /// A command that was a task has ended.
    pub(super) fn command_ended(&mut self, id: u64, how: TaskEnd, out: &mut Vec<ProviderEvent>) {
        self.tasks.ended(&format!("{COMMAND}{id}"), how, out);
    }

    /// Codex goes on by itself as long as a goal is not reached.
    pub(super) fn goal(&mut self, goal: Option<&wire::Goal>, out: &mut Vec<ProviderEvent>) {
        let told = goal.and_then(|goal| goal.status.as_deref().map(|status| (goal, status)));
        match told {
            Some((goal, "active")) => {
                let label = format!("Goal: {}", goal.objective.as_deref().unwrap_or_default());
                let described = (TaskKind::Monitor, label.as_str(), false);
                self.tasks.runs(GOAL, Stop::ById, described, &mut self.ordinals, out);
            }
            Some((_, "complete")) => drop(self.tasks.ended(GOAL, TaskEnd::Completed, out)),
            Some(_) | None => drop(self.tasks.ended(GOAL, TaskEnd::Stopped, out)),
        }
    }

    /// The request that ends a task; none where the task cannot be named.
    pub(super) fn stopping(&self, task: u32) -> Result<(&'static str, Value), Unstoppable> {
        let key = match self.tasks.target(task) {
            Target::Id(key) => key,
            Target::NotStoppable => return Err(Unstoppable::Nameless),
            Target::Gone => return Err(Unstoppable::Gone),
        };
        if key == GOAL {
            return Ok(("thread/goal/clear", json!({ "threadId": self.thread })));
        }
        if let Some(thread) = key.strip_prefix(AGENT) {
            let known = self.subagents.get(digest(thread.as_bytes()));
            let turn = known.and_then(|known| known.turn.as_deref());
            let params = json!({ "threadId": thread, "turnId": turn.unwrap_or_default() });
            return Ok(("turn/interrupt", params));
        }
        let id = key.strip_prefix(COMMAND).and_then(|id| id.parse().ok());
        let of = id.and_then(|id| self.calls.process(id));
        let Some((thread, process)) = of else { return Err(Unstoppable::Nameless) };
        let thread = self.thread_id(thread).ok_or(Unstoppable::Nameless)?;
        let params = json!({ "threadId": thread, "processId": process });
        Ok(("thread/backgroundTerminals/terminate", params))
    }
}

/// Where the items of a thread are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// In the chat itself.
    Own,
    /// Within a call.
    Call(ItemId),
    /// Nobody knows.
    Unknown,
}

impl Within {
    /// The body of a text; none where nothing is shown.
    pub(super) const fn text(self) -> Option<Body> {
        match self {
            Self::Own => Some(Body::Text),
            Self::Call(call) => Some(Body::Within { call }),
            Self::Unknown => None,
        }
    }
}

/// Why a task cannot be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unstoppable {
    /// It has ended.
    Gone,
    /// Nothing names it to the agent.
    Nameless,
}
