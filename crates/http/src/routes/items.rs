//! Transcripts, in pages, and their big texts, in ranges.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use holdfast_core::ids::{ChatId, ItemId};
use holdfast_core::item::Field;
use holdfast_core::limits::PAGE_ITEMS_MAX;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::{PageFrom, QueryError, TextRange};

use crate::app::App;
use crate::extract::range::{self, Wanted};
use crate::extract::{At, Params, params};
use crate::limits::{PAGE_ITEMS, TEXT_CHUNK_BYTES};
use crate::openapi::query;
use crate::routes::{Answer, chat, unread};
use crate::wire::item::Item;
use crate::wire::page::{ItemPage, Page};
use crate::wire::words;

query! {
    /// A page of a transcript: the newest one, or that before or after a place.
    pub(super) struct PageQuery {
        /// The `seq` before which the page ends.
        before: Option<u64>,
        /// The `seq` after which the page begins; not together with `before`.
        after: Option<u64>,
        /// Items of the page, at most; more than the host gives at once is cut.
        #[param(minimum = 1)]
        limit: Option<u64>,
    }

    /// Which text of an item.
    pub(super) struct TextQuery {
        /// The text; `text` where nothing is said.
        field: Option<words::TextField>,
    }
}

/// A page of a transcript, newest last.
#[utoipa::path(
    get,
    path = "/chats/{chat}/items",
    params(PageQuery),
    responses((status = OK, description = "A page; `next` is the `before` of the one before it.", body = ItemPage)),
)]
pub(super) async fn list(State(app): State<App>, at: At, params: Params) -> Answer<Json<ItemPage>> {
    let params = params.only::<PageQuery>()?;
    let limit = params.limit(PAGE_ITEMS, PAGE_ITEMS_MAX)?;
    let from = match (params.number("before")?, params.number("after")?) {
        (None, None) => PageFrom::Newest,
        (Some(before), None) => PageFrom::Before(before),
        (None, Some(after)) => PageFrom::After(after),
        (Some(_), Some(_)) => return Err(params::invalid("after", "alone, without before").into()),
    };
    let id = at.id("chat")?;
    chat(&app, id).await?;
    let rows = app.store.items(id, from, limit).await.map_err(unread)?;
    // Places are counted from 1: before the first there is nothing.
    let next = rows.first().map(|row| row.place).filter(|place| *place > 1);
    Ok(Json(Page { items: rows.into_iter().map(|row| Item::of(id, row)).collect(), next }))
}

/// A text of an item, whole or the range that is asked for. Bytes are counted, so that a range may
/// begin or end within a character.
#[utoipa::path(
    get,
    path = "/chats/{chat}/items/{item}/text",
    params(
        TextQuery,
        ("Range" = Option<String>, Header, description = "The bytes that are wanted."),
    ),
    responses(
        (status = OK, description = "All of it.", body = String, content_type = "text/plain; charset=utf-8"),
        (status = PARTIAL_CONTENT, description = "The range that was asked for.", body = String, content_type = "text/plain; charset=utf-8"),
        (status = RANGE_NOT_SATISFIABLE, description = "The text ends before the range."),
    ),
)]
pub(super) async fn text(
    State(app): State<App>,
    at: At,
    params: Params,
    headers: HeaderMap,
) -> Answer<Response> {
    let fields = [("text", Field::Text), ("input", Field::Input), ("output", Field::Output)];
    let field = params.only::<TextQuery>()?.word("field", &fields)?.unwrap_or(Field::Text);
    let text = Text { chat: at.id("chat")?, item: at.id("item")?, field };
    chat(&app, text.chat).await?;
    let there = text.read(&app, 0, 0).await.map_err(unread)?;
    let bytes = there.ok_or_else(|| no_item(text.item))?.total;
    let mut response = match range::wanted(&headers, bytes) {
        Wanted::Outside => {
            let mut response = StatusCode::RANGE_NOT_SATISFIABLE.into_response();
            tell(&mut response, header::CONTENT_RANGE, &format!("bytes */{bytes}"));
            return Ok(response);
        }
        Wanted::Whole => text.serve(app, 0, bytes).into_response(),
        Wanted::Part { start, end } => {
            let body = text.serve(app, start, end);
            let mut response = (StatusCode::PARTIAL_CONTENT, body).into_response();
            let last = end.saturating_sub(1);
            tell(&mut response, header::CONTENT_RANGE, &format!("bytes {start}-{last}/{bytes}"));
            let length = end.saturating_sub(start).to_string();
            tell(&mut response, header::CONTENT_LENGTH, &length);
            response
        }
    };
    if response.status() == StatusCode::OK {
        tell(&mut response, header::CONTENT_LENGTH, &bytes.to_string());
    }
    tell(&mut response, header::CONTENT_TYPE, "text/plain; charset=utf-8");
    tell(&mut response, header::ACCEPT_RANGES, "bytes");
    Ok(response)
}

fn no_item(item: ItemId) -> Refusal {
    Refusal::new(Code::ItemNotFound, format!("The chat has no item {item}."))
}

fn tell(response: &mut Response, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}

/// One text of one item.
#[derive(Clone, Copy)]
struct Text {
    chat: ChatId,
    item: ItemId,
    field: Field,
}

impl Text {
    async fn read(self, app: &App, start: u64, end: u64) -> Result<Option<TextRange>, QueryError> {
        app.store.item_text(self.chat, self.item, self.field, start..end).await
    }

    /// The bytes of a range, read piece by piece as they are taken.
    fn serve(self, app: App, start: u64, end: u64) -> Body {
        Body::from_stream(stream::try_unfold((app, start), move |(app, at)| async move {
            if at >= end {
                return Ok(None);
            }
            let upto = at.saturating_add(TEXT_CHUNK_BYTES).min(end);
            let range = self.read(&app, at, upto).await?;
            let bytes = range.map(|range| range.bytes).unwrap_or_default();
            let read = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            if read == 0 {
                // It was there a moment ago. The connection ends short of its length.
                return Err(QueryError::Unreadable("a text became shorter".to_owned()));
            }
            Ok(Some((bytes, (app, at.saturating_add(read)))))
        }))
    }
}
