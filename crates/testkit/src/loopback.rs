//! Showing that a test needs and asks nothing but loopback.

use std::fs;
use std::process::Command;

/// Where the namespace has nothing but loopback, and all that is sent anywhere is written down.
const INSIDE: &str = r#"
ip link set lo up
exec strace --seccomp-bpf -f -qq -e trace=connect,sendto,sendmsg,sendmmsg -o "$TRACE" "$@"
"#;

/// Runs tests of the program that asks once more, by their names, in a network namespace that has
/// only `lo`, and gives the addresses that were asked there.
///
/// # Panics
///
/// When one of them fails, or anything else than loopback was asked.
#[track_caller]
pub fn assert_nothing_else(tests: &[&str]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("strace");
    let mut command = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--net", "/bin/sh", "-ec", INSIDE, "sh"]);
    command.arg(std::env::current_exe().unwrap()).args(tests).args(["--exact", "--nocapture"]);
    let ran = command.env("TRACE", &trace).output().unwrap();
    let words = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
    let passed = format!(" {} passed", tests.len());
    assert!(ran.status.success() && words.contains(&passed), "{words}");
    let trace = fs::read_to_string(trace).unwrap();
    let asked: Vec<String> = asked(&trace).map(str::to_owned).collect();
    assert!(!asked.is_empty(), "no connection was seen");
    for line in &asked {
        assert!(is_loopback(line), "not loopback: {line}");
    }
    asked
}

/// The lines that name an address of the internet.
fn asked(trace: &str) -> impl Iterator<Item = &str> {
    trace.lines().filter(|line| line.contains("AF_INET"))
}

fn is_loopback(line: &str) -> bool {
    line.contains("inet_addr(\"127.") || line.contains("\"::1\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_address_is_seen() {
        let trace = "\
7 connect(3, {sa_family=AF_UNIX, sun_path=\"/run/x\"}, 9) = 0
7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = 0
7 connect(3, {sa_family=AF_INET6, inet_pton(AF_INET6, \"::1\", &sin6_addr)}, 28) = 0
7 sendto(3, \"x\", 1, 0, NULL, 0) = 1
7 sendto(3, \"x\", 1, 0, {sa_family=AF_INET, sin_addr=inet_addr(\"10.0.0.1\")}, 16) = 1
";
        let asked: Vec<_> = asked(trace).map(is_loopback).collect();
        assert_eq!(asked, [true, true, false]);
    }
}
