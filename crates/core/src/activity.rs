//! What a chat is doing. `Activity::shows_work` is the one answer to "is it working?": sidebar,
//! offer, idle release, update dialog, API and metrics all ask here.

use serde::{Deserialize, Serialize};

use crate::head::{Chat, Phase};
use crate::ids::{ItemId, PromptId, TaskId};
use crate::offer::TaskCounts;
use crate::provider::{PromptKind, TaskKind};
use crate::time::Micros;

/// The main agent's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lead {
    /// It runs a turn, has a message, or starts for one.
    Working,
    /// It waits for a person's word.
    Blocked,
    /// Neither.
    Done,
}

/// What a person is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shown {
    /// A prompt is open.
    Blocked,
    /// The main agent or a subagent works.
    Working,
    /// Only commands and monitors live.
    Monitoring,
    /// A person has to look: an unknown delivery, a failure, a queue held by a failed start.
    ToCheck,
    /// Nothing.
    Idle,
}

/// The agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// There is none.
    Stopped,
    /// It is being started.
    Starting,
    /// It runs.
    Running,
    /// It is being stopped.
    Stopping,
    /// Its keeper takes no more of its words (spool full), or does not answer.
    Stalled,
}

/// An open prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenPrompt {
    /// Its id.
    pub id: PromptId,
    /// Approval or question.
    pub kind: PromptKind,
    /// What it is about.
    pub label: String,
    /// The item that shows it.
    pub item: ItemId,
    /// Since when.
    pub since: Micros,
}

/// A live task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveTask {
    /// Its id.
    pub id: TaskId,
    /// Its kind.
    pub kind: TaskKind,
    /// What it is called.
    pub label: String,
    /// Since when.
    pub since: Micros,
    /// Whether it ends with the turn.
    pub foreground: bool,
}

/// A process that outlived the tool call which started it: a dev server, say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leftover {
    /// Names it within this boot of the machine.
    pub id: String,
    /// Its command line, cut to a label.
    pub command: String,
    /// TCP ports on which it listens.
    pub ports: Vec<u16>,
    /// Since when it is known.
    pub since: Micros,
}

/// What a chat is doing now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// The main agent.
    pub lead: Lead,
    /// Whether the agent is starting for a waiting message.
    pub starting: bool,
    /// Open prompts, oldest first.
    pub prompts: Vec<OpenPrompt>,
    /// Live tasks that are told apart, in order of start.
    pub tasks: Vec<LiveTask>,
    /// All live tasks by kind.
    pub task_counts: TaskCounts,
    /// Processes that outlived their tool call. They are no work of the agent's, but they are owed.
    #[serde(default)]
    pub leftovers: Vec<Leftover>,
}

impl Activity {
    /// What this chat is doing.
    #[must_use]
    pub fn of(chat: &Chat) -> Self {
        let head = &chat.head;
        let prompts: Vec<OpenPrompt> = head
            .prompts
            .iter()
            .filter(|(_, prompt)| prompt.is_open())
            .map(|(id, prompt)| OpenPrompt {
                id: *id,
                kind: prompt.kind,
                label: chat.aside.prompts.get(id).map_or_else(String::new, |p| p.label.clone()),
                item: prompt.item,
                since: prompt.since,
            })
            .collect();
        let tasks = head.tasks.iter().map(|(id, task)| LiveTask {
            id: *id,
            kind: task.kind,
            label: chat.aside.tasks.get(id).cloned().unwrap_or_default(),
            since: task.since,
            foreground: task.foreground,
        });
        let starting = is_starting(chat);
        let lead = if !prompts.is_empty() {
            Lead::Blocked
        } else if head.turn.is_some() || head.outstanding.is_some() || starting {
            Lead::Working
        } else {
            Lead::Done
        };
        let mut task_counts = head.more_tasks;
        for task in head.tasks.values() {
            let count = task_counts.of(task.kind);
            *count = count.saturating_add(1);
        }
        let leftovers = chat.aside.leftovers.clone();
        Self { lead, starting, prompts, tasks: tasks.collect(), task_counts, leftovers }
    }

    /// Whether the chat shows work: the main agent works or is blocked, or a background task of
    /// any kind lives.
    #[must_use]
    pub const fn shows_work(&self) -> bool {
        match self.lead {
            Lead::Working | Lead::Blocked => true,
            Lead::Done => self.task_counts.total() > 0,
        }
    }
}

/// Whether an agent is starting for a message that waits.
fn is_starting(chat: &Chat) -> bool {
    let head = &chat.head;
    let phase = head.attempt.as_ref().map(|attempt| attempt.phase);
    match phase {
        Some(Phase::Starting) => head.outstanding.is_none() && !chat.aside.queue.is_empty(),
        Some(Phase::Ready) | None => false,
    }
}

/// What a person is shown of this chat; the first that fits.
#[must_use]
pub fn shown(chat: &Chat, activity: &Activity) -> Shown {
    let head = &chat.head;
    let counts = &activity.task_counts;
    match activity.lead {
        Lead::Blocked => return Shown::Blocked,
        Lead::Working => return Shown::Working,
        Lead::Done => {}
    }
    if counts.agent > 0 || counts.workflow > 0 || counts.unknown > 0 {
        Shown::Working
    } else if counts.total() > 0 {
        Shown::Monitoring
    } else if head.needs_check() {
        Shown::ToCheck
    } else {
        Shown::Idle
    }
}

/// The state of the agent's process, as far as the head knows it.
#[must_use]
pub fn process(chat: &Chat) -> Process {
    match &chat.head.attempt {
        None => Process::Stopped,
        Some(attempt) if attempt.stalled => Process::Stalled,
        Some(attempt) if attempt.stop.is_some() => Process::Stopping,
        Some(attempt) => match attempt.phase {
            Phase::Starting => Process::Starting,
            Phase::Ready => Process::Running,
        },
    }
}
