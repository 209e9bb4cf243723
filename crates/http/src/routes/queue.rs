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
use crate::routes::messages::Now;
use crate::routes::{Answer, chat, unread};
use crate::wire::queue::Queue;

/// Messages that an order may name: what waits, and what was put back beyond the bound.
const ORDER_MESSAGES_MAX: usize = 2 * QUEUE_MESSAGES_MAX;

/// What waits, in order; `from` is the `next` of the page before.
pub(super) async fn list(State(app): State<App>, at: At, params: Params) -> Answer<Json<Queue>> {
    let params = params.only(&["from"])?;
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
pub(super) async fn edit(
    State(app): State<App>,
    at: At,
    mut call: Call<MessageBody>,
) -> Answer<Json<Now>> {
    let mut fields = call.fields(&["text"])?;
    let text = fields.text("text", Most::Bytes(MESSAGE_BYTES_MAX))?;
    let text = text.ok_or_else(|| fields.missing("text"))?;
    let command = Command::EditQueued { message: at.id("message")?, text };
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Now::of(&app, &at).await
}

/// Takes back a message that waits.
pub(super) async fn withdraw(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Now>> {
    call.fields(&[])?;
    let command = Command::WithdrawQueued { message: at.id("message")? };
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Now::of(&app, &at).await
}

/// Hands a message over next, though the queue is held.
pub(super) async fn send_now(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Now>> {
    call.fields(&[])?;
    let command = Command::SendNow { message: at.id("message")? };
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Now::of(&app, &at).await
}

/// Puts what waits in another order.
pub(super) async fn order(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Queue>> {
    let mut fields = call.fields(&["messages"])?;
    let order = fields.ids("messages", ORDER_MESSAGES_MAX)?;
    let order = order.ok_or_else(|| fields.missing("messages"))?;
    act(&app, &at, call, Command::OrderQueue { order }).await
}

/// Holds the queue.
pub(super) async fn pause(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Queue>> {
    call.fields(&[])?;
    act(&app, &at, call, Command::PauseQueue).await
}

/// Lets the queue run.
pub(super) async fn resume(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Queue>> {
    call.fields(&[])?;
    act(&app, &at, call, Command::ResumeQueue).await
}

async fn act(app: &App, at: &At, call: Call<PlainBody>, command: Command) -> Answer<Json<Queue>> {
    let id = at.id("chat")?;
    app.host.submit(id, command, call.caller).await?;
    page(app, id, None).await
}
