//! Agents that can be chosen.

use axum::Json;
use axum::extract::State;

use holdfast_core::limits::CWD_BYTES_MAX;
use holdfast_core::provider::Capabilities;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::ChatFilter;
use holdfast_store::query::QUERY_ROWS_MAX;

use crate::app::App;
use crate::extract::{At, Params};
use crate::limits::{PAGE_SESSIONS, PAGE_SESSIONS_MAX};
use crate::openapi::query;
use crate::port::SessionQuery;
use crate::routes::{Answer, search, unread};
use crate::wire::agent::Agent;
use crate::wire::page::{AgentPage, Page, SessionPage};
use crate::wire::session::Session;

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
    // What became of the chat in which something happened last.
    let logged_out = |id: &str| {
        let last = newest.rows.iter().find(|row| row.summary.agent == id);
        last.is_some_and(|row| row.summary.failure.as_deref() == Some("login_needed"))
    };
    let agents = app.host.agents().await.into_iter().map(|info| {
        let (known, logged_out) = (known(&info.id), logged_out(&info.id));
        Agent::of(info, known, logged_out)
    });
    Ok(Json(Page::whole(agents.collect())))
}

query! {
    /// What a list of sessions is narrowed to.
    pub(super) struct SessionsQuery {
        /// The directory in which they were begun.
        cwd: Option<String>,
        /// Words that the title, the first words or the directory has.
        q: Option<String>,
        /// The `next` of the page before.
        before: Option<String>,
        /// Rows of the page, at most; more than the host gives at once is cut.
        #[param(minimum = 1)]
        limit: Option<u64>,
    }
}

/// A page of the sessions that an agent keeps itself, the last changed first. They are read from its files,
/// and nothing of those is changed. A page may hold fewer rows than was asked for and still have a next one.
#[utoipa::path(
    get,
    path = "/agents/{agent}/sessions",
    params(SessionsQuery),
    responses((status = OK, description = "A page; `next` is the `before` of the one after it.", body = SessionPage)),
    extensions(("x-refusals" = json!([
        Code::AgentNotFound, Code::NotSupported, Code::InvalidCursor, Code::FieldTooLong
    ]))),
)]
pub(super) async fn sessions(
    State(app): State<App>,
    at: At,
    params: Params,
) -> Answer<Json<SessionPage>> {
    let params = params.only::<SessionsQuery>()?;
    let words = search::terms(params.one("q")?)?;
    let words = words.iter().flat_map(|terms| terms.as_slice());
    let cwd = params.one("cwd")?;
    if cwd.is_some_and(|cwd| cwd.len() > CWD_BYTES_MAX) {
        let text = format!("cwd is longer than {CWD_BYTES_MAX} bytes.");
        let refusal = Refusal::new(Code::FieldTooLong, text).field("cwd").limit(CWD_BYTES_MAX);
        return Err(refusal.into());
    }
    let query = SessionQuery {
        cwd: cwd.map(str::to_owned),
        words: words.map(|word| word.to_lowercase()).collect(),
        before: params.one("before")?.map(str::to_owned),
        limit: params.limit(PAGE_SESSIONS, PAGE_SESSIONS_MAX)?,
    };
    let page = app.host.sessions(at.text("agent").to_owned(), query).await?;
    let items = page.sessions.into_iter().map(Session::of).collect();
    Ok(Json(Page { items, next: page.next }))
}
