//! Runs `cargo test` and adds up what its binaries report.
//!
//! A workspace's run ends with many closing lines, and the last ones (documentation tests) often
//! say zero. The sum says whether anything was tested at all.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Runs every test of the workspace, shows its output, and closes with what other tests said before
/// and with `N passed, N failed`.
///
/// # Errors
/// A test failed, a test was ignored, or no test ran.
pub(crate) fn run_tests(before: &[String]) -> Result<()> {
    let mut command = shell::cargo();
    command.args(["test", "--workspace", "--no-fail-fast"]);
    let out = std::io::stdout();
    if out.is_terminal() {
        command.args(["--", "--color", "always"]);
    }
    println!("$ {}", shell::line(&command));
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start `cargo test`")?;
    let pipe = child.stdout.take().context("cargo's output is not a pipe")?;
    let mut totals = Totals::default();
    let mut reader = BufReader::new(pipe);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).context("cannot read cargo's output")? > 0 {
        out.lock().write_all(&line).context("cannot write")?;
        totals.add(&String::from_utf8_lossy(&line));
        line.clear();
    }
    let status = child.wait().context("cannot wait for cargo")?;
    for line in before {
        println!("{line}");
    }
    println!("{} passed, {} failed", totals.passed, totals.failed);
    totals.judge()?;
    if !status.success() {
        bail!("cargo test failed ({status})");
    }
    Ok(())
}

#[derive(Default, PartialEq, Eq, Debug)]
struct Totals {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Totals {
    /// Counts a line such as `test result: ok. 5 passed; 0 failed; 0 ignored; …`.
    fn add(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test result: ") else { return };
        for part in rest.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(word), None) = (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let Ok(number) = number.parse::<u64>() else { continue };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    fn judge(&self) -> Result<()> {
        if self.ignored > 0 {
            bail!("{} tests were ignored: a test runs or is deleted", self.ignored);
        }
        if self.passed + self.failed == 0 {
            bail!("no test ran");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: &str = "test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; \
                      0 filtered out; finished in 0.00s\n";
    const FAILED: &str = "test result: \u{1b}[31mFAILED\u{1b}(B\u{1b}[m. 7 passed; 2 failed; \
                          0 ignored; 0 measured; 3 filtered out; finished in 1.20s\n";

    #[test]
    fn closing_lines_are_added_up() {
        let mut totals = Totals::default();
        for line in [OK, "test result: nonsense\n", "test a::b ... ok\n", FAILED] {
            totals.add(line);
        }
        assert_eq!(totals, Totals { passed: 12, failed: 2, ignored: 1 });
    }

    #[test]
    fn a_run_without_tests_or_with_ignored_ones_fails() {
        let totals = |passed, ignored| Totals { passed, failed: 0, ignored };
        assert!(totals(1, 0).judge().is_ok());
        assert_eq!(totals(0, 0).judge().unwrap_err().to_string(), "no test ran");
        assert!(totals(1, 1).judge().is_err());
    }
}
