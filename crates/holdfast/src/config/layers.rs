//! From the file, the environment and the command line to one table of values, and where each of
//! them comes from.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value as Schema;
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

use super::keys::{self, Form, Key};
use super::origin::{Faults, Origin};
use super::shape::Shape;

/// What values are taken from, the later one before the earlier.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers {
    /// The file and its text, if there is one.
    pub(crate) file: Option<(PathBuf, String)>,
    /// The host's environment.
    pub(crate) environment: BTreeMap<String, OsString>,
    /// Key, option and value of the command line.
    pub(crate) command_line: Vec<(&'static str, &'static str, String)>,
}

/// The values, and the origin of each that somebody set.
#[derive(Debug)]
pub(crate) struct Merged {
    pub(crate) shape: Shape,
    pub(crate) origins: BTreeMap<String, Origin>,
}

impl Layers {
    /// One table of all.
    pub(crate) fn merge(&self, schema: &Schema) -> Result<Merged, Faults> {
        let mut origins = BTreeMap::new();
        let mut table = match &self.file {
            Some((path, text)) => read_file(path, text, schema, &mut origins)?,
            None => Table::new(),
        };
        let mut faults = Faults::default();
        for key in keys::all(schema) {
            let variable = key.variable.as_ref();
            let set = variable.and_then(|name| Some((name, self.environment.get(name)?)));
            if let Some((name, text)) = set.filter(|(_, text)| !text.is_empty()) {
                let origin = Origin::Environment { name: name.clone() };
                put(&key, &text.to_string_lossy(), origin, &mut table, &mut origins, &mut faults);
            }
            for (_, option, text) in self.command_line.iter().filter(|set| set.0 == key.name) {
                let origin = Origin::CommandLine { name: option };
                put(&key, text, origin, &mut table, &mut origins, &mut faults);
            }
        }
        let table = faults.or(table)?;
        match Shape::deserialize(table) {
            Ok(shape) => Ok(Merged { shape, origins }),
            // The file was read before, and the rest has the form of its key.
            Err(error) => Err(Faults::one(error.message().to_owned())),
        }
    }

    /// Variables that look like a key's and are none.
    pub(crate) fn doubtful_variables(&self, schema: &Schema) -> Vec<String> {
        let keys = keys::all(schema);
        let known: Vec<&str> = keys.iter().filter_map(|key| key.variable.as_deref()).collect();
        let others = self
            .environment
            .keys()
            .filter(|name| name.starts_with("HOLDFAST_") && !known.contains(&name.as_str()));
        let misspelt = others.filter_map(|name| {
            let best = known.iter().copied().min_by_key(|one| strsim::levenshtein(one, name))?;
            let near = strsim::levenshtein(best, name) <= MISSPELT_EDITS_MAX;
            near.then(|| format!("{name} sets nothing: did you mean {best}?"))
        });
        misspelt.collect()
    }
}

/// Edits between a variable and the name that was meant.
const MISSPELT_EDITS_MAX: usize = 2;

/// Puts a value that came as text where its key is.
fn put(
    key: &Key,
    text: &str,
    origin: Origin,
    table: &mut Table,
    origins: &mut BTreeMap<String, Origin>,
    faults: &mut Faults,
) {
    let number = |text: &str| text.trim().parse::<f64>().ok().map(Value::Float);
    let value = match key.form {
        Form::Text => Some(Value::String(text.to_owned())),
        Form::Number => number(text),
        Form::Whole => text.trim().parse().ok().map(Value::Integer),
        Form::Flag => text.trim().parse().ok().map(Value::Boolean),
        Form::Compound => None,
    };
    let Some(value) = value else {
        let wanted = match key.form {
            Form::Flag => "true or false",
            Form::Whole => "a whole number",
            Form::Text | Form::Number | Form::Compound => "a number",
        };
        faults.add(&origin, format_args!("{} is {wanted}, not {text:?}", key.name));
        return;
    };
    origins.insert(key.name.clone(), origin);
    let mut parts = key.name.split('.');
    let Some(last) = parts.next_back() else { return };
    let mut at = table;
    for part in parts {
        let child = at.entry(part.to_owned()).or_insert_with(|| Value::Table(Table::new()));
        let Value::Table(child) = child else { return };
        at = child;
    }
    at.insert(last.to_owned(), value);
}

fn read_file(
    path: &Path,
    text: &str,
    schema: &Schema,
    origins: &mut BTreeMap<String, Origin>,
) -> Result<Table, Faults> {
    let at = |span: Option<Range<usize>>| Origin::File {
        file: path.to_owned(),
        line: line(text, span.map_or(0, |span| span.start)),
    };
    let fault = |error: &toml::de::Error| {
        let mut faults = Faults::default();
        faults.add(&at(error.span()), error.message());
        faults
    };
    let (parsed, mut torn) = DeTable::parse_recoverable(text);
    if !torn.is_empty() {
        // What cannot be read hides what else is wrong, so only this is told, from the top.
        let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
        torn.sort_by_key(start);
        let mut faults = Faults::default();
        for error in &torn {
            faults.add(&at(error.span()), error.message());
        }
        return Err(faults);
    }
    let mut walk = Walk { path, text, origins, unknown: Vec::new() };
    walk.table(parsed.get_ref(), schema, "");
    walk.unknown.sort();
    Faults(walk.unknown.into_iter().map(|(_, text)| text).collect()).or(())?;
    // For its words about types, with their places.
    toml::from_str::<Shape>(text).map_err(|error| fault(&error))?;
    toml::from_str(text).map_err(|error| fault(&error))
}

fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Looks at every key of a file.
struct Walk<'a> {
    path: &'a Path,
    text: &'a str,
    origins: &'a mut BTreeMap<String, Origin>,
    /// The keys that are not known, by line.
    unknown: Vec<(usize, String)>,
}

impl Walk<'_> {
    fn table(&mut self, table: &DeTable<'_>, schema: &Schema, at: &str) {
        for (key, value) in table.iter() {
            let name: &str = key.get_ref();
            let file = self.path.to_owned();
            let line = line(self.text, key.span().start);
            let origin = Origin::File { file, line };
            let whole = keys::join(at, name);
            let Some(below) = keys::child(schema, name) else {
                let hint = hint(name, schema);
                let text = format!("{origin}: unknown key {whole:?}: {hint}");
                self.unknown.push((line, text));
                continue;
            };
            match value.get_ref() {
                DeValue::Table(table) => self.table(table, below, &whole),
                DeValue::String(_)
                | DeValue::Integer(_)
                | DeValue::Float(_)
                | DeValue::Boolean(_)
                | DeValue::Datetime(_)
                | DeValue::Array(_) => {
                    self.origins.insert(whole, origin);
                }
            }
        }
    }
}

/// What may have been meant.
fn hint(name: &str, schema: &Schema) -> String {
    let known = keys::names(schema);
    match keys::meant(name, known.iter().copied()) {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => format!("there are {}", known.join(", ")),
    }
}
