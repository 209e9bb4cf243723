//! The documents that guide a newcomer are short, and what they point at is there.

use crate::tidy::tree::{File, Finding, Tree};

const ARCHITECTURE: &str = "ARCHITECTURE.md";

/// What a newcomer reads in one sitting.
const ARCHITECTURE_LINES_MAX: usize = 300;

/// Documents whose paths are checked.
const GUIDES: &[&str] = &["README.md", ARCHITECTURE, "CONTRIBUTING.md"];

/// A word in backticks is a path of the repository when it begins with one of these.
const ROOMS: &[&str] =
    &[".cargo/", ".ci/", "changes/", "crates/", "docs/", "fuzz/", "web/", "xtask/"];

/// The guides fit, and every path they name exists.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(file) = tree.file(ARCHITECTURE) {
        let lines = file.text.lines().count();
        if lines > ARCHITECTURE_LINES_MAX {
            let what = format!("{lines} lines; at most {ARCHITECTURE_LINES_MAX} are read");
            findings.push(Finding::file(ARCHITECTURE, what));
        }
    }
    for file in GUIDES.iter().filter_map(|path| tree.file(path)) {
        for (number, word) in paths(file) {
            if let Some(what) = missing(tree, word) {
                findings.push(Finding::line(&file.path, number, what));
            }
        }
    }
    findings
}

/// What is wrong with `path` or `path::name`, if anything.
fn missing(tree: &Tree, word: &str) -> Option<String> {
    let (path, name) =
        word.split_once("::").map_or((word, None), |(path, name)| (path, Some(name)));
    if !tree.has(path) {
        return Some(format!("`{path}` does not exist"));
    }
    let name = name?.trim_end_matches("()").rsplit("::").next()?;
    let found = tree.file(path).is_some_and(|file| file.text.contains(name));
    (!found).then(|| format!("`{path}` does not hold `{name}`"))
}

/// The words in backticks that are paths of the repository, with their lines. A pattern (`<code>`,
/// `*`) is no path.
fn paths(file: &File) -> impl Iterator<Item = (usize, &str)> {
    file.lines().flat_map(|(number, line)| {
        line.split('`')
            .skip(1)
            .step_by(2)
            .filter(|word| ROOMS.iter().any(|room| word.starts_with(room)))
            .filter(|word| !word.contains(|c: char| c.is_whitespace() || "*<>{}…".contains(c)))
            .map(move |word| (number, word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{files, shown};

    #[test]
    fn a_path_that_leads_nowhere_is_found() {
        let text = "`crates/core/src/activity.rs` `crates/core/`\n\
                    `crates/core/src/activity.rs::shows_work` `serve --port` `docs/errors/<code>.md`\n\
                    `crates/gone/` and `crates/core/src/activity.rs::Activity::gone()`\n";
        let tree = files(&[
            ("ARCHITECTURE.md", text),
            ("docs/other.md", "`crates/gone/`"),
            ("crates/core/src/activity.rs", "fn shows_work() {}"),
        ]);
        assert_eq!(
            shown(check(&tree)),
            [
                "ARCHITECTURE.md:3: `crates/gone/` does not exist",
                "ARCHITECTURE.md:3: `crates/core/src/activity.rs` does not hold `gone`",
            ]
        );
    }

    #[test]
    fn an_architecture_that_nobody_reads_is_found() {
        let text = "x\n".repeat(ARCHITECTURE_LINES_MAX + 1);
        assert_eq!(
            shown(check(&files(&[(ARCHITECTURE, &text)]))),
            ["ARCHITECTURE.md: 301 lines; at most 300 are read"]
        );
    }
}
