//! What agents run in.

use serde::Serialize;
use utoipa::ToSchema;

use crate::port::{EnvironmentInfo, EnvironmentSource, VariableInfo};

/// Whether values are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Values {
    /// They are.
    Shown,
    /// They may be secrets.
    Masked,
}

/// Where an environment comes from.
#[derive(Serialize, ToSchema)]
#[schema(as = EnvironmentSource)]
pub(crate) struct Source {
    /// The login shell, or the host's own environment.
    source: &'static str,
    /// The shell that was asked.
    shell: Option<String>,
    /// Why it is not as it should be.
    note: Option<String>,
}

impl Source {
    /// As the host says it.
    pub(crate) fn of(source: EnvironmentSource) -> Self {
        Self { source: source.word, shell: source.shell, note: source.note }
    }
}

/// What an agent runs in.
#[derive(Serialize, ToSchema)]
pub(crate) struct Environment {
    #[serde(flatten)]
    source: Source,
    /// The variables.
    items: Vec<Variable>,
    /// There is but one page.
    #[schema(value_type = Option<String>)]
    next: Option<()>,
}

/// A variable.
#[derive(Serialize, ToSchema)]
struct Variable {
    /// Its name.
    name: String,
    /// Where it comes from.
    origin: &'static str,
    /// Its value, where that is asked for.
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
