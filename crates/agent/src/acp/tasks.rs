//! Background work: told by `_holdfast/task` of the demo agent, or by codex-acp as subagents with
//! sessions of their own.

use holdfast_core::limits::{LIVE_TASKS_MAX, label};
use holdfast_core::provider::{ProviderEvent, TaskEnd, TaskKind};
use serde::{Deserialize, Serialize};

use super::ordinals::{Ordinals, digest, json_bytes};

/// Bytes of a task's own id within JSON; a task with a longer one cannot be stopped by itself.
const TASK_ID_BYTES_MAX: usize = 64;
/// Bytes of all the ids that are kept; tasks beyond it cannot be stopped by themselves.
const TASK_IDS_BYTES_MAX: usize = 4 * 1024;

/// One live task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Task {
    #[serde(rename = "n")]
    task: u32,
    /// The digest of the agent's id.
    #[serde(rename = "i")]
    id: u64,
    /// The agent's id, where the task can be stopped.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    stop: Option<String>,
}

/// Whether a task can be stopped by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// By `_holdfast/task_stop`.
    ById,
    /// Not.
    No,
}

/// The live tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Tasks {
    rows: Vec<Task>,
    /// Tasks that began when [`LIVE_TASKS_MAX`] were live: they are not told apart.
    uncounted: u64,
}

/// What the chat knows of a task that it is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target<'a> {
    /// The agent's id of it.
    Id(&'a str),
    /// It lives, but cannot be stopped.
    NotStoppable,
    /// It has ended.
    Gone,
}

impl Tasks {
    /// A task runs.
    pub(super) fn runs(
        &mut self,
        id: &str,
        stop: Stop,
        described: (TaskKind, &str, bool),
        ordinals: &mut Ordinals,
        out: &mut Vec<ProviderEvent>,
    ) {
        let key = digest(id.as_bytes());
        if self.rows.iter().any(|task| task.id == key) {
            return;
        }
        if self.rows.len() >= LIVE_TASKS_MAX {
            self.uncounted = self.uncounted.saturating_add(1);
            return;
        }
        let bytes = json_bytes(id);
        let kept: usize = self.rows.iter().filter_map(|t| t.stop.as_deref()).map(json_bytes).sum();
        let fits = bytes <= TASK_ID_BYTES_MAX && kept + bytes <= TASK_IDS_BYTES_MAX;
        let stop = (stop == Stop::ById && fits).then(|| id.to_owned());
        let (kind, text, foreground) = described;
        let named = label(text);
        let label = if named.is_empty() { label(id) } else { named };
        let task = ordinals.task();
        self.rows.push(Task { task, id: key, stop });
        out.push(ProviderEvent::TaskStarted { task, kind, label, foreground });
    }

    /// A task has ended. One that is not known, or ended before, says nothing.
    pub(super) fn ended(&mut self, id: &str, how: TaskEnd, out: &mut Vec<ProviderEvent>) {
        let key = digest(id.as_bytes());
        if let Some(place) = self.rows.iter().position(|task| task.id == key) {
            let task = self.rows.remove(place).task;
            out.push(ProviderEvent::TaskEnded { task, how });
        }
    }

    /// What to name when a task is to be stopped.
    pub(super) fn target(&self, task: u32) -> Target<'_> {
        match self.rows.iter().find(|row| row.task == task) {
            Some(Task { stop: Some(id), .. }) => Target::Id(id),
            Some(Task { stop: None, .. }) => Target::NotStoppable,
            None => Target::Gone,
        }
    }
}

/// The kind that `_holdfast/task` names.
pub(super) fn kind(word: Option<&str>) -> TaskKind {
    match word {
        Some("agent") => TaskKind::Agent,
        Some("workflow") => TaskKind::Workflow,
        Some("command") => TaskKind::Command,
        Some("monitor") => TaskKind::Monitor,
        Some(_) | None => TaskKind::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_beyond_the_bounds_are_not_told_apart_and_the_table_stays_small() {
        let (mut tasks, mut ordinals) = (Tasks::default(), Ordinals::default());
        let mut out = Vec::new();
        for n in 0..2 * LIVE_TASKS_MAX {
            let id = format!("{n:0>width$}", width = TASK_ID_BYTES_MAX);
            let described = (TaskKind::Agent, "", false);
            tasks.runs(&id, Stop::ById, described, &mut ordinals, &mut out);
        }
        assert_eq!(out.len(), LIVE_TASKS_MAX);
        let bytes = serde_json::to_vec(&tasks).unwrap().len();
        assert!(bytes <= LIVE_TASKS_MAX * 52 + TASK_IDS_BYTES_MAX, "{bytes}");
        assert!(matches!(tasks.target(1), Target::Id(_)));
        let last = u32::try_from(LIVE_TASKS_MAX).unwrap();
        assert_eq!(tasks.target(last), Target::NotStoppable);
    }
}
