//! Background tasks. Silence ends none.

use super::Draft;
use crate::fact::Fact;
use crate::frame::Outgoing;
use crate::ids::TaskId;
use crate::input::Reply;
use crate::limits::label;
use crate::provider::{TaskEnd, TaskKind};
use crate::refusal::{Code, Refusal};

/// A task began. One that is beyond what is told apart is counted by the fold, also under a number
/// that others have that were only counted: codecs give one number to all that they cannot name.
pub(super) fn started(d: &mut Draft<'_>, n: u32, kind: TaskKind, name: &str, foreground: bool) {
    let task = TaskId::new(d.origin(), n);
    if !d.chat.head.tasks.contains_key(&task) {
        d.push(Fact::TaskStarted { task, kind, label: label(name), foreground });
    }
}

/// A task goes on when the turn ends.
pub(super) fn detached(d: &mut Draft<'_>, n: u32) {
    let task = TaskId::new(d.origin(), n);
    if d.chat.head.tasks.get(&task).is_some_and(|live| live.foreground) {
        d.push(Fact::TaskDetached { task });
    }
}

/// A task ended. One that is not told apart is one of those that were counted, while there are any:
/// codecs name the end of each task that they told of once.
pub(super) fn ended(d: &mut Draft<'_>, n: u32, how: TaskEnd) {
    let task = TaskId::new(d.origin(), n);
    if d.chat.head.tasks.contains_key(&task) || d.chat.head.more_tasks.total() > 0 {
        d.push(Fact::TaskEnded { task, how });
    }
}

/// Asks the agent to end one task; it is over when the agent says so.
pub(super) fn stop(d: &mut Draft<'_>, task: TaskId) -> Result<Reply, Refusal> {
    if !d.chat.head.tasks.contains_key(&task) {
        return Err(Refusal::new(Code::TaskNotFound, "No such task is live in this chat."));
    }
    if !d.serving().is_some_and(|attempt| attempt.capabilities.stop_task) {
        let text =
            "This agent cannot stop one task by itself. Interrupt the turn or stop the agent.";
        return Err(Refusal::new(Code::NotSupported, text));
    }
    if !d.has_room(1) {
        return Err(super::prompt::full());
    }
    d.issue(Outgoing::StopTask { task });
    Ok(Reply::Done)
}
