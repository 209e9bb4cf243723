//! What a chat begins with that is forked from another one.

use serde::{Deserialize, Serialize};

use crate::ids::{AttachmentId, ChatId, MessageId, TurnId};
use crate::provider::Handle;

/// What another chat begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The chat that it is forked from.
    pub from: ChatId,
    /// The place of the last item that both have.
    pub at: u64,
    /// The session that its own is a copy of.
    pub handle: Handle,
    /// The agent's own id of the last turn of it that the copy has; none where it has all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The last turn of the chat that its session does not reach back to.
    #[serde(default, skip_serializing_if = "is_nought")]
    pub unreached: u32,
    /// How many messages that session holds at most.
    pub messages: u64,
    /// The ordinal of the last attempt.
    pub attempts: u32,
    /// The number of the last turn.
    pub turns: u32,
    /// The number of the last item of the host's own.
    pub host_items: u32,
    /// The attachments that its messages name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<ForkedFile>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_nought(turn: &u32) -> bool {
    *turn == 0
}

/// The end of a turn that an agent knows by a name of its own: a place where another conversation can
/// begin, and to which this one can go back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnPlace {
    /// The turn.
    pub turn: TurnId,
    /// The place of the last item at its end.
    pub at: u64,
    /// The agent's own id of it.
    pub mark: String,
    /// How many messages the agent's session held there at most.
    pub messages: u64,
}

/// An attachment that both chats of a fork have, each by a name of its own for the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFile {
    /// Its id.
    pub id: AttachmentId,
    /// How many bytes it has.
    pub bytes: u64,
    /// A message that names it.
    pub named: MessageId,
}
