//! What agents run in.

use serde::Serialize;

use crate::port::{EnvironmentInfo, EnvironmentSource, VariableInfo};

/// Whether values are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// They are.
    Shown,
    /// They may be secrets.
    Masked,
}

/// Where an environment comes from.
#[derive(Serialize)]
pub(crate) struct Source {
    source: &'static str,
    shell: Option<String>,
    note: Option<String>,
}

impl Source {
    /// As the host says it.
    pub(crate) fn of(source: EnvironmentSource) -> Self {
        Self { source: source.word, shell: source.shell, note: source.note }
    }
}

/// What an agent runs in.
#[derive(Serialize)]
pub(crate) struct Environment {
    #[serde(flatten)]
    source: Source,
    items: Vec<Variable>,
    next: Option<()>,
}

#[derive(Serialize)]
struct Variable {
    name: String,
    origin: &'static str,
    value: Option<String>,
}

impl Environment {
    /// As the host says it.
    pub(crate) fn of(info: EnvironmentInfo, values: Values) -> Self {
        let item = |VariableInfo { name, value, origin }: VariableInfo| {
            let value = (values == Values::Shown).then_some(value);
            Variable { name, origin, value }
        };
        let items = info.variables.into_iter().map(item).collect();
        Self { source: Source::of(info.source), items, next: None }
    }
}
