//! Whatever a test here is answered or told has to be as the document says.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use holdfast_http::openapi;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::client::Got;

/// The answer to a call is one that the document has: its status, its type, its shape, its code.
pub(crate) fn answer(method: &str, path: &str, got: &Got) {
    let Some(call) = described(method, path) else {
        // The page's own documents are no calls.
        let page = got.headers["content-type"] == "text/html; charset=utf-8";
        assert!(page || matches!(got.status.as_u16(), 404 | 405 | 401 | 403), "{method} {path}");
        return;
    };
    let status = got.status.as_str();
    let answer = resolved(&call["responses"][status]);
    assert!(!answer.is_null(), "{method} {path}: {status} is not in the document");
    let Some(content) = answer["content"].as_object() else { return };
    let kind = got.headers["content-type"].to_str().unwrap();
    let said = content.keys().any(|said| said.split(';').next() == kind.split(';').next());
    assert!(said, "{method} {path}: {status} as {kind} is not in the document");
    if kind.ends_with("json") {
        conforms(&content[kind]["schema"], &got.json(), &format!("{method} {path}: {status}"));
    }
}

/// A frame of the event stream is one of those that the document has.
pub(crate) fn frame(frame: &Value) {
    conforms(&json!({"$ref": "#/components/schemas/Frame"}), frame, "a frame");
}

fn described(method: &str, path: &str) -> Option<&'static Value> {
    let path = path.split('?').next().unwrap();
    let paths = openapi::document()["paths"].as_object().unwrap();
    let fits = |said: &str| {
        let (said, path): (Vec<_>, Vec<_>) = (said.split('/').collect(), path.split('/').collect());
        let mut pairs = said.iter().zip(&path);
        said.len() == path.len() && pairs.all(|(said, is)| said == is || said.starts_with('{'))
    };
    // `/queue/order` before `/queue/{message}`.
    let mut fitting: Vec<&String> = paths.keys().filter(|said| fits(said)).collect();
    fitting.sort_by_key(|said| said.matches('{').count());
    paths[*fitting.first()?].get(method.to_lowercase())
}

fn resolved(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(to) => openapi::document().pointer(to.trim_start_matches('#')).unwrap(),
        None => value,
    }
}

fn conforms(schema: &Value, value: &Value, what: &str) {
    static KNOWN: LazyLock<Mutex<HashMap<String, Validator>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let validator = known.entry(schema.to_string()).or_insert_with(|| {
        let components = &openapi::document()["components"];
        jsonschema::draft202012::new(&json!({"allOf": [schema], "components": components})).unwrap()
    });
    let faults: Vec<String> = validator
        .iter_errors(value)
        .map(|fault| format!("{fault} at {}", fault.instance_path()))
        .collect();
    drop(known);
    assert!(faults.is_empty(), "{what} is not as the document says: {faults:#?}");
}

#[test]
fn what_is_not_as_the_document_says_is_found() {
    let hello = json!({"type": "hello", "generation": 1, "incarnation": "a", "cursor": "c",
        "verdict": "ok"});
    frame(&hello);
    for (name, odd) in [("verdict", json!("perhaps")), ("type", json!("bye")), ("cursor", json!(1))]
    {
        let mut other = hello.clone();
        other[name] = odd;
        std::panic::catch_unwind(|| frame(&other)).unwrap_err();
        other.as_object_mut().unwrap().remove(name);
        std::panic::catch_unwind(|| frame(&other)).unwrap_err();
    }
}
