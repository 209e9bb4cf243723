//! Plays the five chats of the offers with a real agent: `holdfast-real PROGRAM claude|codex`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a show"
)]

use std::path::PathBuf;

use holdfast_testkit::five::{Agent, Stage};

fn main() {
    let mut words = std::env::args_os().skip(1);
    let program = PathBuf::from(words.next().expect("the program to show"));
    let program = std::path::absolute(program).unwrap();
    let agent = words.next().and_then(|name| Agent::named(name.to_str()?));
    let agent = agent.expect("the agent: claude or codex");
    let root = std::env::temp_dir().join(format!("holdfast-real-{}", std::process::id()));
    Stage::new(&program, &root, agent).play(&|text| println!("{text}"));
    let _ = std::fs::remove_dir_all(root);
}
