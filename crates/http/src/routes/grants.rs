//! What a person allowed for good in a chat.

use axum::Json;
use axum::extract::State;
use holdfast_core::input::Command;

use crate::app::App;
use crate::extract::{At, Call, PlainBody};
use crate::routes::chats::Done;
use crate::routes::{Answer, chat, unread};
use crate::wire::grant::Grant;
use crate::wire::page::{GrantPage, Page};

/// What is allowed for good, oldest first: what an agent of this chat is told when it asks for the very
/// same thing again.
#[utoipa::path(
    get,
    path = "/chats/{chat}/grants",
    responses((status = OK, description = "All of them.", body = GrantPage)),
)]
pub(super) async fn list(State(app): State<App>, at: At) -> Answer<Json<GrantPage>> {
    let row = chat(&app, at.id("chat")?).await?;
    let rows = app.store.grants(row.id).await.map_err(unread)?;
    Ok(Json(Page::whole(rows.into_iter().map(Grant::of).collect())))
}

/// Takes a grant back: it is asked again. An agent that was told it and still runs may keep it until
/// it ends.
#[utoipa::path(
    delete,
    path = "/chats/{chat}/grants/{grant}",
    responses((status = OK, description = "It is taken back.", body = Done)),
)]
pub(super) async fn end(
    State(app): State<App>,
    at: At,
    mut call: Call<PlainBody>,
) -> Answer<Json<Done>> {
    call.no_fields()?;
    let command = Command::EndGrant { grant: at.id("grant")? };
    app.host.submit(at.id("chat")?, command, call.caller).await?;
    Ok(Json(Done {}))
}
