//! What a person is writing in a chat, the same on every device.

use axum::extract::State;
use axum::{Extension, Json};
use holdfast_core::limits::DRAFT_BYTES_MAX;
use holdfast_store::Draft as Row;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Principal;
use crate::extract::fields::Most;
use crate::extract::{At, Call, MessageBody};
use crate::openapi::request;
use crate::routes::{Answer, chat, unread};
use crate::wire::time::{Time, rfc3339};

/// A draft; an empty text where there is none.
#[derive(Serialize, ToSchema)]
pub(super) struct Draft {
    /// Its text.
    text: String,
    /// When it was kept.
    updated_at: Option<Time>,
}

impl Draft {
    fn of(row: Option<Row>) -> Self {
        let updated_at = row.as_ref().map(|row| rfc3339(row.at));
        Self { text: row.map(|row| row.text).unwrap_or_default(), updated_at }
    }
}

/// The caller's draft.
#[utoipa::path(
    get,
    path = "/chats/{chat}/draft",
    responses((status = OK, description = "The draft; an empty text where there is none.", body = Draft)),
)]
pub(super) async fn get(
    State(app): State<App>,
    Extension(principal): Extension<Principal>,
    at: At,
) -> Answer<Json<Draft>> {
    let id = at.id("chat")?;
    chat(&app, id).await?;
    let row = app.store.draft(id, principal.name.to_string()).await.map_err(unread)?;
    Ok(Json(Draft::of(row)))
}

request! {
    /// A draft.
    pub(super) struct NewDraft {
        /// Its text; empty removes it.
        text: String,
    }
}

/// Keeps the caller's draft; an empty text removes it. What is answered is what was put, also where
/// another draft is there by now.
#[utoipa::path(
    put,
    path = "/chats/{chat}/draft",
    request_body = NewDraft,
    responses((status = OK, description = "The draft that was put.", body = Draft)),
)]
pub(super) async fn put(
    State(app): State<App>,
    at: At,
    mut call: Call<MessageBody>,
) -> Answer<Json<Draft>> {
    let id = at.id("chat")?;
    let mut fields = call.fields::<NewDraft>()?;
    let text = fields.raw_text("text", Most::Bytes(DRAFT_BYTES_MAX))?;
    let text = text.ok_or_else(|| fields.missing("text"))?;
    let at = app.host.keep_draft(id, text.clone(), call.caller).await?;
    Ok(Json(Draft::of(Some(Row { text, at }).filter(|row| !row.text.is_empty()))))
}
