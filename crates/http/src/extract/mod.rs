//! How requests are read: ids in the path, parameters in the query, bodies, idempotency keys,
//! ranges. All of it is from outside: bounded, checked, refused by name.

pub(crate) mod body;
pub(crate) mod fields;
pub(crate) mod json;
pub(crate) mod operation;
pub(crate) mod params;
pub(crate) mod path;
pub(crate) mod range;
pub(crate) mod upload;

pub(crate) use body::{Call, MessageBody, PlainBody, Unsigned};
pub(crate) use fields::Fields;
pub(crate) use params::Params;
pub(crate) use path::At;
