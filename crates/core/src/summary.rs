//! What lists and events show of a chat beside its texts: made from the head with every commit, so
//! that ten thousand rows are read without folding anything.

use serde::{Deserialize, Serialize};

use crate::activity::{Activity, Process, Shown, process, shown};
use crate::head::{Chat, Life, Phase, Queued, Stranded};
use crate::ids::Seq;
use crate::offer::Cause;
use crate::time::Micros;

/// Why a queue does not run although it is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// A person stopped the turn.
    Stop,
    /// A person paused it.
    Person,
    /// An offer was dismissed.
    Dismiss,
    /// An offer waits.
    Offer,
    /// A start failed.
    StartFailed,
}

/// The state of a chat as lists show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// The last fact.
    pub seq: Seq,
    /// Open, closed or deleted.
    pub life: Life,
    /// The agent's id.
    pub agent: String,
    /// The working directory.
    pub cwd: String,
    /// The model.
    pub model: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// What is shown.
    pub shown: Shown,
    /// Since when.
    pub since: Micros,
    /// By what evidence.
    pub evidence: String,
    /// The agent's process.
    pub process: Process,
    /// What it is doing.
    pub activity: Activity,
    /// Whether it shows work.
    pub shows_work: bool,
    /// Why an offer waits, if one does.
    pub offer: Option<Cause>,
    /// The code of a failure.
    pub failure: Option<String>,
    /// Whether resuming the offer needs a person's choice about a message.
    pub needs_choice: bool,
    /// Deliveries whose outcome is not known.
    pub unknown: u32,
    /// Messages that wait.
    pub queue_length: u32,
    /// Why they do not run.
    pub held: Option<Held>,
    /// Messages of people.
    pub user_messages: u64,
    /// Whether somebody has to act on start: an attempt, a queue that runs.
    pub owes: bool,
}

impl Summary {
    /// The summary of a chat.
    #[must_use]
    pub fn of(chat: &Chat) -> Self {
        let head = &chat.head;
        let activity = Activity::of(chat);
        let unknown = head.stranded.iter().filter(|s| match s.why {
            crate::head::Strand::Unknown { .. } => true,
            crate::head::Strand::Refused => false,
        });
        Self {
            seq: head.seq,
            life: head.life,
            agent: head.agent.clone(),
            cwd: head.cwd.clone(),
            model: head.model.clone(),
            mode: head.mode.clone(),
            shown: shown(chat, &activity),
            since: head.shown_since,
            evidence: head.shown_by.clone(),
            process: process(chat),
            shows_work: activity.shows_work(),
            activity,
            offer: head.shown_offer().map(|offer| offer.cause),
            failure: head.failure.clone(),
            needs_choice: needs_choice(head),
            unknown: u32::try_from(unknown.count()).unwrap_or(u32::MAX),
            queue_length: u32::try_from(chat.aside.queue.len()).unwrap_or(u32::MAX),
            held: held(chat),
            user_messages: head.user_messages,
            owes: owes(chat),
        }
    }
}

/// Why the queue of a chat does not run.
#[must_use]
pub fn held(chat: &Chat) -> Option<Held> {
    use crate::fact::Paused;
    let head = &chat.head;
    if head.offer.is_some() {
        Some(Held::Offer)
    } else if head.failure.is_some() {
        Some(Held::StartFailed)
    } else {
        head.paused.map(|paused| match paused {
            Paused::Stop => Held::Stop,
            Paused::Person => Held::Person,
            Paused::Dismiss => Held::Dismiss,
        })
    }
}

/// The message that may be handed over next, if any waits that may. An exemption lifts a pause;
/// beside an offer only its own resume makes one. Nothing lifts a failure but an act that clears it.
#[must_use]
pub fn next(chat: &Chat) -> Option<&Queued> {
    let head = &chat.head;
    let queue = &chat.aside.queue;
    if head.failure.is_some() {
        return None;
    }
    let exempt = head.exempt.and_then(|id| queue.iter().find(|q| q.message == id));
    exempt.or_else(|| if held(chat).is_none() { queue.front() } else { None })
}

/// Whether an agent has to be started for a resume that waits for what its own store knows of a
/// message in doubt.
#[must_use]
pub fn asks(chat: &Chat) -> bool {
    let head = &chat.head;
    let resuming = head.offer.as_ref().is_some_and(|offer| offer.resuming);
    resuming && head.stranded.iter().any(Stranded::is_asking)
}

/// Whether a person has to choose what became of a message before the offer can be resumed.
#[must_use]
pub fn needs_choice(head: &crate::head::Head) -> bool {
    head.stranded.iter().any(Stranded::in_doubt)
}

/// Whether a host that starts has to load this chat: it has an attempt, or a message that runs.
#[must_use]
pub fn owes(chat: &Chat) -> bool {
    let head = &chat.head;
    let runs = head.life == Life::Open && (next(chat).is_some() || asks(chat));
    head.attempt.is_some() || runs
}

/// Whether the agent may be released for idleness: the chat shows no work and owes nothing
/// (delivery.md, idle release).
#[must_use]
pub fn releasable(chat: &Chat) -> bool {
    let head = &chat.head;
    let ready = head
        .attempt
        .as_ref()
        .is_some_and(|attempt| attempt.phase == Phase::Ready && attempt.stop.is_none());
    ready
        && !Activity::of(chat).shows_work()
        && head.turn.is_none()
        && head.prompts.is_empty()
        && head.outstanding.is_none()
        && head.leftovers == 0
        && next(chat).is_none()
}
