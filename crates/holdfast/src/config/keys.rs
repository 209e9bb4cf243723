//! The keys that a configuration may have, read from its schema.

use serde_json::Value;

/// What the values of a key are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Number,
    Whole,
    Flag,
    /// A list, or a table of names that the file chooses.
    Compound,
}

/// A key with a value, or a table whose names the file chooses (`agents.ID.env`).
#[derive(Clone, Debug)]
pub(crate) struct Key {
    /// Its whole name; a part that the file chooses is `ID`.
    pub(crate) name: String,
    pub(crate) form: Form,
    /// What it is, in Markdown.
    pub(crate) text: String,
    pub(crate) default: Option<Value>,
    /// The variable that sets it, where one does.
    pub(crate) variable: Option<String>,
}

/// The part of a name that the file chooses.
pub(crate) const CHOSEN: &str = "ID";

/// All keys, in the order of their names.
pub(crate) fn all(schema: &Value) -> Vec<Key> {
    let mut keys = Vec::new();
    walk(schema, "", schema.get("default"), &mut keys);
    keys
}

fn walk(node: &Value, at: &str, default: Option<&Value>, keys: &mut Vec<Key>) {
    let Some(properties) = node["properties"].as_object() else {
        let default = node.get("default").or(default).filter(|value| !value.is_null()).cloned();
        let text = node["description"].as_str().unwrap_or_default().to_owned();
        let form = form(node);
        let settable = form != Form::Compound && !at.contains(CHOSEN);
        let variable = settable.then(|| variable(node, at));
        keys.push(Key { name: at.to_owned(), form, text, default, variable });
        return;
    };
    let inherited = node.get("default").or(default);
    for (name, child) in properties {
        let name = join(at, name);
        let last = name.rsplit('.').next().unwrap_or_default();
        let default = inherited.and_then(|default| default.get(last));
        match chosen(child) {
            Some(table) => walk(table, &join(&name, CHOSEN), None, keys),
            None => walk(child, &name, default, keys),
        }
    }
}

/// What a table whose names the file chooses has under each of them, if that is a table again.
fn chosen(node: &Value) -> Option<&Value> {
    node.get("additionalProperties").filter(|child| child.get("properties").is_some())
}

fn form(node: &Value) -> Form {
    let word = match &node["type"] {
        Value::Array(words) => words.first().and_then(Value::as_str),
        word => word.as_str(),
    };
    match word {
        Some("string") | None => Form::Text,
        Some("number") => Form::Number,
        Some("integer") => Form::Whole,
        Some("boolean") => Form::Flag,
        Some(_) => Form::Compound,
    }
}

/// The variable of a key: `HOLDFAST_` and its name in capitals, unless the schema names another.
fn variable(node: &Value, name: &str) -> String {
    let plain = || format!("HOLDFAST_{}", name.replace(['.', '-'], "_").to_uppercase());
    node["x-env"].as_str().map_or_else(plain, str::to_owned)
}

/// The name of a key within a table.
pub(crate) fn join(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

/// What the schema has under this name of a table.
pub(crate) fn child<'s>(node: &'s Value, name: &str) -> Option<&'s Value> {
    let named = node.get("properties").and_then(|properties| properties.get(name));
    named.or_else(|| node.get("additionalProperties").filter(|child| child.is_object()))
}

/// The names that the schema knows in a table.
pub(crate) fn names(node: &Value) -> Vec<&str> {
    let properties = node["properties"].as_object();
    properties.into_iter().flat_map(|all| all.keys().map(String::as_str)).collect()
}

/// The name that was probably meant.
pub(crate) fn meant<'n>(typed: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let alike = |name: &&str| strsim::jaro_winkler(typed, name);
    let best = known.into_iter().max_by(|a, b| alike(a).total_cmp(&alike(b)))?;
    (alike(&best) > 0.8).then_some(best)
}
