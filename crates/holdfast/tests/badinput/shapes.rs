//! Methods, paths, bodies and fields, over the whole table.

use serde_json::{Value, json};

use crate::routes::Takes::{Bytes, Flag, Id, List, Number, Text, Word};
use crate::routes::{BODY_BYTES_MAX, MESSAGE_BODY_BYTES_MAX, ROUTES, base, parts};
use crate::scene::{absent, problem, with_scene};

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
            // A slot is a name, not an id.
            for part in parts(route).into_iter().filter(|part| *part != "slot") {
                let long = "x".repeat(4000);
                let odd = ["nope", "0", "%ff", "%00", "..%2f..", "%F0%9F%92%A9", long.as_str()];
                for id in odd {
                    let path = scene.path(route, Some((part, id)));
                    let body = serde_json::to_vec(&base(route)).unwrap();
                    let answer = host.exchange(&host.raw(route.method, &path).body(body));
                    // An agent's id is a name that the configuration chose: it has no form.
                    if part == "agent" && id != "%ff" {
                        problem(&answer, 404, "agent_not_found", None);
                        continue;
                    }
                    let field = (id != "%ff").then_some(part);
                    problem(&answer, 400, "invalid_id", field);
                }
                if part == "agent" {
                    continue;
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
                "chats" | "messages" | "draft" | "resume" | "rewind"
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
                    Id => vec![json!("nope"), json!("chat_")],
                    Flag => vec![json!("true"), json!(1), json!({})],
                    Number => vec![json!("1"), json!(-1), json!(1.5), json!({})],
                    List => vec![json!("nope"), json!(1), json!({}), json!(true)],
                    Bytes => vec![],
                };
                for value in wrong {
                    let answer = call(field, value);
                    if let Id = takes {
                        problem(&answer, 400, "invalid_id", Some(field));
                    } else if single || *field != "text" {
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
