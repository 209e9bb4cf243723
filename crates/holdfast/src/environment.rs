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
