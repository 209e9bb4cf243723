//! Hand-made faults: each is a patch of the code that the simulation runs, applied to a copy of the
//! workspace, and the simulation has to find it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Where the patches are.
const PATCHES: &str = "crates/sim/mutations";

/// Applies each patch to a copy and runs at most `seeds` histories of it.
pub(super) fn run(seeds: u64, only: Option<&str>) -> Result<()> {
    let place = shell::cache()?.join("mutations");
    let copy = Copy { root: place.join("work"), target: place.join("target") };
    let patches = patches(only)?;
    copy.refresh()?;
    if let Some(seed) = copy.first_failure(seeds.min(300))? {
        bail!("seed {seed} fails without any mutation");
    }
    let mut missed = Vec::new();
    for patch in &patches {
        let name = patch.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        copy.apply(patch, Way::Forth)?;
        let failure = copy.first_failure(seeds)?;
        copy.apply(patch, Way::Back)?;
        match failure {
            Some(seed) => println!("{name}: caught by seed {seed}"),
            None => {
                println!("{name}: NOT CAUGHT by {seeds} seeds");
                missed.push(name);
            }
        }
    }
    if !missed.is_empty() {
        bail!("not caught: {}", missed.join(", "));
    }
    println!("{} mutations, each caught", patches.len());
    Ok(())
}

fn patches(only: Option<&str>) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(shell::root().join(PATCHES)).context(PATCHES)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let wanted = only.is_none_or(|only| name.contains(only));
        if wanted && path.extension().is_some_and(|extension| extension == "patch") {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        bail!("no mutation to run");
    }
    Ok(found)
}

/// Whether a patch is put in or taken out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forth,
    Back,
}

/// A copy of the workspace with a target directory of its own.
struct Copy {
    root: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Makes the copy what the workspace is. A file that is the same is not touched, so that only
    /// what a patch has changed is built again.
    fn refresh(&self) -> Result<()> {
        let listed = shell::output(shell::command("git").args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        let listed = String::from_utf8(listed).context("a file's name is not UTF-8")?;
        let mut wanted = BTreeSet::new();
        for file in listed.split('\0').filter(|file| !file.is_empty()) {
            let from = shell::root().join(file);
            // What git knows may have been removed.
            if from.is_file() {
                let to = self.root.join(file);
                copy_if_changed(&from, &to)?;
                wanted.insert(to);
            }
        }
        remove_others(&self.root, &wanted)
    }

    fn apply(&self, patch: &Path, way: Way) -> Result<()> {
        // The copy may lie below somebody's repository; this one is none of its files.
        let applied = Command::new("git")
            .current_dir(&self.root)
            .env("GIT_CEILING_DIRECTORIES", &self.root)
            .args(["apply", "--whitespace=nowarn"])
            .args(match way {
                Way::Forth => None,
                Way::Back => Some("--reverse"),
            })
            .arg(patch)
            .status()
            .context("cannot start git")?;
        if !applied.success() {
            bail!("{} does not fit the code any more: make it anew", patch.display());
        }
        Ok(())
    }

    /// The first seed whose history fails, if one of so many does.
    fn first_failure(&self, seeds: u64) -> Result<Option<u64>> {
        let built = self.cargo("build", &[]).status().context("cannot start cargo")?;
        if !built.success() {
            bail!("the copy does not build");
        }
        let output = self
            .cargo("run", &["--quiet", "--", "--seeds", &seeds.to_string()])
            .output()
            .context("cannot start cargo")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let failed = text.lines().find_map(|line| {
            let (seed, _) = line.strip_prefix("seed ")?.split_once(" fails: ")?;
            seed.parse().ok()
        });
        match (output.status.success(), failed) {
            (true, None) => Ok(None),
            (false, Some(seed)) => Ok(Some(seed)),
            (true, Some(_)) | (false, None) => {
                bail!("the simulation did not tell how it ended: {text}")
            }
        }
    }

    fn cargo(&self, verb: &str, rest: &[&str]) -> Command {
        let mut cargo = shell::cargo();
        cargo
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target)
            .args([verb, "--package", "holdfast-sim"])
            .args(rest);
        cargo
    }
}

fn copy_if_changed(from: &Path, to: &Path) -> Result<()> {
    let wanted = fs::read(from).with_context(|| from.display().to_string())?;
    if fs::read(to).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::write(to, wanted).with_context(|| to.display().to_string())
}

/// Removes the files below a folder that are not wanted there.
fn remove_others(folder: &Path, wanted: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            remove_others(&path, wanted)?;
        } else if !wanted.contains(&path) {
            fs::remove_file(&path).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_renewed_where_it_differs_and_only_there() {
        let folder = std::env::temp_dir().join(format!("holdfast-copy-{}", std::process::id()));
        let (from, to) = (folder.join("a"), folder.join("b/c"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(&from, "one").unwrap();
        copy_if_changed(&from, &to).unwrap();
        let before = fs::metadata(&to).unwrap().modified().unwrap();
        copy_if_changed(&from, &to).unwrap();
        assert_eq!(fs::metadata(&to).unwrap().modified().unwrap(), before);
        fs::write(folder.join("b/old"), "old").unwrap();
        remove_others(&folder.join("b"), &BTreeSet::from([to.clone()])).unwrap();
        assert!(to.exists() && !folder.join("b/old").exists());
        fs::write(&from, "two").unwrap();
        copy_if_changed(&from, &to).unwrap();
        assert_eq!(fs::read(&to).unwrap(), b"two");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn there_are_mutations() {
        assert!(patches(None).unwrap().len() >= 5);
        assert!(patches(Some("no such mutation")).is_err());
    }
}
