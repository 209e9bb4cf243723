//! What the host writes to an agent. A frame is numbered and committed before it is written; what
//! it says is kept as an intent, and its bytes are made from the intent and the rows when it is
//! written, so that the same frame comes out again after a crash.

use serde::{Deserialize, Serialize};

use crate::ids::{FrameNo, MessageId, PromptId, TaskId};
use crate::provider::ProtocolFrame;

/// What a frame says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "out", rename_all = "snake_case")]
pub enum Outgoing {
    /// The provider's own protocol: handshake, replies.
    Protocol(ProtocolFrame),
    /// A message; its text is a row.
    Message {
        /// The message.
        message: MessageId,
    },
    /// A message that is given to the running turn; its text is a row.
    Steer {
        /// The message.
        message: MessageId,
    },
    /// The answer to a prompt.
    Answer {
        /// The prompt.
        prompt: PromptId,
        /// What was answered.
        answer: Answer,
    },
    /// End the running turn.
    Interrupt,
    /// End one background task.
    StopTask {
        /// The task.
        task: TaskId,
    },
    /// Work with another model or mode from now on.
    Set {
        /// What is set.
        setting: Setting,
    },
}

impl Outgoing {
    /// The message that it carries, which needs its text.
    #[must_use]
    pub const fn message(&self) -> Option<MessageId> {
        match self {
            Self::Message { message } | Self::Steer { message } => Some(*message),
            Self::Protocol(_)
            | Self::Answer { .. }
            | Self::Interrupt
            | Self::StopTask { .. }
            | Self::Set { .. } => None,
        }
    }
}

/// What can be set while an agent runs, in the agent's own words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", content = "value", rename_all = "snake_case")]
pub enum Setting {
    /// The model.
    Model(String),
    /// The mode.
    Mode(String),
    /// How hard it thinks.
    Effort(String),
}

/// The answer to a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// One option of an approval or of a single question.
    Option {
        /// The agent's id of the option.
        option: String,
        /// A word beside it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// One option of an approval, for another input than the agent proposed.
    Changed {
        /// The agent's id of the option.
        option: String,
        /// The input that is to be taken, as JSON text.
        input: String,
    },
    /// Answers to several questions.
    Answers {
        /// One for each question.
        answers: Vec<QuestionAnswer>,
    },
    /// The host takes the question back (an interrupt, too many prompts).
    Cancelled,
}

/// The answer to one of several questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuestionAnswer {
    /// The agent's id of the question.
    pub question: String,
    /// The chosen options.
    #[serde(default)]
    pub options: Vec<String>,
    /// A text in place of, or beside, an option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A numbered frame that waits to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    /// Its number.
    pub frame: FrameNo,
    /// What it says.
    pub out: Outgoing,
}
