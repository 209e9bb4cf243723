//! The one place where the program reads its environment.

#![allow(clippy::disallowed_methods, reason = "this is the home of the environment")]

use std::ffi::OsString;

/// One variable, if it is set and not empty.
pub(crate) fn var(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// All variables.
pub(crate) fn all() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

mod shell;
mod surroundings;
mod word;

pub(crate) use surroundings::Surroundings;

use std::process::ExitCode;

/// The two roles in which this program asks a login shell.
const BEFORE_SHELL: &str = "before-shell";
const WITHIN_SHELL: &str = "within-shell";

/// What this process is where the host started it to ask a login shell.
pub(crate) fn role(word: &std::ffi::OsStr) -> Option<fn() -> ExitCode> {
    match word.to_str()? {
        BEFORE_SHELL => Some(shell::become_shell),
        WITHIN_SHELL => Some(word::say),
        _ => None,
    }
}
