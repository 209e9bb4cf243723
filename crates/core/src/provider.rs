//! What an agent said, in our words. Codecs make these; `decide` is the only reader. Ordinals
//! (`item`, `prompt`, `task`) are counted by the codec within its attempt, from 1, and become ids
//! together with the attempt's ordinal.

use serde::{Deserialize, Serialize};

use crate::ids::{FrameNo, MessageId};
use crate::item::{Body, Field, ItemKind, Role};
use crate::slash::SlashCommand;

/// The agent's own session id: a root that a resume keeps and a leaf that moves on. Another root
/// means a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handle {
    /// What a resume keeps.
    pub root: String,
    /// What moves on; equal to the root where the agent knows no other.
    pub leaf: String,
}

/// A session of the agent's up to a place in it, of which another one is made a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trunk {
    /// The session.
    #[serde(flatten)]
    pub session: Handle,
    /// The agent's own id of the last turn that the copy has; none where it has all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// From where in a conversation an agent can begin another one that knows what came before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forks {
    /// From where the conversation is now.
    AtTheEnd,
    /// From the end of any turn that it tells the end of.
    AtTurns,
    /// As [`Self::AtTurns`], but of what came before it shortened its memory it knows no place.
    AtTurnsInMemory,
    /// From nowhere, as far as this build knows.
    #[default]
    #[serde(other)]
    Nowhere,
}

/// What this agent, in this attempt, can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// A session is brought back with its history replayed, so the agent's own store can be asked.
    pub load: bool,
    /// A session is brought back without a replay.
    pub resume: bool,
    /// A message can be given to a running turn.
    pub steer: bool,
    /// One background task can be stopped by itself.
    pub stop_task: bool,
    /// The end of a turn that the agent opened by itself is told (ACP tells none).
    pub own_turns_end: bool,
    /// Model and mode can be changed while it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub retune: bool,
    /// What a subagent asks outlives the turn, and each prompt that is over is told.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keeps_prompts: bool,
    /// How hard it thinks can be said.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub effort: bool,
    /// An approval can be given for another input than the agent proposed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub change_input: bool,
    /// From where another conversation can be begun.
    pub forks: Forks,
}

impl Capabilities {
    /// Nothing beyond turns.
    pub const NONE: Self = Self {
        load: false,
        resume: false,
        steer: false,
        stop_task: false,
        own_turns_end: false,
        forks: Forks::Nowhere,
        retune: false,
        effort: false,
        keeps_prompts: false,
        change_input: false,
    };
}

/// A frame that a codec wants written, in the provider's own words; the id of a request is the
/// number of the frame and is put in when it is encoded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "frame", rename_all = "snake_case")]
pub enum ProtocolFrame {
    /// A request of ours.
    Request {
        /// The method.
        method: String,
        /// The parameters, as JSON text.
        params: String,
    },
    /// Something that we tell the agent, and that it does not answer.
    Notification {
        /// The method.
        method: String,
        /// The parameters, as JSON text.
        params: String,
    },
    /// Our reply to a request of the agent.
    Reply {
        /// The agent's request id, as JSON text.
        id: String,
        /// `{"result": …}` or `{"error": …}` without braces, as JSON text of the whole member.
        outcome: String,
    },
}

/// Why an agent could not begin to work for a chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartFault {
    /// The agent does not know the session.
    SessionNotFound,
    /// The attempt before died before it had a session.
    NoSession,
    /// The directory of the chat is gone.
    DirectoryGone,
    /// The agent wants somebody to log in.
    LoginNeeded,
    /// The agent's program is not there.
    AgentMissing,
    /// Something of an earlier attempt may still live.
    AgentMayLive,
    /// The agent answered the start with an error.
    AgentRefused,
    /// The agent ended before it was ready.
    AgentDied,
}

/// What an error reply to a message proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// The message was rejected before it was taken up.
    NotTaken,
    /// It was taken back before it was taken up, because the turn was to end: no fault of the agent's.
    TakenBack,
    /// Neither that it was taken nor that it was not.
    Nothing,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The agent finished.
    Completed,
    /// Somebody interrupted it.
    Interrupted,
    /// The agent says that it failed.
    Failed,
    /// The attempt died before the end.
    Lost,
}

/// The kind of a background task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskKind {
    /// A subagent.
    Agent,
    /// A workflow.
    Workflow,
    /// A shell command.
    Command,
    /// Something that watches, or a pending wake-up.
    Monitor,
    /// A kind that this build does not know; counts as work.
    #[serde(other)]
    Unknown,
}

/// How a background task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskEnd {
    /// By itself, well.
    Completed,
    /// By itself, badly.
    Failed,
    /// Somebody stopped it.
    Stopped,
    /// The attempt died.
    Lost,
}

/// What kind of word the agent waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptKind {
    /// Leave to do something.
    Approval,
    /// An answer.
    Question,
}

/// One option of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptOption {
    /// The agent's own id of the option.
    pub id: String,
    /// What the agent calls it.
    pub label: String,
    /// ACP's `allow_once | allow_always | reject_once | reject_always`, or `choice`.
    pub kind: String,
}

/// One question of a prompt that asks several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The agent's own id of the question.
    pub id: String,
    /// The question.
    pub text: String,
    /// Whether several options may be chosen.
    pub multi: bool,
    /// Whether a text may be given in place of an option.
    pub free: bool,
    /// Its options.
    pub options: Vec<PromptOption>,
}

/// A prompt as the agent put it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Approval or question.
    pub kind: PromptKind,
    /// What it is about, cut to a label.
    pub label: String,
    /// The options of an approval or of a single question.
    pub options: Vec<PromptOption>,
    /// The questions, where there are several or where text is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// The [`crate::digest`] of all that is to be done, where the agent tells it whole: two approvals
    /// with the same one ask for the very same thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deed: Option<String>,
}

/// What an agent counted for a turn, in its own terms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: Option<u64>,
    /// Tokens written.
    pub output_tokens: Option<u64>,
    /// Both, as the agent says.
    pub total_tokens: Option<u64>,
    /// Of the tokens read, those that the model had kept from before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens of the conversation as the model read it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Tokens that the model can read at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// What the turn cost by the agent's own list of prices, in millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

/// One thing that an agent said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProviderEvent {
    /// The codec wants a frame written.
    Wants(ProtocolFrame),
    /// The session stands: messages may be handed over.
    Ready {
        /// The session.
        handle: Handle,
        /// What the agent can do.
        capabilities: Capabilities,
        /// The model, where told.
        model: Option<String>,
        /// The mode, where told.
        mode: Option<String>,
    },
    /// The agent will not work for this chat.
    StartFailed {
        /// The kind of fault.
        fault: StartFault,
        /// The agent's words, bounded.
        text: String,
    },
    /// The agent's own history was replayed to its end; a user message that was not in it, the
    /// agent does not have.
    ReplayEnded {
        /// How many user messages it held. The codec counts them in its state.
        messages: u64,
        /// The [`crate::digest`] of the text of the last of them.
        last: Option<String>,
    },
    /// The agent's own store was asked for one message by its id.
    StoreAnswered {
        /// The message.
        message: MessageId,
        /// Whether the store holds it.
        held: bool,
    },
    /// An item begins.
    ItemOpened {
        /// Its ordinal.
        item: u32,
        /// What it is.
        kind: ItemKind,
        /// Whose it is.
        role: Role,
        /// What it holds beside its texts.
        body: Body,
    },
    /// Text was added to an item.
    ItemText {
        /// Its ordinal.
        item: u32,
        /// To which of its texts.
        field: Field,
        /// Where the piece begins, in bytes.
        at: u64,
        /// The piece.
        text: String,
    },
    /// An item's body is now this.
    ItemChanged {
        /// Its ordinal.
        item: u32,
        /// The whole new body.
        body: Body,
    },
    /// No more text comes to an item.
    ItemClosed {
        /// Its ordinal.
        item: u32,
    },
    /// The agent provably took the message in this frame.
    MessageTaken {
        /// The frame.
        frame: FrameNo,
    },
    /// The turn that runs, and that was taken for one of the agent's own, was opened by the message in this
    /// frame.
    TurnClaimed {
        /// The frame.
        frame: FrameNo,
    },
    /// The agent answered a message with an error before any proof of taking.
    MessageFailed {
        /// The frame.
        frame: FrameNo,
        /// What the error proves.
        proof: Proof,
        /// The agent's words, bounded.
        text: String,
    },
    /// The agent showed life of its own: something of a turn that nobody's message opened.
    Stirred,
    /// A turn ended.
    TurnEnded {
        /// How.
        how: TurnEnd,
        /// What it cost.
        usage: Option<Usage>,
        /// The agent's reason, bounded, where it did not simply finish.
        text: Option<String>,
        /// The agent's own id of this end, at most [`crate::limits::MARK_BYTES_MAX`], where another
        /// conversation can begin at it.
        mark: Option<String>,
    },
    /// The agent waits for a word.
    PromptOpened {
        /// The prompt's ordinal.
        prompt: u32,
        /// The item that shows it: an ordinal.
        item: u32,
        /// What is asked.
        asked: Asked,
    },
    /// The agent no longer waits for it.
    PromptGone {
        /// The prompt's ordinal.
        prompt: u32,
    },
    /// The agent's next word on what was asked: it has the answer.
    AnswerTaken {
        /// The prompt's ordinal.
        prompt: u32,
    },
    /// Background work began.
    TaskStarted {
        /// Its ordinal.
        task: u32,
        /// Its kind.
        kind: TaskKind,
        /// What it is called, cut to a label.
        label: String,
        /// Whether it ends with the turn.
        foreground: bool,
    },
    /// Work of the turn goes on in the background: it outlives the turn.
    TaskDetached {
        /// Its ordinal.
        task: u32,
    },
    /// Background work ended.
    TaskEnded {
        /// Its ordinal.
        task: u32,
        /// How.
        how: TaskEnd,
    },
    /// The agent names the chat.
    Titled {
        /// The title, cut.
        title: String,
    },
    /// The agent works with another model or mode from now on.
    Retuned {
        /// The model, where it is another.
        model: Option<String>,
        /// The mode, where it is another.
        mode: Option<String>,
    },
    /// The agent thinks as hard as this from now on; empty: as it does by itself, which it does not tell.
    EffortTold {
        /// The effort.
        effort: String,
    },
    /// The efforts that the agent knows.
    EffortsTold {
        /// All of them.
        efforts: Vec<String>,
    },
    /// The agent has these commands for its users, and no others.
    CommandsTold {
        /// At most `COMMANDS_MAX`.
        commands: Vec<SlashCommand>,
    },
    /// The agent takes a setting only when it is started.
    SettingDeferred,
    /// Its model's server took nothing, since nobody is logged in: what was asked last came to nothing.
    LoginNeeded {
        /// The agent's words, and what to do.
        text: String,
    },
    /// The agent did not take a setting; it works as before.
    SettingRefused {
        /// The agent's words, bounded.
        text: String,
    },
    /// The conversation goes on in another session of the agent, which holds nothing yet.
    SessionMoved {
        /// The session.
        handle: Handle,
    },
}
