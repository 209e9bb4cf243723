//! Messages to agents.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use holdfast_core::ids::{AttachmentId, MessageId};
use holdfast_core::input::{Choice, Command, Reply, Send};
use holdfast_core::limits::{MESSAGE_ATTACHMENTS_MAX, MESSAGE_BYTES_MAX};
use holdfast_core::refusal::{Code, Refusal};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::extract::fields::Most;
use crate::extract::{At, Call, MessageBody, PlainBody};
use crate::openapi::request;
use crate::routes::{Answer, chat, odd_reply, unread};
use crate::wire::receipt::{Accepted, MessageNow};
use crate::wire::{ids, words};

/// How a message is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read as words")]
enum SentBy {
    /// After what waits.
    Queue,
    /// Into the running turn, where the agent can.
    Steer,
    /// At once; the running turn is ended.
    Interrupt,
}

request! {
    /// A message to an agent.
    pub(super) struct NewMessage {
        /// Its text; may be empty where something is attached.
        text: String,
        /// What is attached, in the order in which the agent gets it.
        #[schema(value_type = Option<Vec<ids::AttachmentId>>)]
        attachments: Option<Vec<String>>,
        /// How it is sent; `queue` where nothing is said.
        delivery: Option<SentBy>,
    }
}

/// Gives an agent a message.
#[utoipa::path(
    post,
    path = "/chats/{chat}/messages",
    request_body = NewMessage,
    responses((status = ACCEPTED, description = "It is kept, and will be handed over.", body = Accepted)),
    extensions(("x-refusals" = json!([Code::ChatClosed, Code::QueueFull, Code::TooManyUnknown, Code::UnknownAttachment]))),
)]
pub(super) async fn send(
    State(app): State<App>,
    at: At,
    mut call: Call<MessageBody>,
) -> Answer<(StatusCode, Json<Accepted>)> {
    let chat = at.id("chat")?;
    let command = wanted(&app, &mut call)?;
    match app.host.submit(chat, command, call.caller).await? {
        Reply::Accepted { receipt, message, note } => {
            let message = MessageNow { id: message, state: words::MessageState::Queued };
            Ok((StatusCode::ACCEPTED, Json(Accepted { receipt, message, note })))
        }
        other => Err(odd_reply(&other)),
    }
}

fn wanted(app: &App, call: &mut Call<MessageBody>) -> Result<Command, Refusal> {
    let mut fields = call.fields::<NewMessage>()?;
    let ways = [("queue", Send::Queue), ("steer", Send::Steer), ("interrupt", Send::Interrupt)];
    let send = fields.word("delivery", &ways)?.unwrap_or_default();
    let attachments = fields.ids::<AttachmentId>("attachments", MESSAGE_ATTACHMENTS_MAX)?;
    let text = fields.raw_text("text", Most::Bytes(MESSAGE_BYTES_MAX))?;
    let text = text.ok_or_else(|| fields.missing("text"))?;
    let message = app.host.new_message();
    let (by, attachments) = (call.principal.author, attachments.unwrap_or_default());
    Ok(Command::Send { message, text, by, send, attachments })
}

/// Where a message is now.
#[derive(Serialize, ToSchema)]
pub(super) struct Now {
    /// The message.
    message: MessageNow,
}

impl Now {
    /// The state of a message after a write about it.
    pub(super) async fn of(app: &App, at: &At) -> Answer<Json<Self>> {
        let (id, message) = (at.id("chat")?, at.id("message")?);
        let row = app.store.message(id, message).await.map_err(unread)?;
        let row = row.ok_or_else(|| no_message(message))?;
        Ok(Json(Self {
            message: MessageNow { id: message, state: words::message_state(&row.state) },
        }))
    }
}

fn no_message(message: MessageId) -> Refusal {
    Refusal::new(Code::MessageNotFound, format!("The chat has no message {message}."))
}

/// What a person says of a message in doubt.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read as words")]
pub(super) enum Doubt {
    /// The agent has it.
    Arrived,
    /// It is sent again.
    SendAgain,
    /// It is not sent.
    Discard,
}

request! {
    /// What becomes of a message in doubt.
    pub(super) struct Resolution {
        /// What a person says of it.
        choice: Doubt,
        /// Leave out the context that it carried.
        without_context: Option<bool>,
    }
}

/// Settles a message without an outcome.
#[utoipa::path(
    post,
    path = "/chats/{chat}/messages/{message}/resolve",
    request_body = Resolution,
    responses((status = OK, description = "Where the message is now.", body = Now)),
    extensions(("x-refusals" = json!([Code::ChatClosed, Code::NotInDoubt, Code::TooManyUnknown]))),
)]
pub(super) async fn resolve(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Now>> {
    let mut fields = call.fields::<Resolution>()?;
    // There is no context to leave out yet.
    fields.flag("without_context")?;
    let choice = fields.word("choice", &CHOICES)?.ok_or_else(|| fields.missing("choice"))?;
    let command = Command::Resolve { message: at.id("message")?, choice };
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Now::of(&app, &at).await
}

/// The words for what a person says of a message in doubt.
pub(super) const CHOICES: [(&str, Choice); 3] =
    [("arrived", Choice::Arrived), ("send_again", Choice::SendAgain), ("discard", Choice::Discard)];

/// The whole text of a message.
#[utoipa::path(
    get,
    path = "/chats/{chat}/messages/{message}/text",
    responses((status = OK, description = "All of it.", body = String, content_type = "text/plain; charset=utf-8")),
)]
pub(super) async fn text(State(app): State<App>, at: At) -> Answer<Response> {
    let (id, message) = (at.id("chat")?, at.id("message")?);
    chat(&app, id).await?;
    let row = app.store.message(id, message).await.map_err(unread)?;
    let text = row.ok_or_else(|| no_message(message))?.text;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
