//! The evidence file: what the agent saw and said, told from outside the host.
//!
//! One JSON object a line, each appended with a single `write(2)`, each with the agent's `pid`:
//!
//! | line | when |
//! |---|---|
//! | `{"writing": LINE}` | before LINE (without its newline) is written to stdout |
//! | `{"wrote": LINE}` | after the write returned; a kill in between leaves only the first |
//! | `{"prompt": TEXT, "session": ID, "stored": BOOL}` | a prompt arrived; `stored`: it counts as seen; its blocks beside text, if any, are `attached` |
//! | `{"answer": VALUE, "request": ID}` | the client answered a request of the agent, in time or not |
//! | `{"cancel": SESSION, "obeyed": BOOL}` | `session/cancel` arrived |
//! | `{"stop": TASK}` | `_holdfast/task_stop` arrived |
//! | `{"ran": COMMAND, "session": ID}` | an approved command was "run" |
//!
//! A stdout line above [`LOGGED_LINE_BYTES_MAX`] is logged as `{"writing": null, "bytes": N,
//! "head": TEXT}` (and so for `wrote`): N counts the whole line without its newline.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

/// Longest stdout line that is logged whole, in bytes.
pub(super) const LOGGED_LINE_BYTES_MAX: usize = 64 * 1024;
/// How much of a longer line is logged, in bytes.
const LOGGED_HEAD_BYTES: usize = 256;

/// The evidence file, or nothing where none was asked for.
#[derive(Debug)]
pub(super) struct Evidence {
    file: Option<File>,
}

/// Which side of a write to stdout a line of evidence is on.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Before,
    After,
}

impl Evidence {
    pub(super) fn open(path: Option<&Path>) -> std::io::Result<Self> {
        let file = match path {
            Some(path) => Some(OpenOptions::new().append(true).create(true).open(path)?),
            None => None,
        };
        Ok(Self { file })
    }

    /// Appends one event; `event` must be an object.
    pub(super) fn note(&self, mut event: Value) {
        let Some(mut file) = self.file.as_ref() else { return };
        event["pid"] = json!(std::process::id());
        let mut line = event.to_string().into_bytes();
        line.push(b'\n');
        // `write`, not `write_all`: two writes could be torn apart by another process's line.
        if let Err(error) = file.write(&line) {
            super::complain(&format!("demo agent: evidence: {error}"));
        }
    }

    /// Tells of a line on its way to stdout. `head` is its beginning (the whole line, unless it is
    /// a long one), `bytes` its length; both without the newline.
    pub(super) fn note_line(&self, side: Side, head: &[u8], bytes: u64) {
        if self.file.is_none() {
            return;
        }
        let key = match side {
            Side::Before => "writing",
            Side::After => "wrote",
        };
        if bytes == head.len() as u64 && head.len() <= LOGGED_LINE_BYTES_MAX {
            self.note(json!({ key: String::from_utf8_lossy(head) }));
        } else {
            let head = &head[..head.len().min(LOGGED_HEAD_BYTES)];
            self.note(json!({ key: null, "bytes": bytes, "head": String::from_utf8_lossy(head) }));
        }
    }
}
