//! Deciding is pure: the core names nothing that reads a clock, a file or the environment.

use crate::tidy::tree::{Finding, Tree};

const CORE: &str = "crates/core/src/";

/// What pure code does not name.
const IMPURE: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::process",
    "std::sync::mpsc",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
    "Uuid::new_v4",
    "Uuid::now_v7",
    "async fn",
];

/// The core's sources name nothing impure.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.starts_with(CORE) && file.is(&["rs"])) {
        for (number, line) in file.lines() {
            if line.trim_start().starts_with("//") {
                continue;
            }
            for word in IMPURE.iter().filter(|word| line.contains(**word)) {
                let what = format!("`{word}`: time, ids and I/O are arguments of the core");
                findings.push(Finding::line(&file.path, number, what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::files;

    #[test]
    fn every_impure_name_is_found_in_the_core_alone() {
        for word in IMPURE {
            let line = format!("use {word};\n");
            assert_eq!(check(&files(&[("crates/core/src/fold.rs", &line)])).len(), 1, "{word}");
            assert_eq!(check(&files(&[("crates/host/src/start.rs", &line)])).len(), 0, "{word}");
            let comment = format!("/// Unlike `{word}`.\n");
            assert_eq!(check(&files(&[("crates/core/src/a.rs", &comment)])).len(), 0, "{word}");
        }
    }
}
