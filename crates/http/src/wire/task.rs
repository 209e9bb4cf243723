//! Background tasks.

use holdfast_core::ids::TaskId;
use holdfast_store::TaskRow;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// A background task, live or ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct Task {
    #[schema(value_type = ids::TaskId)]
    id: TaskId,
    /// What kind of work.
    kind: words::TaskKind,
    /// What it is, in one line.
    label: String,
    /// How far it is.
    state: words::TaskState,
    /// When it began.
    since: Time,
    /// Whether the main agent waits for it.
    foreground: bool,
    /// When it ended.
    ended_at: Option<Time>,
}

impl Task {
    /// A task from its row.
    pub(crate) fn of(row: TaskRow) -> Self {
        Self {
            id: row.id,
            kind: words::task_kind(row.kind),
            label: row.label,
            state: row.ended.map_or(words::TaskState::Running, |(end, _)| words::task_end(end)),
            since: rfc3339(row.started_at),
            foreground: row.foreground,
            ended_at: row.ended.map(|(_, at)| rfc3339(at)),
        }
    }
}
