//! The deterministic simulation of core, actor, keeper protocol and journal.
