//! What lists and events show of a chat beside its texts: made from the head with every commit, so
//! that ten thousand rows are read without folding anything.

use serde::{Deserialize, Serialize};

use crate::activity::{Activity, Process, Shown, process, shown};
use crate::effect::owes;
use crate::head::{Chat, Life, Marks};
use crate::ids::{ChatId, Seq};
use crate::offer::Cause;
use crate::provider::Capabilities;
use crate::queue::{Held, held};
use crate::time::Micros;

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
    /// How a person has arranged it.
    #[serde(default)]
    pub marks: Marks,
    /// The model.
    pub model: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// The effort.
    #[serde(default)]
    pub effort: Option<String>,
    /// The efforts that its agent knows.
    #[serde(default)]
    pub efforts: Vec<String>,
    /// The chat that it was forked from.
    #[serde(default)]
    pub forked_from: Option<ChatId>,
    /// What its agent could do when its session stood last.
    #[serde(default)]
    pub known: Capabilities,
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
    /// Deliveries whose outcome is not known, but for those that a resume will ask about.
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
        Self {
            seq: head.seq,
            life: head.life,
            agent: head.agent.clone(),
            cwd: head.cwd.clone(),
            marks: head.marks.clone(),
            model: head.model.clone(),
            mode: head.mode.clone(),
            effort: head.effort.clone(),
            efforts: head.efforts.clone(),
            forked_from: head.forked_from,
            known: head.known,
            shown: shown(chat, &activity),
            since: head.shown_since,
            evidence: head.shown_by.clone(),
            process: process(chat),
            shows_work: activity.shows_work(),
            activity,
            offer: head.shown_offer().map(|offer| offer.cause),
            failure: head.failure.clone(),
            needs_choice: head.needs_choice(),
            unknown: u32::try_from(head.unknown()).unwrap_or(u32::MAX),
            queue_length: u32::try_from(chat.aside.queue.len()).unwrap_or(u32::MAX),
            held: held(chat),
            user_messages: head.user_messages,
            owes: owes(chat),
        }
    }
}
