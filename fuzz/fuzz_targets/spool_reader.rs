//! Segment files, forged or damaged: see [`holdfast_keeper::fuzz::spool`].

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| holdfast_keeper::fuzz::spool(data));
