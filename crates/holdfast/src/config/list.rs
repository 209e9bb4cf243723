//! What holds, value by value.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::origin::Origin;
use super::shape::Shape;

/// What is shown of a value that may be a secret.
const SET: &str = "(set)";

/// One key with its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Line {
    pub(crate) key: String,
    pub(crate) value: Value,
    pub(crate) origin: Origin,
}

/// Every key with its value; what is in an agent's environment is only said to be set.
pub(super) fn lines(
    shape: &Shape,
    data_dir: &Path,
    origins: &BTreeMap<String, Origin>,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut value = serde_json::to_value(shape).unwrap_or_default();
    value["data-dir"] = data_dir.display().to_string().into();
    flatten(&mut Vec::new(), &value, origins, &mut lines);
    lines
}

/// The parts of a key are apart from each other: an id may have a dot.
fn flatten<'v>(
    parts: &mut Vec<&'v str>,
    value: &'v Value,
    origins: &BTreeMap<String, Origin>,
    lines: &mut Vec<Line>,
) {
    if let Value::Object(table) = value {
        for (name, value) in table {
            parts.push(name);
            flatten(parts, value, origins, lines);
            parts.pop();
        }
        return;
    }
    let secret = matches!(parts.as_slice(), ["agents", _, "env", _]);
    let value = if secret { SET.into() } else { value.clone() };
    let key = parts.join(".");
    let origin = origins.get(&key).cloned().unwrap_or(Origin::Default);
    lines.push(Line { key, value, origin });
}
