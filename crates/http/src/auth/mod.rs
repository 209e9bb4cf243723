//! Who may call. Every request passes [`guard`], reads and upgrades too: first where it comes from
//! (`Host`, `Origin`), then who it is (the token, or the page's cookie).
//!
//! **Invariant:** nothing behind the guard looks at `Host`, `Origin` or a token.

pub(crate) mod cookie;
mod guard;
pub mod names;
mod sessions;
mod token;

pub(crate) use guard::guard;
pub use names::Names;
pub use sessions::{NotSignedIn, Sessions};
pub use token::{OneToken, Principal, Tokens, digest};
