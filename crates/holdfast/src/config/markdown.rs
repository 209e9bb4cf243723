//! Every key as documentation.

use std::fmt::Write;

use serde_json::Value;

use super::keys::{self, Form, Key};
use super::schema;

/// Every key with its meaning, its default and its variable.
pub(crate) fn keys() -> String {
    let mut text = String::new();
    for key in keys::all(&schema()) {
        let _ = writeln!(text, "### `{}`\n\n{}\n\n{}\n", key.name, key.text, facts(&key));
    }
    text
}

fn facts(key: &Key) -> String {
    let form = match key.form {
        Form::Text => "Text",
        Form::Number => "A number",
        Form::Whole => "A whole number",
        Form::Flag => "`true` or `false`",
        Form::Compound => "A list, or a table of names",
    };
    let default = match &key.default {
        Some(Value::Object(_)) | None => String::new(),
        Some(value) => format!("; default `{value}`"),
    };
    let variable = key.variable.as_ref();
    let variable = variable.map(|name| format!("; environment `{name}`")).unwrap_or_default();
    format!("{form}{default}{variable}.")
}
