//! Lines of Codex, between what the host does: see [`holdfast_agent::fuzz::codex`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_agent::fuzz::codex(data));
