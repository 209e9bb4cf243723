//! Search over all transcripts.

use std::collections::HashMap;

use axum::Json;
use axum::extract::State;
use holdfast_core::head::Life;
use holdfast_core::ids::{ChatId, ItemId};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::ChatRow;
use holdfast_store::search::{HITS_MAX, Hit, Part, QUERY_CHARS_MAX, Search, Terms};
use serde::Serialize;

use crate::app::App;
use crate::extract::{Params, params};
use crate::limits::PAGE_HITS;
use crate::routes::{Answer, unread};
use crate::wire::time::rfc3339;
use crate::wire::words::{self, Word};

/// What was found, the newest first.
#[derive(Serialize)]
pub(super) struct Found {
    items: Vec<FoundItem>,
    /// The `before` of the next page.
    next: Option<String>,
    /// Whether all transcripts were searched: while the index is made anew they are not.
    complete: bool,
}

/// A found item, and the chat that it is in.
#[derive(Serialize)]
struct FoundItem {
    chat: ChatId,
    title: Option<String>,
    state: Word,
    item: ItemId,
    seq: u64,
    kind: Word,
    role: Word,
    at: String,
    snippet: Vec<SnippetPart>,
}

/// A part of the text around what was found.
#[derive(Serialize)]
struct SnippetPart {
    text: String,
    found: bool,
}

/// The items in which all words of `q` are, wherever they are.
pub(super) async fn list(State(app): State<App>, params: Params) -> Answer<Json<Found>> {
    let params = params.only(&["q", "chat", "before", "limit"])?;
    let terms = terms(params.one("q")?)?;
    let terms = terms.ok_or_else(|| params::invalid("q", "what is searched for"))?;
    let chat = match params.one("chat")? {
        None => None,
        Some(id) => Some(id.parse().map_err(|_| params::invalid("chat", "the id of a chat"))?),
    };
    let limit = params.limit(PAGE_HITS, HITS_MAX)?;
    let before = params.one("before")?.map(str::to_owned);
    let page = index(&app)?.find(terms, chat, before, limit).await.map_err(unread)?;
    let mut chats: HashMap<ChatId, Option<ChatRow>> = HashMap::new();
    let mut items = Vec::new();
    for hit in page.hits {
        if !chats.contains_key(&hit.chat) {
            let row = app.store.chat(hit.chat).await.map_err(unread)?;
            chats.insert(hit.chat, row.filter(|row| row.summary.life != Life::Deleted));
        }
        // The index may be a moment behind a deletion.
        if let Some(Some(row)) = chats.get(&hit.chat) {
            items.push(FoundItem::of(hit, row));
        }
    }
    Ok(Json(Found { items, next: page.next, complete: page.complete }))
}

/// The terms of a search, bounded; none where there is no word in it.
pub(super) fn terms(q: Option<&str>) -> Result<Option<Terms>, Refusal> {
    let Some(q) = q else { return Ok(None) };
    if q.chars().count() > QUERY_CHARS_MAX {
        let text = format!("The parameter q is longer than {QUERY_CHARS_MAX} characters.");
        return Err(Refusal::new(Code::FieldTooLong, text).field("q").limit(QUERY_CHARS_MAX));
    }
    Ok(Terms::of(q))
}

/// The index, unless the disk did not let it be made.
pub(super) fn index(app: &App) -> Result<Search, Refusal> {
    app.host.search().ok_or_else(|| {
        let text = "There is no index to search in; GET /host says why under damage. Lists and \
            transcripts can be read all the same.";
        Refusal::new(Code::SearchUnavailable, text)
    })
}

impl FoundItem {
    fn of(hit: Hit, row: &ChatRow) -> Self {
        let part = |Part { text, found }| SnippetPart { text, found };
        Self {
            chat: hit.chat,
            title: row.title.clone(),
            state: words::life(row.summary.life),
            item: hit.item,
            seq: hit.place,
            kind: words::item_kind(hit.kind),
            role: words::role(hit.role),
            at: rfc3339(hit.at),
            snippet: hit.snippet.into_iter().map(part).collect(),
        }
    }
}
