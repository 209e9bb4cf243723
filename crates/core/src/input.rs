//! What can happen to a chat: commands, words of its agent and keeper, ticks of the clock.

use serde::{Deserialize, Serialize};

use crate::adopt::Adopted;
use crate::attachment::Attachment;
use crate::fact::{Author, Death, Secret, StopWhy};
use crate::fork::{Fork, ForkedFile, TurnPlace};
use crate::frame::Answer;
use crate::ids::{
    AttachmentId, AttemptId, ChatId, FrameNo, GrantId, MessageId, PromptId, ReceiptId, TaskId,
};
use crate::offer::Failure;
use crate::provider::{ProviderEvent, StartFault};
use crate::time::{Awake, Micros};

/// What deciding may know of the world. Time, ids and secrets are arguments.
#[derive(Clone, Debug)]
pub struct Given {
    /// The chat.
    pub chat: ChatId,
    /// Wall-clock time.
    pub at: Micros,
    /// Monotonic time, for durations.
    pub awake: Awake,
    /// The id of an attempt, should one be started.
    pub attempt: AttemptId,
    /// Its secret.
    pub secret: Secret,
}

/// One thing that happens to a chat.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Somebody wants something.
    Command(Command),
    /// The agent of this attempt said something.
    Provider {
        /// The attempt; words of another are ignored.
        attempt: AttemptId,
        /// What it said.
        event: ProviderEvent,
    },
    /// The keeper of this attempt said something.
    Keeper {
        /// The attempt; words of another are ignored.
        attempt: AttemptId,
        /// What it said.
        event: KeeperEvent,
    },
    /// Time passed.
    Tick {
        /// Monotonic time of the agent's last word.
        last_word: Awake,
        /// Idleness after which an agent is released, in microseconds; none = never.
        release_after: Option<u64>,
        /// Quiet after which an agent that shows work is stopped, with an offer, in microseconds; none =
        /// never.
        ceiling_after: Option<u64>,
    },
}

/// What a keeper, or the host's side of it, tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeeperEvent {
    /// The agent's process is born.
    Born {
        /// Its pid.
        pid: u32,
    },
    /// The agent could not be started at all.
    SpawnFailed {
        /// The kind of fault.
        fault: StartFault,
        /// A sentence.
        text: String,
    },
    /// The first byte of a frame is about to be written.
    FrameBegun(FrameNo),
    /// All of a frame is written.
    FrameDone(FrameNo),
    /// A frame was cancelled before its first byte.
    FrameCancelled(FrameNo),
    /// The agent lives on with its stdout or its stdin closed: it can say nothing more, or be told
    /// nothing more.
    CutOff,
    /// Somebody other than the host told the keeper to stop.
    Signalled {
        /// The cause that this gives an offer.
        cause: crate::offer::Cause,
    },
    /// The agent is dead, and what it has written down of its session itself was read: these frames of
    /// the attempt it names, the last [`STORE_FRAMES_MAX`](crate::limits::STORE_FRAMES_MAX) of them. What
    /// could not be read is not told.
    StoreRead {
        /// The frames, in their order.
        frames: Vec<FrameNo>,
    },
    /// The attempt is dead and its spool was read to the end.
    Dead {
        /// What was found.
        death: Death,
        /// Whether the machine was not started anew since the last frame was written.
        boot: Boot,
        /// Processes that may still live.
        survivors: Vec<u32>,
        /// The last words of stderr, cut, for a failure.
        stderr: String,
    },
    /// What outlived the tool call that started it.
    Leftovers {
        /// The first of them: id, command line, TCP ports.
        named: Vec<(String, String, Vec<u16>)>,
        /// How many there are.
        count: u32,
    },
    /// A line of the agent could not be taken in three times, and is passed over.
    LineSkipped {
        /// Why, and where in the spool it stands.
        text: String,
    },
    /// A conditional stop was refused: the agent said something meanwhile.
    StopRefused,
    /// The keeper lives and does not answer.
    Silent,
    /// The keeper answers.
    Answers,
}

/// Who wants a write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Under whose name drafts and operation keys are kept; an accepted message clears the draft.
    pub principal: String,
    /// The caller's own name for the write, if it has one.
    pub operation: Option<OperationKey>,
}

/// The caller's own name for a write; unique for its principal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationKey {
    /// The key; where one request acts on several chats, with the chat's id behind it.
    pub key: String,
    /// SHA-256 of what was asked.
    pub body: [u8; 32],
}

impl Caller {
    /// The same caller, as far as the write is about this one of several chats.
    #[must_use]
    pub fn for_chat(&self, chat: ChatId) -> Self {
        let operation = self.operation.as_ref().map(|operation| OperationKey {
            key: format!("{} {chat}", operation.key),
            body: operation.body,
        });
        Self { principal: self.principal.clone(), operation }
    }
}

/// Whether marks on disk can be trusted to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boot {
    /// The same boot: what is not marked did not happen.
    Same,
    /// Another boot: a missing mark proves nothing.
    Other,
}

/// How a message is to be given to the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Send {
    /// Behind what waits.
    #[default]
    Queue,
    /// To the running turn, where the agent can.
    Steer,
    /// End the turn and run it next.
    Interrupt,
}

/// What becomes of processes that outlived their tool call when a chat is closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leftovers {
    /// They end with the agent.
    #[default]
    End,
    /// They live on, under the keeper of the attempt.
    Leave,
}

/// Whether a person wants a start although processes of an earlier attempt may still live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anyway {
    /// No.
    #[default]
    No,
    /// Yes, knowing it.
    Yes,
}

/// With what session of the agent a chat is carried on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Session {
    /// The recorded one.
    #[default]
    Recorded,
    /// A new one, which is first told this recap of the chat.
    Fresh {
        /// The recap, as the person left it.
        recap: String,
    },
}

/// What a person decides about a message without an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The agent has it.
    Arrived,
    /// Hand it over once more.
    SendAgain,
    /// Let it go.
    Discard,
}

/// What is to be another about a chat; what is none stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeChat {
    /// Its title.
    pub title: Option<String>,
    /// The name under which apps address it; empty: none.
    pub slot: Option<String>,
    /// Whether it is pinned.
    pub pinned: Option<bool>,
    /// Its folder; empty: none.
    pub folder: Option<String>,
    /// All its tags.
    pub tags: Option<Vec<String>>,
    /// Whether it alerts nobody.
    pub muted: Option<bool>,
    /// Whether a person has yet to see what there is.
    pub unread: Option<bool>,
    /// The model.
    pub model: Option<String>,
    /// The mode.
    pub mode: Option<String>,
    /// How hard the agent thinks.
    pub effort: Option<String>,
}

/// What somebody wants of a chat.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields are named as api.md names them")]
pub enum Command {
    /// The chat is to exist.
    Open {
        agent: String,
        cwd: String,
        project: Option<String>,
        title: Option<String>,
        slot: Option<String>,
        model: Option<String>,
        mode: Option<String>,
        effort: Option<String>,
        /// What it begins with, if it is forked from another chat.
        fork: Option<Box<Fork>>,
        /// The session that it goes on with, if that was there before it.
        adopt: Option<Box<Adopted>>,
        /// Its first message.
        message: Option<(MessageId, String, Author)>,
    },
    /// Somebody wants another chat that begins like this one, up to the item at this place. This one
    /// stays as it is: what is answered is what the other one begins with.
    Fork {
        at: u64,
        /// The last turn that ends at or before this place by a name of the agent's own.
        turn: Option<TurnPlace>,
        /// The files of the messages up to it.
        attachments: Vec<ForkedFile>,
    },
    /// The chat is to go back to the end of an earlier turn, and on from there.
    Rewind {
        at: u64,
        /// The last turn that ends at or before this place by a name of the agent's own.
        turn: Option<TurnPlace>,
        /// What is said there.
        message: Option<(MessageId, String, Author)>,
    },
    /// What a person calls the chat, how it is arranged, with what model and mode it works.
    Change(ChangeChat),
    /// Give the agent a message.
    Send {
        message: MessageId,
        text: String,
        by: Author,
        send: Send,
        /// Of this chat, in the order in which the agent gets them.
        attachments: Vec<AttachmentId>,
    },
    /// Keep a file whose bytes are durable.
    Attach(Attachment),
    /// Let go of a file that no message names.
    Detach {
        attachment: AttachmentId,
    },
    EditQueued {
        message: MessageId,
        text: String,
    },
    WithdrawQueued {
        message: MessageId,
    },
    OrderQueue {
        order: Vec<MessageId>,
    },
    SendNow {
        message: MessageId,
    },
    PauseQueue,
    ResumeQueue,
    Resolve {
        message: MessageId,
        choice: Choice,
    },
    /// End the running turn; the queue pauses.
    Interrupt,
    /// End the agent itself.
    StopAgent,
    StopTask {
        task: TaskId,
    },
    Answer {
        prompt: PromptId,
        answer: Answer,
        by: String,
        device: Option<String>,
    },
    /// What was allowed for good is asked again.
    EndGrant {
        grant: GrantId,
    },
    Close {
        leftovers: Leftovers,
    },
    Reopen,
    Delete,
    /// Carry on with what an offer names; `choice` settles a message in doubt.
    Resume {
        recorded_at: Option<Micros>,
        choice: Option<Choice>,
        session: Session,
        anyway: Anyway,
    },
    Dismiss {
        recorded_at: Option<Micros>,
    },
    /// The host stops its agents.
    Stop {
        why: StopWhy,
    },
}

/// What a command that was accepted answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// Done.
    Done,
    /// Done, and what is shown of it is the chat's row as this left it.
    Row,
    /// A request about all offers means these; each is then asked by itself.
    Chosen {
        /// The offers, by chat and name.
        offers: Vec<(ChatId, Micros)>,
        /// Chats whose offer changed since the caller looked.
        superseded: Vec<ChatId>,
    },
    /// The chat exists; with its first message, if it had one.
    Opened {
        /// Its id.
        chat: ChatId,
        /// The receipt of the first message.
        #[serde(default)]
        receipt: Option<ReceiptId>,
    },
    /// Another chat can begin like this one, so.
    Forkable {
        /// With what it begins.
        fork: Box<Fork>,
    },
    /// The chat is back at an earlier place; what was said there is durable.
    Rewound {
        /// The receipt of what was said.
        #[serde(default)]
        receipt: Option<ReceiptId>,
    },
    /// The message is durable.
    Accepted {
        /// Its receipt.
        receipt: ReceiptId,
        /// The message.
        message: MessageId,
        /// Whether the way it was sent was possible; a steer to an agent that cannot steer goes to
        /// the queue's head and says so.
        #[serde(default)]
        note: Option<String>,
    },
    /// The attachment is durable.
    Attached(Attachment),
    /// The answer is durable.
    Answered {
        /// Its receipt.
        receipt: ReceiptId,
    },
    /// The resume was accepted.
    Resuming {
        /// The receipt of the continuation, or of the waiting message.
        receipt: Option<ReceiptId>,
    },
    /// The resume was not: nothing was sent.
    NotResumed {
        /// Why.
        why: NotResumed,
    },
    /// The offer is dismissed.
    Dismissed,
    /// The chat is closed.
    Closed {
        /// What outlived its tool call, and was ended or left as was wanted.
        leftovers: Vec<crate::activity::Leftover>,
    },
}

impl Reply {
    /// Whether its caller is shown the chat's row: a repeat is shown the same one, so it is kept
    /// with the operation.
    #[must_use]
    pub const fn shows_row(&self) -> bool {
        match self {
            Self::Row | Self::Opened { .. } | Self::Rewound { .. } => true,
            Self::Done
            | Self::Chosen { .. }
            | Self::Forkable { .. }
            | Self::Accepted { .. }
            | Self::Attached(_)
            | Self::Answered { .. }
            | Self::Resuming { .. }
            | Self::NotResumed { .. }
            | Self::Dismissed
            | Self::Closed { .. } => false,
        }
    }
}

/// Why an offer was not resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum NotResumed {
    /// There is none.
    NoOffer,
    /// A newer stop, or another act, came before.
    Superseded,
    /// A message is in doubt, and a person has to choose.
    NeedsChoice,
    /// It failed.
    Failed {
        /// The failure that was filed.
        failure: Failure,
    },
}
