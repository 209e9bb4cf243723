//! The row of a chat.

use holdfast_core::activity::{self, Activity, LiveTask, OpenPrompt};
use holdfast_core::ids::{ChatId, ItemId, PromptId, ReceiptId, TaskId};
use holdfast_store::ChatRow;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// A chat as lists show it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Row {
    #[schema(value_type = ids::ChatId)]
    id: ChatId,
    /// The name under which apps address it.
    slot: Option<String>,
    /// What a person calls it.
    title: Option<String>,
    /// The id of its agent.
    agent: String,
    /// The agent's model, where one was chosen or told.
    model: Option<String>,
    /// The agent's mode, where one was chosen or told.
    mode: Option<String>,
    /// How hard the agent thinks, where that was chosen or told.
    effort: Option<String>,
    /// The efforts that the agent knows; empty where it tells none.
    efforts: Vec<String>,
    /// The chat that it was forked from.
    #[schema(value_type = Option<ids::ChatId>)]
    forked_from: Option<ChatId>,
    /// What its agent could do when its session stood last.
    capabilities: Vec<words::Capability>,
    /// Its project.
    project: Option<String>,
    /// The directory in which the agent works.
    cwd: String,
    /// Whether it is open.
    state: words::Life,
    /// What is shown of it.
    status: Status,
    /// What it is doing now.
    activity: Doing,
    /// That it was stopped while it showed work.
    offer: Option<OfferBrief>,
    /// The code of the start or resume that failed.
    failure: Option<String>,
    /// Whether it stands first and cannot be deleted.
    pinned: bool,
    /// The folder that it is in.
    folder: Option<String>,
    /// Its tags.
    tags: Vec<String>,
    /// Whether it makes no sound.
    muted: bool,
    /// Whether something new was not looked at.
    unread: bool,
    /// The beginning of the last message to the agent.
    last_prompt: Option<String>,
    /// The beginning of the first message to the agent: what a chat without a title is called.
    first_prompt: Option<String>,
    /// How many messages wait.
    queue_length: u32,
    /// Whether they are held.
    queue_paused: bool,
    /// How many context entries wait for the next message.
    pending_context: u32,
    /// How many messages the agent was sent.
    user_messages: u64,
    /// When it was opened.
    created_at: Time,
    /// When something happened in it last. How it is arranged, and that it was looked at, is nothing
    /// that happens in it.
    updated_at: Time,
    /// The number of its last fact: it grows with every change.
    seq: u64,
    /// Why it can only be looked at, where that is so.
    unreadable: Option<String>,
}

/// What is shown of a chat, since when and by what evidence.
#[derive(Serialize, ToSchema)]
struct Status {
    /// What a list shows.
    shown: words::Shown,
    /// What the main agent does.
    lead: words::Lead,
    /// Since when.
    since: Time,
    /// How this is known, as a word.
    evidence: String,
    /// The process of the agent.
    process: words::Process,
}

/// What it is doing: live things only.
#[derive(Serialize, ToSchema)]
#[schema(as = Activity)]
struct Doing {
    /// What the main agent does.
    lead: words::Lead,
    /// Whether the agent is being started for a message.
    starting: bool,
    /// What it waits for.
    prompts: Vec<PromptBrief>,
    /// Its background work.
    tasks: Vec<TaskBrief>,
    /// Background work beyond what is told apart.
    more_tasks: u32,
    /// Processes that outlived the tool call which started them.
    leftovers: Vec<Leftover>,
}

/// A prompt that waits.
#[derive(Serialize, ToSchema)]
struct PromptBrief {
    #[schema(value_type = ids::PromptId)]
    id: PromptId,
    kind: words::PromptKind,
    /// What is asked, in one line.
    label: String,
    /// Where it stands in the transcript.
    #[schema(value_type = ids::ItemId)]
    item: ItemId,
    /// Since when it waits.
    since: Time,
}

/// Background work that lives.
#[derive(Serialize, ToSchema)]
struct TaskBrief {
    #[schema(value_type = ids::TaskId)]
    id: TaskId,
    kind: words::TaskKind,
    /// What it is, in one line.
    label: String,
    state: words::TaskState,
    since: Time,
    /// Whether the main agent waits for it.
    foreground: bool,
}

/// A process that outlived the tool call which started it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Leftover {
    /// Its id within the chat.
    id: String,
    /// Its command line, cut.
    command: String,
    /// The TCP ports that it listens on.
    ports: Vec<u16>,
    /// Since when it is known.
    since: Time,
}

/// That a chat was stopped while it showed work.
#[derive(Serialize, ToSchema)]
struct OfferBrief {
    /// What stopped it.
    cause: words::Cause,
}

/// A chat that was just opened, with the receipt of its first message.
#[derive(Serialize, ToSchema)]
pub(crate) struct OpenedRow {
    #[serde(flatten)]
    pub(crate) row: Row,
    /// The receipt of the first message.
    #[schema(value_type = Option<ids::ReceiptId>)]
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
            effort: summary.effort,
            efforts: summary.efforts,
            project,
            forked_from: summary.forked_from,
            capabilities: words::capabilities(summary.known),
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
            first_prompt: row.first_prompt,
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
            state: words::TaskState::Running,
            since: rfc3339(task.since),
            foreground: task.foreground,
        }
    }
}
