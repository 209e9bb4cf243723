//! Facts: what happened to a chat, in the past tense. They are what is stored, for ever, in the form
//! that serde gives them here: `fixtures/facts.jsonl` pins it. A field may be added with a default;
//! none is renamed, none is taken away.

use serde::{Deserialize, Serialize};

use crate::attachment::Attachment;
use crate::fork::{Fork, TurnPlace};
use crate::frame::{Answer, Outgoing};
use crate::ids::{
    AttachmentId, AttemptId, FrameNo, GrantId, ItemId, MessageId, PromptId, TaskId, TurnId,
};
use crate::item::{ItemKind, Role};
use crate::offer::{Cause, Failure, Snapshot};
use crate::provider::{Asked, Capabilities, Handle, TaskEnd, TaskKind, TurnEnd, Usage};
use crate::time::Micros;

/// A secret that keeper and host share, as hexadecimal text. Its `Debug` says nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// A person, by page or command line.
    Person,
    /// A person, through a channel.
    Channel,
    /// An app.
    App,
    /// A schedule.
    Schedule,
    /// The host itself: a continuation.
    Host,
}

impl Author {
    /// Whether a person stands behind it, so that it counts as that person's own progress.
    #[must_use]
    pub const fn is_person(self) -> bool {
        match self {
            Self::Person | Self::Channel => true,
            Self::App | Self::Schedule | Self::Host => false,
        }
    }
}

/// Who named a chat. A name that a person gave is not overwritten by the agent's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Namer {
    /// A person, or whoever opened it.
    #[default]
    Person,
    /// The agent.
    Agent,
}

/// Where in the queue a message was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Behind all others.
    Tail,
    /// Before all others.
    Head,
}

/// By what it is known that an agent has, or has finished with, a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The agent's protocol said so.
    Agent,
    /// The agent's own store names it.
    AgentStore,
    /// A person said so.
    Person,
    /// The next message came while the agent's own turn was still open.
    Message,
    /// Ten quiet seconds after a turn that the agent opened by itself.
    Quiet,
    /// The attempt died.
    Death,
}

/// Why a message was not taken up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum RefusedWhy {
    /// The agent rejected it before taking it up.
    Rejected {
        /// The agent's words.
        text: String,
    },
    /// Its frame was not completely written when the attempt died.
    NotWritten,
    /// The agent's own store was asked and does not have it.
    NotInStore,
}

/// Why a message was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithdrawnWhy {
    /// By a person.
    Person,
    /// A person discarded it after a refusal or a doubt.
    Discarded,
    /// A continuation whose offer ended in another way.
    OfferEnded,
    /// A message of the host's own that a recap for a new session takes the place of.
    StartedFresh,
    /// The chat was deleted.
    ChatDeleted,
}

/// Why the queue was paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Paused {
    /// A person stopped the turn.
    Stop,
    /// A person paused it.
    Person,
    /// An offer beside it was dismissed.
    Dismiss,
    /// The chat was closed.
    Close,
}

/// Why an attempt is to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "stop", content = "cause", rename_all = "snake_case")]
pub enum StopWhy {
    /// With an offer, if the chat shows work.
    Offered(Cause),
    /// A person closed the chat.
    Close,
    /// A person closed the chat, and leaves what outlived its tool call.
    CloseLeaving,
    /// A person deleted the chat.
    Delete,
    /// A person stopped this one agent.
    Ordered,
    /// Nothing was owed for long enough.
    Idle,
    /// It could not start.
    StartFailed,
}

/// What was found when an attempt was seen to be dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Death {
    /// The keeper reports the agent's end.
    Exited {
        /// Its exit code, where it had one.
        code: Option<i32>,
        /// The signal, where one ended it.
        signal: Option<i32>,
    },
    /// The keeper died while the host lived.
    KeeperLost,
    /// The host came back and found the keeper dead.
    HostLost,
    /// Nothing was ever started.
    NeverBorn,
}

/// How an offer ended (offers.md, endings).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfferEnd {
    /// The continuation, or the waiting message, was taken.
    Resumed,
    /// A person dismissed it.
    Dismissed,
    /// A person sent a message of their own.
    Progress,
    /// A person answered a prompt that was asked again.
    Answered,
    /// The chat was rewound.
    Rewound,
    /// The chat went away.
    Closed,
    /// It was never shown: what was stopped had finished after all.
    Finished,
    /// A newer stop of the same chat took its place.
    Replaced,
}

/// A past-tense event in the journal of one chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "snake_case")]
#[allow(missing_docs, reason = "the fields are named as design.md names them")]
pub enum Fact {
    /// The chat exists.
    ChatOpened {
        agent: String,
        cwd: String,
        #[serde(default)]
        project: Option<String>,
        #[serde(default)]
        title: Option<String>,
        #[serde(default)]
        slot: Option<String>,
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        mode: Option<String>,
    },
    /// It begins as another chat is now: it shows that chat's items up to `at`, and its agent begins
    /// with a copy of that chat's session. Ids and places go on where the other's were.
    ChatForked(Fork),
    /// It goes on from the end of an earlier turn: what came after is left behind, and its agent goes
    /// on with a copy of this session up to there.
    ChatRewound {
        to: TurnPlace,
        handle: Handle,
    },
    /// It goes on with a session that was there before it; the newest `shown` of the session's entries
    /// are its first items, and `older` ones are not shown.
    ChatAdopted {
        handle: Handle,
        messages: u64,
        shown: u32,
        older: u64,
    },
    /// The chat is called this.
    ChatTitled {
        title: String,
        #[serde(default)]
        by: Namer,
    },
    /// The chat is addressed by apps under this name, or under none.
    SlotBound {
        slot: Option<String>,
    },
    /// A person pinned it, or no longer does: a pinned chat is not deleted.
    ChatPinned {
        pinned: bool,
    },
    /// A person put it into this folder, or into none.
    ChatFiled {
        folder: Option<String>,
    },
    /// All its tags, as a person wants them.
    ChatTagged {
        tags: Vec<String>,
    },
    /// Whether it alerts nobody.
    ChatMuted {
        muted: bool,
    },
    /// Whether a person has seen what there is.
    ChatSeen {
        seen: bool,
    },
    /// A person wants another model, mode or effort; the agent gets it when its session is opened next.
    ChatTuned {
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        mode: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effort: Option<String>,
    },
    /// The model or mode that a person wants is taken by the agent only when it is started.
    SettingDeferred,
    /// The agent itself works with another model, mode or effort from now on; an empty effort is the
    /// agent's own, which it does not tell.
    AgentRetuned {
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        mode: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effort: Option<String>,
    },
    /// The efforts that the agent knows, all of them.
    EffortsTold {
        efforts: Vec<String>,
    },
    ChatClosed,
    ChatReopened,
    /// Ends offer, queue and everything at once; its rows are reaped afterwards.
    ChatDeleted,

    /// A file is durable, and can be named by messages.
    AttachmentAdded(Attachment),
    /// A file that no message named is gone.
    AttachmentRemoved {
        attachment: AttachmentId,
    },

    /// A message is durable and waits. `digest` is that of its text.
    MessageAccepted {
        message: MessageId,
        by: Author,
        bytes: u64,
        digest: String,
        place: Place,
        /// What goes with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<AttachmentId>,
    },
    MessageEdited {
        message: MessageId,
        bytes: u64,
        digest: String,
    },
    /// The whole order of the queue.
    QueueOrdered {
        order: Vec<MessageId>,
    },
    MessageWithdrawn {
        message: MessageId,
        why: WithdrawnWhy,
    },
    QueuePaused {
        by: Paused,
    },
    QueueResumed,
    /// The message that runs although the queue is paused.
    QueueExempted {
        message: MessageId,
    },
    /// Its frame is committed for the attempt; `item` shows it in the transcript from now on.
    MessageHanded {
        message: MessageId,
        attempt: AttemptId,
        frame: FrameNo,
        item: ItemId,
        /// The running turn that it is given to; none where it opens one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        into: Option<TurnId>,
    },
    /// It is to be given to this turn, as soon as nothing else is on its way there.
    SteerWished {
        message: MessageId,
        turn: TurnId,
    },
    /// A person wants back what was handed over, if its frame has not begun.
    WithdrawRequested {
        message: MessageId,
    },
    MessageTaken {
        message: MessageId,
        evidence: Evidence,
    },
    MessageSettled {
        message: MessageId,
        evidence: Evidence,
    },
    MessageRefused {
        message: MessageId,
        #[serde(flatten)]
        why: RefusedWhy,
    },
    /// Whether the agent has it is not known; `asking` until its own store was asked.
    MessageDoubted {
        message: MessageId,
        asking: bool,
    },
    /// The machine went after it was settled: the agent may not have had it on disk yet, and its own
    /// store is asked when the session is opened next.
    SettledSuspected {
        message: MessageId,
    },
    /// It was settled, and the agent's own store has lost it.
    MessageDisproved {
        message: MessageId,
    },
    /// It goes back to the queue, to be handed over anew.
    MessageRequeued {
        message: MessageId,
        place: Place,
    },

    TurnOpened {
        turn: TurnId,
        #[serde(default)]
        message: Option<MessageId>,
    },
    /// The turn that was taken for the agent's own turns out to be that of this message.
    TurnClaimed {
        turn: TurnId,
        message: MessageId,
    },
    TurnEnded {
        turn: TurnId,
        how: TurnEnd,
        evidence: Evidence,
        #[serde(default)]
        usage: Option<Usage>,
    },
    /// The end of a turn has a name of the agent's own.
    TurnMarked(TurnPlace),
    /// Somebody wants the running turn to end.
    InterruptRequested {
        turn: TurnId,
    },

    ItemAdded {
        item: ItemId,
        /// Its place in the transcript, from 1.
        place: u64,
        kind: ItemKind,
        role: Role,
        #[serde(default)]
        turn: Option<TurnId>,
    },
    /// The calls of this attempt that were still running have an unknown result.
    CallsAbandoned {
        origin: u32,
    },

    PromptOpened {
        prompt: PromptId,
        item: ItemId,
        #[serde(flatten)]
        asked: Asked,
    },
    PromptAnswered {
        prompt: PromptId,
        answer: Answer,
        by: String,
        #[serde(default)]
        device: Option<String>,
        frame: FrameNo,
    },
    AnswerWritten {
        prompt: PromptId,
    },
    AnswerTaken {
        prompt: PromptId,
    },
    /// The attempt died before the answer was known to have arrived; `written` says whether it may
    /// have.
    AnswerLost {
        prompt: PromptId,
        written: bool,
    },
    PromptGone {
        prompt: PromptId,
    },

    /// A person allowed for this chat, for good, what an agent wanted to do.
    GrantGiven {
        grant: GrantId,
        deed: String,
        /// What is allowed, cut to a label.
        label: String,
        by: String,
    },
    /// A person took that back.
    GrantEnded {
        grant: GrantId,
    },

    TaskStarted {
        task: TaskId,
        kind: TaskKind,
        label: String,
        foreground: bool,
    },
    /// It does not end with the turn any more.
    TaskDetached {
        task: TaskId,
    },
    TaskEnded {
        task: TaskId,
        how: TaskEnd,
    },

    AttemptStarting {
        attempt: AttemptId,
        origin: u32,
        secret: Secret,
        #[serde(default)]
        resuming: bool,
    },
    /// The processes that outlived their tool call, all of them and the first by name.
    LeftoversSeen {
        count: u32,
        named: Vec<crate::activity::Leftover>,
    },
    /// The agent's process is born.
    AttemptBorn {
        attempt: AttemptId,
        pid: u32,
    },
    AttemptReady {
        attempt: AttemptId,
        handle: Handle,
        capabilities: Capabilities,
        #[serde(default)]
        model: Option<String>,
        #[serde(default)]
        mode: Option<String>,
    },
    /// The conversation goes on in another session of the agent.
    SessionMoved {
        attempt: AttemptId,
        handle: Handle,
    },
    /// A numbered frame is committed to be written.
    FrameIssued {
        frame: FrameNo,
        out: Outgoing,
    },
    FrameBegun {
        frame: FrameNo,
    },
    FrameDone {
        frame: FrameNo,
    },
    FrameCancelled {
        frame: FrameNo,
    },
    /// Its keeper is to stop it.
    StopRequested {
        attempt: AttemptId,
        why: StopWhy,
    },
    /// The agent said something before its keeper would have stopped it: it goes on.
    StopWithdrawn {
        attempt: AttemptId,
    },
    /// Its keeper does not answer, so that nothing is heard of it and nothing can be said to it.
    AttemptStalled {
        attempt: AttemptId,
    },
    /// Its keeper answers again.
    AttemptGoesOn {
        attempt: AttemptId,
    },
    /// What the dead agent has written down of its session names these frames of the attempt, and of
    /// its last ones no other.
    StoreRead {
        attempt: AttemptId,
        frames: Vec<FrameNo>,
    },
    AttemptEnded {
        attempt: AttemptId,
        death: Death,
    },
    /// Processes of a dead attempt may still live; only a person may start another.
    TreeMayLive {
        attempt: AttemptId,
        pids: Vec<u32>,
    },
    /// A person chose to start although something may still live.
    StartedAnyway,

    /// What the chat was doing when it was stopped; shown once the death is proven.
    OfferRecorded {
        cause: Cause,
        recorded_at: Micros,
        snapshot: Box<Snapshot>,
        /// The continuation that would resume it.
        continuation: MessageId,
        #[serde(default)]
        root: Option<String>,
    },
    OfferShown {
        recorded_at: Micros,
    },
    OfferEnded {
        recorded_at: Micros,
        how: OfferEnd,
    },
    ResumeStarted {
        recorded_at: Micros,
        #[serde(default)]
        choice: Option<crate::input::Choice>,
    },
    /// A person starts over: the agent's session is left, and this message tells a new one what
    /// was said. It takes the place of the offer's continuation.
    SessionLeft {
        recap: MessageId,
    },
    /// The resume is over without having ended the offer.
    ResumeStopped {
        recorded_at: Micros,
    },
    FailureFiled(Failure),
    FailureCleared,
}
