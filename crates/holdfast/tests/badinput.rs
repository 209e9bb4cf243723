//! Bad input on every route: a problem document with a stable code, nothing stored, nobody harmed.

#![allow(clippy::disallowed_methods, reason = "tests")]

use holdfast_testkit::host::{Place, TestHost};
use holdfast_testkit::raw::{RawAnswer, RawRequest, address, exchange};
use serde_json::{Map, Value, json};

/// Where the routes are written down; a route that the table lacks fails its test.
const ROUTER: &str = include_str!("../../http/src/routes/mod.rs");

const BODY_BYTES_MAX: usize = 256 * 1024;
const MESSAGE_BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// What a field of a body takes.
#[derive(Clone, Copy)]
enum Takes {
    /// A text with a limit, in characters or bytes; `x` counts as one of either.
    Text(usize),
    /// One of some words.
    Word,
    /// `true` or `false`.
    Flag,
    /// A list.
    List,
}

use Takes::{Flag, List, Text, Word};

/// One call.
struct Route {
    method: &'static str,
    path: &'static str,
    /// Fields of its body, each with what it takes.
    fields: &'static [(&'static str, Takes)],
    /// Fields without which nothing is accepted.
    required: &'static [&'static str],
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

const ROUTES: &[Route] = &[
    read("/livez"),
    read("/readyz"),
    read("/version"),
    read("/api/v1/host"),
    fields("POST", "/api/v1/host/stop", &[("agents", Word)], &["agents"]),
    write("POST", "/api/v1/host/restart"),
    read("/api/v1/agents"),
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
            ("message", Text(TEXT_BYTES_MAX)),
        ],
        &["agent"],
    ),
    read("/api/v1/chats/{chat}/"),
    fields("PATCH", "/api/v1/chats/{chat}/", &[("title", Text(200))], &[]),
    write("DELETE", "/api/v1/chats/{chat}/"),
    fields("POST", "/api/v1/chats/{chat}/close", &[("leftovers", Word)], &[]),
    write("POST", "/api/v1/chats/{chat}/reopen"),
    fields("POST", "/api/v1/chats/{chat}/interrupt", &[("agent", Word)], &[]),
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
    read("/api/v1/offers"),
    fields("POST", "/api/v1/offers/resume", &[("chats", List), ("as_of", Text(200))], &["chats"]),
    fields("POST", "/api/v1/offers/dismiss", &[("chats", List), ("as_of", Text(200))], &["chats"]),
    read("/api/v1/receipts/{receipt}"),
    read("/api/v1/events"),
];

impl Route {
    fn is_open(&self) -> bool {
        !self.path.starts_with("/api/")
    }

    fn writes(&self) -> bool {
        self.method != "GET"
    }
}

/// A host with a chat that has everything that a path can name, and another one.
struct Scene<'a> {
    host: TestHost<'a>,
    chat: String,
    item: String,
    message: String,
    prompt: String,
    task: String,
    receipt: String,
    other: String,
}

impl<'a> Scene<'a> {
    fn set(place: &'a Place) -> Self {
        let host = place.start();
        let (chat, other) = (host.open(), host.open());
        let first = host.send(&other, "[[say here]]");
        host.wait_message(&other, &first, "settled");
        host.send(&chat, "[[monitor 600 Watch]] [[say hello]] [[ask Which?|A|B]]");
        host.wait_shown(&chat, "blocked");
        let path = format!("/chats/{chat}/messages");
        let waiting = host.post(&path, &json!({ "text": "it waits" })).ok();
        let row = host.chat(&chat);
        let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
        let items = host.items(&chat);
        let said = items.iter().find(|item| item["role"] == "agent").unwrap();
        Self {
            item: id(said),
            message: id(&waiting["message"]),
            prompt: id(&row["activity"]["prompts"][0]),
            task: id(&row["activity"]["tasks"][0]),
            receipt: waiting["receipt"].as_str().unwrap().to_owned(),
            host,
            chat,
            other,
        }
    }

    /// The id that stands for a part of a path.
    fn id(&self, name: &str) -> &str {
        match name {
            "chat" => &self.chat,
            "item" => &self.item,
            "message" => &self.message,
            "prompt" => &self.prompt,
            "task" => &self.task,
            "receipt" => &self.receipt,
            other => panic!("no id for {other}"),
        }
    }

    /// The path of a route; one of its parts replaced where that is given.
    fn path(&self, route: &Route, odd: Option<(&str, &str)>) -> String {
        let mut path = route.path.trim_end_matches('/').to_owned();
        for name in parts(route) {
            let id = odd.filter(|(part, _)| *part == name).map_or(self.id(name), |(_, id)| id);
            path = path.replace(&format!("{{{name}}}"), id);
        }
        path
    }

    fn call(&self, route: &Route, body: &[u8]) -> RawAnswer {
        let request = self.host.raw(route.method, &self.path(route, None));
        self.host.exchange(&request.body(body))
    }

    /// Everything that bad input must leave as it is.
    fn facts(&self) -> Value {
        let chats = self.host.get("/chats?state=all");
        let of = |chat: &str| {
            ["items?limit=200", "turns", "queue", "draft"]
                .map(|what| self.host.get(&format!("/chats/{chat}/{what}")))
        };
        json!({
            "cursor": self.host.get("/offers")["as_of"],
            "chats": chats,
            "chat": of(&self.chat),
            "other": of(&self.other),
        })
    }
}

/// The named parts of a route's path, in order.
fn parts(route: &Route) -> Vec<&'static str> {
    route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect()
}

/// A whole problem document with this status, code and field.
#[track_caller]
fn problem(answer: &RawAnswer, status: u16, code: &str, field: Option<&str>) -> Value {
    let body = answer.json();
    let shown = String::from_utf8_lossy(&answer.body);
    assert_eq!((answer.status, body["code"].as_str()), (status, Some(code)), "{shown}");
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    assert_eq!(body["status"], status);
    assert_eq!(body["type"], format!("/errors/{code}"));
    for text in ["title", "detail"] {
        assert!(!body[text].as_str().unwrap().is_empty(), "{body}");
    }
    if field.is_some() {
        assert_eq!(body["field"].as_str(), field, "{body}");
    }
    body
}

fn with_scene(test: impl FnOnce(&Scene<'_>)) {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path());
    let scene = Scene::set(&place);
    let before = scene.facts();
    test(&scene);
    assert_eq!(scene.facts(), before, "bad input stored nothing");
    // The question was asked once and is still open; both chats go on.
    let path = format!("/chats/{}/prompts/{}/answer", scene.chat, scene.prompt);
    let prompt = scene.host.items(&scene.chat);
    let prompt = prompt.iter().find(|item| item["kind"] == "prompt").unwrap();
    let option = &prompt["prompt"]["options"][0]["id"];
    scene.host.post(&path, &json!({ "option": option })).ok();
    scene.host.wait_message(&scene.chat, &scene.message, "settled");
    let message = scene.host.send(&scene.other, "[[say and on]]");
    scene.host.wait_message(&scene.other, &message, "settled");
    assert!(scene.host.said(&scene.other).ends_with("and on"));
    assert_eq!(place.evidence().prompts().len(), 4, "agents saw what was sent, and nothing else");
    scene.host.stop();
}

#[test]
fn the_table_has_every_route() {
    let mut found = 0;
    let code = ROUTER.split("#[cfg(test)]").next().unwrap();
    let (tops, nested) = code.split_once("fn api()").unwrap();
    let (chat, api) = nested.split_once("Router::new()\n        .route(\"/host\"").unwrap();
    let api = format!(".route(\"/host\"{api}");
    for (prefix, routes) in [("", tops), ("/api/v1/chats/{chat}", chat), ("/api/v1", &api)] {
        for route in routes.split(".route(\"").skip(1) {
            let (path, calls) = route.split_once('"').unwrap();
            let calls = calls.lines().next().unwrap();
            let path = format!("{prefix}{path}");
            for method in ["get", "post", "put", "patch", "delete"] {
                if calls.contains(&format!(" {method}(")) || calls.contains(&format!(".{method}("))
                {
                    let known = ROUTES.iter().any(|known| {
                        known.path == path && known.method.eq_ignore_ascii_case(method)
                    });
                    assert!(known, "the table lacks {method} {path}");
                    found += 1;
                }
            }
        }
    }
    assert_eq!(found, ROUTES.len(), "the table has a route that is not there");
}

#[test]
fn nobody_comes_in_without_the_token_or_from_another_page() {
    with_scene(|scene| {
        let (url, token) = (&scene.host.url, &scene.host.token);
        let here = address(url);
        let good = format!("Bearer {token}");
        for route in ROUTES {
            let path = scene.path(route, None);
            let call = |headers: &[(&str, &str)]| {
                let mut request = RawRequest::new(route.method, &path);
                for (name, value) in headers {
                    request = request.header(name, *value);
                }
                if route.path.ends_with("/events") {
                    request = request.header("accept", "text/event-stream");
                }
                exchange(url, &request)
            };
            let longer = format!("{good}0");
            let wrong = ["Bearer x", "Bearer", "Basic b3duZXI6", "", longer.as_str()];
            for authorization in wrong.map(Some).into_iter().chain([None]) {
                let mut headers = vec![("host", here)];
                headers.extend(authorization.map(|value| ("authorization", value)));
                let answer = call(&headers);
                if route.is_open() {
                    assert_eq!(answer.status, 200, "{path}");
                } else {
                    problem(&answer, 401, "not_authorised", None);
                    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
                }
            }
            let auth = ("authorization", good.as_str());
            if !route.is_open() {
                let answer = call(&[("host", here), auth, ("authorization", "Bearer x")]);
                problem(&answer, 401, "not_authorised", None);
            }
            for host in ["evil.example", "127.0.0.1.evil.example:80", "", "0.0.0.0"] {
                problem(&call(&[("host", host), auth]), 403, "foreign_host", None);
            }
            for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "file://", ""] {
                let answer = call(&[("host", here), auth, ("origin", origin)]);
                problem(&answer, 403, "foreign_origin", None);
            }
        }
        // The upgrade of a socket is asked the same.
        let upgrade = |headers: &[(&str, &str)]| {
            let mut request = RawRequest::new("GET", "/api/v1/events")
                .header("upgrade", "websocket")
                .header("connection", "Upgrade")
                .header("sec-websocket-version", "13")
                .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
            for (name, value) in headers {
                request = request.header(name, *value);
            }
            exchange(url, &request)
        };
        let auth = ("authorization", good.as_str());
        problem(&upgrade(&[("host", here)]), 401, "not_authorised", None);
        let foreign = [("host", here), auth, ("origin", "http://evil.example")];
        problem(&upgrade(&foreign), 403, "foreign_origin", None);
        problem(&upgrade(&[("host", here), auth, ("origin", "null")]), 403, "foreign_origin", None);
        problem(&upgrade(&[("host", "evil.example"), auth]), 403, "foreign_host", None);
        let protocol = ("sec-websocket-protocol", "holdfast, holdfast.bearer.x");
        problem(&upgrade(&[("host", here), protocol]), 401, "not_authorised", None);
    });
}

#[test]
fn a_wrong_method_an_unknown_call_and_a_bad_id_are_named() {
    with_scene(|scene| {
        let host = &scene.host;
        let (chat, item) = (&scene.chat, &scene.item);
        for path in [
            "/api/v1".to_owned(),
            "/api/v1/nope".to_owned(),
            "/api/v2/host".to_owned(),
            "/API/v1/host".to_owned(),
            "/api/v1/host/".to_owned(),
            "//api/v1/host".to_owned(),
            "/api/v1/./host".to_owned(),
            format!("/api/v1/chats/{chat}/nope"),
            format!("/api/v1/chats/{chat}/items/{item}"),
            format!("/api/v1/chats/{chat}/messages/x/y/z"),
        ] {
            for method in ["GET", "POST"] {
                problem(&host.exchange(&host.raw(method, &path)), 404, "not_found", None);
            }
        }
        for route in ROUTES {
            let path = scene.path(route, None);
            for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
                if ROUTES.iter().any(|known| known.path == route.path && known.method == method) {
                    continue;
                }
                let answer = host.exchange(&host.raw(method, &path).body("{}"));
                problem(&answer, 405, "method_not_allowed", None);
            }
            for part in parts(route) {
                let long = "x".repeat(4000);
                let odd = ["nope", "0", "%ff", "%00", "..%2f..", "%F0%9F%92%A9", long.as_str()];
                for id in odd {
                    let path = scene.path(route, Some((part, id)));
                    let body = serde_json::to_vec(&base(route)).unwrap();
                    let answer = host.exchange(&host.raw(route.method, &path).body(body));
                    let field = (id != "%ff").then_some(part);
                    problem(&answer, 400, "invalid_id", field);
                }
                let path = scene.path(route, Some((part, &absent(scene.id(part)))));
                let mut body = base(route);
                if route.path.ends_with("/answer") {
                    body.insert("option".to_owned(), json!("x"));
                }
                let body = serde_json::to_vec(&body).unwrap();
                let answer = host.exchange(&host.raw(route.method, &path).body(body));
                assert!(matches!(answer.status, 404 | 409 | 410), "{path}: {}", answer.status);
                let code = answer.json()["code"].as_str().unwrap().to_owned();
                problem(&answer, answer.status, &code, None);
                if part == "chat" {
                    assert_eq!(code, "chat_not_found", "{path}");
                }
            }
        }
    });
}

/// An id of the same form that names nothing.
fn absent(id: &str) -> String {
    match id.rsplit_once('.') {
        Some((before, _)) => format!("{before}.99999"),
        None => id.chars().map(|c| if c.is_ascii_digit() { '7' } else { c }).collect(),
    }
}

/// A body that has what is required, and that would be right.
fn base(route: &Route) -> Map<String, Value> {
    let value = |field: &str| match field {
        "agent" => json!("demo"),
        "agents" => json!("stop"),
        "choice" => json!("discard"),
        "chats" => json!([]),
        "messages" => json!([]),
        _ => json!("x"),
    };
    route.required.iter().map(|field| ((*field).to_owned(), value(field))).collect()
}

#[test]
fn a_body_that_is_no_object_or_too_large_is_refused_on_every_write() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep = format!("{{\"text\":{deep}}}");
    let bodies: [&[u8]; 11] = [
        b"{",
        b"[]",
        b"null",
        b"\"text\"",
        b"{\"text\":\"\xff\"}",
        b"{\"text\":\"\\ud800\"}",
        b"{\"text\":\"a\",\"text\":\"b\"}",
        b"{} {}",
        b"{\"text\":1e999}",
        b"\xef\xbb\xbf{}",
        deep.as_bytes(),
    ];
    with_scene(|scene| {
        let host = &scene.host;
        for route in ROUTES.iter().filter(|route| route.writes()) {
            for body in bodies {
                problem(&scene.call(route, body), 400, "invalid_json", None);
            }
            let large = match route.path.rsplit('/').next().unwrap() {
                "chats" | "messages" | "draft" | "resume"
                    if !route.path.ends_with("queue/resume") =>
                {
                    MESSAGE_BODY_BYTES_MAX
                }
                "{message}" if route.method == "PATCH" => MESSAGE_BODY_BYTES_MAX,
                _ => BODY_BYTES_MAX,
            };
            let answer = scene.call(route, &vec![b' '; large + 1]);
            let body = problem(&answer, 413, "body_too_large", None);
            assert_eq!(body["limit"], large, "{}", route.path);
            for key in ["", "\u{e9}", &"k".repeat(129)] {
                let request = host.raw(route.method, &scene.path(route, None));
                let request = request.header("idempotency-key", key).body("{}");
                let answer = host.exchange(&request);
                problem(&answer, 400, "invalid_operation_key", None);
            }
        }
    });
}

#[test]
fn each_field_is_refused_by_its_name_and_limit() {
    with_scene(|scene| {
        for route in ROUTES.iter().filter(|route| route.writes()) {
            let call = |field: &str, value: Value| {
                let mut body = base(route);
                body.insert(field.to_owned(), value);
                scene.call(route, &serde_json::to_vec(&body).unwrap())
            };
            problem(&call("texte", json!(1)), 400, "unknown_field", Some("texte"));
            problem(&call("", Value::Null), 400, "unknown_field", Some(""));
            for field in route.required {
                // Null is the same as absent.
                problem(&call(field, Value::Null), 400, "missing_field", Some(field));
            }
            // An answer is given in one of two shapes; which one it was meant to be is not known.
            let single = !route.path.ends_with("/answer");
            for (field, takes) in route.fields {
                let wrong = match takes {
                    Text(_) if *field == "message" => vec![json!(1), json!([]), json!(true)],
                    Text(_) => vec![json!(1), json!([]), json!({}), json!(true)],
                    Word => vec![json!("nope"), json!(1), json!([]), json!({}), json!("STOP")],
                    Flag => vec![json!("true"), json!(1), json!({})],
                    List => vec![json!("nope"), json!(1), json!({}), json!(true)],
                };
                for value in wrong {
                    let answer = call(field, value);
                    if single || *field != "text" {
                        problem(&answer, 400, "invalid_field", Some(field));
                    } else {
                        problem(&answer, 400, "invalid_answer", None);
                    }
                }
                if let (Text(limit), true) = (takes, single || *field == "option") {
                    let slash = if *field == "cwd" { "/" } else { "" };
                    let long = format!("{slash}{}", "x".repeat(limit + 1 - slash.len()));
                    let body =
                        problem(&call(field, json!(long)), 400, "field_too_long", Some(field));
                    assert_eq!(body["limit"], *limit);
                }
            }
        }
    });
}

#[test]
fn values_that_only_look_right_are_refused() {
    with_scene(|scene| {
        let find = |method: &str, end: &str| {
            let fits = |route: &&Route| route.method == method && route.path.ends_with(end);
            ROUTES.iter().find(fits).unwrap()
        };
        let absent_chat = absent(&scene.chat);
        let long = json!(vec!["x"; 1000]);
        let table: Vec<(&Route, Value, u16, &str, Option<&str>)> = vec![
            (find("POST", "/chats"), json!({ "agent": "nobody" }), 404, "agent_not_found", None),
            (find("POST", "/chats"), json!({ "agent": " " }), 400, "empty_field", Some("agent")),
            (
                find("POST", "/chats"),
                json!({ "agent": "demo", "cwd": "a/b" }),
                400,
                "invalid_field",
                Some("cwd"),
            ),
            (
                find("POST", "/chats"),
                json!({ "agent": "demo", "cwd": "/a\0b" }),
                400,
                "invalid_field",
                Some("cwd"),
            ),
            (
                find("POST", "/chats"),
                json!({ "agent": "demo", "title": "a\nb" }),
                400,
                "invalid_field",
                Some("title"),
            ),
            (
                find("POST", "/chats"),
                json!({ "agent": "demo", "message": "" }),
                400,
                "empty_field",
                Some("message"),
            ),
            (
                find("POST", "/chats"),
                json!({ "agent": "demo", "message": {} }),
                400,
                "missing_field",
                Some("message.text"),
            ),
            (
                find("POST", "/chats"),
                json!({ "agent": "demo", "message": { "txt": "a" } }),
                400,
                "unknown_field",
                Some("message.txt"),
            ),
            (
                find("POST", "/messages"),
                json!({ "text": " \n\t " }),
                400,
                "empty_field",
                Some("text"),
            ),
            (
                find("POST", "/messages"),
                json!({ "text": "a", "attachments": ["x"] }),
                409,
                "not_supported",
                Some("attachments"),
            ),
            (
                find("POST", "/messages"),
                json!({ "text": "a", "attachments": long }),
                400,
                "field_too_long",
                Some("attachments"),
            ),
            (find("PATCH", "/{chat}/"), json!({ "title": "" }), 400, "empty_field", Some("title")),
            (
                find("PATCH", "/{chat}/"),
                json!({ "pinned": true }),
                409,
                "not_supported",
                Some("pinned"),
            ),
            (
                find("PUT", "/order"),
                json!({ "messages": ["nope"] }),
                400,
                "invalid_id",
                Some("messages"),
            ),
            (
                find("PUT", "/order"),
                json!({ "messages": [1] }),
                400,
                "invalid_field",
                Some("messages"),
            ),
            (find("PUT", "/order"), json!({ "messages": [] }), 409, "not_queued", Some("messages")),
            (
                find("PUT", "/order"),
                json!({ "messages": [scene.message, scene.message] }),
                409,
                "not_queued",
                Some("messages"),
            ),
            (find("POST", "/answer"), json!({}), 400, "invalid_answer", None),
            (
                find("POST", "/answer"),
                json!({ "option": "nope" }),
                400,
                "invalid_answer",
                Some("option"),
            ),
            (
                find("POST", "/answer"),
                json!({ "option": "x", "answers": [] }),
                400,
                "invalid_answer",
                None,
            ),
            (
                find("POST", "/answer"),
                json!({ "answers": [] }),
                400,
                "invalid_answer",
                Some("answers"),
            ),
            (
                find("POST", "/answer"),
                json!({ "answers": [1] }),
                400,
                "invalid_field",
                Some("answers[0]"),
            ),
            (
                find("POST", "/answer"),
                json!({ "answers": [{}] }),
                400,
                "missing_field",
                Some("answers[0].question"),
            ),
            (
                find("POST", "/answer"),
                json!({ "answers": [{ "quest": 1 }] }),
                400,
                "unknown_field",
                Some("answers[0].quest"),
            ),
            (find("POST", "/resolve"), json!({ "choice": "discard" }), 409, "not_in_doubt", None),
            (
                find("POST", "/offers/resume"),
                json!({ "chats": ["nope"] }),
                400,
                "invalid_id",
                Some("chats[0].chat"),
            ),
            (
                find("POST", "/offers/resume"),
                json!({ "chats": [{ "chat": scene.chat, "recorded_at": "yesterday" }] }),
                400,
                "invalid_field",
                Some("chats[0].recorded_at"),
            ),
            (
                find("POST", "/offers/resume"),
                json!({ "chats": [{ "chat": scene.chat, "choice": "maybe" }] }),
                400,
                "invalid_field",
                Some("chats[0].choice"),
            ),
            (
                find("POST", "/offers/resume"),
                json!({ "chats": [{ "chat": scene.chat, "chose": 1 }] }),
                400,
                "unknown_field",
                Some("chats[0].chose"),
            ),
            (
                find("POST", "/offers/resume"),
                json!({ "chats": "all", "as_of": "nope" }),
                400,
                "invalid_cursor",
                Some("as_of"),
            ),
            (
                find("POST", "/offers/dismiss"),
                json!({ "chats": "all", "as_of": "nope" }),
                400,
                "invalid_cursor",
                Some("as_of"),
            ),
        ];
        for (route, body, status, code, field) in table {
            let answer = scene.call(route, &serde_json::to_vec(&body).unwrap());
            problem(&answer, status, code, field);
        }
        // A chat that is not there, or has nothing to resume, is an outcome of its own.
        for call in ["resume", "dismiss"] {
            let body = json!({ "chats": [scene.chat, absent_chat] });
            let answer = scene.host.post(&format!("/offers/{call}"), &body).ok();
            for result in answer["results"].as_array().unwrap() {
                assert_eq!(result["outcome"], "refused", "{answer}");
            }
        }
    });
}

#[test]
fn a_query_is_read_as_strictly_as_a_body() {
    with_scene(|scene| {
        let chat = &scene.chat;
        let table = [
            (format!("/chats/{chat}/items?befor=3"), "unknown_field", "befor"),
            (format!("/chats/{chat}/items?before=x"), "invalid_field", "before"),
            (format!("/chats/{chat}/items?before=-1"), "invalid_field", "before"),
            (format!("/chats/{chat}/items?before=99999999999999999999"), "invalid_field", "before"),
            (format!("/chats/{chat}/items?before=3&after=3"), "invalid_field", "after"),
            (format!("/chats/{chat}/items?before=3&before=4"), "invalid_field", "before"),
            (format!("/chats/{chat}/items?limit=0"), "invalid_field", "limit"),
            (format!("/chats/{chat}/items?limit=ten"), "invalid_field", "limit"),
            (format!("/chats/{chat}/turns?before=99999999999"), "invalid_field", "before"),
            (format!("/chats/{chat}/queue?from=x"), "invalid_field", "from"),
            (
                format!("/chats/{chat}/queue?from={}", absent(&scene.message)),
                "invalid_cursor",
                "from",
            ),
            (format!("/chats/{chat}/items/{}/text?field=no", scene.item), "invalid_field", "field"),
            ("/chats?state=ajar".to_owned(), "invalid_field", "state"),
            ("/chats?before=nope".to_owned(), "invalid_cursor", "before"),
            ("/chats?before=%ff".to_owned(), "invalid_cursor", "before"),
            ("/chats?limit=-5".to_owned(), "invalid_field", "limit"),
            ("/events?chat=nope".to_owned(), "invalid_id", "chat"),
            ("/events?since=1".to_owned(), "unknown_field", "since"),
            ("/events".to_owned(), "invalid_field", "accept"),
        ];
        for (path, code, field) in table {
            let request = scene.host.raw("GET", &format!("/api/v1{path}"));
            problem(&scene.host.exchange(&request), 400, code, Some(field));
        }
        // A page before the first item, or after the last, is empty rather than wrong.
        for page in ["before=0", "before=1", "after=99999999"] {
            let page = scene.host.get(&format!("/chats/{chat}/items?{page}"));
            assert_eq!(page, json!({ "items": [], "next": null }));
        }
    });
}
