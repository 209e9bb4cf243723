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
    kind: words::TaskKind,
    label: String,
    state: words::TaskState,
    since: Time,
    foreground: bool,
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
