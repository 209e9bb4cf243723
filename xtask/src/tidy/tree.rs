//! What the rules look at: the repository's text files and its crates.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::shell;

/// The repository as the rules see it.
#[derive(Default)]
pub(crate) struct Tree {
    /// Text files that git tracks or would track, by path; binary files and links are left out.
    pub(crate) files: Vec<File>,
    /// The crates of the workspace.
    pub(crate) crates: Vec<Crate>,
}

/// One text file.
pub(crate) struct File {
    /// Relative to the root, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// One crate of the workspace and the names of what it depends on.
pub(crate) struct Crate {
    pub(crate) name: String,
    /// Relative path of its manifest.
    pub(crate) manifest: String,
    /// Normal and build dependencies: what is part of the product. Development dependencies are
    /// not, and may point anywhere.
    pub(crate) dependencies: Vec<String>,
}

/// One breach of a rule.
pub(crate) struct Finding {
    path: String,
    /// Counted from 1; absent where the whole file is meant.
    line: Option<usize>,
    what: String,
}

impl Finding {
    pub(crate) fn file(path: &str, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, what: what.into() }
    }

    pub(crate) fn line(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.path, self.what),
            None => write!(out, "{}: {}", self.path, self.what),
        }
    }
}

impl File {
    /// The lines, counted from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// Whether the name ends in one of these extensions.
    pub(crate) fn is(&self, extensions: &[&str]) -> bool {
        Path::new(&self.path)
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|extension| extensions.contains(&extension))
    }
}

impl Tree {
    /// Reads the repository: what git tracks and what it would (untracked, not ignored).
    ///
    /// # Errors
    /// git or cargo cannot be asked, or a file cannot be read.
    pub(crate) fn read() -> Result<Self> {
        let mut files = Vec::new();
        for path in shell::listed()? {
            let full = shell::root().join(&path);
            // Listed, and not a file: removed but still in the index, or a link.
            if !full.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let bytes = std::fs::read(&full).with_context(|| format!("cannot read {path}"))?;
            if let Ok(text) = String::from_utf8(bytes)
                && !text.contains('\0')
            {
                files.push(File { path, text });
            }
        }
        Ok(Self { files, crates: read_crates()? })
    }

    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether a file, or a folder that holds one, has this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.files.iter().any(|file| {
            file.path
                .strip_prefix(path)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

fn read_crates() -> Result<Vec<Crate>> {
    let metadata = shell::metadata()?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    packages.iter().map(read_crate).collect()
}

fn read_crate(package: &Value) -> Result<Crate> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let name = text(&package["name"]).context("a package without a name")?;
    let manifest = text(&package["manifest_path"]).context("a package without a manifest")?;
    let manifest = Path::new(&manifest)
        .strip_prefix(shell::root())
        .map_or(manifest.clone(), |path| path.to_string_lossy().into_owned());
    let dependencies = package["dependencies"].as_array().context("no list of dependencies")?;
    let dependencies = dependencies
        .iter()
        .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
        .filter_map(|dependency| text(&dependency["name"]))
        .collect();
    Ok(Crate { name, manifest, dependencies })
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;

    /// A tree of these files.
    pub(crate) fn files(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
        };
        Tree { files: files.iter().map(file).collect(), crates: Vec::new() }
    }

    /// A tree of crates, each with its dependencies.
    pub(crate) fn crates(crates: &[(&str, &[&str])]) -> Tree {
        let one = |(name, dependencies): &(&str, &[&str])| Crate {
            name: (*name).to_owned(),
            manifest: format!("{name}/Cargo.toml"),
            dependencies: dependencies.iter().map(|name| (*name).to_owned()).collect(),
        };
        Tree { files: Vec::new(), crates: crates.iter().map(one).collect() }
    }

    /// The findings as they are printed.
    pub(crate) fn shown(findings: Vec<Finding>) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_folder_is_there_when_it_holds_a_file() {
        let tree = fixture::files(&[("crates/core/src/lib.rs", "")]);
        for path in ["crates", "crates/core/", "crates/core/src/lib.rs"] {
            assert!(tree.has(path), "{path}");
        }
        for path in ["crates/co", "crates/core/src/lib", "docs"] {
            assert!(!tree.has(path), "{path}");
        }
    }

    #[test]
    fn development_dependencies_are_not_part_of_the_product() {
        let package = json!({
            "name": "a",
            "manifest_path": "/elsewhere/a/Cargo.toml",
            "dependencies": [
                {"name": "normal", "kind": null},
                {"name": "build", "kind": "build"},
                {"name": "dev", "kind": "dev"},
            ],
        });
        assert_eq!(read_crate(&package).unwrap().dependencies, ["normal", "build"]);
    }

    #[test]
    fn this_repository_can_be_read() {
        let tree = Tree::read().unwrap();
        assert!(tree.file("xtask/src/tidy/tree.rs").is_some());
        assert!(tree.crates.iter().any(|one| one.name == "xtask"));
        assert!(!tree.has("target"));
    }
}
