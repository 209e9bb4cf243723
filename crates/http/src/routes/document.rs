//! The document of the API.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::openapi;

/// This document.
#[utoipa::path(
    get,
    path = "/openapi.json",
    responses((status = OK, description = "OpenAPI 3.1.", body = serde_json::Value)),
)]
pub(super) async fn show() -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], openapi::text()).into_response()
}
