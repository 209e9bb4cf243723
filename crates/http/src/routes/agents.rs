//! Agents that can be chosen.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::wire::agent::Agent;
use crate::wire::page::{AgentPage, Page};

/// All of them.
#[utoipa::path(
    get,
    path = "/agents",
    responses((status = OK, description = "All of them.", body = AgentPage)),
)]
pub(super) async fn list(State(app): State<App>) -> Json<AgentPage> {
    Json(Page::whole(app.host.agents().await.into_iter().map(Agent::of).collect()))
}
