//! Agents that can be chosen.

use axum::Json;
use axum::extract::State;

use holdfast_core::provider::Capabilities;
use holdfast_store::ChatFilter;
use holdfast_store::query::QUERY_ROWS_MAX;

use crate::app::App;
use crate::routes::{Answer, unread};
use crate::wire::agent::Agent;
use crate::wire::page::{AgentPage, Page};

/// All of them, with what each could do when a session of it stood last.
#[utoipa::path(
    get,
    path = "/agents",
    responses((status = OK, description = "All of them.", body = AgentPage)),
)]
pub(super) async fn list(State(app): State<App>) -> Answer<Json<AgentPage>> {
    let newest = app.store.chats(ChatFilter::All, None, QUERY_ROWS_MAX).await.map_err(unread)?;
    let known = |id: &str| {
        let mut of_agent = newest.rows.iter().filter(|row| row.summary.agent == id);
        let known = of_agent.find(|row| row.summary.known != Capabilities::NONE);
        known.map_or(Capabilities::NONE, |row| row.summary.known)
    };
    let agents = app.host.agents().await.into_iter().map(|info| {
        let known = known(&info.id);
        Agent::of(info, known)
    });
    Ok(Json(Page::whole(agents.collect())))
}
