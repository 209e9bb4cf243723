//! Every call there is, and what its body may have.

use serde_json::{Map, Value, json};

use self::Takes::{Flag, Id, List, Number, Text, Word};

/// Where the routes are written down; one that the table lacks fails the test.
const DOCUMENT: &str = include_str!("../../../../docs/openapi.json");

pub(crate) const BODY_BYTES_MAX: usize = 256 * 1024;
pub(crate) const MESSAGE_BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// What a field of a body takes.
#[derive(Clone, Copy)]
pub(crate) enum Takes {
    /// A text with a limit, in characters or bytes; `x` counts as one of either.
    Text(usize),
    /// One of some words.
    Word,
    /// An id.
    Id,
    /// `true` or `false`.
    Flag,
    /// A list.
    List,
    /// A whole number.
    Number,
    /// Anything: it is no field, but all of the body.
    Bytes,
}

/// One call.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// Fields of its body, each with what it takes.
    pub(crate) fields: &'static [(&'static str, Takes)],
    /// Fields without which nothing is accepted.
    pub(crate) required: &'static [&'static str],
}

const fn read(path: &'static str) -> Route {
    Route { method: "GET", path, fields: &[], required: &[] }
}

const fn write(method: &'static str, path: &'static str) -> Route {
    Route { method, path, fields: &[], required: &[] }
}

const fn fields(
    method: &'static str,
    path: &'static str,
    fields: &'static [(&'static str, Takes)],
    required: &'static [&'static str],
) -> Route {
    Route { method, path, fields, required }
}

/// A write whose body is a file, whatever stands in it.
const fn file(path: &'static str) -> Route {
    Route { method: "POST", path, fields: FILE, required: &[] }
}

/// The mark of a body that is a file.
const FILE: &[(&str, Takes)] = &[("", Takes::Bytes)];

pub(crate) const ROUTES: &[Route] = &[
    read("/livez"),
    read("/readyz"),
    read("/version"),
    read("/api/v1/openapi.json"),
    read("/metrics"),
    read("/api/v1/host"),
    fields("POST", "/api/v1/host/stop", &[("agents", Word)], &["agents"]),
    write("POST", "/api/v1/host/restart"),
    read("/api/v1/host/left"),
    fields("POST", "/api/v1/host/left/end", &[("id", Text(100))], &[]),
    read("/api/v1/agents"),
    read("/api/v1/agents/{agent}/environment"),
    read("/api/v1/agents/{agent}/sessions"),
    write("POST", "/api/v1/agents/environment/refresh"),
    read("/api/v1/chats"),
    fields(
        "POST",
        "/api/v1/chats",
        &[
            ("agent", Text(200)),
            ("cwd", Text(4096)),
            ("project", Text(200)),
            ("title", Text(200)),
            ("slot", Text(64)),
            ("model", Text(200)),
            ("mode", Text(200)),
            ("effort", Text(200)),
            ("message", Text(TEXT_BYTES_MAX)),
        ],
        &["agent"],
    ),
    read("/api/v1/chats/{chat}/"),
    fields(
        "PATCH",
        "/api/v1/chats/{chat}/",
        &[
            ("title", Text(200)),
            ("slot", Text(64)),
            ("pinned", Flag),
            ("folder", Text(200)),
            ("tags", List),
            ("muted", Flag),
            ("unread", Flag),
            ("model", Text(200)),
            ("mode", Text(200)),
            ("effort", Text(200)),
        ],
        &[],
    ),
    write("DELETE", "/api/v1/chats/{chat}/"),
    fields("POST", "/api/v1/chats/{chat}/close", &[("leftovers", Word)], &[]),
    write("POST", "/api/v1/chats/{chat}/reopen"),
    fields("POST", "/api/v1/chats/{chat}/interrupt", &[("agent", Word)], &[]),
    fields("POST", "/api/v1/chats/{chat}/fork", &[("at", Number)], &["at"]),
    fields(
        "POST",
        "/api/v1/chats/{chat}/rewind",
        &[("at", Number), ("text", Text(TEXT_BYTES_MAX))],
        &["at"],
    ),
    read("/api/v1/chats/{chat}/grants"),
    write("DELETE", "/api/v1/chats/{chat}/grants/{grant}"),
    read("/api/v1/chats/{chat}/items"),
    read("/api/v1/chats/{chat}/items/{item}/text"),
    fields(
        "POST",
        "/api/v1/chats/{chat}/messages",
        &[("text", Text(TEXT_BYTES_MAX)), ("attachments", List), ("delivery", Word)],
        &["text"],
    ),
    fields(
        "POST",
        "/api/v1/chats/{chat}/messages/{message}/resolve",
        &[("choice", Word), ("without_context", Flag)],
        &["choice"],
    ),
    read("/api/v1/chats/{chat}/messages/{message}/text"),
    read("/api/v1/chats/{chat}/attachments"),
    file("/api/v1/chats/{chat}/attachments"),
    read("/api/v1/chats/{chat}/attachments/{attachment}"),
    write("DELETE", "/api/v1/chats/{chat}/attachments/{attachment}"),
    read("/api/v1/chats/{chat}/commands"),
    read("/api/v1/chats/{chat}/turns"),
    fields(
        "POST",
        "/api/v1/chats/{chat}/prompts/{prompt}/answer",
        &[("option", Text(4096)), ("text", Text(64 * 1024)), ("answers", List)],
        &[],
    ),
    write("POST", "/api/v1/chats/{chat}/tasks/{task}/stop"),
    read("/api/v1/chats/{chat}/draft"),
    fields("PUT", "/api/v1/chats/{chat}/draft", &[("text", Text(TEXT_BYTES_MAX))], &["text"]),
    read("/api/v1/chats/{chat}/queue"),
    fields("PUT", "/api/v1/chats/{chat}/queue/order", &[("messages", List)], &["messages"]),
    write("POST", "/api/v1/chats/{chat}/queue/pause"),
    write("POST", "/api/v1/chats/{chat}/queue/resume"),
    write("DELETE", "/api/v1/chats/{chat}/queue/{message}"),
    fields(
        "PATCH",
        "/api/v1/chats/{chat}/queue/{message}",
        &[("text", Text(TEXT_BYTES_MAX))],
        &["text"],
    ),
    write("POST", "/api/v1/chats/{chat}/queue/{message}/send-now"),
    read("/api/v1/search"),
    fields("PUT", "/api/v1/slots/{slot}", &[("chat", Id)], &["chat"]),
    read("/api/v1/offers"),
    read("/api/v1/offers/{chat}/recap"),
    fields("POST", "/api/v1/offers/resume", &[("chats", List), ("as_of", Text(200))], &["chats"]),
    fields("POST", "/api/v1/offers/dismiss", &[("chats", List), ("as_of", Text(200))], &["chats"]),
    read("/api/v1/receipts/{receipt}"),
    read("/api/v1/events"),
    read("/api/v1/session"),
    fields("POST", "/api/v1/session", &[("code", Text(256)), ("token", Text(256))], &[]),
    write("DELETE", "/api/v1/session"),
    write("POST", "/api/v1/session/links"),
];

impl Route {
    pub(crate) fn is_open(&self) -> bool {
        !self.path.starts_with("/api/") && self.path != "/metrics"
    }

    /// Whether it is a write whose body has fields, or none.
    pub(crate) fn writes(&self) -> bool {
        self.method != "GET" && !matches!(self.fields, [(_, Takes::Bytes)])
    }
}

/// The named parts of a route's path, in order.
pub(crate) fn parts(route: &Route) -> Vec<&'static str> {
    route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
}

/// A body that has what is required, and that would be right.
pub(crate) fn base(route: &Route) -> Map<String, Value> {
    let value = |field: &str| match field {
        "agent" => json!("demo"),
        "agents" => json!("stop"),
        "choice" => json!("discard"),
        // No transcript is that long.
        "at" => json!(1_000_000),
        "chats" => json!([]),
        "messages" => json!([]),
        // One that is not there, so that nothing changes.
        "chat" => json!("chat_00000000000000000000000000000009"),
        _ => json!("x"),
    };
    route.required.iter().map(|field| ((*field).to_owned(), value(field))).collect()
}

#[test]
fn the_table_has_every_route() {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let mut found = 0;
    for (path, calls) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "patch", "delete"] {
            if calls[method].is_object() {
                let known = ROUTES.iter().any(|known| {
                    known.path.trim_end_matches('/') == path
                        && known.method.eq_ignore_ascii_case(method)
                });
                assert!(known, "the table lacks {method} {path}");
                found += 1;
            }
        }
    }
    assert_eq!(found, ROUTES.len(), "the table has a route that is not there");
}
