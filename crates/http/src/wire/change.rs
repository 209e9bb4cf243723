//! Frames of the event stream.

use holdfast_core::ids::{ChatId, ItemId};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::wire::host::Counts;
use crate::wire::item::Item;
use crate::wire::offer::{Failed, Offer};
use crate::wire::row::Row;
use crate::wire::words::Word;

/// The first frame of every stream.
#[derive(Serialize)]
pub(crate) struct Hello<'a> {
    pub(crate) r#type: Word,
    pub(crate) generation: u64,
    pub(crate) incarnation: &'a str,
    pub(crate) cursor: &'a str,
    pub(crate) verdict: Word,
}

/// One thing that changed, with its current state; `null` where it is gone.
#[derive(Serialize)]
pub(crate) struct Change<T> {
    pub(crate) what: Word,
    pub(crate) chat: Option<ChatId>,
    pub(crate) value: Option<T>,
}

/// Changes, each serialised once for all who read it.
#[derive(Serialize)]
pub(crate) struct Changes<'a> {
    pub(crate) r#type: Word,
    pub(crate) cursor: &'a str,
    pub(crate) changes: Vec<&'a RawValue>,
}

/// Live text.
#[derive(Serialize)]
pub(crate) struct Delta<'a> {
    pub(crate) r#type: Word,
    pub(crate) chat: ChatId,
    pub(crate) item: ItemId,
    pub(crate) field: Word,
    pub(crate) at: u64,
    pub(crate) text: &'a str,
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
#[derive(Serialize)]
pub(crate) struct ItemOf {
    pub(crate) chat: ChatId,
    #[serde(flatten)]
    pub(crate) item: Item,
}
