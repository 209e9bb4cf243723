//! Messages, and whatever happens to a keeper: see [`holdfast_keeper::fuzz::protocol`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_keeper::fuzz::protocol(data));
