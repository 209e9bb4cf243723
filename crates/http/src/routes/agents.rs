//! Agents that can be chosen.

use axum::Json;
use axum::extract::State;

use crate::app::App;
use crate::wire::agent::Agent;
use crate::wire::page::Page;

/// All of them.
pub(super) async fn list(State(app): State<App>) -> Json<Page<Agent>> {
    Json(Page::whole(app.host.agents().await.into_iter().map(Agent::of).collect()))
}
