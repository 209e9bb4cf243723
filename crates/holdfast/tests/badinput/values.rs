//! Values that have the right form and say nothing, and queries.

use serde_json::{Value, json};

use crate::routes::{ROUTES, Route};
use crate::scene::{absent, problem, with_scene};

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
                400,
                "invalid_id",
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
                json!({ "pinned": true, "tags": ["a", 1] }),
                400,
                "invalid_field",
                Some("tags[1]"),
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

#[test]
fn a_file_is_refused_by_what_is_odd_about_it() {
    with_scene(|scene| {
        let host = &scene.host;
        let path = format!("/api/v1/chats/{}/attachments", scene.chat);
        let call = |query: &str, kind: &[u8], body: &[u8]| {
            let request = host.raw("POST", &format!("{path}?{query}"));
            host.exchange(&request.header("content-type", kind).body(body))
        };
        let long = format!("name={}", "a".repeat(201));
        for (query, code) in [
            ("name=..%2F..%2Fetc", "invalid_field"),
            ("name=a%5Cb", "invalid_field"),
            ("name=a%00", "invalid_field"),
            ("name=a%0d%0aX-Evil:%201", "invalid_field"),
            ("name=a%E2%80%AEb", "invalid_field"),
            ("name=%ff%fe", "invalid_field"),
            ("name=%20%20", "empty_field"),
            (long.as_str(), "field_too_long"),
        ] {
            problem(&call(query, b"text/plain", b"x"), 400, code, Some("name"));
        }
        problem(&call("nome=a", b"text/plain", b"x"), 400, "unknown_field", Some("nome"));
        for kind in [&b"text"[..], b"\xff/\xfe", b"a/b/c", b"; charset=utf-8"] {
            problem(&call("", kind, b"x"), 400, "invalid_field", Some("Content-Type"));
        }
        problem(&call("", b"text/plain", b""), 400, "empty_field", Some("body"));
        let large = call("", b"text/plain", &vec![b'x'; 20 * 1024 * 1024 + 1]);
        assert_eq!(problem(&large, 413, "body_too_large", Some("body"))["limit"], 20 * 1024 * 1024);
        let keyed = host.raw("POST", &path).header("idempotency-key", "\u{e9}").body("x");
        problem(&host.exchange(&keyed), 400, "invalid_operation_key", None);
    });
}
