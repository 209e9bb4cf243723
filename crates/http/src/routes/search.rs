//! Search over all transcripts.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use axum::Json;
use axum::extract::State;
use holdfast_core::head::Life;
use holdfast_core::ids::{ChatId, ItemId};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::search::{HITS_MAX, Hit, Part, QUERY_CHARS_MAX, Search, Terms};
use holdfast_store::{ChatRow, QueryError};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::extract::{Params, params};
use crate::limits::PAGE_HITS;
use crate::openapi::query;
use crate::problem::Problem;
use crate::routes::{Answer, unread};
use crate::wire::ids;
use crate::wire::time::{Time, rfc3339};
use crate::wire::words;

/// What was found, the newest first.
#[derive(Serialize, ToSchema)]
pub(super) struct Found {
    /// The items.
    items: Vec<FoundItem>,
    /// The `before` of the next page.
    next: Option<String>,
    /// Whether all transcripts were searched: while the index is made anew they are not.
    complete: bool,
}

/// A found item, and the chat that it is in.
#[derive(Serialize, ToSchema)]
struct FoundItem {
    #[schema(value_type = ids::ChatId)]
    chat: ChatId,
    /// What a person calls the chat.
    title: Option<String>,
    /// Whether the chat is open.
    state: words::Life,
    #[schema(value_type = ids::ItemId)]
    item: ItemId,
    /// The place of the item in its transcript.
    seq: u64,
    /// What the item is.
    kind: words::ItemKind,
    /// Whose the item is.
    role: words::Role,
    /// When it was begun.
    at: Time,
    /// The text around what was found, in parts.
    snippet: Vec<SnippetPart>,
}

/// A part of the text around what was found.
#[derive(Serialize, ToSchema)]
struct SnippetPart {
    /// The text.
    text: String,
    /// Whether it is a word that was searched for.
    found: bool,
}

query! {
    /// What is searched for, and where.
    pub(super) struct SearchQuery {
        /// The words.
        q: String,
        /// A chat; all where none is named.
        #[param(value_type = Option<ids::ChatId>)]
        chat: Option<String>,
        /// The `next` of the page before.
        before: Option<String>,
        /// Items of the page, at most; more than the host gives at once is cut.
        #[param(minimum = 1)]
        limit: Option<u64>,
    }
}

/// The items in which all words of `q` are, wherever they are.
#[utoipa::path(
    get,
    path = "/search",
    params(SearchQuery),
    responses((status = OK, description = "A page, the newest first.", body = Found)),
    extensions(("x-refusals" = json!([
        Code::FieldTooLong, Code::InvalidCursor, Code::SearchUnavailable,
    ]))),
)]
pub(super) async fn list(State(app): State<App>, params: Params) -> Answer<Json<Found>> {
    let params = params.only::<SearchQuery>()?;
    let terms = terms(params.one("q")?)?;
    let terms = terms.ok_or_else(|| params::invalid("q", "what is searched for"))?;
    let chat = match params.one("chat")? {
        None => None,
        Some(id) => Some(id.parse().map_err(|_| params::invalid("chat", "the id of a chat"))?),
    };
    let limit = params.limit(PAGE_HITS, HITS_MAX)?;
    let before = params.one("before")?.map(str::to_owned);
    let page = index(&app)?.find(terms, chat, before, limit).await.map_err(unsearched)?;
    let mut chats: HashMap<ChatId, Option<ChatRow>> = HashMap::new();
    let mut items = Vec::new();
    for hit in page.hits {
        if let Entry::Vacant(seat) = chats.entry(hit.chat) {
            let row = app.store.chat(hit.chat).await.map_err(unread)?;
            seat.insert(row.filter(|row| row.summary.life != Life::Deleted));
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

/// Why a search was not answered: an index that cannot be read is no defect of the host, and is made
/// anew.
fn unsearched(fault: QueryError) -> Problem {
    match fault {
        QueryError::Unreadable(why) => {
            tracing::warn!("the search index cannot be read: {why}");
            let text = "The index cannot be read. Where it is damaged it is made anew: try again \
                in a moment. Lists and transcripts can be read all the same.";
            Refusal::new(Code::SearchUnavailable, text).into()
        }
        fault @ (QueryError::Overloaded | QueryError::Stopped | QueryError::InvalidPage) => {
            unread(fault)
        }
    }
}

/// The chats whose transcripts have these terms; none where there is no index that can be read.
pub(super) async fn chats(app: &App, terms: Terms) -> Answer<HashSet<ChatId>> {
    let Some(search) = app.host.search() else { return Ok(HashSet::new()) };
    match search.chats(terms).await {
        Ok(found) => Ok(found.into_iter().collect()),
        Err(QueryError::Unreadable(why)) => {
            tracing::warn!("the search index cannot be read: {why}");
            Ok(HashSet::new())
        }
        Err(fault) => Err(unread(fault)),
    }
}

/// The index, unless the disk did not let it be made.
fn index(app: &App) -> Result<Search, Refusal> {
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
