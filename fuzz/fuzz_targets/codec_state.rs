//! What a disk has kept of a codec, then lines of an agent: see [`holdfast_agent::fuzz::acp_restored`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_agent::fuzz::acp_restored(data));
