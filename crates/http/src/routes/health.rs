//! What may be asked without a token, since it tells nothing.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::port::Readiness;
use crate::wire::host::Version;

/// The process answers.
#[utoipa::path(
    get,
    path = "/livez",
    responses((status = OK, description = "It does.", body = String)),
)]
pub(super) async fn live() -> &'static str {
    "ok\n"
}

/// The host takes writes.
#[utoipa::path(
    get,
    path = "/readyz",
    responses((status = OK, description = "It does.", body = String),
        (status = SERVICE_UNAVAILABLE, description = "It is starting or stopping.", body = String),
    ),
)]
pub(super) async fn ready(State(app): State<App>) -> (StatusCode, &'static str) {
    match app.host.info().readiness {
        Readiness::Ready => (StatusCode::OK, "ok\n"),
        Readiness::Starting => (StatusCode::SERVICE_UNAVAILABLE, "starting\n"),
        Readiness::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
    }
}

/// The program and its version.
#[utoipa::path(
    get,
    path = "/version",
    responses((status = OK, description = "The version.", body = Version)),
)]
pub(super) async fn version(State(app): State<App>) -> Json<Version> {
    Json(Version { name: "holdfast", version: app.host.info().version })
}
