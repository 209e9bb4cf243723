//! The routes, one file for each noun. A handler extracts, calls and maps; the guard has already
//! authorised.

mod agents;
mod attachments;
mod chats;
mod commands;
mod document;
mod drafts;
mod environment;
mod events;
mod forks;
mod grants;
mod health;
mod host;
mod items;
mod messages;
mod metrics;
mod offers;
mod prompts;
mod queue;
mod recap;
mod receipts;
mod request_id;
mod search;
mod session;
mod slots;
mod tasks;
mod turns;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, Uri, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use holdfast_core::head::Life;
use holdfast_core::ids::ChatId;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::{ChatRow, QueryError};

use crate::app::App;
use crate::auth;
use crate::openapi;
use crate::port::{Caller, OperationKey};
use crate::problem::Problem;
use crate::web;
use crate::wire::row::Row;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What a handler answers.
type Answer<T> = Result<T, Problem>;

/// Every route of a host, guarded.
pub fn router(app: App) -> Router {
    let (routes, _) = calls().split_for_parts();
    routes
        .fallback(page)
        .method_not_allowed_fallback(no_such_method)
        .layer(from_fn_with_state(app.clone(), auth::guard))
        .layer(from_fn(dress))
        .layer(from_fn(request_id::identify))
        .layer(from_fn(catch))
        .with_state(app)
}

/// What the routes say of themselves.
pub(crate) fn described() -> OpenApi {
    calls().into_openapi()
}

/// Every call. `routes!` takes only handlers that are described, so that no call is missing from
/// the document; those of one path stand together.
fn calls() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(openapi::Frame::openapi())
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::version))
        .routes(routes!(metrics::show))
        .nest("/api/v1", api())
}

fn api() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(document::show))
        .routes(routes!(host::state))
        .routes(routes!(host::left))
        .routes(routes!(host::end_left))
        .routes(routes!(host::stop))
        .routes(routes!(host::restart))
        .routes(routes!(agents::list))
        .routes(routes!(agents::sessions))
        .routes(routes!(environment::refresh))
        .routes(routes!(environment::show))
        .routes(routes!(chats::list, chats::open))
        .routes(routes!(chats::one, chats::patch, chats::delete))
        .routes(routes!(chats::close))
        .routes(routes!(chats::reopen))
        .routes(routes!(chats::interrupt))
        .routes(routes!(forks::fork))
        .routes(routes!(forks::rewind))
        .routes(routes!(items::list))
        .routes(routes!(items::text))
        .routes(routes!(messages::send))
        .routes(routes!(messages::resolve))
        .routes(routes!(messages::text))
        .routes(routes!(attachments::list, attachments::upload))
        .routes(routes!(attachments::bytes, attachments::remove))
        .routes(routes!(turns::list))
        .routes(routes!(prompts::answer))
        .routes(routes!(commands::list))
        .routes(routes!(grants::list))
        .routes(routes!(grants::end))
        .routes(routes!(tasks::stop))
        .routes(routes!(drafts::get, drafts::put))
        .routes(routes!(queue::list))
        .routes(routes!(queue::order))
        .routes(routes!(queue::pause))
        .routes(routes!(queue::resume))
        .routes(routes!(queue::withdraw, queue::edit))
        .routes(routes!(queue::send_now))
        .routes(routes!(offers::list))
        .routes(routes!(recap::show))
        .routes(routes!(offers::resume))
        .routes(routes!(offers::dismiss))
        .routes(routes!(slots::bind))
        .routes(routes!(search::list))
        .routes(routes!(receipts::one))
        .routes(routes!(events::listen))
        .routes(routes!(session::who, session::sign_in, session::sign_out))
        .routes(routes!(session::link))
}

/// A chat that can be read.
async fn chat(app: &App, chat: ChatId) -> Answer<ChatRow> {
    let row = app.store.chat(chat).await.map_err(unread)?;
    let there = row.filter(|row| row.summary.life != Life::Deleted);
    there.ok_or_else(|| no_chat(chat).into())
}

/// The row that the answer to a write shows. Where the write has a key, it is the one that was kept
/// with it, so that a repeat shows the same, also of a chat that is deleted by then.
async fn shown(app: &App, caller: Caller, id: ChatId) -> Answer<Row> {
    if let Some(OperationKey { key, .. }) = caller.operation {
        let stored = app.store.operation(caller.principal, key).await.map_err(unread)?;
        if let Some(row) = stored.and_then(|stored| stored.row) {
            return Ok(Row::of(row));
        }
    }
    Ok(Row::of(chat(app, id).await?))
}

fn no_chat(chat: ChatId) -> Refusal {
    Refusal::new(Code::ChatNotFound, format!("There is no chat {chat}. It may have been deleted."))
}

/// Why a query was not answered.
fn unread(fault: QueryError) -> Problem {
    match fault {
        QueryError::Overloaded => Refusal::new(
            Code::Overloaded,
            "More reads wait than the host takes at once. Try again in a moment.",
        )
        .into(),
        QueryError::InvalidPage => Refusal::new(
            Code::InvalidCursor,
            "The parameter before is not the next of an earlier page. Begin without it.",
        )
        .field("before")
        .into(),
        QueryError::Stopped => {
            Refusal::new(Code::Stopping, "The host is stopping. Ask again when it is back.").into()
        }
        QueryError::Unreadable(_) => Problem::internal(&fault),
    }
}

/// A reply that does not belong to its command: a defect of the host.
fn odd_reply(reply: &holdfast_core::input::Reply) -> Problem {
    Problem::internal(&format_args!("the reply {reply:?} to another command"))
}

/// A part of the page, or nothing that is there.
async fn page(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    match web::page(&method, path).or_else(|| web::nowhere(&method, path, &headers)) {
        Some(page) => page,
        None => no_such_call(uri).await.into_response(),
    }
}

async fn no_such_call(uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(200).collect();
    Refusal::new(Code::NotFound, format!("There is no call {path:?}.")).into()
}

async fn no_such_method(method: Method, uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(200).collect();
    let text = format!("The call {path:?} cannot be made with {method}.");
    Refusal::new(Code::MethodNotAllowed, text).into()
}

/// What every response carries: it is nobody's to cache, and its type is as it says.
async fn dress(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// A defect of one handler is an answer, not a dead connection.
async fn catch(request: Request, next: Next) -> Response {
    let handled = std::panic::AssertUnwindSafe(next.run(request)).catch_unwind().await;
    handled.unwrap_or_else(|_| Problem::internal(&"a handler panicked").into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::StatusCode;
    use tower::ServiceExt;

    #[tokio::test]
    async fn a_panic_is_an_answer() {
        async fn fails() -> &'static str {
            panic!("on purpose")
        }
        let router = Router::new().route("/", axum::routing::get(fails)).layer(from_fn(catch));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    }
}
