//! The queue of a chat.

use axum::Json;
use axum::extract::State;
use holdfast_core::ids::{ChatId, MessageId};
use holdfast_core::input::Command;
use holdfast_core::limits::{ITEM_TEXT_HEAD_BYTES, MESSAGE_BYTES_MAX, QUEUE_MESSAGES_MAX};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::QueueBounds;
use holdfast_store::query::QUERY_ROWS_MAX;

use crate::app::App;
use crate::extract::fields::Most;
use crate::extract::{At, Call, MessageBody, Params, PlainBody, params};
use crate::limits::QUEUE_PAGE_BYTES_MAX;
use crate::openapi::{query, request};
use crate::routes::messages::Now;
use crate::routes::{Answer, chat, unread};
use crate::wire::ids;
use crate::wire::queue::Queue;

/// Messages that an order may name: what waits, and what was put back beyond the bound.
const ORDER_MESSAGES_MAX: usize = 2 * QUEUE_MESSAGES_MAX;

query! {
    /// A page of a queue.
    pub(super) struct QueueQuery {
        /// The message at which the page begins.
        #[param(value_type = Option<ids::MessageId>)]
        from: Option<String>,
    }
}

request! {
    /// Another text of a message.
    pub(super) struct NewText {
        /// The text.
        text: String,
    }

    /// Another order of a queue.
    pub(super) struct NewOrder {
        /// All that waits, in the order in which it is to be handed over.
        #[schema(value_type = Vec<ids::MessageId>)]
        messages: Vec<MessageId>,
    }
}

/// What waits, in order; `from` is the `next` of the page before.
#[utoipa::path(
    get,
    path = "/chats/{chat}/queue",
    params(QueueQuery),
    responses((status = OK, description = "A page; `next` is the `from` of the one after it.", body = Queue)),
    extensions(("x-refusals" = json!([Code::InvalidCursor]))),
)]
pub(super) async fn list(State(app): State<App>, at: At, params: Params) -> Answer<Json<Queue>> {
    let params = params.only::<QueueQuery>()?;
    let from = match params.one("from")? {
        None => None,
        Some(text) => Some(text.parse().map_err(|_| params::invalid("from", "a message's id"))?),
    };
    page(&app, at.id("chat")?, from).await
}

/// What one answer shows of a queue.
const PAGE: QueueBounds = QueueBounds {
    messages: QUERY_ROWS_MAX,
    head_bytes: ITEM_TEXT_HEAD_BYTES,
    bytes: QUEUE_PAGE_BYTES_MAX,
};

async fn page(app: &App, id: ChatId, from: Option<MessageId>) -> Answer<Json<Queue>> {
    let held = chat(app, id).await?.summary.held;
    let page = app.store.queue(id, from, PAGE).await.map_err(unread)?;
    let gone = || {
        let text = "The message at which this page begins waits no more. Begin without from.";
        Refusal::new(Code::InvalidCursor, text).field("from")
    };
    Ok(Json(Queue::of(id, page.ok_or_else(gone)?, held)))
}

/// Changes the text of a message that waits.
#[utoipa::path(
    patch,
    path = "/chats/{chat}/queue/{message}",
    request_body = NewText,
    responses((status = OK, description = "Where the message is now.", body = Now)),
    extensions(("x-refusals" = json!([Code::NotQueued]))),
)]
pub(super) async fn edit(
    State(app): State<App>,
    at: At,
    mut call: Call<MessageBody>,
) -> Answer<Json<Now>> {
    let mut fields = call.fields::<NewText>()?;
    let text = fields.raw_text("text", Most::Bytes(MESSAGE_BYTES_MAX))?;
    let text = text.ok_or_else(|| fields.missing("text"))?;
    let command = Command::EditQueued { message: at.id("message")?, text };
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Now::of(&app, &at).await
}

/// Takes back a message that waits.
#[utoipa::path(
    delete,
    path = "/chats/{chat}/queue/{message}",
    responses((status = OK, description = "Where the message is now.", body = Now)),
    extensions(("x-refusals" = json!([Code::NotQueued]))),
)]
pub(super) async fn withdraw(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Now>> {
    call.no_fields()?;
    let command = Command::WithdrawQueued { message: at.id("message")? };
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Now::of(&app, &at).await
}

/// Hands a message over next, though the queue is held.
#[utoipa::path(
    post,
    path = "/chats/{chat}/queue/{message}/send-now",
    responses((status = OK, description = "Where the message is now.", body = Now)),
    extensions(("x-refusals" = json!([Code::NotQueued, Code::ChatClosed, Code::TooManyUnknown]))),
)]
pub(super) async fn send_now(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Now>> {
    call.no_fields()?;
    let command = Command::SendNow { message: at.id("message")? };
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Now::of(&app, &at).await
}

/// Puts what waits in another order.
#[utoipa::path(
    put,
    path = "/chats/{chat}/queue/order",
    request_body = NewOrder,
    responses((status = OK, description = "The queue as it is now.", body = Queue)),
    extensions(("x-refusals" = json!([Code::NotQueued]))),
)]
pub(super) async fn order(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Queue>> {
    let mut fields = call.fields::<NewOrder>()?;
    let order = fields.ids("messages", ORDER_MESSAGES_MAX)?;
    let order = order.ok_or_else(|| fields.missing("messages"))?;
    act(&app, &at, call, Command::OrderQueue { order }).await
}

/// Holds the queue.
#[utoipa::path(
    post,
    path = "/chats/{chat}/queue/pause",
    responses((status = OK, description = "The queue, held.", body = Queue)),
)]
pub(super) async fn pause(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Queue>> {
    call.no_fields()?;
    act(&app, &at, call, Command::PauseQueue).await
}

/// Lets the queue run.
#[utoipa::path(
    post,
    path = "/chats/{chat}/queue/resume",
    responses((status = OK, description = "The queue as it is now.", body = Queue)),
)]
pub(super) async fn resume(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Queue>> {
    call.no_fields()?;
    act(&app, &at, call, Command::ResumeQueue).await
}

async fn act(app: &App, at: &At, call: Call<PlainBody>, command: Command) -> Answer<Json<Queue>> {
    let id = at.id("chat")?;
    app.host.submit(id, command, call.caller).await?;
    page(app, id, None).await
}
