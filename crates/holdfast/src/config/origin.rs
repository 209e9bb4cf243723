//! Where a value comes from.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub(crate) enum Origin {
    /// Nobody set it.
    Default,
    /// A line of the configuration file.
    File {
        /// The file.
        file: PathBuf,
        /// The line, counted from one.
        line: usize,
    },
    /// A variable of the host's environment.
    Environment {
        /// Its name.
        name: String,
    },
    /// An option of the command line.
    CommandLine {
        /// Its name.
        name: &'static str,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line } => write!(f, "{}:{line}", file.display()),
            Self::Environment { name } => f.write_str(name),
            Self::CommandLine { name } => f.write_str(name),
        }
    }
}

/// Everything that is wrong with a configuration, each with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub(crate) struct Faults(pub(crate) Vec<String>);

impl Faults {
    pub(crate) fn one(text: impl Into<String>) -> Self {
        Self(vec![text.into()])
    }

    pub(crate) fn add(&mut self, at: &Origin, text: impl fmt::Display) {
        self.0.push(format!("{at}: {text}"));
    }

    pub(crate) fn or<T>(self, value: T) -> Result<T, Self> {
        if self.0.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}
