//! What each command says of itself.

use std::process::Command;

use crate::scene::{place, redact, run};

/// Every command, as its own help lists them.
fn commands(of: &[&str]) -> Vec<String> {
    let program = env!("CARGO_BIN_EXE_holdfast");
    let help = Command::new(program).args(of).arg("--help").env_clear().output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let Some((_, rest)) = help.split_once("\nCommands:\n") else { return Vec::new() };
    let lines = rest.lines().take_while(|line| !line.is_empty());
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next().map(str::to_owned));
    names.filter(|name| name != "help").collect()
}

fn all(of: &[&str]) -> Vec<Vec<String>> {
    let mut found = vec![of.iter().map(|&word| word.to_owned()).collect()];
    for name in commands(of) {
        let inner: Vec<&str> = of.iter().copied().chain([name.as_str()]).collect();
        found.extend(all(&inner));
    }
    found
}

#[test]
fn each_command_says_what_it_does() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let commands = all(&[]);
    assert!(commands.len() > 35, "{commands:?}");
    for command in commands {
        let args: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = redact(&place, &run(&place, &args).ok());
        let name = if command.is_empty() { "holdfast".to_owned() } else { command.join("-") };
        insta::assert_snapshot!(format!("help-{name}"), help);
    }
}

#[test]
fn manual_pages_and_completions_know_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let place = place(&dir);
    let pages = place.root.join("man");
    run(&place, &["man", pages.to_str().unwrap()]).ok();
    for command in all(&[]) {
        let name = [vec!["holdfast".to_owned()], command].concat().join("-");
        let page = std::fs::read_to_string(pages.join(format!("{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&place, &["completions", shell]).ok();
        assert!(script.contains("send-now"), "{shell}");
    }
    assert_eq!(run(&place, &["completions", "tcsh"]).code, 2);
}
