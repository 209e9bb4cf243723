//! The small process that owns one attempt of an agent, and the host's side of it.
