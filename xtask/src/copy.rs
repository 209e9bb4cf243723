//! A copy of the workspace in which code is changed and built without touching the workspace itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::shell;

/// The patches of a folder whose names contain a word, by name.
pub(crate) fn patches(folder: &str, only: Option<&str>) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(shell::root().join(folder)).with_context(|| folder.to_owned())? {
        let path = entry?.path();
        let wanted = only.is_none_or(|only| name(&path).contains(only));
        if wanted && path.extension().is_some_and(|extension| extension == "patch") {
            found.push(path);
        }
    }
    found.sort();
    if found.is_empty() {
        bail!("{folder} has no such patch");
    }
    Ok(found)
}

/// What a patch is called.
pub(crate) fn name(patch: &Path) -> String {
    patch.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a patch is put in or taken out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Forth,
    Back,
}

/// A copy of the workspace with a target directory of its own.
pub(crate) struct Copy {
    root: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// The copy of this name, kept from one run to the next.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let place = shell::cache()?.join(name);
        Ok(Self { root: place.join("work"), target: place.join("target") })
    }

    /// Makes the copy what the workspace is. A file that is the same is not touched, so that only
    /// what a patch has changed is built again.
    pub(crate) fn refresh(&self) -> Result<()> {
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

    pub(crate) fn apply(&self, patch: &Path, way: Way) -> Result<()> {
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

    /// `cargo VERB` in the copy.
    pub(crate) fn cargo(&self, verb: &str) -> Command {
        let mut cargo = shell::cargo();
        cargo.current_dir(&self.root).env("CARGO_TARGET_DIR", &self.target).arg(verb);
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
        assert!(patches("crates/sim/mutations", None).unwrap().len() >= 5);
        assert!(patches("crates/sim/mutations", Some("no such mutation")).is_err());
    }
}
