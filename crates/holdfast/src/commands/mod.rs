//! The commands that are not a client's, one file each.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod man;
pub(crate) mod paths;
pub(crate) mod place;
pub(crate) mod serve;
pub(crate) mod service;
