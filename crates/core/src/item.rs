//! The entries of a transcript.

use serde::{Deserialize, Serialize};

use crate::ids::{ChatId, ItemId, MessageId, PromptId, TaskId};
use crate::slash::SlashCommand;
use crate::time::Micros;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// A message, of a person or of the agent.
    Message,
    /// The agent's thoughts.
    Thinking,
    /// A tool call.
    ToolCall,
    /// An approval or a question.
    Prompt,
    /// A plan or a to-do list.
    Plan,
    /// A line posted by an app.
    Note,
    /// A line by the host itself.
    Notice,
    /// The agent shortened its memory.
    Compaction,
    /// Something of the agent that this build cannot read; kept and shown.
    Unrecognised,
}

/// Whose an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sent to the agent.
    User,
    /// Written by the agent.
    Agent,
    /// Written by the host.
    Host,
    /// Posted by an app.
    App,
}

/// One of the growing texts of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The text itself.
    Text,
    /// A tool's input, as JSON text.
    Input,
    /// A tool's output.
    Output,
}

/// How far a tool call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallState {
    /// It runs.
    Running,
    /// It ended well.
    Completed,
    /// It ended badly.
    Failed,
    /// The attempt died before its end was seen.
    Unknown,
}

/// A tool call, beside its input and output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name or title, cut to a label.
    pub name: String,
    /// The agent's word for the kind of tool (ACP: `read`, `edit`, `execute`, …).
    pub tool_kind: String,
    /// How far it is.
    pub state: CallState,
    /// The background task that it became.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The call within which it was made: that of a subagent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<ItemId>,
}

/// What became of a message that was given to a running turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Steered {
    /// It is on its way there.
    Given,
    /// The turn took it up.
    TakenUp,
    /// The turn ended without it: it opened one of its own.
    OwnTurn,
    /// The turn did not take it: it waited at the queue's head from then on.
    Returned,
}

/// One entry of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// What is to be done, cut to a label.
    pub text: String,
    /// The agent's word for its state (`pending`, `in_progress`, `completed`).
    pub state: String,
}

/// What the host tells in the transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "notice", rename_all = "snake_case")]
pub enum Notice {
    /// The agent was stopped while it showed work.
    Stopped {
        /// The offer's cause.
        cause: crate::offer::Cause,
    },
    /// The offer was resumed.
    Resumed,
    /// The agent's session was left for a new one, which is told a recap.
    StartedFresh,
    /// A resume, or a start, failed.
    StartFailed {
        /// The failure's code.
        code: String,
    },
    /// The turn failed, in the agent's words (the item's text).
    TurnFailed,
    /// Prompts beyond the bound were cancelled.
    PromptCancelled,
    /// A task that a person wanted stopped could not be named to the agent.
    TaskNotStopped,
    /// The agent's own store has lost the message that was settled last.
    MessageLost,
    /// A line of the agent could not be taken in.
    LineSkipped,
    /// The agent tries again what the model's server did not answer.
    Retrying {
        /// Which try this is, from 1.
        attempt: u32,
        /// How many there are at most.
        of: u32,
    },
    /// A line that the agent's program itself, not its model, has for the person.
    AgentSays,
    /// The agent did not take a model or a mode.
    SettingRefused,
    /// The chat begins here as another one was.
    Forked {
        /// That chat.
        from: ChatId,
    },
    /// The chat goes on from an earlier place: what is between that and this line is left behind.
    WentBack {
        /// The place of the last item that counts.
        to: u64,
    },
    /// The agent's copy of the other chat's session holds more than the transcript shows.
    ForkHoldsMore,
    /// What stands above is from a session that was there before the chat, read from the agent's files.
    Adopted {
        /// Entries that are shown.
        shown: u32,
        /// Entries before those, which are not.
        #[serde(default)]
        older: u64,
        /// When the session began.
        #[serde(default)]
        since: Option<Micros>,
    },
}

/// What an item holds beside its texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "body", rename_all = "snake_case")]
pub enum Body {
    /// Nothing but text.
    Text,
    /// Nothing but text, of a subagent.
    Within {
        /// The call that the subagent is.
        call: ItemId,
    },
    /// A message sent to the agent; its delivery is a row of its own.
    Message {
        /// The message.
        message: MessageId,
        /// What became of it where it was given to a running turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steer: Option<Steered>,
    },
    /// A tool call.
    Call(ToolCall),
    /// A prompt; its state is a row of its own.
    Prompt {
        /// The prompt.
        prompt: PromptId,
    },
    /// A plan.
    Plan {
        /// Its entries, at most 200.
        entries: Vec<PlanEntry>,
    },
    /// A notice.
    Notice(Notice),
    /// What could not be read.
    Unrecognised {
        /// Why, as a stable word (`invalid_utf8`, `invalid_json`, `oversized`, `unknown_method`, …).
        reason: String,
    },
}

/// A change of the rows of a chat that goes with facts, in the same commit: what is too long for a
/// fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// The text of a message that was accepted or edited.
    MessageText {
        /// The message.
        message: MessageId,
        /// The whole text.
        text: String,
    },
    /// The body of an item.
    ItemBody {
        /// The item.
        item: ItemId,
        /// The whole body.
        body: Body,
    },
    /// A piece of a text of an item. A piece that begins before the end of what is there is
    /// ignored as far as it is there already.
    ItemText {
        /// The item.
        item: ItemId,
        /// Which text.
        field: Field,
        /// Where it begins, in bytes.
        at: u64,
        /// The piece.
        text: String,
    },
    /// The item is older than the commit that adds it.
    ItemDated {
        /// The item.
        item: ItemId,
        /// When it was written.
        at: Micros,
    },
    /// No more text comes to this item: its pieces may be merged.
    ItemClosed {
        /// The item.
        item: ItemId,
    },
    /// The commands that the agent has for its users, all of them; they take the place of those that
    /// were told before.
    Commands(Vec<SlashCommand>),
}

/// A piece of streaming text, shown before it is committed: a courtesy, never state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delta {
    /// The chat.
    pub chat: ChatId,
    /// The item.
    pub item: ItemId,
    /// Which of its texts.
    pub field: Field,
    /// Where the piece begins, in bytes of UTF-8.
    pub at: u64,
    /// The piece.
    pub text: String,
}
