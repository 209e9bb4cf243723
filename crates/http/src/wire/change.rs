//! Frames of the event stream.

use holdfast_core::ids::{ChatId, ItemId};
use serde::Serialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa::openapi::{Object, ObjectBuilder, Type};

use crate::wire::host::Counts;
use crate::wire::ids;
use crate::wire::item::Item;
use crate::wire::offer::{Failed, Offer};
use crate::wire::prompt::Prompt;
use crate::wire::queue::Queue;
use crate::wire::row::Row;
use crate::wire::task::Task;
use crate::wire::turn::Turn;
use crate::wire::words;

/// One frame of the event stream: a text message of the WebSocket, or the `data` of a server-sent
/// event, whose `id` is its cursor.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Frame<'a> {
    /// The first frame of every stream. `gap` says that what followed the client's cursor cannot be
    /// told any more; a snapshot follows, as it does where the client had no cursor.
    Hello { generation: u64, incarnation: &'a str, cursor: &'a str, verdict: words::Verdict },
    /// All that a client shows, as of a place in the feed. Its items are the newest of the chats
    /// that the client named.
    #[expect(dead_code, reason = "its text is put together from parts that are shared")]
    Snapshot {
        cursor: &'a str,
        counts: Counts,
        chats: Vec<Row>,
        offers: Vec<Offer>,
        failures: Vec<Failed>,
        items: Vec<ItemOf>,
    },
    /// What changed, each with its current state.
    Changes {
        cursor: &'a str,
        #[schema(value_type = Vec<Change>)]
        changes: Vec<&'a RawValue>,
    },
    /// Live text: to be added where `at` is the length that the client has, in bytes of UTF-8.
    Delta {
        #[schema(value_type = ids::ChatId)]
        chat: ChatId,
        #[schema(value_type = ids::ItemId)]
        item: ItemId,
        field: words::TextField,
        at: u64,
        text: &'a str,
    },
}

/// One thing that changed, with its current state; `null` where it is gone. Applying one twice is
/// harmless. The chat is `null` where the thing is the host's.
#[derive(Serialize, ToSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "it is made, written and dropped, one at a time")]
pub(crate) enum Change {
    /// A chat.
    Chat {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        value: Option<Row>,
    },
    /// An entry of a transcript.
    Item {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        value: Option<Item>,
    },
    /// A turn.
    Turn {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        value: Option<Turn>,
    },
    /// An approval or a question.
    Prompt {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        value: Option<Prompt>,
    },
    /// Background work.
    Task {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        value: Option<Task>,
    },
    /// The beginning of a queue.
    Queue {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        value: Option<Queue>,
    },
    /// An offer.
    Offer {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        value: Option<Offer>,
    },
    /// A start or a resume that failed.
    Failure {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        value: Option<Failed>,
    },
    /// The counts of the host.
    Counts {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        value: Option<Counts>,
    },
    /// A chat is deleted.
    Removed {
        #[schema(value_type = Option<ids::ChatId>)]
        chat: Option<ChatId>,
        #[schema(schema_with = nothing)]
        value: Option<()>,
    },
}

/// The state of what is deleted: none.
fn nothing() -> Object {
    ObjectBuilder::new().schema_type(Type::Null).build()
}

/// The part of a snapshot that is the same for everybody.
#[derive(Serialize)]
pub(crate) struct Common {
    pub(crate) counts: Counts,
    pub(crate) chats: Vec<Row>,
    pub(crate) offers: Vec<Offer>,
    pub(crate) failures: Vec<Failed>,
}

/// An item in a snapshot, which may hold those of several chats.
#[derive(Serialize, ToSchema)]
#[schema(as = ItemOfChat)]
pub(crate) struct ItemOf {
    #[schema(value_type = ids::ChatId)]
    pub(crate) chat: ChatId,
    #[serde(flatten)]
    pub(crate) item: Item,
}
