//! The head: the small live state of one chat, folded from its facts, and beside it what decisions
//! need of its rows.

mod at_agent;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::activity::Shown;
use crate::attachment::Attachments;
use crate::fact::{Author, Paused, Secret, StopWhy};
use crate::frame::Issued;
use crate::ids::{
    AttemptId, ChatId, FrameNo, GrantId, ItemId, MessageId, PromptId, Seq, TaskId, TurnId,
};
use crate::offer::{Cause, TaskCounts};
use crate::provider::{Asked, Capabilities, Handle, PromptKind, TaskKind, Trunk};
use crate::time::Micros;

pub use self::at_agent::Steer;

/// A chat as `decide` sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chat {
    /// What is stored with each commit.
    pub head: Head,
    /// What is read from rows when the chat is loaded, and folded along with the head.
    pub aside: Aside,
}

/// Rows that decisions need: the order of the queue and the words of what is live.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aside {
    /// The messages that wait, in order; at most `QUEUE_MESSAGES_MAX` and what was put back.
    pub queue: VecDeque<Queued>,
    /// Labels of live tasks.
    pub tasks: BTreeMap<TaskId, String>,
    /// What is asked by live prompts.
    pub prompts: BTreeMap<PromptId, Asked>,
    /// What a person allowed for good: the deed of each grant; at most `GRANTS_MAX`.
    pub grants: BTreeMap<GrantId, String>,
    /// Processes that outlived their tool call, as last seen; told anew by whoever serves the keeper.
    pub leftovers: Vec<crate::activity::Leftover>,
    /// The files that are kept with it. Shared, as a chat is cloned for each decision.
    pub attachments: Arc<Attachments>,
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The message.
    pub message: MessageId,
    /// Who wrote it.
    pub by: Author,
    /// The digest of its text.
    pub digest: String,
    /// The item that shows it already, if it was handed over before.
    pub item: Option<ItemId>,
    /// How many attachments it has.
    pub attached: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Where a chat is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Life {
    /// It does not exist.
    #[default]
    Unborn,
    /// It takes messages.
    Open,
    /// It is history, and can be opened again.
    Closed,
    /// It is gone; its rows are being reaped.
    Deleted,
}

/// How far an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Until the session stands.
    Starting,
    /// Messages may be handed over.
    Ready,
}

/// The attempt that a chat has now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Its id.
    pub id: AttemptId,
    /// Its ordinal in the chat, from 1.
    pub origin: u32,
    /// What keeper and host know of each other by.
    pub secret: Secret,
    /// How far it is.
    pub phase: Phase,
    /// The pid of the agent, once born.
    pub pid: Option<u32>,
    /// Whether it was started to resume an offer.
    pub resuming: bool,
    /// Whether it took a message of any kind.
    pub took: bool,
    /// The last frame that was issued.
    pub frame: FrameNo,
    /// The frames that are not known to be written, in order.
    pub outbox: VecDeque<Issued>,
    /// Why it is to stop, once it is.
    pub stop: Option<StopWhy>,
    /// What the agent can do.
    pub capabilities: Capabilities,
    /// Whether the chat's session was left while this attempt was ending: what it still tells of a
    /// session is of the old one.
    #[serde(default)]
    pub left: bool,
    /// Whether its keeper does not answer.
    #[serde(default)]
    pub stalled: bool,
    /// The frames that the agent's own store names, once it is dead and that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Vec<FrameNo>>,
}

impl Attempt {
    /// Whether its agent takes another model, mode or effort while it runs.
    #[must_use]
    pub fn retunes(&self) -> bool {
        self.phase == Phase::Ready && self.stop.is_none() && self.capabilities.retune
    }
}

/// How far a message at the agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// Its frame is the keeper's.
    Handed,
    /// The agent provably has it.
    Taken,
}

/// How far a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    /// Not a byte of it.
    No,
    /// Perhaps some bytes.
    Begun,
    /// All of it.
    Done,
}

/// A message that is at the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outstanding {
    /// The message.
    pub message: MessageId,
    /// Who wrote it.
    pub by: Author,
    /// The digest of its text.
    pub digest: String,
    /// Its frame.
    pub frame: FrameNo,
    /// The item that shows it.
    pub item: ItemId,
    /// How far it is.
    pub state: Delivery,
    /// How far its frame is.
    pub written: Written,
    /// Whether a person wants it back, should its frame not have begun.
    #[serde(default)]
    pub withdrawing: bool,
    /// The running turn that it was given to; none where it was to open one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<TurnId>,
    /// How many attachments it has.
    #[serde(default, skip_serializing_if = "is_none")]
    pub attached: u32,
}

/// Why a message that was handed over is neither settled nor waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "strand", rename_all = "snake_case")]
pub enum Strand {
    /// The agent provably did not take it up.
    Refused,
    /// Whether the agent has it is not known; `asking` until its own store was asked.
    Unknown {
        /// Whether the agent's own store has yet to be asked.
        asking: bool,
    },
}

/// A message whose fate needs a person, or the agent's own store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stranded {
    /// The message.
    pub message: MessageId,
    /// Who wrote it.
    pub by: Author,
    /// The digest of its text.
    pub digest: String,
    /// The item that shows it.
    pub item: ItemId,
    /// Why it is here.
    pub why: Strand,
    /// How many messages the agent's session held before it at most.
    pub before: u64,
    /// Whether it was given to the attempt whose stop is offered, or by a resume of that offer, so
    /// that a resume settles it.
    pub by_death: bool,
    /// The running turn that it was given to, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<TurnId>,
    /// How many attachments it has.
    #[serde(default, skip_serializing_if = "is_none")]
    pub attached: u32,
}

impl Stranded {
    /// Whether the agent's own store has yet to be asked.
    #[must_use]
    pub const fn is_asking(&self) -> bool {
        match self.why {
            Strand::Unknown { asking } => asking,
            Strand::Refused => false,
        }
    }

    /// Whether a person has to say what became of it before an offer can be resumed.
    #[must_use]
    pub const fn in_doubt(&self) -> bool {
        let unknown = match self.why {
            Strand::Unknown { .. } => true,
            Strand::Refused => false,
        };
        self.by_death && unknown && !self.is_asking()
    }
}

/// The message that the session was settled with last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// The message.
    pub message: MessageId,
    /// Who wrote it.
    pub by: Author,
    /// The digest of its text.
    pub digest: String,
    /// The item that shows it.
    pub item: ItemId,
    /// How many messages the agent's session held before it at most.
    pub before: u64,
    /// Whether the machine went since, so that the agent may have lost it.
    pub suspect: bool,
    /// How many attachments it has.
    #[serde(default, skip_serializing_if = "is_none")]
    pub attached: u32,
    /// The attempt and the frame in which the agent got it, where it was settled within the attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<(AttemptId, FrameNo)>,
}

/// The turn that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenTurn {
    /// Its id.
    pub id: TurnId,
    /// The message that opened it; none where the agent did by itself.
    pub message: Option<MessageId>,
    /// Since when.
    pub since: Micros,
    /// Since when somebody wants it to end.
    pub interrupted: Option<Micros>,
}

/// How far a prompt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptState {
    /// It waits for a person.
    Open,
    /// Its answer is committed, in this frame.
    Answered {
        /// The frame.
        frame: FrameNo,
    },
    /// Its answer is written.
    Written,
}

/// A prompt that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Prompt {
    /// Approval or question.
    pub kind: PromptKind,
    /// The item that shows it.
    pub item: ItemId,
    /// Since when.
    pub since: Micros,
    /// How far it is.
    pub state: PromptState,
}

impl Prompt {
    /// Whether it waits for a person.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, PromptState::Open)
    }

    /// Whether its answer is with the agent, which may never say a word about it: nobody waits.
    #[must_use]
    pub const fn is_written(&self) -> bool {
        matches!(self.state, PromptState::Written)
    }
}

/// A live task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Task {
    /// Its kind.
    pub kind: TaskKind,
    /// Since when.
    pub since: Micros,
    /// Whether it ends with the turn.
    pub foreground: bool,
}

/// What the head keeps of an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Why the agent stopped.
    pub cause: Cause,
    /// When, which is also its name.
    pub recorded_at: Micros,
    /// Whether the death is proven, so that it is listed.
    pub shown: bool,
    /// Whether the chat was only starting for a waiting message: no continuation is needed.
    pub starting: bool,
    /// Whether nothing but the main turn was going on.
    pub only_turn: bool,
    /// The message that resumes it.
    pub continuation: MessageId,
    /// The root of the agent's session.
    pub root: Option<String>,
    /// Whether a resume is in progress.
    pub resuming: bool,
    /// What the person who resumes it wants done with a message in doubt.
    pub choice: Option<crate::input::Choice>,
}

/// How a person has arranged a chat among the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Marks {
    /// Whether it is kept at the top, and from being deleted.
    pub pinned: bool,
    /// Its folder.
    pub folder: Option<String>,
    /// Its tags, each once, in the person's order.
    pub tags: Vec<String>,
    /// Whether it alerts nobody.
    pub muted: bool,
    /// Whether something happened that no person has seen: a turn ended, a prompt was opened, an
    /// offer or a failure was shown.
    pub unread: bool,
}

/// The small live state of one chat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// The last fact.
    pub seq: Seq,
    /// Where the chat is in its life.
    pub life: Life,
    /// The agent's id in the configuration.
    pub agent: String,
    /// The working directory.
    pub cwd: String,
    /// Whether a person named it.
    #[serde(default)]
    pub named: bool,
    /// The model that was asked for or is known.
    pub model: Option<String>,
    /// The mode that was asked for or is known.
    pub mode: Option<String>,
    /// How hard the agent is to think, where that was asked for or is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// The efforts that its agent knows, where it tells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    /// How it is arranged.
    #[serde(default)]
    pub marks: Marks,
    /// Whether its agent is to be started anew before the next message, for another model or mode.
    #[serde(default)]
    pub tuned: bool,
    /// The agent's session.
    pub handle: Option<Handle>,
    /// The session that the chat's own has yet to be made a copy of.
    #[serde(default)]
    pub fork: Option<Trunk>,
    /// The session that the chat's own is a copy of, until a message was settled in it: some agents write
    /// a copy down only with its first message, and make it anew if they died before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copied_from: Option<Trunk>,
    /// The last turn that the agent's session does not reach back to: another session was at work then,
    /// or its memory was shortened since.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unreached: u32,
    /// The turns that the last rewind left behind: those after the first of these, up to the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_behind: Option<(TurnId, TurnId)>,
    /// The chat that it was forked from.
    #[serde(default)]
    pub forked_from: Option<ChatId>,
    /// What its agent could do when its session stood last.
    #[serde(default)]
    pub known: Capabilities,
    /// The recap that a new session has yet to be told, before anything else.
    #[serde(default)]
    pub recap: Option<MessageId>,
    /// How many messages that session holds at most, as far as known: those in doubt are counted.
    pub session_messages: u64,
    /// The ordinal of the last attempt.
    pub attempts: u32,
    /// The number of the last turn.
    pub turns: u32,
    /// The place of the last item.
    pub places: u64,
    /// The number of the last item of the host's own.
    pub host_items: u32,
    /// Messages of people that were accepted and not withdrawn.
    pub user_messages: u64,
    /// The attempt.
    pub attempt: Option<Attempt>,
    /// The running turn.
    pub turn: Option<OpenTurn>,
    /// Whether the last turn failed and nothing was accepted since: its late output opens none.
    pub failed_turn: bool,
    /// The message at the agent: the one that opened the turn, or is to open one.
    pub outstanding: Option<Outstanding>,
    /// Messages that were given to the running turn, in their order; the last at most is not taken. One
    /// that the turn left behind is the message at the agent once the turn has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steered: Vec<Outstanding>,
    /// Waiting messages that were to be given to a running turn, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steers: Vec<Steer>,
    /// Messages without an outcome.
    pub stranded: Vec<Stranded>,
    /// The last message that was settled in the agent's session.
    #[serde(default)]
    pub settled: Option<Settled>,
    /// Why the queue is paused.
    pub paused: Option<Paused>,
    /// The message that runs although the queue is held.
    pub exempt: Option<MessageId>,
    /// Prompts that are not over.
    pub prompts: BTreeMap<PromptId, Prompt>,
    /// The number of the last grant.
    #[serde(default)]
    pub grants: u32,
    /// Live tasks that are told apart.
    pub tasks: BTreeMap<TaskId, Task>,
    /// Live tasks beyond those.
    pub more_tasks: TaskCounts,
    /// Processes that outlived their tool call.
    #[serde(default)]
    pub leftovers: u32,
    /// The offer.
    pub offer: Option<Offer>,
    /// The code of a failed start or resume; it holds the queue.
    pub failure: Option<String>,
    /// Processes of a dead attempt may still live.
    pub may_live: bool,
    /// What is shown of the chat.
    pub shown: Shown,
    /// Since when.
    pub shown_since: Micros,
    /// By what it is known: the word of the fact.
    pub shown_by: String,
}

impl Default for Head {
    fn default() -> Self {
        Self {
            seq: Seq(0),
            life: Life::Unborn,
            agent: String::new(),
            cwd: String::new(),
            named: false,
            model: None,
            mode: None,
            effort: None,
            efforts: Vec::new(),
            marks: Marks::default(),
            tuned: false,
            handle: None,
            fork: None,
            copied_from: None,
            unreached: 0,
            left_behind: None,
            forked_from: None,
            known: Capabilities::default(),
            recap: None,
            session_messages: 0,
            attempts: 0,
            turns: 0,
            places: 0,
            host_items: 0,
            user_messages: 0,
            attempt: None,
            turn: None,
            failed_turn: false,
            outstanding: None,
            steered: Vec::new(),
            steers: Vec::new(),
            stranded: Vec::new(),
            settled: None,
            paused: None,
            exempt: None,
            prompts: BTreeMap::new(),
            grants: 0,
            tasks: BTreeMap::new(),
            more_tasks: TaskCounts::default(),
            leftovers: 0,
            offer: None,
            failure: None,
            may_live: false,
            shown: Shown::Idle,
            shown_since: Micros(0),
            shown_by: String::new(),
        }
    }
}

impl Head {
    /// Whether a person has to look: an unknown delivery, or a failed start or resume.
    #[must_use]
    pub fn needs_check(&self) -> bool {
        self.failure.is_some() || self.unknown() > 0
    }

    /// How many deliveries a person has to look at. Where a resume of the offer will ask the agent's
    /// own store there is nothing to do yet but to resume.
    #[must_use]
    pub fn unknown(&self) -> usize {
        let covered = |s: &Stranded| self.offer.is_some() && s.by_death && s.is_asking();
        let unknown = self.stranded.iter().filter(|stranded| match stranded.why {
            Strand::Unknown { .. } => !covered(stranded),
            Strand::Refused => false,
        });
        unknown.count()
    }

    /// Whether a person has to choose what became of a message before the offer can be resumed.
    #[must_use]
    pub fn needs_choice(&self) -> bool {
        self.stranded.iter().any(Stranded::in_doubt)
    }

    /// Whether a resume of the offer is in progress.
    #[must_use]
    pub fn is_resuming(&self) -> bool {
        self.offer.as_ref().is_some_and(|offer| offer.resuming)
    }

    /// The offer that is listed.
    #[must_use]
    pub fn shown_offer(&self) -> Option<&Offer> {
        self.offer.as_ref().filter(|offer| offer.shown)
    }
}
