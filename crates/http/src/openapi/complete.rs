//! What the document says of every call alike: ids in the path, headers of writes, refusals, the
//! token; and that an answer has all its fields.

use std::collections::BTreeSet;

use holdfast_core::limits::OPERATION_KEY_CHARS_MAX;
use holdfast_core::refusal::Code;
use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use crate::limits::NAME_CHARS_MAX;
use crate::openapi::problems::{Form, answers};

/// Where a route names the codes of its own refusals.
const REFUSALS: &str = "x-refusals";
/// Where schemas are.
const SCHEMAS: &str = "#/components/schemas/";
/// The fields of answers that are left out where there is nothing.
const LEFT_OUT: &[(&str, &[&str])] =
    &[("SentenceParams", &["label", "count"]), ("Problem", &["winner"])];

/// Completes what the routes say of themselves. What cannot be completed is left as it is, and found
/// by the tests of the document.
pub(super) fn complete(described: OpenApi) -> Value {
    let mut document = serde_json::to_value(described).unwrap_or_default();
    document["security"] = json!([{ "bearer": [] }]);
    document["components"]["securitySchemes"]["bearer"] = json!({
        "type": "http",
        "scheme": "bearer",
        "description": "A token. The host says one when it starts, and keeps it in endpoint.json \
            in its data directory. A browser's WebSocket, which can send no header, offers it as \
            the protocol `holdfast.bearer.TOKEN` beside `holdfast`.",
    });
    let mut asked = BTreeSet::new();
    let mut shared = Map::new();
    if let Some(Value::Object(paths)) = document.get_mut("paths") {
        for (path, calls) in paths.iter_mut() {
            for (method, call) in calls.as_object_mut().into_iter().flatten() {
                complete_call(path, method, call, &mut shared);
                refs(&call["requestBody"], &mut asked);
                refs(&call["parameters"], &mut asked);
                every_field(&mut call["responses"], &[]);
            }
        }
    }
    complete_schemas(&mut document["components"]["schemas"], asked);
    shared.sort_keys();
    document["components"]["responses"] = Value::Object(shared);
    optional_bodies(&mut document);
    one_line(&mut document);
    unsigned(&mut document);
    document
}

fn complete_call(path: &str, method: &str, call: &mut Value, shared: &mut Map<String, Value>) {
    let ids: Vec<&str> = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{').and_then(|part| part.strip_suffix('}')))
        .collect();
    let write = method != "get";
    let form = Form {
        ids: &ids,
        // Figures are content, and shown to whoever may see the rest unless the owner opens them.
        guarded: path.starts_with("/api/") || path == "/metrics",
        write,
        query: call.get("parameters").is_some(),
        fields: call.get("requestBody").is_some(),
    };
    call["operationId"] = json!(name(path, method));
    call["tags"] = json!([noun(path)]);
    if !form.guarded {
        call["security"] = json!([]);
    }
    let mut codes = form.codes();
    let own = call.as_object_mut().and_then(|call| call.remove(REFUSALS)).unwrap_or_default();
    codes.extend(serde_json::from_value::<Vec<Code>>(own).unwrap_or_default());
    let mut parameters: Vec<Value> = ids.iter().map(|id| in_path(id)).collect();
    if let Some(Value::Array(query)) = call.get_mut("parameters") {
        // A parameter without a value is absent; of a list, each has to be something.
        for one in query.iter_mut().filter(|one| one["schema"]["type"] != "array") {
            if one["in"] == "query" {
                one["allowEmptyValue"] = json!(true);
            }
        }
        parameters.append(query);
    }
    if write {
        parameters.extend(headers());
    }
    if !parameters.is_empty() {
        call["parameters"] = Value::Array(parameters);
    }
    if let Value::Object(responses) = &mut call["responses"] {
        for (status, answer) in answers(&codes, shared) {
            responses.entry(status).or_insert(answer);
        }
        responses.sort_keys();
    }
}

/// `GET /api/v1/chats/{chat}/items` is `getChatsChatItems`: a name for programs that make code.
fn name(path: &str, method: &str) -> String {
    let path = path.strip_prefix("/api/v1").unwrap_or(path);
    let words = path.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut name = method.to_owned();
    for word in words.filter(|word| !word.is_empty()) {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// What a call is about: the first word of its path, or the one after a chat.
fn noun(path: &str) -> &str {
    let Some(path) = path.strip_prefix("/api/v1/") else { return "process" };
    let path = path.strip_prefix("chats/{chat}/").unwrap_or(path);
    match path.split('/').next().unwrap_or(path) {
        "close" | "reopen" | "interrupt" => "chats",
        noun => noun,
    }
}

fn in_path(name: &str) -> Value {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let kind: String = first.into_iter().chain(letters).collect();
    // A slot is a name of its own; whatever else stands in a path is an id.
    let id = if name == "slot" { "" } else { "Id" };
    json!({
        "name": name,
        "in": "path",
        "required": true,
        "schema": {"$ref": format!("{SCHEMAS}{kind}{id}")},
    })
}

fn headers() -> [Value; 2] {
    let header = |name: &str, most: usize, description: &str| {
        json!({
            "name": name,
            "in": "header",
            "required": false,
            "description": description,
            "schema": {"type": "string", "minLength": 1, "maxLength": most, "pattern": "^[ -~]+$"},
        })
    };
    [
        header(
            "Idempotency-Key",
            OPERATION_KEY_CHARS_MAX,
            "The name of the operation, unique for its caller: a repeat under the same key is \
             answered as the first was, and does nothing.",
        ),
        header("Holdfast-Device", NAME_CHARS_MAX, "What the caller calls its device."),
    ]
}

/// Requests take no other fields than theirs; answers have all of theirs.
fn complete_schemas(schemas: &mut Value, mut asked: BTreeSet<String>) {
    let Value::Object(schemas) = schemas else { return };
    // What is named within a request is part of it.
    let mut seen = 0;
    while seen < asked.len() {
        seen = asked.len();
        for name in asked.clone() {
            refs(schemas.get(&name).unwrap_or(&Value::Null), &mut asked);
        }
    }
    for (name, schema) in schemas.iter_mut() {
        if asked.contains(name) {
            closed(schema);
        } else {
            let left_out = LEFT_OUT.iter().find(|(of, _)| of == name);
            every_field(schema, left_out.map_or(&[], |(_, fields)| fields));
        }
    }
    schemas.sort_keys();
}

/// A body without a field that has to be there may be left out.
fn optional_bodies(document: &mut Value) {
    let needs = |schema: &Value| {
        let name = schema["$ref"].as_str().and_then(|name| name.strip_prefix(SCHEMAS));
        let schema = name.map(|name| &document["components"]["schemas"][name]);
        schema.is_none_or(|schema| schema.get("required").is_some())
    };
    let mut optional = Vec::new();
    for (path, calls) in document["paths"].as_object().into_iter().flatten() {
        for (method, call) in calls.as_object().into_iter().flatten() {
            let body = call.pointer("/requestBody/content/application~1json/schema");
            if body.is_some_and(|schema| !needs(schema)) {
                optional.push((path.clone(), method.clone()));
            }
        }
    }
    for (path, method) in optional {
        document["paths"][path][method]["requestBody"]["required"] = json!(false);
    }
}

/// A description is broken where its source is; here a paragraph is one line.
fn one_line(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (name, value) in object.iter_mut() {
                match value {
                    Value::String(text) if name == "description" || name == "summary" => {
                        let paragraphs: Vec<String> =
                            text.split("\n\n").map(|lines| lines.replace('\n', " ")).collect();
                        *text = paragraphs.join("\n\n");
                    }
                    value => one_line(value),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(one_line),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A number without a sign may be larger than the format that is given for it.
fn unsigned(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if object.contains_key("minimum") {
                object.remove("format");
            }
            object.values_mut().for_each(unsigned);
        }
        Value::Array(list) => list.iter_mut().for_each(unsigned),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The names of the schemas that a value refers to.
fn refs(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            let name = object.get("$ref").and_then(Value::as_str);
            names.extend(name.and_then(|name| name.strip_prefix(SCHEMAS)).map(str::to_owned));
            object.values().for_each(|value| refs(value, names));
        }
        Value::Array(list) => list.iter().for_each(|value| refs(value, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn closed(schema: &mut Value) {
    objects(schema, &mut |object| {
        object.insert("additionalProperties".to_owned(), json!(false));
    });
}

fn every_field(schema: &mut Value, but: &[&str]) {
    objects(schema, &mut |object| {
        let Some(Value::Object(properties)) = object.get("properties") else { return };
        let names = properties.keys().filter(|name| !but.contains(&name.as_str()));
        let names: Vec<&String> = names.collect();
        if !names.is_empty() {
            let names = json!(names);
            object.insert("required".to_owned(), names);
        }
    });
}

/// Every schema of an object with properties, at any depth.
fn objects(value: &mut Value, act: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            if object.get("properties").is_some_and(|properties| properties.is_object()) {
                act(object);
            }
            object.values_mut().for_each(|value| objects(value, act));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| objects(value, act)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
