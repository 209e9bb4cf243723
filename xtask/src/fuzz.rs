//! `cargo xtask fuzz`: runs the fuzz targets under `fuzz/`, each for a bounded time.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::{setup::tools, shell};

/// How long one target runs unless told otherwise, in seconds.
const TARGET_SECONDS_DEFAULT: u32 = 60;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seconds for each target.
    #[arg(long, default_value_t = TARGET_SECONDS_DEFAULT)]
    seconds: u32,
    /// The targets to run; all of them when none is named.
    targets: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let known = targets(&shell::root().join("fuzz/fuzz_targets"))?;
    let chosen = choose(&known, &args.targets)?;
    // libFuzzer's instrumentation needs flags that only a nightly compiler takes.
    if !shell::answers(shell::command("rustup").args(["run", "nightly", "cargo", "--version"])) {
        bail!("a nightly toolchain is missing: `rustup toolchain install nightly`");
    }
    let folder = tools::ensure(&tools::CARGO_FUZZ, tools::Install::Missing)?;
    let path = tools::path_with(&folder)?;
    let seconds = format!("-max_total_time={}", args.seconds);
    for target in chosen {
        let mut run = shell::command("rustup");
        // An address sanitizer looks for what only `unsafe` code can do, and costs half of the speed.
        run.args(["run", "nightly", "cargo", "fuzz", "run", "--sanitizer", "none", target]);
        run.args(corpora(target)?).args(["--", &seconds]);
        run.env("PATH", &path);
        // It names the stable cargo of this task; cargo-fuzz would use it.
        run.env_remove("CARGO");
        if std::env::var_os("CARGO_TARGET_DIR").is_none() {
            run.env("CARGO_TARGET_DIR", shell::root().join("target/fuzz"));
        }
        shell::must(&mut run)?;
    }
    Ok(())
}

/// Where inputs are read from; new ones are written to the first, in the cache, so that a run leaves
/// the committed corpus, which the tests replay, as it is.
fn corpora(target: &str) -> Result<Vec<PathBuf>> {
    let found = shell::cache()?.join("fuzz").join(target);
    std::fs::create_dir_all(&found).with_context(|| format!("cannot make {}", found.display()))?;
    let committed = shell::root().join("fuzz/corpus").join(target);
    Ok(std::iter::once(found).chain(committed.is_dir().then_some(committed)).collect())
}

/// The names of the targets: one file each.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("there are no fuzz targets in {}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs")
            && let Some(stem) = path.file_stem()
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

fn choose<'a>(known: &'a [String], asked: &'a [String]) -> Result<Vec<&'a str>> {
    if let Some(strange) = asked.iter().find(|name| !known.contains(name)) {
        bail!("there is no fuzz target {strange}; there are: {}", known.join(", "));
    }
    let chosen = if asked.is_empty() { known } else { asked };
    Ok(chosen.iter().map(String::as_str).collect())
}

#[cfg(test)]
mod tests {
    use super::choose;

    #[test]
    fn all_targets_run_unless_some_are_named() {
        let known = ["a".to_owned(), "b".to_owned()];
        assert_eq!(choose(&known, &[]).unwrap(), ["a", "b"]);
        assert_eq!(choose(&known, &["b".to_owned()]).unwrap(), ["b"]);
        let error = choose(&known, &["c".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "there is no fuzz target c; there are: a, b");
    }
}
