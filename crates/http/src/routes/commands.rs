//! What can be written after a slash.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::extract::At;
use crate::routes::{Answer, chat, unread};
use crate::wire::command::AgentCommand;
use crate::wire::page::{AgentCommandPage, Page};

/// The commands that the chat's agent has for its users, in the agent's order, as it told them last.
/// Before it told any, those that the same agent told last in another chat of the same directory.
/// They are proposals: any other message that begins with a slash is sent as well.
#[utoipa::path(
    get,
    path = "/chats/{chat}/commands",
    responses((status = OK, description = "All of them.", body = AgentCommandPage)),
)]
pub(super) async fn list(State(app): State<App>, at: At) -> Answer<Json<AgentCommandPage>> {
    let row = chat(&app, at.id("chat")?).await?;
    let rows = app.store.commands(row.id).await.map_err(unread)?;
    Ok(Json(Page::whole(rows.into_iter().map(AgentCommand::of).collect())))
}
