//! The agent's own sessions, as its files hold them: appended without a sync, so that a power cut
//! may take their tail.

use std::collections::BTreeMap;

use holdfast_core::ids::AttemptId;

use crate::rng::Rng;

/// Who wrote an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// It came in this frame of this attempt.
    User(AttemptId, u64),
    Agent,
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: u64,
    pub(crate) by: By,
    pub(crate) text: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    pub(crate) entries: Vec<Entry>,
    durable: usize,
}

/// All sessions of the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes {
    sessions: BTreeMap<String, Session>,
    next: u64,
}

impl Homes {
    pub(crate) fn create(&mut self) -> String {
        self.next += 1;
        let id = format!("ses-{}", self.next);
        self.sessions.insert(id.clone(), Session::default());
        id
    }

    pub(crate) fn get(&self, session: &str) -> Option<&Session> {
        self.sessions.get(session)
    }

    pub(crate) fn append(&mut self, session: &str, by: By, text: &str) {
        self.next += 1;
        let id = self.next;
        if let Some(session) = self.sessions.get_mut(session) {
            session.entries.push(Entry { id, by, text: text.to_owned() });
        }
    }

    /// The system writes back what it likes, when it likes.
    pub(crate) fn write_back(&mut self, session: &str) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.durable = session.entries.len();
        }
    }

    /// Whether a session holds what came in this frame.
    pub(crate) fn holds(&self, session: &str, attempt: AttemptId, frame: u64) -> bool {
        let entries = self.get(session).map(|session| session.entries.as_slice());
        entries.unwrap_or_default().iter().any(|entry| entry.by == By::User(attempt, frame))
    }

    /// A session that was never written back may be gone as a whole.
    pub(crate) fn power_cut(&mut self, rng: &mut Rng) {
        self.sessions.retain(|_, session| {
            let loose = session.entries.len() - session.durable;
            session.entries.truncate(session.durable + rng.below(loose + 1));
            session.durable = session.entries.len();
            !session.entries.is_empty() || rng.permille(500)
        });
    }
}
