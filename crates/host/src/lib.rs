//! Chat actors, attempts, start and stop.
