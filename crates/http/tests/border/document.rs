//! The document of the API and the routes say the same, both ways.

use std::collections::BTreeSet;

use holdfast_http::{openapi, router};
use serde_json::{Value, json};

use crate::client::Border;
use crate::prompts::{approval, asks};

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Every call of the document: path, method, what it says.
fn calls() -> Vec<(&'static str, &'static str, &'static Value)> {
    let paths = openapi::document()["paths"].as_object().unwrap().iter();
    let of_path = |(path, calls): (&'static String, &'static Value)| {
        let calls = calls.as_object().unwrap().iter();
        calls.map(move |(method, call)| (path.as_str(), method.as_str(), call))
    };
    paths.flat_map(of_path).collect()
}

/// A path with ids in the form of ids, of nothing that is.
fn filled(path: &str) -> String {
    let hex = "0123456789abcdef0123456789abcdef";
    path.replace("{chat}", &format!("chat_{hex}"))
        .replace("{message}", &format!("msg_{hex}"))
        .replace("{receipt}", &format!("rcp_{hex}_m{hex}"))
        .replace("{item}", "i9.9")
        .replace("{slot}", "notes")
        .replace("{agent}", "demo")
        .replace("{prompt}", "p9.9")
        .replace("{task}", "k9.9")
}

#[test]
fn the_document_that_is_kept_is_that_of_the_routes() {
    let kept = include_str!("../../../../docs/openapi.json");
    assert!(kept == openapi::text(), "run `cargo xtask openapi`, and look at what changed");
}

#[tokio::test]
async fn the_document_is_served_as_it_is_kept() {
    let got = Border::new().call("GET", "/api/v1/openapi.json", "").await;
    assert_eq!(
        (got.status.as_u16(), &got.headers["content-type"]),
        (200, &"application/json".parse().unwrap())
    );
    assert_eq!(got.bytes, openapi::text().as_bytes());
}

#[tokio::test]
async fn every_path_of_the_router_is_in_the_document_and_the_other_way_round() {
    let border = Border::new();
    // What the router says of itself: `RouteId(3): "/api/v1/host"`.
    let routes = format!("{:?}", router(border.app.clone()));
    let routes: BTreeSet<&str> = routes
        .split("RouteId(")
        .filter_map(|piece| piece.split_once("): \"")?.1.split_once('"'))
        .map(|(path, _)| path)
        // The answer to what is no call.
        .filter(|path| !matches!(*path, "/" | "/{*__private__axum_fallback}"))
        .collect();
    let described: BTreeSet<&str> = calls().into_iter().map(|(path, ..)| path).collect();
    assert_eq!(routes, described);
}

#[tokio::test]
async fn every_method_of_a_path_is_in_the_document_and_the_other_way_round() {
    let border = Border::new();
    let described: BTreeSet<(&str, &str)> =
        calls().into_iter().map(|(path, method, _)| (path, method)).collect();
    for path in described.iter().map(|(path, _)| *path).collect::<BTreeSet<_>>() {
        for method in METHODS {
            if path == "/api/v1/events" && method == "get" {
                continue;
            }
            let got = border.call(&method.to_uppercase(), &filled(path), "{}").await;
            let there = got.status != 405;
            assert_eq!(there, described.contains(&(path, method)), "{method} {path}");
        }
    }
}

#[test]
fn names_of_calls_are_their_own_and_every_reference_leads_somewhere() {
    let names: Vec<&str> =
        calls().iter().map(|(.., call)| call["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    let text = openapi::text();
    for reference in text.split("\"$ref\": \"#").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(openapi::document().pointer(reference).is_some(), "{reference}");
    }
}

#[test]
fn every_type_and_every_field_says_what_it_is() {
    for (name, schema) in openapi::document()["components"]["schemas"].as_object().unwrap() {
        assert!(schema["description"].is_string(), "{name}");
        for (field, of) in schema["properties"].as_object().into_iter().flatten() {
            // A type of its own says it, where the field does not.
            let says = of.to_string();
            assert!(says.contains("description") || says.contains("$ref"), "{name}.{field}");
        }
    }
    for (path, method, call) in calls() {
        assert!(
            call["summary"].as_str().is_some_and(|text| text.ends_with('.')),
            "{method} {path}"
        );
    }
}

/// The schema behind references.
fn schema(mut schema: &'static Value) -> &'static Value {
    while let Some(reference) = schema["$ref"].as_str() {
        schema = openapi::document().pointer(reference.trim_start_matches('#')).unwrap();
    }
    schema
}

/// The first schema that is not `null`.
fn some(schema_of: &'static Value) -> &'static Value {
    let schema_of = schema(schema_of);
    match schema_of["oneOf"].as_array() {
        Some(forms) => some(forms.iter().find(|form| form["type"] != "null").unwrap()),
        None => schema_of,
    }
}

/// A value of this schema.
fn sample(of: &'static Value) -> Value {
    let of = some(of);
    let text = |kind: &Value| kind == "string" || kind[0] == "string";
    match &of["type"] {
        _ if of["enum"].is_array() => of["enum"][0].clone(),
        _ if !of["example"].is_null() => of["example"].clone(),
        kind if text(kind) => json!("text"),
        kind if kind == "boolean" || kind[0] == "boolean" => json!(true),
        kind if kind == "integer" || kind[0] == "integer" => json!(1),
        kind if kind == "array" || kind[0] == "array" => json!([]),
        _ => json!({}),
    }
}

/// The declared body of a call, and a smallest one that is taken.
fn body(call: &'static Value) -> Option<(&'static serde_json::Map<String, Value>, Value)> {
    let body = schema(call.pointer("/requestBody/content/application~1json/schema")?);
    let properties = body["properties"].as_object().unwrap();
    let required = body["required"].as_array().into_iter().flatten();
    let smallest = required.map(|name| {
        let name = name.as_str().unwrap();
        (name.to_owned(), sample(&properties[name]))
    });
    Some((properties, Value::Object(smallest.collect())))
}

#[tokio::test]
async fn a_body_may_have_the_fields_of_the_document_and_no_others() {
    let border = Border::new();
    let chat = asks(&border, approval()).await.to_string();
    let mut looked_at = 0;
    for (path, method, call) in calls() {
        let Some((properties, smallest)) = body(call) else { continue };
        let path = filled(&path.replace("{chat}", &chat).replace("{prompt}", "p1.1"));
        let send = async |name: &str, value: Value| {
            let mut body = smallest.clone();
            body[name] = value;
            if matches!(name, "text" | "input") && path.ends_with("/answer") {
                // Words, or another input, stand beside an option.
                body["option"] = json!("no");
            }
            border.call(&method.to_uppercase(), &path, body.to_string()).await.json()
        };
        let refused = send("surely_no_field", json!(1)).await;
        assert_eq!(refused["code"], "unknown_field", "{method} {path}");
        for (name, of) in properties {
            let number = some(of)["type"] == "integer" || some(of)["type"][0] == "integer";
            let wrong = if number { json!("seven") } else { json!(7) };
            let refused = send(name, wrong).await;
            assert_eq!(refused["field"], json!(name), "{method} {path}: {refused}");
            assert_ne!(refused["code"], "unknown_field", "{method} {path}");
            if let Some(words) = some(of)["enum"].as_array().filter(|words| words.len() > 1) {
                let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
                let detail = refused["detail"].as_str().unwrap().to_owned();
                assert!(detail.ends_with(&format!("one of: {}.", words.join(", "))), "{detail}");
            }
            looked_at += 1;
        }
    }
    assert!(looked_at > 20, "{looked_at}");
}

#[tokio::test]
async fn a_query_may_have_the_parameters_of_the_document_and_no_others() {
    let border = Border::new();
    let chat = border.chat().await.to_string();
    let mut looked_at = 0;
    for (path, method, call) in calls() {
        let parameters = call["parameters"].as_array().into_iter().flatten();
        let parameters: Vec<_> = parameters.filter(|one| one["in"] == "query").collect();
        if parameters.is_empty() {
            continue;
        }
        let path = filled(&path.replace("{chat}", &chat));
        let ask = async |name: &str| {
            let path = format!("{path}?{name}=surely%20no%20value");
            border.call(&method.to_uppercase(), &path, "").await.json()
        };
        assert_eq!(ask("surely_no_parameter").await["code"], "unknown_field", "{path}");
        for parameter in parameters {
            let name = parameter["name"].as_str().unwrap();
            let got = ask(name).await;
            assert_ne!(got["code"], "unknown_field", "{path} {name}: {got}");
            if let Some(words) = some(&parameter["schema"])["enum"].as_array() {
                let words: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
                let detail = got["detail"].as_str().unwrap().to_owned();
                assert!(detail.ends_with(&format!("one of: {}.", words.join(", "))), "{detail}");
            }
            looked_at += 1;
        }
    }
    assert!(looked_at > 10, "{looked_at}");
}
