//! The host itself.

use axum::Json;
use axum::extract::State;
use holdfast_core::ids::AttemptId;
use holdfast_core::offer::{Snapshot, sentence};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::ChatFilter;
use holdfast_store::query::QUERY_ROWS_MAX;

use crate::app::App;
use crate::extract::fields::Most;
use crate::extract::{Call, PlainBody};
use crate::openapi::request;
use crate::port::StopAgents;
use crate::routes::{Answer, unread};
use crate::wire::host::{Counts, HostState, Left, LeftEnded, Limits, Working, WorkingChats};
use crate::wire::page::{LeftPage, Page};
use serde::Serialize;
use utoipa::ToSchema;

/// Characters of an id of what was left running.
const LEFT_ID_CHARS_MAX: usize = 100;

/// What the host is and how it is.
#[utoipa::path(
    get,
    path = "/host",
    responses((status = OK, description = "The host.", body = HostState)),
)]
pub(super) async fn state(State(app): State<App>) -> Answer<Json<HostState>> {
    let info = app.host.info();
    let mut damage = app.store.damage();
    damage.extend(info.damage);
    Ok(Json(HostState {
        version: info.version,
        generation: app.store.generation(),
        incarnation: app.store.incarnation().simple().to_string(),
        store: info.store,
        counts: Counts::of(app.store.counts().await.map_err(unread)?),
        limits: Limits::all(),
        damage,
        configuration: info.configuration,
    }))
}

/// What runs on of chats that were closed with `{"leftovers": "leave"}`. It ends with the host's agents,
/// or by `POST /host/left/end`.
#[utoipa::path(
    get,
    path = "/host/left",
    responses((status = OK, description = "All of it.", body = LeftPage)),
)]
pub(super) async fn left(State(app): State<App>) -> Answer<Json<LeftPage>> {
    Ok(Json(Page::whole(app.host.left().await.into_iter().map(Left::of).collect())))
}

request! {
    /// What is to be ended.
    pub(super) struct EndLeft {
        /// The `id` of what was left by one chat; all of it where nothing is said.
        id: Option<String>,
    }
}

/// Ends what was left running, and answers once nothing of it lives. What is not there any more has
/// ended already.
#[utoipa::path(
    post,
    path = "/host/left/end",
    request_body = EndLeft,
    responses((status = OK, description = "It is ended.", body = LeftEnded)),
)]
pub(super) async fn end_left(
    State(app): State<App>,
    mut call: Call<PlainBody>,
) -> Answer<Json<LeftEnded>> {
    let mut fields = call.fields::<EndLeft>()?;
    let of = fields.raw_text("id", Most::Chars(LEFT_ID_CHARS_MAX))?;
    let of = of.map(|id| id.parse::<AttemptId>()).transpose().map_err(|_| {
        let text = "The field id is not one that GET /host/left lists.";
        Refusal::new(Code::InvalidField, text).field("id")
    })?;
    let ended = app.host.end_left(of).await;
    Ok(Json(LeftEnded { ended: ended.iter().map(ToString::to_string).collect() }))
}

/// What becomes of the agents.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "declared; read as words")]
enum AgentsThen {
    /// They are stopped, with offers.
    Stop,
    /// They go on.
    Keep,
}

request! {
    /// A stop of the host.
    pub(super) struct Stop {
        /// What becomes of the agents.
        agents: AgentsThen,
    }
}

/// Says who works, then stops the host.
#[utoipa::path(
    post,
    path = "/host/stop",
    request_body = Stop,
    responses((status = OK, description = "Who works; the host stops now.", body = WorkingChats)),
)]
pub(super) async fn stop(
    State(app): State<App>,
    mut call: Call<PlainBody>,
) -> Answer<Json<WorkingChats>> {
    let mut fields = call.fields::<Stop>()?;
    let words = [("stop", StopAgents::Stop), ("keep", StopAgents::Keep)];
    let agents = fields.word("agents", &words)?.ok_or_else(|| fields.missing("agents"))?;
    let working = working(&app).await?;
    app.host.stop(agents);
    Ok(Json(working))
}

/// Says who works, then replaces the host; the agents go on.
#[utoipa::path(
    post,
    path = "/host/restart",
    responses((status = OK, description = "Who works; the host is replaced now.", body = WorkingChats)),
)]
pub(super) async fn restart(
    State(app): State<App>,
    mut call: Call<PlainBody>,
) -> Answer<Json<WorkingChats>> {
    call.no_fields()?;
    let working = working(&app).await?;
    app.host.restart()?;
    Ok(Json(working))
}

async fn working(app: &App) -> Answer<WorkingChats> {
    let mut working = Vec::new();
    let mut before = None;
    loop {
        let page = app.store.chats(ChatFilter::Open, before, QUERY_ROWS_MAX).await;
        let page = page.map_err(unread)?;
        let rows = page.rows.into_iter().filter(|row| row.summary.shows_work);
        working.extend(rows.map(|row| Working {
            chat: row.id,
            title: row.title,
            text: sentence(&Snapshot::of(&row.summary.activity)).text,
        }));
        match page.next {
            Some(next) => before = Some(next),
            None => return Ok(WorkingChats { working }),
        }
    }
}
