//! Refusals: every answer that says no, with its public code. `docs/errors/` has a page for each.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $status:literal;)*) => {
        /// The stable code of a refusal.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code as callers see it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// The HTTP status that goes with it.
            #[must_use]
            pub const fn status(self) -> u16 {
                match self {
                    $(Self::$name => $status,)*
                }
            }
        }
    };
}

codes! {
    /// The body is not JSON, or not an object.
    InvalidJson = "invalid_json", 400;
    /// The body has a field that this call does not know.
    UnknownField = "unknown_field", 400;
    /// A field is missing.
    MissingField = "missing_field", 400;
    /// A field has the wrong type or a value outside its range.
    InvalidField = "invalid_field", 400;
    /// A text that must not be empty is.
    EmptyField = "empty_field", 400;
    /// A field is longer than its limit.
    FieldTooLong = "field_too_long", 400;
    /// An id in the path or the body has not the form of one.
    InvalidId = "invalid_id", 400;
    /// A cursor is not one of ours.
    InvalidCursor = "invalid_cursor", 400;
    /// The answer does not fit what was asked.
    InvalidAnswer = "invalid_answer", 400;
    /// A message names an attachment that its chat does not have.
    UnknownAttachment = "unknown_attachment", 400;
    /// The body ended before it was whole.
    BodyIncomplete = "body_incomplete", 400;
    /// The idempotency key has not the form of one.
    InvalidOperationKey = "invalid_operation_key", 400;
    /// No token, or one that is not known.
    NotAuthorised = "not_authorised", 401;
    /// The `Host` header names another host.
    ForeignHost = "foreign_host", 403;
    /// The `Origin` header names a foreign page.
    ForeignOrigin = "foreign_origin", 403;
    /// There is no such call.
    NotFound = "not_found", 404;
    /// There is no such chat.
    ChatNotFound = "chat_not_found", 404;
    /// There is no such item.
    ItemNotFound = "item_not_found", 404;
    /// There is no such message.
    MessageNotFound = "message_not_found", 404;
    /// There is no such prompt.
    PromptNotFound = "prompt_not_found", 404;
    /// There is no such grant.
    GrantNotFound = "grant_not_found", 404;
    /// There is no such task.
    TaskNotFound = "task_not_found", 404;
    /// There is no such receipt.
    ReceiptNotFound = "receipt_not_found", 404;
    /// The chat has no such attachment.
    AttachmentNotFound = "attachment_not_found", 404;
    /// The configuration has no such agent.
    AgentNotFound = "agent_not_found", 404;
    /// The agent has no such session.
    SessionUnknown = "session_unknown", 404;
    /// The chat has no offer.
    NoOffer = "no_offer", 404;
    /// The call exists, but not with this method.
    MethodNotAllowed = "method_not_allowed", 405;
    /// The slot belongs to another open chat.
    SlotTaken = "slot_taken", 409;
    /// A chat goes on with this session already.
    SessionTaken = "session_taken", 409;
    /// The directory of the session is gone.
    DirectoryGone = "directory_gone", 409;
    /// The chat is closed.
    ChatClosed = "chat_closed", 409;
    /// The chat is pinned, and pinned chats are not deleted.
    ChatPinned = "chat_pinned", 409;
    /// The chat is doing something, and this needs it to rest.
    ChatBusy = "chat_busy", 409;
    /// The chat is open.
    ChatOpen = "chat_open", 409;
    /// The chat has facts that this build cannot read; it can only be looked at.
    ChatReadOnly = "chat_read_only", 409;
    /// A message names the attachment.
    AttachmentInUse = "attachment_in_use", 409;
    /// The message does not wait in the queue.
    NotQueued = "not_queued", 409;
    /// The message is neither refused nor unknown.
    NotInDoubt = "not_in_doubt", 409;
    /// Somebody answered first.
    AlreadyAnswered = "already_answered", 409;
    /// The same key was used for another request.
    OperationConflict = "operation_conflict", 409;
    /// The agent cannot do this.
    NotSupported = "not_supported", 409;
    /// The configuration is not right: a host that is replaced would not start.
    ConfigurationWrong = "configuration_wrong", 409;
    /// No turn is running.
    NoTurn = "no_turn", 409;
    /// Nobody waits for the answer any more.
    PromptGone = "prompt_gone", 410;
    /// The key is older than what is kept.
    OperationExpired = "operation_expired", 410;
    /// The body is larger than its limit.
    BodyTooLarge = "body_too_large", 413;
    /// The queue of the chat is full.
    QueueFull = "queue_full", 429;
    /// The chat holds as many attachments as it may.
    AttachmentsFull = "attachments_full", 429;
    /// Too many deliveries of the chat are without an outcome.
    TooManyUnknown = "too_many_unknown", 429;
    /// Too many requests at once.
    Overloaded = "overloaded", 429;
    /// A defect of the host; it is in the log.
    Internal = "internal", 500;
    /// The host is stopping and takes no writes.
    Stopping = "stopping", 503;
    /// There is no index of the transcripts.
    SearchUnavailable = "search_unavailable", 503;
    /// The commit could not be made certain.
    NotDurable = "not_durable", 503;
    /// The disk is full.
    StorageFull = "storage_full", 507;
}

/// A no, for a person and for a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// The stable code.
    pub code: Code,
    /// What is wrong and what to do.
    pub text: String,
    /// The field that it is about.
    pub field: Option<String>,
    /// The limit that was met, in the unit that the text names.
    pub limit: Option<u64>,
}

impl Refusal {
    /// A refusal with this code and sentence.
    #[must_use]
    pub fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), field: None, limit: None }
    }

    /// About this field.
    #[must_use]
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// With this limit.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = u64::try_from(limit).ok();
        self
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|code| code.as_str() == text);
        found.copied().ok_or_else(|| serde::de::Error::custom("unknown code"))
    }
}
