//! Lines of Claude Code, between what the host does: see [`holdfast_agent::fuzz::claude`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_agent::fuzz::claude(data));
