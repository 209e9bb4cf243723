//! What a fresh machine needs before the tests can run.

pub(crate) mod agents;
pub(crate) mod packages;
pub(crate) mod tools;
