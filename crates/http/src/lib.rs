//! The border with the outside: wire types, routes, events, authentication. It decides nothing: a
//! handler reads the request, asks the host or the store through [`port`], and says what came of it.
//!
//! Start reading at [`router`]; what is needed of a host is in [`port`].

mod app;
pub mod auth;
mod events;
mod extract;
pub mod limits;
pub mod openapi;
pub mod port;
mod problem;
mod routes;
mod serve;
mod web;
mod wire;

pub use app::App;
pub use events::Hub;
pub use problem::Problem;
pub use routes::router;
pub use serve::{adopt, listen, serve};
