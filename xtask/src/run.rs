//! `cargo xtask run`: builds the binary and becomes `holdfast serve`.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::{shell, web};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Passed on to `holdfast serve`.
    #[arg(last = true)]
    serve: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    // Without it the host serves all the same, and says on its page what is missing.
    if let Err(error) = web::build() {
        eprintln!("the page was not built: {error:#}");
    }
    let binary = build()?;
    let mut serve = Command::new(&binary);
    serve.arg("serve").args(&args.serve);
    // Agents inherit the host's environment: what cargo and rustup set for this task would pin
    // their toolchain and name our package in a person's own project.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(set_by_cargo) {
            serve.env_remove(&name);
        }
    }
    println!("$ {}", shell::line(&serve));
    // Replacing this process leaves the host as the direct child of the terminal: its signals
    // and its exit code arrive unchanged.
    let error = serve.exec();
    Err(error).with_context(|| format!("cannot start {}", binary.display()))
}

/// Builds `holdfast` in the profile that the tests use, so that the build is shared, and returns
/// where the binary is.
pub(crate) fn build() -> Result<PathBuf> {
    shell::must(shell::cargo().args(["build", "--package", "holdfast"]))?;
    binary()
}

/// Where the binary is once it is built.
pub(crate) fn binary() -> Result<PathBuf> {
    let metadata = shell::metadata()?;
    let target = metadata["target_directory"]
        .as_str()
        .context("cargo metadata names no target directory")?;
    Ok(PathBuf::from(target).join("debug").join("holdfast"))
}

fn set_by_cargo(name: &str) -> bool {
    const SET: [&str; 8] = [
        "CARGO",
        "CARGO_MANIFEST_DIR",
        "CARGO_MANIFEST_PATH",
        "CARGO_BIN_NAME",
        "CARGO_CRATE_NAME",
        "LD_LIBRARY_PATH",
        "RUSTUP_TOOLCHAIN",
        "RUST_RECURSION_COUNT",
    ];
    SET.contains(&name) || name.starts_with("CARGO_PKG_")
}

#[cfg(test)]
mod tests {
    use super::set_by_cargo;

    #[test]
    fn only_what_the_build_set_is_kept_from_the_host() {
        for name in ["CARGO", "CARGO_PKG_NAME", "RUSTUP_TOOLCHAIN"] {
            assert!(set_by_cargo(name), "{name}");
        }
        for name in ["CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "PATH", "HOLDFAST_DATA"] {
            assert!(!set_by_cargo(name), "{name}");
        }
    }
}
