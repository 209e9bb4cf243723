//! Exit codes (api.md).

use std::process::ExitCode;

/// It failed.
pub(crate) const FAILED: u8 = 1;
/// Bad configuration or arguments.
pub(crate) const USAGE: u8 = 2;
/// There is no such thing.
pub(crate) const NOT_FOUND: u8 = 3;
/// Refused, or in conflict: a second host on a data directory.
pub(crate) const REFUSED: u8 = 4;

/// The exit code of a number; what is out of range is a failure.
pub(crate) fn code(number: i32) -> ExitCode {
    ExitCode::from(u8::try_from(number).unwrap_or(FAILED))
}

/// An error with the exit code that it ends the program with.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) code: u8,
    pub(crate) error: anyhow::Error,
}

impl Failed {
    pub(crate) fn new(code: u8, error: impl Into<anyhow::Error>) -> Self {
        Self { code, error: error.into() }
    }
}

impl From<anyhow::Error> for Failed {
    fn from(error: anyhow::Error) -> Self {
        Self { code: FAILED, error }
    }
}
