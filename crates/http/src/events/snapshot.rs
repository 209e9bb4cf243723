//! Snapshots: all that a client shows, as of a place in the feed.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use holdfast_core::ids::ChatId;
use holdfast_core::limits::PAGE_ITEMS_MAX;
use holdfast_store::query::QUERY_ROWS_MAX;
use holdfast_store::{ChatFilter, PageFrom, Store};
use serde_json::value::{RawValue, to_raw_value};
use tokio::sync::Mutex;

use crate::events::batch::ReadError;
use crate::events::{Cursor, Filter};
use crate::limits::{PAGE_ITEMS, SNAPSHOT_ITEMS_BYTES_MAX};
use crate::wire::change::{Common, ItemOf};
use crate::wire::host::Counts;
use crate::wire::item::Item;
use crate::wire::offer::{Failed, Offer};
use crate::wire::row::Row;

const _: () = assert!(PAGE_ITEMS <= PAGE_ITEMS_MAX);

/// The last snapshot, shared by all who asked before it was begun.
#[derive(Default)]
pub(crate) struct Snapshots(Mutex<Option<Made>>);

/// The part of a snapshot that is the same for everybody.
#[derive(Clone)]
struct Made {
    /// The newest change when it was begun.
    at: u64,
    /// The fields, without braces.
    fields: Arc<str>,
}

/// A snapshot for one client.
pub(crate) struct Snapshot {
    /// The stream goes on after this change.
    pub(crate) at: u64,
    /// Its frame.
    pub(crate) frame: Utf8Bytes,
}

impl Snapshots {
    /// A snapshot that holds at least all that is committed by now, with the newest items of the
    /// chats that the filter names.
    pub(crate) async fn take(
        &self,
        store: &dyn Store,
        filter: &Filter,
    ) -> Result<Snapshot, ReadError> {
        let made = self.common(store).await?;
        let mut items = Vec::new();
        let room = SNAPSHOT_ITEMS_BYTES_MAX / filter.named().count().max(1);
        for chat in filter.named() {
            items.extend(newest(store, chat, room).await?);
        }
        let items = serde_json::to_string(&items)?;
        let cursor = Cursor { incarnation: store.incarnation(), change: made.at };
        let fields = &made.fields;
        let frame =
            format!(r#"{{"type":"snapshot","cursor":"{cursor}",{fields},"items":{items}}}"#);
        Ok(Snapshot { at: made.at, frame: frame.into() })
    }

    async fn common(&self, store: &dyn Store) -> Result<Made, ReadError> {
        let wanted = store.change_bounds().await?.newest;
        // One at a time: who waits here mostly finds what the one before has made.
        let mut last = self.0.lock().await;
        if let Some(made) = last.as_ref().filter(|made| made.at >= wanted) {
            return Ok(made.clone());
        }
        let made = make(store).await?;
        *last = Some(made.clone());
        Ok(made)
    }
}

/// The newest page of a chat, as serialised items: as many as there is room for, and one at least.
/// What comes before them is a page that is asked for.
async fn newest(
    store: &dyn Store,
    chat: ChatId,
    room: usize,
) -> Result<Vec<Box<RawValue>>, ReadError> {
    let rows = store.items(chat, PageFrom::Newest, PAGE_ITEMS).await?;
    let mut items = Vec::new();
    let mut bytes = 0;
    for row in rows.into_iter().rev() {
        let item = to_raw_value(&ItemOf { chat, item: Item::of(chat, row) })?;
        bytes += item.get().len();
        if bytes > room && !items.is_empty() {
            break;
        }
        items.push(item);
    }
    items.reverse();
    Ok(items)
}

async fn make(store: &dyn Store) -> Result<Made, ReadError> {
    let at = store.change_bounds().await?.newest;
    let mut chats = Vec::new();
    let mut before = None;
    loop {
        let page = store.chats(ChatFilter::Open, before.take(), QUERY_ROWS_MAX).await?;
        chats.extend(page.rows.into_iter().map(Row::of));
        match page.next {
            Some(next) => before = Some(next),
            None => break,
        }
    }
    let offers = store.offers().await?.into_iter().filter_map(Offer::shown).collect();
    let failures = store.failures().await?.into_iter().map(Failed::of).collect();
    let counts = Counts::of(store.counts().await?);
    let json = serde_json::to_string(&Common { counts, chats, offers, failures })?;
    let fields = json.strip_prefix('{').and_then(|json| json.strip_suffix('}')).unwrap_or(&json);
    Ok(Made { at, fields: fields.into() })
}
