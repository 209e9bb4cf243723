//! One file for each command.

pub(crate) mod config;
pub(crate) mod place;
pub(crate) mod serve;
pub(crate) mod service;
