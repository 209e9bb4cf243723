//! What is installed: the version that a program says it is, asked once and never waited for, and what a
//! person is told of it.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use holdfast_agent::codec::AgentKind;
use holdfast_agent::versions::tested;
use holdfast_pinned::{CLAUDE, CLAUDE_OLDEST, CODEX};
use holdfast_testkit::host::Place;
use serde_json::Value;

/// A program that says which version it is once a file is there, and counts how often it was asked.
fn program(dir: &Path, version: &str) -> PathBuf {
    let (path, dir) = (dir.join("claude"), dir.display());
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> {dir}/asked\nwhile ! [ -e {dir}/go ]; do sleep 0.05; done\n\
         echo '{version} (Claude Code)'\n"
    );
    let new = path.with_extension("new");
    fs::write(&new, script).unwrap();
    fs::set_permissions(&new, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&new, &path).unwrap();
    path
}

#[test]
fn a_program_is_asked_once_for_each_version_and_nobody_waits_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = program(dir.path(), "99.0.0");
    let table = format!(
        "[agents.claude]\nkind = \"claude\"\ncommand = [{path:?}]\n\
         [agents.codex]\nkind = \"codex\"\ncommand = [\"/no/such/codex\"]\n"
    );
    let place = Place::new(env!("CARGO_BIN_EXE_holdfast"), dir.path()).configured(&table);
    let host = place.start();
    let seen = host.agent("claude");
    assert_eq!((&seen["version"], &seen["reason"]), (&Value::Null, &Value::Null), "not known yet");
    assert_eq!(seen["supported"], "2.1.197 to 2.1.332");
    fs::write(dir.path().join("go"), "").unwrap();
    host.wait("the version", || host.agent("claude")["version"] == "99.0.0");
    let seen = host.agent("claude");
    assert_eq!(seen["available"], true, "newer is a hint, no refusal");
    assert!(seen["reason"].as_str().unwrap().contains("newer than what was tested"), "{seen}");
    let asked = || fs::read_to_string(dir.path().join("asked")).unwrap();
    assert_eq!(asked(), "--version\n", "once");

    program(dir.path(), "1.0.0");
    host.wait("the other version", || host.agent("claude")["version"] == "1.0.0");
    let reason = host.agent("claude")["reason"].as_str().unwrap().to_owned();
    assert!(
        reason.contains("older than what was tested") && reason.contains("claude update"),
        "{reason}"
    );
    assert_eq!(asked(), "--version\n--version\n");

    let gone = host.agent("codex");
    assert_eq!((&gone["available"], &gone["version"]), (&Value::Bool(false), &Value::Null));
    let reason = gone["reason"].as_str().unwrap();
    assert!(reason.contains("/no/such/codex was not found. Install it"), "{reason}");
    host.stop();
}

/// One table says what is tested: what the tests install, and what the manual says.
#[test]
fn the_table_of_tested_versions_is_what_is_tested_and_documented() {
    let claude = tested(AgentKind::Claude).unwrap();
    assert_eq!((claude.newest, claude.oldest), (CLAUDE.version, CLAUDE_OLDEST.version));
    let codex = tested(AgentKind::Codex).unwrap();
    assert_eq!((codex.newest, codex.oldest), (CODEX.version, CODEX.version));
    let manual = include_str!("../../../docs/agents.md");
    let row = manual.lines().find(|line| line.starts_with("| tested with ")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[2], format!("{}, and {}", claude.newest, claude.oldest));
    assert_eq!(cells[3], codex.newest);
    let row = manual.lines().find(|line| line.starts_with("| versions without a hint ")).unwrap();
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    assert_eq!(cells[2..5], [claude.words().as_str(), codex.words().as_str(), "any"]);
}
