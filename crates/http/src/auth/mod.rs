//! Who may call. Every request passes [`guard`], reads and upgrades too: first where it comes from
//! (`Host`, `Origin`), then who it is (the token).
//!
//! **Invariant:** nothing behind the guard looks at `Host`, `Origin` or a token.

mod guard;
pub mod names;
mod token;

pub(crate) use guard::guard;
pub use names::Names;
pub use token::{OneToken, Principal, Tokens, digest};
