//! The commands everyone relies on: run, test, tidy, demo.
fn main() {}
