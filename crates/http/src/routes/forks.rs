//! Another chat from a place of this one, and this one from an earlier place: for agents that can.
//! No agent of this version can be forked anywhere but at the end of its session, and none can be taken
//! back.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use holdfast_core::ids::ChatId;
use holdfast_core::input::Reply;
use holdfast_core::limits::MESSAGE_BYTES_MAX;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::PageFrom;

use crate::app::App;
use crate::extract::fields::Most;
use crate::extract::{At, Call, MessageBody, PlainBody};
use crate::openapi::request;
use crate::routes::{Answer, chat, odd_reply, shown, unread};
use crate::wire::row::Row;

request! {
    /// Where the other chat begins.
    pub(super) struct Fork {
        /// The `seq` of the last item that it shares with this one.
        at: u64,
    }

    /// To where a chat goes back.
    pub(super) struct Rewind {
        /// The `seq` of the last item that stays.
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
        agent_at(&app, id, place).await?;
    }
    match app.host.fork(id, place, call.caller.clone()).await? {
        Reply::Opened { chat, .. } => {
            Ok((StatusCode::CREATED, Json(shown(&app, call.caller, chat).await?)))
        }
        other => Err(odd_reply(&other)),
    }
}

/// Takes a chat back to an item.
#[utoipa::path(
    post,
    path = "/chats/{chat}/rewind",
    request_body = Rewind,
    responses((status = OK, description = "The chat as it is now.", body = Row)),
    extensions(("x-refusals" = json!([Code::ItemNotFound, Code::NotSupported]))),
)]
pub(super) async fn rewind(
    State(app): State<App>,
    at: At,
    mut call: Call<MessageBody>,
) -> Answer<Json<Row>> {
    let mut fields = call.fields::<Rewind>()?;
    let place = fields.number("at")?.ok_or_else(|| fields.missing("at"))?;
    fields.text("text", Most::Bytes(MESSAGE_BYTES_MAX))?;
    let agent = agent_at(&app, at.id("chat")?, place).await?;
    let text = format!(
        "The sessions of the agent {agent:?} cannot go back to a place. Nothing was changed."
    );
    Err(Refusal::new(Code::NotSupported, text).into())
}

/// The agent of a chat that has an item at this place.
async fn agent_at(app: &App, id: ChatId, place: u64) -> Answer<String> {
    let row = chat(app, id).await?;
    let before = PageFrom::Before(place.saturating_add(1));
    let found = app.store.items(id, before, 1).await.map_err(unread)?;
    if found.last().is_none_or(|item| item.place != place) {
        let text = format!("The chat has no entry {place}.");
        return Err(Refusal::new(Code::ItemNotFound, text).field("at").into());
    }
    Ok(row.summary.agent)
}
