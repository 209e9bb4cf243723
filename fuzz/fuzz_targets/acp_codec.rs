//! Lines of an agent, between what the host does: see [`holdfast_agent::fuzz::acp`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_agent::fuzz::acp(data));
