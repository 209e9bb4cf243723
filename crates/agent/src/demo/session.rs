//! One live session of the demo agent.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;

use super::agent::Agent;
use super::background::Task;
use super::directive::own_text;
use super::left::{Left, is_continuation};
use super::store::{Record, SessionFile, StoreError};
use super::turn::Turn;
use super::{complain, lock};

pub(super) struct Session {
    pub(super) id: String,
    file: Mutex<SessionFile>,
    /// User messages over the whole life of the session.
    seen: AtomicU64,
    desk: Mutex<Desk>,
    pub(super) tasks: Mutex<HashMap<String, Arc<Task>>>,
    /// What was left undone when the session was opened.
    pub(super) left: Mutex<Left>,
    /// Commands that were always allowed, for this life of the process.
    pub(super) always: Mutex<HashSet<String>>,
}

/// What the running turn and the ends of background work must agree on.
#[derive(Default)]
struct Desk {
    turn: Option<Arc<Turn>>,
    /// Reports of background work that ended while a turn ran: said at its end.
    reports: Vec<String>,
}

/// A turn of the session is running already.
pub(super) struct Busy;

impl Session {
    pub(super) fn new(id: String, file: SessionFile, seen: u64, left: Left) -> Self {
        Self {
            id,
            file: Mutex::new(file),
            seen: AtomicU64::new(seen),
            desk: Mutex::default(),
            tasks: Mutex::default(),
            left: Mutex::new(left),
            always: Mutex::default(),
        }
    }

    /// How many user messages the session has seen.
    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Writes a user's message down and counts it; only then may it be acted on.
    pub(super) fn store_user(&self, agent: &Agent, text: &str) -> Result<(), StoreError> {
        let record = Record::User { text: text.to_owned(), message_id: agent.new_id("msg") };
        lock(&self.file).append(&record)?;
        self.seen.fetch_add(1, Ordering::Relaxed);
        if !is_continuation(own_text(text)) {
            // Who says something else does not want what was left.
            let given_up = std::mem::take(&mut *lock(&self.left));
            for task in given_up.tasks {
                self.store(&Record::TaskEnded { id: task.id });
            }
        }
        Ok(())
    }

    /// Writes down what the agent itself did; a full disk does not end its turn.
    pub(super) fn store(&self, record: &Record) {
        if let Err(error) = lock(&self.file).append(record) {
            complain(&format!("demo agent: {error}"));
        }
    }

    /// Makes `turn` the running one, unless another is.
    pub(super) fn begin(&self, turn: &Arc<Turn>) -> Result<(), Busy> {
        let mut desk = lock(&self.desk);
        if desk.turn.is_some() {
            return Err(Busy);
        }
        desk.turn = Some(Arc::clone(turn));
        Ok(())
    }

    /// Ends the running turn and gives the reports that waited for its end.
    pub(super) fn end(&self) -> Vec<String> {
        let mut desk = lock(&self.desk);
        desk.turn = None;
        std::mem::take(&mut desk.reports)
    }

    /// The running turn.
    pub(super) fn turn(&self) -> Option<Arc<Turn>> {
        lock(&self.desk).turn.clone()
    }

    /// Says that background work has ended: at the end of the running turn, or at once, by which
    /// the agent opens a turn by itself.
    pub(super) fn report(&self, agent: &Agent, report: String) {
        let mut desk = lock(&self.desk);
        if desk.turn.is_some() {
            desk.reports.push(report);
        } else {
            drop(desk);
            self.say(agent, &report);
        }
    }

    /// Ends everything that runs in the session.
    pub(super) fn shut(&self) {
        if let Some(turn) = self.turn() {
            turn.cancel();
        }
        for task in lock(&self.tasks).values() {
            task.stop();
        }
    }

    /// Streams a message of the agent in several chunks and writes it down.
    pub(super) fn say(&self, agent: &Agent, text: &str) {
        let message_id = agent.new_id("msg");
        for chunk in chunks(text) {
            self.chunk(agent, "agent_message_chunk", &message_id, chunk);
        }
        self.store(&Record::Agent { text: text.to_owned(), message_id });
    }

    /// One streamed piece; `kind` is the name of the update.
    pub(super) fn chunk(&self, agent: &Agent, kind: &str, message_id: &str, text: &str) {
        agent.out.update(
            &self.id,
            &json!({
                "sessionUpdate": kind,
                "messageId": message_id,
                "content": { "type": "text", "text": text },
            }),
        );
    }
}

/// A reply comes in about so many chunks.
const CHUNKS_OF_A_REPLY: usize = 4;
/// Largest chunk of a reply, in bytes.
const CHUNK_BYTES_MAX: usize = 4096;

/// Cuts a text into chunks at characters; an empty text has none.
pub(super) fn chunks(text: &str) -> impl Iterator<Item = &str> {
    let target = text.len().div_ceil(CHUNKS_OF_A_REPLY).clamp(1, CHUNK_BYTES_MAX);
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (chunk, after) = rest.split_at(rest.ceil_char_boundary(target.min(rest.len())));
        rest = after;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::chunks;

    #[test]
    fn chunks_join_to_the_text_and_are_several() {
        for text in ["hello there", "ab", "päö😀👩‍👩‍👧‍👧", &"x".repeat(100_000)]
        {
            let cut: Vec<_> = chunks(text).collect();
            assert_eq!(cut.concat(), text);
            assert!(cut.len() > 1, "{text}");
        }
        assert_eq!(chunks("").count(), 0);
    }
}
