//! The words of the wire for the enums of core; api.md and delivery.md fix them.

use holdfast_core::activity::{Lead, Process, Shown};
use holdfast_core::fact::{Author, Evidence, RefusedWhy};
use holdfast_core::head::Life;
use holdfast_core::item::{CallState, Field, ItemKind, Role};
use holdfast_core::offer::{Action, Cause};
use holdfast_core::provider::{PromptKind, TaskEnd, TaskKind, TurnEnd};
use holdfast_core::queue::Held;

/// A word of the wire.
pub(crate) type Word = &'static str;

pub(crate) const fn shown(shown: Shown) -> Word {
    match shown {
        Shown::Blocked => "blocked",
        Shown::Working => "working",
        Shown::Monitoring => "monitoring",
        Shown::ToCheck => "to_check",
        Shown::Idle => "idle",
    }
}

pub(crate) const fn lead(lead: Lead) -> Word {
    match lead {
        Lead::Working => "working",
        Lead::Blocked => "blocked",
        Lead::Done => "done",
    }
}

pub(crate) const fn process(process: Process) -> Word {
    match process {
        Process::Stopped => "stopped",
        Process::Starting => "starting",
        Process::Running => "running",
        Process::Stopping => "stopping",
        Process::Stalled => "stalled",
    }
}

pub(crate) const fn life(life: Life) -> Word {
    match life {
        Life::Open => "open",
        Life::Closed => "closed",
        Life::Deleted | Life::Unborn => "deleted",
    }
}

pub(crate) const fn author(author: Author) -> Word {
    match author {
        Author::Person => "person",
        Author::Channel => "channel",
        Author::App => "app",
        Author::Schedule => "schedule",
        Author::Host => "host",
    }
}

pub(crate) const fn evidence(evidence: Evidence) -> Word {
    match evidence {
        Evidence::Agent => "agent",
        Evidence::AgentStore => "agent_store",
        Evidence::Person => "person",
        Evidence::Message => "message",
        Evidence::Quiet => "quiet",
        Evidence::Death => "death",
    }
}

pub(crate) const fn refused(why: &RefusedWhy) -> Word {
    match why {
        RefusedWhy::Rejected { .. } => "rejected",
        RefusedWhy::NotWritten => "not_written",
        RefusedWhy::NotInStore => "not_in_store",
    }
}

pub(crate) const fn item_kind(kind: ItemKind) -> Word {
    match kind {
        ItemKind::Message => "message",
        ItemKind::Thinking => "thinking",
        ItemKind::ToolCall => "tool_call",
        ItemKind::Prompt => "prompt",
        ItemKind::Plan => "plan",
        ItemKind::Note => "note",
        ItemKind::Notice => "notice",
        ItemKind::Compaction => "compaction",
        ItemKind::Unrecognised => "unrecognised",
    }
}

pub(crate) const fn role(role: Role) -> Word {
    match role {
        Role::User => "user",
        Role::Agent => "agent",
        Role::Host => "host",
        Role::App => "app",
    }
}

pub(crate) const fn field(field: Field) -> Word {
    match field {
        Field::Text => "text",
        Field::Input => "input",
        Field::Output => "output",
    }
}

pub(crate) const fn call_state(state: CallState) -> Word {
    match state {
        CallState::Running => "running",
        CallState::Completed => "completed",
        CallState::Failed => "failed",
        CallState::Unknown => "unknown",
    }
}

pub(crate) const fn cause(cause: Cause) -> Word {
    match cause {
        Cause::Quit => "quit",
        Cause::Update => "update",
        Cause::HostLost => "host_lost",
        Cause::AgentDied => "agent_died",
        Cause::KeeperLost => "keeper_lost",
        Cause::IdleStop => "idle_stop",
    }
}

pub(crate) const fn action(action: Action) -> Word {
    match action {
        Action::Retry => "retry",
        Action::OpenChat => "open_chat",
        Action::StartFreshWithRecap => "start_fresh_with_recap",
        Action::StartAnyway => "start_anyway",
    }
}

pub(crate) const fn prompt_kind(kind: PromptKind) -> Word {
    match kind {
        PromptKind::Approval => "approval",
        PromptKind::Question => "question",
    }
}

pub(crate) const fn task_kind(kind: TaskKind) -> Word {
    match kind {
        TaskKind::Agent => "agent",
        TaskKind::Workflow => "workflow",
        TaskKind::Command => "command",
        TaskKind::Monitor => "monitor",
        TaskKind::Unknown => "unknown",
    }
}

pub(crate) const fn task_end(end: TaskEnd) -> Word {
    match end {
        TaskEnd::Completed => "completed",
        TaskEnd::Failed => "failed",
        TaskEnd::Stopped => "stopped",
        TaskEnd::Lost => "lost",
    }
}

pub(crate) const fn turn_end(end: TurnEnd) -> Word {
    match end {
        TurnEnd::Completed => "completed",
        TurnEnd::Interrupted => "interrupted",
        TurnEnd::Failed => "failed",
        TurnEnd::Lost => "lost",
    }
}

pub(crate) const fn held(held: Held) -> Word {
    match held {
        Held::Stop => "stop",
        Held::Person => "person",
        Held::Dismiss => "dismiss",
        Held::Offer => "offer",
        Held::StartFailed => "start_failed",
    }
}
