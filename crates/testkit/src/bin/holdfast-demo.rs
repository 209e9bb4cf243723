//! Plays the main job with real processes and kills: `holdfast-demo PROGRAM`.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a show"
)]

use std::path::PathBuf;

use holdfast_testkit::host::Place;
use holdfast_testkit::scenario::{Stop, kill_the_host, stop_everything};

fn main() {
    let program = PathBuf::from(std::env::args_os().nth(1).expect("the program to show"));
    let program = std::path::absolute(program).unwrap();
    let root = std::env::temp_dir().join(format!("holdfast-demo-{}", std::process::id()));
    let place = |name: &str| Place::new(&program, root.join(name));
    let say = |text: &str| println!("  {text}");
    println!("1. Kill the host");
    kill_the_host(&place("host"), &say);
    println!("2. Kill everything");
    let killed = stop_everything(&place("everything"), Stop::KillEverything, &say);
    println!("3. Stop in order");
    let stopped = stop_everything(&place("stop"), Stop::Graceful, &say);
    assert_eq!(killed, stopped, "both ways give the same offers");
    println!("Both ways gave the same offers with the same sentences. Nothing was lost.");
    let _ = std::fs::remove_dir_all(root);
}
