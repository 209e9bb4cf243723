//! Background tasks.

use holdfast_core::ids::TaskId;
use holdfast_store::TaskRow;
use serde::Serialize;

use crate::wire::time::rfc3339;
use crate::wire::words::{self, Word};

/// A background task, live or ended.
#[derive(Serialize)]
pub(crate) struct Task {
    id: TaskId,
    kind: Word,
    label: String,
    state: Word,
    since: String,
    foreground: bool,
    ended_at: Option<String>,
}

impl Task {
    /// A task from its row.
    pub(crate) fn of(row: TaskRow) -> Self {
        Self {
            id: row.id,
            kind: words::task_kind(row.kind),
            label: row.label,
            state: row.ended.map_or("running", |(end, _)| words::task_end(end)),
            since: rfc3339(row.started_at),
            foreground: row.foreground,
            ended_at: row.ended.map(|(_, at)| rfc3339(at)),
        }
    }
}
