//! What the threads of one agent process share.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::evidence::Evidence;
use super::lock;
use super::output::Output;
use super::session::Session;
use super::settings::Settings;
use super::store::Store;
use super::turn::Turn;

/// Whether the client shows forms (`clientCapabilities.elicitation.form`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Forms {
    Shown,
    NotShown,
}

pub(super) struct Agent {
    pub(super) settings: Settings,
    pub(super) out: Output,
    pub(super) store: Store,
    pub(super) forms: Mutex<Forms>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// The turns that wait for the answer to a request of ours, by its id.
    asked: Mutex<HashMap<u64, Arc<Turn>>>,
    next_request: AtomicU64,
    /// Makes the ids of this process unlike those of any other.
    nonce: u64,
    next_id: AtomicU64,
}

impl Agent {
    pub(super) fn new(settings: Settings) -> std::io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            out: Output::new(Evidence::open(settings.log.as_deref())?),
            store: Store::new(settings.dir.as_deref()),
            settings,
            forms: Mutex::new(Forms::NotShown),
            sessions: Mutex::default(),
            asked: Mutex::default(),
            next_request: AtomicU64::new(0),
            // The keys of a `RandomState` are the system's randomness.
            nonce: RandomState::new().hash_one(std::process::id()),
            next_id: AtomicU64::new(0),
        }))
    }

    /// An id that no other process and no later call gives again.
    pub(super) fn new_id(&self, prefix: &str) -> String {
        let number = self.next_id.fetch_add(1, Ordering::Relaxed);
        format!("{prefix}-{:016x}-{number}", self.nonce)
    }

    pub(super) fn session(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.sessions).get(id).map(Arc::clone)
    }

    pub(super) fn keep(&self, session: Session) {
        lock(&self.sessions).insert(session.id.clone(), Arc::new(session));
    }

    pub(super) fn forget(&self, id: &str) -> Option<Arc<Session>> {
        lock(&self.sessions).remove(id)
    }

    /// Sends a request whose answer goes to `turn`; gives its id.
    pub(super) fn ask(&self, turn: &Arc<Turn>, method: &str, params: &Value) -> u64 {
        let id = self.next_request.fetch_add(1, Ordering::Relaxed);
        lock(&self.asked).insert(id, Arc::clone(turn));
        self.out.request(id, method, params);
        id
    }

    /// The turn that waits for the answer to request `id`; it waits no longer in this table.
    pub(super) fn answered(&self, id: u64) -> Option<Arc<Turn>> {
        lock(&self.asked).remove(&id)
    }
}
