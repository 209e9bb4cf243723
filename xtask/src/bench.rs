//! `cargo xtask bench`: builds in the release profile and measures. It is no test: machines are
//! noisy, and each figure stands beside what bounds it in the same run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Passed on to the benchmarks: a part (`posts`, `start`, `chunks`) and its options.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    shell::must(shell::cargo().args([
        "build",
        "--release",
        "--package",
        "holdfast",
        "--package",
        "holdfast-bench",
    ]))?;
    let metadata = shell::metadata()?;
    let target = metadata["target_directory"].as_str();
    let built = PathBuf::from(target.context("cargo metadata names no target directory")?);
    let built = built.join("release");
    let keep = shell::cache()?.join("bench");
    std::fs::create_dir_all(&keep).with_context(|| format!("cannot make {}", keep.display()))?;
    let mut bench = Command::new(built.join("holdfast-bench"));
    bench.arg("--program").arg(built.join("holdfast")).arg("--keep").arg(keep);
    shell::must(bench.args(&args.rest))
}
