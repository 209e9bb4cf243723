//! The page: its packages, its build, its checks. What is built is put into the binary by cargo.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use crate::shell;

/// The oldest Node that builds the page: major and minor.
const NODE_MIN: (u32, u32) = (20, 19);

fn folder() -> PathBuf {
    shell::root().join("web")
}

fn npm(args: &[&str]) -> Command {
    let mut command = shell::command("npm");
    command.current_dir(folder()).args(args).env("NO_COLOR", "1");
    // A newer npm is no matter of this build.
    command.env("NPM_CONFIG_UPDATE_NOTIFIER", "false");
    command
}

/// Builds the page where it is older than what it is made of.
///
/// # Errors
/// Node is missing or too old, or the packages or the build failed.
pub(crate) fn build() -> Result<()> {
    node()?;
    install()?;
    let sources = ["index.html", "package-lock.json", "public", "src", "vite.config.ts"];
    let sources: Vec<PathBuf> = sources.iter().map(|name| folder().join(name)).collect();
    let newest = sources.iter().filter_map(|path| newest(path)).max();
    let built = modified(&folder().join("dist/index.html"));
    if built.is_some() && built >= newest {
        println!("the page is built");
        return Ok(());
    }
    shell::must(&mut npm(&["run", "--silent", "build"]))
}

/// Checks the page's form and types, then runs the tests that need no browser. Returns their closing
/// lines.
///
/// # Errors
/// A check or a test failed, or none ran.
pub(crate) fn check() -> Result<Vec<String>> {
    shell::must(&mut npm(&["run", "--silent", "check"]))?;
    shell::must(&mut npm(&["run", "--silent", "types"]))?;
    vitest(&mut npm(&["run", "--silent", "test"]))
}

/// Drives the page in a browser against this binary. Returns the closing lines.
///
/// # Errors
/// A test failed, or none ran.
pub(crate) fn browser(binary: &Path) -> Result<Vec<String>> {
    install()?;
    vitest(npm(&["run", "--silent", "browser"]).env("HOLDFAST_BINARY", binary))
}

fn node() -> Result<()> {
    let version = shell::output(shell::command("node").arg("--version"));
    let version = version.context("the page needs Node to be built")?;
    let version = String::from_utf8_lossy(&version);
    if parse(&version).is_none_or(|have| have < NODE_MIN) {
        let (major, minor) = NODE_MIN;
        bail!("the page needs Node {major}.{minor} or newer; this is {}", version.trim());
    }
    Ok(())
}

/// Major and minor of `v20.19.4`.
fn parse(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.trim().strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Installs what the lock file says, unless it is there.
fn install() -> Result<()> {
    let lock = folder().join("package-lock.json");
    let stamp = folder().join("node_modules/.installed");
    let wanted = fs::read(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
    if fs::read(&stamp).is_ok_and(|have| have == wanted) {
        return Ok(());
    }
    shell::must(&mut npm(&["ci"]))?;
    fs::write(&stamp, wanted).with_context(|| format!("cannot write {}", stamp.display()))
}

/// Runs tests, shows what they say, and returns the lines that tell how many passed.
fn vitest(command: &mut Command) -> Result<Vec<String>> {
    let line = shell::line(command);
    println!("$ {line}");
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{line}`"))?;
    let pipe = child.stdout.take().context("the output is not a pipe")?;
    let mut closing = Vec::new();
    for said in BufReader::new(pipe).lines() {
        let said = said.with_context(|| format!("cannot read what `{line}` says"))?;
        println!("{said}");
        closing.extend(is_closing(&said).then(|| format!("page: {}", said.trim())));
    }
    let status = child.wait().with_context(|| format!("cannot wait for `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    if closing.is_empty() {
        bail!("`{line}` told no result");
    }
    Ok(closing)
}

/// Whether a line is one such as ` Test Files  11 passed (11)` or `      Tests  63 passed (63)`.
fn is_closing(line: &str) -> bool {
    let line = line.trim();
    let rest = line.strip_prefix("Test Files").or_else(|| line.strip_prefix("Tests"));
    rest.is_some_and(|rest| rest.starts_with("  ") && rest.ends_with(')'))
}

/// When the newest file below a path was changed.
fn newest(path: &Path) -> Option<SystemTime> {
    if !path.is_dir() {
        return modified(path);
    }
    let entries = fs::read_dir(path).ok()?;
    entries.filter_map(|entry| newest(&entry.ok()?.path())).max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_node_is_compared_by_number() {
        assert_eq!(parse("v20.20.2\n"), Some((20, 20)));
        assert!(parse("v18.19.0").unwrap() < NODE_MIN && parse("v22.1.0").unwrap() > NODE_MIN);
        assert_eq!(parse("what?"), None);
    }

    #[test]
    fn closing_lines_are_found() {
        for line in [" Test Files  11 passed (11)", "      Tests  1 failed | 62 passed (63)"] {
            assert!(is_closing(line), "{line}");
        }
        for line in
            ["Tests are fine (really)", " ✓ src/a.test.ts (3 tests)", "   Start at  17:43:07"]
        {
            assert!(!is_closing(line), "{line}");
        }
    }
}
