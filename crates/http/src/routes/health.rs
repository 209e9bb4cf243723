//! What may be asked without a token, since it tells nothing.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use holdfast_store::{QueryError, Store};
use tokio::time::timeout;

use crate::app::App;
use crate::port::Readiness;
use crate::wire::host::Version;

/// How long a read of the store may take before it is none.
const READ_MAX: Duration = Duration::from_secs(5);

/// The process answers, and reads its store. A store that is busy lives.
#[utoipa::path(
    get,
    path = "/livez",
    responses(
        (status = OK, description = "It does.", body = String),
        (status = SERVICE_UNAVAILABLE, description = "The store cannot be read.", body = String),
    ),
)]
pub(super) async fn live(State(app): State<App>) -> (StatusCode, &'static str) {
    read(&*app.store).await
}

async fn read(store: &dyn Store) -> (StatusCode, &'static str) {
    match timeout(READ_MAX, store.change_bounds()).await {
        Ok(Ok(_)) => (StatusCode::OK, "ok\n"),
        Ok(Err(QueryError::Overloaded)) => (StatusCode::OK, "busy\n"),
        Ok(Err(QueryError::Stopped | QueryError::Unreadable(_) | QueryError::InvalidPage)) => {
            (StatusCode::SERVICE_UNAVAILABLE, "the store cannot be read\n")
        }
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n"),
    }
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

#[cfg(test)]
mod tests {
    use holdfast_store::{Options, Sqlite};

    use super::*;

    #[tokio::test]
    async fn a_store_that_is_not_read_is_no_life() {
        let dir = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&Options::new(dir.path())).unwrap();
        assert_eq!(read(&store).await.0, StatusCode::OK);
        store.stop();
        assert_eq!(read(&store).await.0, StatusCode::SERVICE_UNAVAILABLE);
    }
}
