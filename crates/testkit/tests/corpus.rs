//! The committed corpora of the fuzz targets, as they are and damaged, run by the stable compiler: what
//! a fuzzer has found once stays found.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[path = "../../../fuzz/src/stored_fact.rs"]
mod stored_fact;

/// What a target runs.
type Hook = fn(&[u8]);

/// Each target of `fuzz/fuzz_targets` and what it runs.
const TARGETS: &[(&str, Hook)] = &[
    ("acp_codec", holdfast_agent::fuzz::acp),
    ("claude_codec", holdfast_agent::fuzz::claude),
    ("codex_codec", holdfast_agent::fuzz::codex),
    ("codec_state", holdfast_agent::fuzz::acp_restored),
    ("keeper_protocol", holdfast_keeper::fuzz::protocol),
    ("spool_reader", holdfast_keeper::fuzz::spool),
    ("stored_fact", stored_fact::fold_stored),
];

/// Places at which one file is cut, and at which a bit of it is flipped, at most.
const DAMAGES_MAX: usize = 24;

/// Bytes of all the files together: they are a start for fuzzers, not an archive.
const CORPORA_BYTES_MAX: u64 = 200 * 1024;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn run(target: &str) {
    let (_, hook) = TARGETS.iter().find(|(name, _)| *name == target).unwrap();
    let folder = fuzz().join("corpus").join(target);
    let files = names(&folder);
    assert!(!files.is_empty(), "{target} has no corpus");
    for file in files {
        let seed = std::fs::read(folder.join(&file)).unwrap();
        // What fails is named by a panic's own words and this line, which only a failing test shows.
        println!("{target}/{file}");
        hook(&seed);
        let step = seed.len().div_ceil(DAMAGES_MAX).max(1);
        for at in (0..seed.len()).step_by(step) {
            hook(&seed[..at]);
            let mut flipped = seed.clone();
            flipped[at] ^= 1 << (at % 8);
            hook(&flipped);
        }
    }
}

#[test]
fn every_target_has_its_corpus_and_is_run_here() {
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let targets = names(&fuzz().join("fuzz_targets"));
    let targets: BTreeSet<String> =
        targets.iter().map(|file| file.trim_end_matches(".rs").to_owned()).collect();
    assert_eq!(targets, known);
    assert_eq!(names(&fuzz().join("corpus")), known);
    let folders = known.iter().map(|name| fuzz().join("corpus").join(name));
    let files = folders.flat_map(|folder| {
        names(&folder).into_iter().map(move |name| folder.join(name)).collect::<Vec<_>>()
    });
    let bytes: u64 = files.map(|file| file.metadata().unwrap().len()).sum();
    assert!(bytes <= CORPORA_BYTES_MAX, "{bytes} bytes");
}

#[test]
fn lines_of_claude_code() {
    run("claude_codec");
}

#[test]
fn lines_of_an_agent() {
    run("acp_codec");
}

#[test]
fn lines_of_codex() {
    run("codex_codec");
}

#[test]
fn a_codec_state_of_a_disk() {
    run("codec_state");
}

#[test]
fn whatever_happens_to_a_keeper() {
    run("keeper_protocol");
}

#[test]
fn segment_files() {
    run("spool_reader");
}

#[test]
fn facts_and_heads_of_a_disk() {
    run("stored_fact");
}
