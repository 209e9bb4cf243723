//! Facts and heads as a disk has kept them: see [`stored_fact::fold_stored`].

#![no_main]

#[path = "../src/stored_fact.rs"]
mod stored_fact;

libfuzzer_sys::fuzz_target!(|data: &[u8]| stored_fact::fold_stored(data));
