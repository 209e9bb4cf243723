//! The row of a chat.

use holdfast_core::activity::{self, Activity, LiveTask, OpenPrompt};
use holdfast_core::ids::{ChatId, ItemId, PromptId, ReceiptId, TaskId};
use holdfast_store::ChatRow;
use serde::Serialize;

use crate::wire::time::rfc3339;
use crate::wire::words::{self, Word};

/// A chat as lists show it.
#[derive(Serialize)]
pub(crate) struct Row {
    id: ChatId,
    slot: Option<String>,
    title: Option<String>,
    agent: String,
    model: Option<String>,
    mode: Option<String>,
    project: Option<String>,
    cwd: String,
    state: Word,
    status: Status,
    activity: Doing,
    offer: Option<OfferBrief>,
    failure: Option<String>,
    pinned: bool,
    folder: Option<String>,
    tags: Vec<String>,
    muted: bool,
    unread: bool,
    last_prompt: Option<String>,
    queue_length: u32,
    queue_paused: bool,
    pending_context: u32,
    user_messages: u64,
    created_at: String,
    updated_at: String,
    seq: u64,
    unreadable: Option<String>,
}

/// What is shown of a chat, since when and by what evidence.
#[derive(Serialize)]
struct Status {
    shown: Word,
    lead: Word,
    since: String,
    evidence: String,
    process: Word,
}

/// What it is doing: live things only.
#[derive(Serialize)]
struct Doing {
    lead: Word,
    starting: bool,
    prompts: Vec<PromptBrief>,
    tasks: Vec<TaskBrief>,
    more_tasks: u32,
    leftovers: Vec<Leftover>,
}

#[derive(Serialize)]
struct PromptBrief {
    id: PromptId,
    kind: Word,
    label: String,
    item: ItemId,
    since: String,
}

#[derive(Serialize)]
struct TaskBrief {
    id: TaskId,
    kind: Word,
    label: String,
    state: Word,
    since: String,
    foreground: bool,
}

/// A process that outlived the tool call which started it.
#[derive(Serialize)]
pub(crate) struct Leftover {
    id: String,
    command: String,
    ports: Vec<u16>,
    since: String,
}

#[derive(Serialize)]
struct OfferBrief {
    cause: Word,
}

/// A chat that was just opened, with the receipt of its first message.
#[derive(Serialize)]
pub(crate) struct OpenedRow {
    #[serde(flatten)]
    pub(crate) row: Row,
    pub(crate) receipt: Option<ReceiptId>,
}

impl Row {
    /// The row of a chat.
    pub(crate) fn of(row: ChatRow) -> Self {
        let ChatRow { id, slot, title, project, created_at, updated_at, last_prompt, .. } = row;
        let summary = row.summary;
        Self {
            id,
            slot,
            title,
            agent: summary.agent,
            model: summary.model,
            mode: summary.mode,
            project,
            cwd: summary.cwd,
            state: words::life(summary.life),
            status: Status {
                shown: words::shown(summary.shown),
                lead: words::lead(summary.activity.lead),
                since: rfc3339(summary.since),
                evidence: summary.evidence,
                process: words::process(summary.process),
            },
            activity: Doing::of(summary.activity),
            offer: summary.offer.map(|cause| OfferBrief { cause: words::cause(cause) }),
            failure: summary.failure,
            pinned: summary.marks.pinned,
            folder: summary.marks.folder,
            tags: summary.marks.tags,
            muted: summary.marks.muted,
            unread: summary.marks.unread,
            last_prompt,
            queue_length: summary.queue_length,
            queue_paused: summary.held.is_some(),
            pending_context: 0,
            user_messages: summary.user_messages,
            created_at: rfc3339(created_at),
            updated_at: rfc3339(updated_at),
            seq: summary.seq.0,
            unreadable: row.unreadable,
        }
    }
}

impl Doing {
    fn of(activity: Activity) -> Self {
        let told = u32::try_from(activity.tasks.len()).unwrap_or(u32::MAX);
        Self {
            lead: words::lead(activity.lead),
            starting: activity.starting,
            prompts: activity.prompts.into_iter().map(PromptBrief::of).collect(),
            more_tasks: activity.task_counts.total().saturating_sub(told),
            tasks: activity.tasks.into_iter().map(TaskBrief::of).collect(),
            leftovers: activity.leftovers.into_iter().map(Leftover::of).collect(),
        }
    }
}

impl Leftover {
    pub(crate) fn of(leftover: activity::Leftover) -> Self {
        let activity::Leftover { id, command, ports, since } = leftover;
        Self { id, command, ports, since: rfc3339(since) }
    }
}

impl PromptBrief {
    fn of(prompt: OpenPrompt) -> Self {
        Self {
            id: prompt.id,
            kind: words::prompt_kind(prompt.kind),
            label: prompt.label,
            item: prompt.item,
            since: rfc3339(prompt.since),
        }
    }
}

impl TaskBrief {
    fn of(task: LiveTask) -> Self {
        Self {
            id: task.id,
            kind: words::task_kind(task.kind),
            label: task.label,
            state: "running",
            since: rfc3339(task.since),
            foreground: task.foreground,
        }
    }
}
