//! Everything that leaves on stdout, one line at a time and in one order.

use std::io::{Stdout, Write};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::evidence::{Evidence, Side};
use super::{EXIT_DIED, complain, leave, lock};

/// How much filler is written at a time, in bytes: a line of 200 MB is never held whole.
const FILLER_BYTES: usize = 64 * 1024;

pub(super) struct Output {
    /// The lock covers the evidence of a line too, so that both have the same order.
    stdout: Mutex<Stdout>,
    pub(super) evidence: Evidence,
}

impl Output {
    pub(super) fn new(evidence: Evidence) -> Self {
        Self { stdout: Mutex::new(std::io::stdout()), evidence }
    }

    pub(super) fn message(&self, message: &Value) {
        self.line(message.to_string().as_bytes());
    }

    /// Writes bytes as they are and a newline.
    pub(super) fn line(&self, bytes: &[u8]) {
        let stdout = lock(&self.stdout);
        let length = bytes.len() as u64;
        self.evidence.note_line(Side::Before, bytes, length);
        must(write_line(&stdout, &[bytes]));
        self.evidence.note_line(Side::After, bytes, length);
    }

    /// Writes `head`, so many bytes of filler, `tail` and a newline, as one line.
    pub(super) fn filled_line(&self, head: &[u8], filler_bytes: u64, tail: &[u8]) {
        let stdout = lock(&self.stdout);
        let length = head.len() as u64 + filler_bytes + tail.len() as u64;
        self.evidence.note_line(Side::Before, head, length);
        must(write_filled(&stdout, head, filler_bytes, tail));
        self.evidence.note_line(Side::After, head, length);
    }

    pub(super) fn result(&self, id: &Value, result: &Value) {
        self.message(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub(super) fn error(&self, id: &Value, code: i64, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.message(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    pub(super) fn notify(&self, method: &str, params: &Value) {
        self.message(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    pub(super) fn request(&self, id: u64, method: &str, params: &Value) {
        self.message(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// A `session/update`.
    pub(super) fn update(&self, session: &str, update: &Value) {
        self.notify("session/update", &json!({ "sessionId": session, "update": update }));
    }
}

fn write_line(mut stdout: &Stdout, parts: &[&[u8]]) -> std::io::Result<()> {
    for part in parts {
        stdout.write_all(part)?;
    }
    stdout.write_all(b"\n")?;
    stdout.flush()
}

fn write_filled(
    mut stdout: &Stdout,
    head: &[u8],
    filler_bytes: u64,
    tail: &[u8],
) -> std::io::Result<()> {
    stdout.write_all(head)?;
    let filler = [b'x'; FILLER_BYTES];
    let mut left = filler_bytes;
    while left > 0 {
        let now = usize::try_from(left).unwrap_or(usize::MAX).min(FILLER_BYTES);
        stdout.write_all(&filler[..now])?;
        left -= now as u64;
    }
    write_line(stdout, &[tail])
}

/// An agent that nobody can hear has nothing left to do.
fn must(written: std::io::Result<()>) {
    if let Err(error) = written {
        complain(&format!("demo agent: stdout: {error}"));
        leave(EXIT_DIED);
    }
}
