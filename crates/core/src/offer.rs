//! Offers: what is recorded of a chat that was stopped while it showed work, and how it is said.
//! What ends an offer is decided in `decide/offer.rs`.

use serde::{Deserialize, Serialize};

use crate::activity::{Activity, Lead};
use crate::limits::{SNAPSHOT_PROMPTS_MAX, SNAPSHOT_TASKS_MAX, label};
use crate::provider::{PromptKind, TaskKind};

/// Why an agent stopped (offers.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The host was told to stop, agents too.
    Quit,
    /// An update had to stop agents.
    Update,
    /// The host came back and the keeper was dead too.
    HostLost,
    /// The agent ended by itself.
    AgentDied,
    /// The keeper died while the host lived.
    KeeperLost,
    /// An owner's ceiling.
    IdleStop,
}

/// A prompt in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptLine {
    /// Approval or question.
    pub kind: PromptKind,
    /// What it was about.
    pub label: String,
}

/// A task in a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskLine {
    /// Its kind.
    pub kind: TaskKind,
    /// What it was called.
    pub label: String,
}

/// Live tasks by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TaskCounts {
    /// Subagents.
    pub agent: u32,
    /// Workflows.
    pub workflow: u32,
    /// Shell commands.
    pub command: u32,
    /// Monitors.
    pub monitor: u32,
    /// Unknown kinds.
    pub unknown: u32,
}

impl TaskCounts {
    /// The count of one kind.
    pub fn of(&mut self, kind: TaskKind) -> &mut u32 {
        match kind {
            TaskKind::Agent => &mut self.agent,
            TaskKind::Workflow => &mut self.workflow,
            TaskKind::Command => &mut self.command,
            TaskKind::Monitor => &mut self.monitor,
            TaskKind::Unknown => &mut self.unknown,
        }
    }

    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u32 {
        self.agent
            .saturating_add(self.workflow)
            .saturating_add(self.command)
            .saturating_add(self.monitor)
            .saturating_add(self.unknown)
    }
}

/// What a chat was doing. Display only: it has no ids, and nothing in it decides anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The main agent.
    pub lead: Lead,
    /// Whether the agent was still starting for a waiting message.
    pub starting: bool,
    /// The first prompts, oldest first.
    pub prompts: Vec<PromptLine>,
    /// The first tasks, in order of start.
    pub tasks: Vec<TaskLine>,
    /// Prompts beyond those.
    pub more_prompts: u32,
    /// Tasks beyond those.
    pub more_tasks: u32,
    /// All live tasks by kind.
    pub task_counts: TaskCounts,
}

impl Snapshot {
    /// The snapshot of what a chat is doing now.
    #[must_use]
    pub fn of(activity: &Activity) -> Self {
        let prompts = activity.prompts.iter().take(SNAPSHOT_PROMPTS_MAX);
        let tasks = activity.tasks.iter().take(SNAPSHOT_TASKS_MAX);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let over = |all: usize, most: usize| count(all.saturating_sub(most));
        Self {
            lead: activity.lead,
            starting: activity.starting,
            prompts: prompts
                .map(|prompt| PromptLine { kind: prompt.kind, label: label(&prompt.label) })
                .collect(),
            tasks: tasks
                .map(|task| TaskLine { kind: task.kind, label: label(&task.label) })
                .collect(),
            more_prompts: over(activity.prompts.len(), SNAPSHOT_PROMPTS_MAX),
            more_tasks: activity
                .task_counts
                .total()
                .saturating_sub(count(activity.tasks.len().min(SNAPSHOT_TASKS_MAX))),
            task_counts: activity.task_counts,
        }
    }

    /// Whether nothing but the main turn was going on.
    #[must_use]
    pub fn is_only_the_turn(&self) -> bool {
        self.lead == Lead::Working
            && !self.starting
            && self.prompts.is_empty()
            && self.task_counts.total() == 0
    }
}

/// One part of a sentence, for translation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The key of the text.
    pub key: String,
    /// Its named parameters.
    pub params: Params,
}

/// The parameters that the parts of a sentence know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Params {
    /// A label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// A count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// The sentence of an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sentence {
    /// Its parts.
    pub parts: Vec<Part>,
    /// The parts in English, joined with " · "; empty where there is none.
    pub text: String,
}

/// Says what a chat was doing, from the snapshot alone (offers.md, "The sentence of a row").
#[must_use]
pub fn sentence(snapshot: &Snapshot) -> Sentence {
    let mut said = Said::default();
    if snapshot.lead == Lead::Blocked
        && let Some(prompt) = snapshot.prompts.first()
    {
        match prompt.kind {
            PromptKind::Approval => {
                said.labelled("offer.approval", "Waiting for your approval: ", &prompt.label);
            }
            PromptKind::Question => {
                said.labelled("offer.question", "Waiting for your answer: ", &prompt.label);
            }
        }
    }
    if snapshot.starting {
        said.plain("offer.starting", "Was starting");
    } else if snapshot.lead == Lead::Working {
        said.plain("offer.mid_reply", "Was mid-reply");
    }
    let counts = &snapshot.task_counts;
    let first = |kinds: &[TaskKind]| {
        let task = snapshot.tasks.iter().find(|task| kinds.contains(&task.kind));
        task.map_or("", |task| task.label.as_str())
    };
    match counts.agent.saturating_add(counts.workflow) {
        0 => {}
        1 => said.labelled(
            "offer.subagent",
            "Subagent running: ",
            first(&[TaskKind::Agent, TaskKind::Workflow]),
        ),
        n => said.counted("offer.subagents", n, &format!("{n} subagents running")),
    }
    // While a reply runs, the list also holds the reply's own foreground command.
    if snapshot.lead != Lead::Working {
        match counts.command.saturating_add(counts.monitor) {
            0 => {}
            1 => said.labelled(
                "offer.monitor",
                "Monitoring: ",
                first(&[TaskKind::Command, TaskKind::Monitor]),
            ),
            n => said.counted("offer.monitors", n, &format!("Monitoring {n} tasks")),
        }
        match counts.unknown {
            0 => {}
            1 => said.labelled("offer.task", "Background task: ", first(&[TaskKind::Unknown])),
            n => said.counted("offer.tasks", n, &format!("{n} background tasks")),
        }
    }
    Sentence { text: said.texts.join(" · "), parts: said.parts }
}

#[derive(Default)]
struct Said {
    parts: Vec<Part>,
    texts: Vec<String>,
}

impl Said {
    fn labelled(&mut self, key: &str, text: &str, label: &str) {
        let label = if label.is_empty() { "unnamed" } else { label };
        self.texts.push(format!("{text}{label}"));
        let params = Params { label: Some(label.to_owned()), count: None };
        self.parts.push(Part { key: key.to_owned(), params });
    }
    fn counted(&mut self, key: &str, count: u32, text: &str) {
        self.texts.push(text.to_owned());
        let params = Params { label: None, count: Some(count) };
        self.parts.push(Part { key: key.to_owned(), params });
    }
    fn plain(&mut self, key: &str, text: &str) {
        self.texts.push(text.to_owned());
        self.parts.push(Part { key: key.to_owned(), params: Params::default() });
    }
}

/// Every prompt and task label of a snapshot, one a line, then "and {n} more".
#[must_use]
pub fn details(snapshot: &Snapshot) -> Vec<String> {
    let named =
        |label: &String| if label.is_empty() { "unnamed".to_owned() } else { label.clone() };
    let prompts = snapshot.prompts.iter().map(|prompt| named(&prompt.label));
    let tasks = snapshot.tasks.iter().map(|task| named(&task.label));
    let mut lines: Vec<String> = prompts.chain(tasks).collect();
    let more = snapshot.more_prompts.saturating_add(snapshot.more_tasks);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// What a person may do about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Try the same again.
    Retry,
    /// Look at the chat.
    OpenChat,
    /// A new session with a recap of this chat.
    StartFreshWithRecap,
    /// Start although something may still live.
    StartAnyway,
}

/// A start or a resume that did not come about. It holds the queue until a person acts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// A stable code (`session_not_found`, `agent_missing`, …).
    pub code: String,
    /// A sentence.
    pub text: String,
    /// What a person may do.
    pub actions: Vec<Action>,
}

#[cfg(test)]
mod tests;
