//! The guard before every route.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use holdfast_core::refusal::Refusal;

use crate::app::App;
use crate::auth::token;
use crate::extract::body;
use crate::problem::Problem;

/// Lets a request pass whose `Host` and `Origin` are ours and, except on the [`open`] paths, whose
/// token is known.
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
    let holder = token::presented(request.headers())
        .and_then(|token| app.tokens.holder(&token::digest(token)));
    match holder {
        Some(principal) => {
            request.extensions_mut().insert(principal);
            Ok(())
        }
        None if open(request.uri().path(), app.open_metrics) => Ok(()),
        None => Err(token::not_authorised()),
    }
}

/// The paths that say nothing of anybody's chats.
fn open(path: &str, open_metrics: bool) -> bool {
    !path.starts_with("/api/") && (path != "/metrics" || open_metrics)
}
