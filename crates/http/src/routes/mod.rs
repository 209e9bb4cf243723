//! The routes, one file for each noun. A handler extracts, calls and maps; the guard has already
//! authorised.

mod agents;
mod chats;
mod drafts;
mod events;
mod health;
mod host;
mod items;
mod messages;
mod offers;
mod prompts;
mod queue;
mod recap;
mod receipts;
mod search;
mod session;
mod slots;
mod tasks;
mod turns;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use futures_util::FutureExt;
use holdfast_core::head::Life;
use holdfast_core::ids::ChatId;
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::{ChatRow, QueryError};

use crate::app::App;
use crate::auth;
use crate::port::{Caller, OperationKey};
use crate::problem::Problem;
use crate::web;
use crate::wire::row::Row;

/// What a handler answers.
type Answer<T> = Result<T, Problem>;

/// Every route of a host, guarded.
pub fn router(app: App) -> Router {
    Router::new()
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route("/version", get(health::version))
        .nest("/api/v1", api())
        .fallback(page)
        .method_not_allowed_fallback(no_such_method)
        .layer(from_fn_with_state(app.clone(), auth::guard))
        .layer(from_fn(dress))
        .layer(from_fn(catch))
        .with_state(app)
}

fn api() -> Router<App> {
    let chat = Router::new()
        .route("/", get(chats::one).patch(chats::patch).delete(chats::delete))
        .route("/close", post(chats::close))
        .route("/reopen", post(chats::reopen))
        .route("/interrupt", post(chats::interrupt))
        .route("/items", get(items::list))
        .route("/items/{item}/text", get(items::text))
        .route("/messages", post(messages::send))
        .route("/messages/{message}/resolve", post(messages::resolve))
        .route("/messages/{message}/text", get(messages::text))
        .route("/turns", get(turns::list))
        .route("/prompts/{prompt}/answer", post(prompts::answer))
        .route("/tasks/{task}/stop", post(tasks::stop))
        .route("/draft", get(drafts::get).put(drafts::put))
        .route("/queue", get(queue::list))
        .route("/queue/order", put(queue::order))
        .route("/queue/pause", post(queue::pause))
        .route("/queue/resume", post(queue::resume))
        .route("/queue/{message}", delete(queue::withdraw).patch(queue::edit))
        .route("/queue/{message}/send-now", post(queue::send_now));
    Router::new()
        .route("/host", get(host::state))
        .route("/host/stop", post(host::stop))
        .route("/host/restart", post(host::restart))
        .route("/agents", get(agents::list))
        .route("/chats", get(chats::list).post(chats::open))
        .nest("/chats/{chat}", chat)
        .route("/offers", get(offers::list))
        .route("/offers/{chat}/recap", get(recap::show))
        .route("/offers/resume", post(offers::resume))
        .route("/offers/dismiss", post(offers::dismiss))
        .route("/slots/{slot}", put(slots::bind))
        .route("/search", get(search::list))
        .route("/receipts/{receipt}", get(receipts::one))
        .route("/events", get(events::listen))
        .route("/session", get(session::who).post(session::sign_in).delete(session::sign_out))
        .route("/session/links", post(session::link))
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
async fn page(method: Method, uri: Uri) -> Response {
    match web::page(&method, uri.path()) {
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
        let router = Router::new().route("/", get(fails)).layer(from_fn(catch));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    }
}
