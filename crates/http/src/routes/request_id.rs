//! The name of each request: in its answer, and in every line of the log that is written for it.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument;
use uuid::Uuid;

/// The header that a client may name its request with, and that every answer has.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Characters of a name that is taken from a client.
const REQUEST_ID_CHARS_MAX: usize = 64;

/// Names the request: as its client does, where that is a plain word, else anew.
pub(super) async fn identify(request: Request, next: Next) -> Response {
    let own = request.headers().get(REQUEST_ID).and_then(plain);
    let id = own.unwrap_or_else(|| Uuid::new_v4().simple().to_string());
    let method = request.method().clone();
    let path: String = request.uri().path().chars().take(200).collect();
    let span = match chat_of(&path) {
        Some(chat) => tracing::info_span!("request", request_id = id, chat),
        None => tracing::info_span!("request", request_id = id),
    };
    let answer = async {
        let response = next.run(request).await;
        let status = response.status().as_u16();
        if response.status().is_server_error() {
            tracing::warn!(%method, path, status, "answered");
        } else {
            tracing::debug!(%method, path, status, "answered");
        }
        response
    };
    let mut response = answer.instrument(span).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

fn plain(header: &HeaderValue) -> Option<String> {
    let text = header.to_str().ok()?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let right = !text.is_empty() && text.len() <= REQUEST_ID_CHARS_MAX && text.chars().all(plain);
    right.then(|| text.to_owned())
}

/// The chat that a path is about.
fn chat_of(path: &str) -> Option<&str> {
    let rest = path.strip_prefix("/api/v1/chats/")?;
    rest.split('/').next().filter(|chat| !chat.is_empty())
}
