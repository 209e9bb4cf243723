//! Wire types, routes, events, authentication.
