//! What goes over the wire, one file for each noun. These types are apart from the core's and the
//! store's; each is made by a function that says how. Every field is always there, `null` where
//! there is nothing.

pub(crate) mod agent;
pub(crate) mod attachment;
pub(crate) mod change;
pub(crate) mod command;
pub(crate) mod environment;
pub(crate) mod grant;
pub(crate) mod host;
pub(crate) mod ids;
pub(crate) mod item;
pub(crate) mod offer;
pub(crate) mod page;
pub(crate) mod prompt;
pub(crate) mod queue;
pub(crate) mod receipt;
pub(crate) mod row;
pub(crate) mod session;
pub(crate) mod task;
pub(crate) mod text;
pub(crate) mod time;
pub(crate) mod turn;
pub(crate) mod words;
