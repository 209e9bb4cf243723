//! The OpenAPI document of the API, made from the routes themselves.
//!
//! A route says what is its own: method, path, query, body, answer, and the codes of its own
//! refusals. What follows from these is added by [`complete`], in one place for all.

mod complete;
mod problems;
mod request;

use std::sync::LazyLock;

use serde_json::Value;
use utoipa::OpenApi;

use crate::problem::Document;
use crate::routes;
use crate::wire::ids::{AgentId, Slot};

pub(crate) use request::{Query, Request, query, request};

/// The frame of the document.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Holdfast",
        version = "1",
        description = "Hosts coding-agent chats and keeps what it has acknowledged. Every refusal is a \
        problem document (RFC 9457) with a stable `code`; `docs/errors` has a page for each. Every \
        field of an answer is always there, `null` where there is nothing. Clients pass over \
        fields, words and kinds of change that they do not know: a later version may add some.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    components(schemas(AgentId, Document, Slot))
)]
pub(crate) struct Frame;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| complete::complete(routes::described()));

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = serde_json::to_string_pretty(&*DOCUMENT).unwrap_or_default();
    text.push('\n');
    text
});

/// The document.
#[must_use]
pub fn document() -> &'static Value {
    &DOCUMENT
}

/// The document as it is served and kept in `docs/openapi.json`.
#[must_use]
pub fn text() -> &'static str {
    &TEXT
}
