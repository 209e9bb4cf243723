//! Another chat from a place of this one, and this one from an earlier place: for agents that can.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use holdfast_core::ids::{ChatId, ReceiptId};
use holdfast_core::input::{Command, Reply};
use holdfast_core::limits::MESSAGE_BYTES_MAX;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::PageFrom;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::extract::fields::Most;
use crate::extract::{At, Call, MessageBody, PlainBody};
use crate::openapi::request;
use crate::routes::{Answer, chat, odd_reply, shown, unread};
use crate::wire::ids;
use crate::wire::row::Row;

/// What a person is told who goes back.
const NOTE: &str = "What came after this place stays readable; the agent knows nothing of it any more. \
                    Files were not changed.";

request! {
    /// Where the other chat begins.
    pub(super) struct Fork {
        /// The `seq` of the last item that it shares with this one: one with `turn_end`, or the last.
        at: u64,
    }

    /// To where a chat goes back.
    pub(super) struct Rewind {
        /// The `seq` of the last item that stays: one with `turn_end`.
        at: u64,
        /// A message that is sent from there.
        text: Option<String>,
    }
}

/// Opens another chat that begins as this one is, up to an item. Its agent is started at once, to
/// copy its session before this chat goes on; which items an agent can fork at, it says when it is
/// refused.
#[utoipa::path(
    post,
    path = "/chats/{chat}/fork",
    request_body = Fork,
    responses((status = CREATED, description = "The other chat.", body = Row)),
    extensions(("x-refusals" = json!([Code::ItemNotFound, Code::NotSupported, Code::ChatBusy]))),
)]
pub(super) async fn fork(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<(StatusCode, Json<Row>)> {
    let mut fields = call.fields::<Fork>()?;
    let place = fields.number("at")?.ok_or_else(|| fields.missing("at"))?;
    let id = at.id("chat")?;
    if app.host.replayed(call.caller.clone()).await?.is_none() {
        has_item(&app, id, place).await?;
    }
    match app.host.fork(id, place, call.caller.clone()).await? {
        Reply::Opened { chat, .. } => {
            Ok((StatusCode::CREATED, Json(shown(&app, call.caller, chat).await?)))
        }
        other => Err(odd_reply(&other)),
    }
}

/// The chat as it is now, back at an earlier place.
#[derive(Serialize, ToSchema)]
pub(super) struct Rewound {
    #[serde(flatten)]
    row: Row,
    /// Under which to ask what became of the message, if one was sent.
    #[schema(value_type = Option<ids::ReceiptId>)]
    receipt: Option<ReceiptId>,
    /// What this did, and what it did not.
    note: &'static str,
}

/// Goes back to the end of an earlier turn.
///
/// What came after stays in the transcript, above a notice
/// `went_back` that names the place; the agent knows nothing of it any more. Files stay as they are. To
/// which items an agent can go back, it says when it is refused; they have `turn_end`.
#[utoipa::path(
    post,
    path = "/chats/{chat}/rewind",
    request_body = Rewind,
    responses((status = OK, description = "The chat as it is now.", body = Rewound)),
    extensions(("x-refusals" = json!([Code::ItemNotFound, Code::NotSupported, Code::ChatBusy, Code::ChatClosed, Code::QueueFull, Code::TooManyUnknown]))),
)]
pub(super) async fn rewind(
    State(app): State<App>,
    at: At,
    mut call: Call<MessageBody>,
) -> Answer<Json<Rewound>> {
    let mut fields = call.fields::<Rewind>()?;
    let place = fields.number("at")?.ok_or_else(|| fields.missing("at"))?;
    let text = fields.text("text", Most::Bytes(MESSAGE_BYTES_MAX))?;
    let id = at.id("chat")?;
    if app.host.replayed(call.caller.clone()).await?.is_none() {
        has_item(&app, id, place).await?;
    }
    let turn = app.store.turn_place(id, place).await.map_err(unread)?;
    let message = text.map(|text| (app.host.new_message(), text, call.principal.author));
    let command = Command::Rewind { at: place, turn, message };
    match app.host.submit(id, command, call.caller.clone()).await? {
        Reply::Rewound { receipt } => {
            let row = shown(&app, call.caller, id).await?;
            Ok(Json(Rewound { row, receipt, note: NOTE }))
        }
        other => Err(odd_reply(&other)),
    }
}

/// Refuses where a chat has no item at this place.
async fn has_item(app: &App, id: ChatId, place: u64) -> Answer<()> {
    chat(app, id).await?;
    let before = PageFrom::Before(place.saturating_add(1));
    let found = app.store.items(id, before, 1).await.map_err(unread)?;
    if found.last().is_none_or(|item| item.place != place) {
        let text = format!("The chat has no entry {place}.");
        return Err(Refusal::new(Code::ItemNotFound, text).field("at").into());
    }
    Ok(())
}
