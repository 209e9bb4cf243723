//! Background work: shells, subagents, monitors, workflows, and wake-ups that are armed.

use holdfast_core::provider::{ProviderEvent, TaskEnd, TaskKind};

use super::State;
use super::calls::{Call, MONITOR};
use super::wire::{self, is_true};
use crate::ordinals::digest;
use crate::tasks::Stop;

/// What a wake-up that is armed goes by: the CLI has one at a time.
const WAKEUP: &str = "wakeup";
/// What the id of a recurring prompt begins with here.
const CRON: &str = "cron ";
/// Bytes of a label before it is cut.
const LABEL_BYTES: usize = 400;

impl State {
    /// Work began that may outlive its call.
    pub(super) fn task_started(&mut self, told: &wire::Task<'_>, out: &mut Vec<ProviderEvent>) {
        let Some(id) = told.id.as_deref() else { return };
        let call = told.call.as_deref().and_then(|call| self.calls.get(digest(call.as_bytes())));
        let monitors = call.is_some_and(|call| call.kind == MONITOR);
        let asked = call.is_some_and(|call| call.background);
        let of_subagent = is_true(told.of_subagent) || call.is_some_and(Call::is_within);
        let backgrounded = match told.backgrounded {
            Some(_) => is_true(told.backgrounded),
            // Older versions do not say: the call does.
            None => asked,
        };
        // What a subagent started ends with the subagent, not with the turn.
        let foreground = !backgrounded && !of_subagent;
        let kind = if monitors { TaskKind::Monitor } else { kind(told.kind.as_deref()) };
        let label = told.description.as_deref().unwrap_or_default();
        let described = (kind, label, foreground);
        let task = self.tasks.runs(id, Stop::ById, described, &mut self.ordinals, out);
        if let (Some(task), Some(call)) = (task, told.call.as_deref()) {
            self.becomes(call, task, out);
        }
        if is_true(told.backgrounded) && !of_subagent {
            // The list of all that runs, which comes right before, has it.
            self.tasks.listed(id);
        }
    }

    /// Work changed: it ended, or goes on in the background.
    pub(super) fn task_updated(&mut self, told: &wire::Task<'_>, out: &mut Vec<ProviderEvent>) {
        let (Some(id), Some(patch)) = (told.id.as_deref(), &told.patch) else { return };
        if is_true(patch.backgrounded) {
            self.tasks.detach(id, out);
        }
        if let Some(how) = patch.status.as_deref().and_then(end) {
            self.task_ended(id, how, out);
        }
    }

    /// Work ended, and the model is told of it.
    pub(super) fn task_notified(&mut self, told: &wire::Task<'_>, out: &mut Vec<ProviderEvent>) {
        let (Some(id), Some(status)) = (told.id.as_deref(), told.status.as_deref()) else { return };
        if let Some(how) = end(status) {
            self.task_ended(id, how, out);
        }
    }

    fn task_ended(&mut self, id: &str, how: TaskEnd, out: &mut Vec<ProviderEvent>) {
        if let Some(task) = self.tasks.ended(id, how, out) {
            self.work_ended(task, out);
        }
    }

    /// All that runs in the background: what is missing has ended without a word.
    pub(super) fn roster(&mut self, told: &wire::Task<'_>, out: &mut Vec<ProviderEvent>) {
        let Some(list) = &told.tasks else { return };
        let tasks: Vec<wire::Task<'_>> = list.each().collect();
        let ids: Vec<&str> = tasks.iter().filter_map(|task| task.id.as_deref()).collect();
        for task in self.tasks.not_among(&ids, TaskEnd::Stopped, out) {
            self.work_ended(task, out);
        }
        for id in ids {
            self.tasks.listed(id);
        }
    }

    /// A tool armed something that wakes the agent later, or disarmed it.
    pub(super) fn arms(
        &mut self,
        call: &str,
        told: &wire::ToolResult<'_>,
        text: &str,
        out: &mut Vec<ProviderEvent>,
    ) {
        let tool = call.split(':').next().unwrap_or_default();
        let (id, label) = match tool {
            "ScheduleWakeup" if wire::declared(told.scheduled) => {
                self.tasks.ended(WAKEUP, TaskEnd::Stopped, out);
                (WAKEUP.to_owned(), text.split(". ").next().unwrap_or(text).to_owned())
            }
            "CronCreate" => {
                let Some(id) = &told.id else { return };
                let when = told.human.clone().unwrap_or_else(|| text.to_owned());
                (format!("{CRON}{id}"), format!("Wakes up: {when}"))
            }
            "CronDelete" => {
                let id = told.id.as_deref().map(|id| format!("{CRON}{id}"));
                if let Some(id) = id {
                    self.tasks.ended(&id, TaskEnd::Stopped, out);
                }
                return;
            }
            _ => return,
        };
        let label = crate::ordinals::head(&label, LABEL_BYTES);
        let described = (TaskKind::Monitor, label, false);
        self.tasks.runs(&id, Stop::No, described, &mut self.ordinals, out);
    }

    /// A wake-up fires.
    pub(super) fn wakes_up(&mut self, out: &mut Vec<ProviderEvent>) {
        self.tasks.ended(WAKEUP, TaskEnd::Completed, out);
    }
}

fn kind(word: Option<&str>) -> TaskKind {
    match word {
        Some("local_bash") => TaskKind::Command,
        Some("local_agent" | "remote_agent" | "in_process_teammate") => TaskKind::Agent,
        Some("local_workflow" | "workflow") => TaskKind::Workflow,
        Some("monitor" | "monitor_mcp") => TaskKind::Monitor,
        Some(_) | None => TaskKind::Unknown,
    }
}

/// How work ended, by either of the two words for it; none where it goes on.
fn end(status: &str) -> Option<TaskEnd> {
    match status {
        "completed" => Some(TaskEnd::Completed),
        "failed" => Some(TaskEnd::Failed),
        "stopped" | "killed" => Some(TaskEnd::Stopped),
        _ => None,
    }
}
