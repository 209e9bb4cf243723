//! What a chat begins with that is forked from another one.

use serde::{Deserialize, Serialize};

use crate::ids::{AttachmentId, ChatId, MessageId};
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
