//! How ids look in the document of the API. The ids themselves are core's, which knows no wire
//! form: a field says which of these it is.

use serde::Serialize;
use utoipa::ToSchema;

/// A schema for each id: its name, what it names, its form.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $pattern:literal, $example:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Serialize, ToSchema)]
        #[schema(value_type = String, pattern = $pattern, example = $example)]
        pub(crate) struct $name(String);
    )*};
}

ids! {
    /// The id of a chat.
    ChatId = "^chat_[0-9a-f]{32}$", "chat_01970000000070008000000000000001";
    /// The id of a message to an agent.
    MessageId = "^msg_[0-9a-f]{32}$", "msg_01970000000040008000000000000001";
    /// The id of a file that goes with messages.
    AttachmentId = "^file_[0-9a-f]{32}$", "file_01970000000070008000000000000001";
    /// The id of an entry of a transcript; unique within its chat.
    ItemId = "^i(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)$", "i1.1";
    /// The id of an approval or a question; unique within its chat.
    PromptId = "^p(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)$", "p1.1";
    /// The id of background work; unique within its chat.
    TaskId = "^k(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)$", "k1.1";
    /// The id of what a person allowed for good; unique within its chat.
    GrantId = "^g(0|[1-9][0-9]*)$", "g1";
    /// The id of an agent in the configuration.
    AgentId = "^[^/]+$", "demo";
    /// The name under which apps address a chat.
    Slot = "^[^/]+$", "notes";
    /// The id of a turn; unique within its chat.
    TurnId = "^t(0|[1-9][0-9]*)$", "t1";
    /// The id under which `GET /receipts/{receipt}` says what became of a write.
    ReceiptId = "^rcp_[0-9a-f]{32}_(m[0-9a-f]{32}|p(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*))$",
        "rcp_01970000000070008000000000000001_p1.1";
}
