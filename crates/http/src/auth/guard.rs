//! The guard before every route.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use holdfast_core::refusal::Refusal;

use crate::app::App;
use crate::auth::{Principal, cookie, token};
use crate::extract::body;
use crate::problem::Problem;

/// Lets a request pass whose `Host` and `Origin` are ours and, except on the [`open`] paths, whose
/// token or cookie is known.
pub(crate) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    match admit(&app, &mut request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            if body::has_body(&request) {
                body::drain(std::mem::replace(request.body_mut(), Body::empty())).await;
            }
            Problem::from(refusal).into_response()
        }
    }
}

fn admit(app: &App, request: &mut Request) -> Result<(), Refusal> {
    app.names.check(request.uri(), request.headers())?;
    match holder(app, request) {
        Ok(principal) => {
            request.extensions_mut().insert(principal);
            Ok(())
        }
        Err(_) if open(request, app.open_metrics) => Ok(()),
        Err(refusal) => Err(refusal),
    }
}

/// Whose token it is; without one, whose cookie, where our own page sent it.
fn holder(app: &App, request: &Request) -> Result<Principal, Refusal> {
    let headers = request.headers();
    if let Some(token) = token::presented(headers) {
        return app.tokens.holder(&token::digest(token)).ok_or_else(token::not_authorised);
    }
    let session = cookie::presented(headers, app.sessions.cookie());
    let holder = session.and_then(|session| app.sessions.holder(session));
    let holder = holder.ok_or_else(token::not_authorised)?;
    cookie::own_page(request.method(), headers)?;
    Ok(holder)
}

/// What says nothing of anybody's chats, and signing in.
fn open(request: &Request, open_metrics: bool) -> bool {
    let path = request.uri().path();
    if path == "/api/v1/session" {
        return request.method() == Method::POST;
    }
    !path.starts_with("/api/") && (path != "/metrics" || open_metrics)
}
