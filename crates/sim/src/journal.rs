//! The journal as its callers see it: what is handed in is stored a while later, by one writer and
//! in order, or not; the answer comes later still. What was answered survives everything.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use holdfast_core::ids::ChatId;
use holdfast_store::{CommitError, MemoryStore, Unit};

use crate::check;
use crate::world::World;

/// How often in one life of a host what was heard for a chat is refused: as a whole, and a word by
/// itself. A word that is refused twice by itself is passed over.
const REFUSED_MAX: u32 = 2;

/// What a commit comes of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Words of an agent or its keeper, or time.
    World,
    /// The host's own stop.
    Stop,
    /// Somebody's request.
    Request(usize),
}

/// What became of a commit.
pub(crate) type Outcome = Result<(), CommitError>;

/// The store, what waits for it, and what it has answered.
#[derive(Debug)]
pub(crate) struct Journal {
    pub(crate) store: MemoryStore,
    waiting: VecDeque<(u64, Vec<Unit>, Cause)>,
    answered: BTreeMap<u64, Outcome>,
    next: u64,
    /// Chats that could not be loaded again: what is decided for them may be fenced off.
    pub(crate) stale: BTreeSet<ChatId>,
    /// How often what was heard for a chat was refused.
    refused: BTreeMap<ChatId, u32>,
}

impl Journal {
    pub(crate) fn new(store: MemoryStore) -> Self {
        Self {
            store,
            waiting: VecDeque::new(),
            answered: BTreeMap::new(),
            next: 0,
            stale: BTreeSet::new(),
            refused: BTreeMap::new(),
        }
    }

    /// Hands units in, and gives the ticket that their answer will have.
    pub(crate) fn submit(&mut self, units: Vec<Unit>, cause: Cause) -> u64 {
        self.next += 1;
        self.waiting.push_back((self.next, units, cause));
        self.next
    }

    pub(crate) fn has_answer(&self, ticket: u64) -> bool {
        self.answered.contains_key(&ticket)
    }

    pub(crate) fn answer(&mut self, ticket: u64) -> Option<Outcome> {
        self.answered.remove(&ticket)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The host is gone, and with it the writer: what was not stored will not be.
    pub(crate) fn forget(&mut self) {
        self.waiting.clear();
        self.answered.clear();
        self.stale.clear();
        self.refused.clear();
    }

    /// Whether the store may refuse this: a word that is refused again and again is passed over, and
    /// what an agent said is then lost, visibly.
    fn may_refuse(&mut self, units: &[Unit], cause: Cause) -> bool {
        let [unit] = units else { return false };
        let refused = self.refused.entry(unit.chat).or_default();
        *refused += 1;
        cause == Cause::World && *refused <= REFUSED_MAX
    }

    /// Whether what was heard for this chat was just refused as a whole.
    fn was_refused(&self, units: &[Unit]) -> bool {
        units.iter().all(|unit| self.refused.get(&unit.chat) == Some(&1))
    }
}

/// Stores what waits longest, or fails to.
pub(crate) fn step(w: &mut World) {
    let Some((ticket, units, cause)) = w.journal.waiting.pop_front() else { return };
    let outcome = if w.disk_full {
        Err(CommitError::StorageFull)
    } else if !w.calm
        && w.journal.was_refused(&units)
        && w.rng.permille(500)
        && w.journal.may_refuse(&units, cause)
    {
        Err(CommitError::Refused("simulated again".to_owned()))
    } else if !w.calm && w.rng.permille(w.weather.commit_fails) {
        match w.rng.below(4) {
            0 => Err(CommitError::Failed("simulated".to_owned())),
            1 if w.journal.may_refuse(&units, cause) => {
                Err(CommitError::Refused("simulated".to_owned()))
            }
            1 | 2 => Err(CommitError::Uncertain("simulated, not stored".to_owned())),
            _ => {
                let _ = apply(w, units, cause);
                Err(CommitError::Uncertain("simulated, stored".to_owned()))
            }
        }
    } else {
        apply(w, units, cause)
    };
    if let Err(error) = &outcome {
        let text = error.to_string();
        w.say(|| format!("commit {ticket}: {text}"));
    }
    w.journal.answered.insert(ticket, outcome);
}

/// Stores units, and has every check look at them.
fn apply(w: &mut World, units: Vec<Unit>, cause: Cause) -> Outcome {
    let before: Vec<check::Before> =
        units.iter().map(|unit| check::Before::of(&w.journal.store, unit.chat)).collect();
    let stored = w.journal.store.apply(units);
    match stored {
        Ok(committed) => {
            for (unit, before) in committed.iter().zip(before) {
                check::committed(w, unit, &before, cause);
            }
            Ok(())
        }
        Err(error) => {
            match &error {
                CommitError::OperationExists
                | CommitError::SlotTaken { .. }
                | CommitError::SourceGone { .. }
                | CommitError::SessionTaken { .. } => {}
                CommitError::Fenced { chat, .. } if w.journal.stale.contains(chat) => {}
                CommitError::Fenced { .. }
                | CommitError::StorageFull
                | CommitError::Uncertain(_)
                | CommitError::Failed(_)
                | CommitError::Refused(_)
                | CommitError::Stopped => w.fail(format!("the store refused a unit: {error}")),
            }
            Err(error)
        }
    }
}
