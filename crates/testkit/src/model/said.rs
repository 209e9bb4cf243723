//! What was said in a conversation, whatever the API in which the model was asked.

use std::fmt;

/// One thing that a request told the model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// Instructions of the agent's program, with all that it adds by itself.
    System(String),
    /// A text of the user.
    User(String),
    /// A text of the user that the agent's program handed over in the middle of a turn.
    MidTurn(String),
    /// Something that the agent's program tells in the middle: a background task has ended.
    Notice(String),
    /// A picture of the user: its type and its size.
    Image(String),
    /// A thought of the model.
    Thought(String),
    /// A text of the model.
    Reply(String),
    /// A tool that the model called.
    Call {
        /// The tool.
        name: String,
        /// What it was called with, as JSON.
        arguments: String,
    },
    /// What a tool answered.
    Result(String),
}

impl Said {
    /// The role under which [`super::Seen::texts`] finds it.
    pub(super) fn role(&self) -> &'static str {
        match self {
            Self::System(_) => "system",
            Self::User(_) | Self::MidTurn(_) => "user",
            Self::Notice(_) => "notice",
            Self::Image(_) => "image",
            Self::Thought(_) => "thought",
            Self::Reply(_) => "assistant",
            Self::Call { .. } => "call",
            Self::Result(_) => "tool",
        }
    }

    /// Its text.
    pub fn text(&self) -> &str {
        match self {
            Self::Call { arguments, .. } => arguments,
            Self::System(text)
            | Self::User(text)
            | Self::MidTurn(text)
            | Self::Notice(text)
            | Self::Image(text)
            | Self::Thought(text)
            | Self::Reply(text)
            | Self::Result(text) => text,
        }
    }
}

impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call { name, arguments } => write!(f, "call: {name} {arguments}"),
            Self::MidTurn(text) => write!(f, "mid-turn: {}", text.trim_end()),
            other => write!(f, "{}: {}", other.role(), other.text().trim_end()),
        }
    }
}
