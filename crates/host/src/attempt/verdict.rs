//! How an attempt has ended, and what is told of it, without any I/O: the driver and the simulation
//! conclude it alike from what they find.

use holdfast_core::fact::Death;
use holdfast_core::input::{Boot, KeeperEvent};
use holdfast_core::provider::StartFault;
use holdfast_keeper::connect::AttachError;

use super::record::Reading;
use super::{Origin, Word};

/// What is done about a keeper that could not be attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// It is dead: the rest of its spool is taken in, then its death is told.
    Bury,
    /// It is not ours: it is left alone, and shown.
    Leave,
    /// It is tried again: nothing is known of it.
    Again,
}

/// What is done after this.
#[must_use]
pub fn course(error: &AttachError) -> Course {
    match error {
        AttachError::Dead(_) => Course::Bury,
        AttachError::Refused { .. } => Course::Leave,
        AttachError::Silent(_)
        | AttachError::Probe(_)
        | AttachError::Io { .. }
        | AttachError::Protocol { .. } => Course::Again,
    }
}

/// What a keeper has written of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// Whether it was in this boot.
    pub boot: Boot,
    /// The agent's pid, once it was born.
    pub agent: Option<u32>,
}

/// What is found of an attempt whose keeper is dead, beside its spool.
#[derive(Clone, Debug)]
pub struct Remains {
    /// What its keeper has written of itself.
    pub note: Option<Note>,
    /// What lives on; none if that could not be looked for.
    pub survivors: Option<Vec<u32>>,
    /// Whether the keeper was served by this driver: a loss then is the keeper's, not the host's.
    pub served: bool,
    /// Whether it was started by this driver: if nothing was born of it, the start has failed.
    pub spawned: bool,
}

/// How an attempt has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Why its start has failed, where it has.
    pub failed: Option<(StartFault, String)>,
    /// How.
    pub death: Death,
    /// What is proven by what is not in its spool.
    pub boot: Boot,
    /// What may live on.
    pub survivors: Vec<u32>,
}

impl Verdict {
    /// The last words of an attempt, in their order.
    #[must_use]
    pub fn words(self, stderr: String) -> Vec<Word> {
        let Self { failed, death, boot, survivors } = self;
        let failed = failed.map(|(fault, text)| KeeperEvent::SpawnFailed { fault, text });
        let dead = KeeperEvent::Dead { death, boot, survivors, stderr };
        failed.into_iter().chain([dead]).map(Word::Event).collect()
    }
}

/// There is nothing on disk of this attempt.
#[must_use]
pub fn without_folder(origin: Origin, survivors: Vec<u32>) -> Verdict {
    // A folder that is not there proves nothing after a power cut.
    let boot = match origin {
        Origin::Fresh => Boot::Same,
        Origin::Adopted => Boot::Other,
    };
    Verdict { failed: None, death: Death::NeverBorn, boot, survivors }
}

/// A keeper that belongs to another life of the store, or that the host is ahead of: it is never
/// adopted. It is shown as what may still live, for a person to settle.
#[must_use]
pub fn not_adopted(keeper: u32) -> Verdict {
    let survivors = vec![keeper];
    Verdict { failed: None, death: Death::HostLost, boot: Boot::Other, survivors }
}

/// A keeper that lives has told the end.
#[must_use]
pub fn told(death: Death, survivors: Vec<u32>) -> Verdict {
    Verdict { failed: None, death, boot: Boot::Same, survivors }
}

/// A keeper is dead, and its spool was read to the end.
#[must_use]
pub fn buried(rest: &Reading, remains: Remains) -> Verdict {
    // A keeper that did anything has written its record: without one nothing is proven.
    let boot = remains.note.map_or(Boot::Other, |note| note.boot);
    let agent = remains.note.and_then(|note| note.agent);
    let death = match rest.end() {
        // What lived on then is looked for anew.
        Some((death, _)) => *death,
        None if !rest.is_born() && agent.is_none() => Death::NeverBorn,
        None if remains.served => Death::KeeperLost,
        None => Death::HostLost,
    };
    // Else it would be started again and again, as fast as it dies.
    let failed = (remains.spawned && death == Death::NeverBorn).then(|| {
        let text = "Its keeper ended before it had started the agent.".to_owned();
        (StartFault::AgentRefused, text)
    });
    // Whoever could not look does not know that nothing lives.
    let survivors = remains.survivors.unwrap_or_else(|| agent.into_iter().collect());
    Verdict { failed, death, boot, survivors }
}
