//! Bad input on every route: a problem document with a stable code, nothing stored, nobody harmed.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, reason = "tests")]

mod routes;
mod scene;
mod shapes;
mod values;
mod who;
