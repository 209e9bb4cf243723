//! `cargo xtask openapi`: writes the document of the API, as the routes describe it, to where it is
//! kept. A test compares the two.

use anyhow::{Context, Result};

use crate::shell;

/// Where the document is kept.
pub(crate) const KEPT: &str = "docs/openapi.json";

#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Result<()> {
    let document = shell::output(shell::cargo().args([
        "run",
        "--quiet",
        "--package",
        "holdfast-http",
        "--example",
        "openapi",
    ]))?;
    let kept = shell::root().join(KEPT);
    std::fs::write(&kept, document).with_context(|| format!("cannot write {KEPT}"))?;
    println!("{KEPT} is as the routes are");
    Ok(())
}
