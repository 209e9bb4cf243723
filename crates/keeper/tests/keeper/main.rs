//! The keeper as a real process, with real agents.

mod birth;
mod bounds;
mod common;
mod crashes;
mod endings;
mod faults;
mod frames;
mod hostile;
mod reading;
