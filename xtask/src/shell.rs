//! Starting programs from the root of the repository, each printed before it runs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest)
}

/// Where tools and builds that outlive one checkout are kept: `~/.cache/holdfast`.
///
/// # Errors
/// `HOME` is not set.
pub(crate) fn cache() -> Result<PathBuf> {
    let home = std::env::var_os("HOME").context("HOME is not set")?;
    Ok(PathBuf::from(home).join(".cache/holdfast"))
}

/// A command that starts in the root of the repository.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// The cargo that runs this task.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// One line a person can repeat: the program's name and its arguments.
pub(crate) fn line(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| quoted(&word.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Prints the command and runs it with this process's input and output.
///
/// # Errors
/// It cannot be started, or it ends with anything but 0.
pub(crate) fn must(command: &mut Command) -> Result<()> {
    let line = line(command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs a command in silence and returns its standard output.
///
/// # Errors
/// It cannot be started, or it ends with anything but 0 (its standard error is quoted).
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let line = line(command);
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start `{line}`"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed ({}): {}", output.status, stderr.trim());
    }
    Ok(output.stdout)
}

/// What cargo says of the workspace, its dependencies aside.
///
/// # Errors
/// cargo cannot be asked.
pub(crate) fn metadata() -> Result<serde_json::Value> {
    let metadata =
        output(cargo().args(["metadata", "--format-version", "1", "--no-deps", "--offline"]))?;
    serde_json::from_slice(&metadata).context("cargo metadata is not JSON")
}

/// The files that git tracks and those that it would (untracked, not ignored), by path. One that is
/// listed may have been removed.
///
/// # Errors
/// git cannot be asked, or a name is not UTF-8.
pub(crate) fn listed() -> Result<Vec<String>> {
    let listed = output(command("git").args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))?;
    let listed = String::from_utf8(listed).context("a file's name is not UTF-8")?;
    Ok(listed.split('\0').filter(|file| !file.is_empty()).map(str::to_owned).collect())
}

/// Whether a command can be started here and ends with 0; its output is dropped.
pub(crate) fn answers(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether a program of this name is on the search path.
pub(crate) fn on_path(program: &str) -> bool {
    let Some(path) = std::env::var_os("PATH") else { return false };
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_can_be_pasted_into_a_shell() {
        let mut command = command("/usr/bin/env");
        command.args(["A=1", "two words", "it's", ""]);
        assert_eq!(line(&command), r"env A=1 'two words' 'it'\''s' ''");
    }

    #[test]
    fn a_failing_program_is_an_error_that_names_it() {
        let error = must(command("sh").args(["-c", "exit 3"])).unwrap_err();
        assert!(error.to_string().contains("sh -c 'exit 3'"), "{error}");
    }

    #[test]
    fn only_what_is_there_is_on_the_path() {
        assert!(on_path("sh"));
        assert!(!on_path("holdfast-no-such-program"));
    }
}
