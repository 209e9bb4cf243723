//! Tests wait for a condition with a bound; they do not sleep and hope.

use crate::tidy::tree::{File, Finding, Tree};

const SLEEP: &str = concat!("sle", "ep(");

/// Tests that sleep all the same, each with its reason. An entry that no longer sleeps is found.
const REASONS: &[(&str, &str)] = &[(
    "crates/keeper/tests/keeper/common.rs",
    "the pause between two looks at a condition, with a bound",
)];

/// No test sleeps, but for those with a reason.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    judge(tree, REASONS)
}

fn judge(tree: &Tree, reasons: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        if reasons.iter().any(|(path, _)| *path == file.path) {
            continue;
        }
        for number in sleeps(file) {
            let what = "a test sleeps; wait for a condition with a bound";
            findings.push(Finding::line(&file.path, number, what));
        }
    }
    for (path, _) in reasons {
        if tree.file(path).is_none_or(|file| sleeps(file).next().is_none()) {
            findings.push(Finding::file(path, "is excused for sleeping, and does not"));
        }
    }
    findings
}

/// The lines of a file's tests that sleep.
fn sleeps(file: &File) -> impl Iterator<Item = usize> {
    let whole_file = is_test_file(&file.path);
    let from = match file.lines().find(|(_, line)| line.trim() == "#[cfg(test)]") {
        _ if whole_file => 1,
        Some((number, _)) if file.is(&["rs"]) => number,
        Some(_) | None => usize::MAX,
    };
    file.lines()
        .filter(move |(number, line)| *number >= from && line.contains(SLEEP))
        .map(|(number, _)| number)
}

/// The kit that tests are built from is not a test: its one waiting loop has to sleep.
fn is_test_file(path: &str) -> bool {
    let rust = path.ends_with(".rs") && path.contains("/tests/");
    let web = [".test.ts", ".test.tsx", ".spec.ts"].iter().any(|end| path.ends_with(end));
    rust || web
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{files, shown};

    fn naps() -> String {
        format!("thread::{SLEEP}d);\n")
    }

    #[test]
    fn a_sleeping_test_is_found_and_other_code_is_not() {
        let naps = naps();
        let beside = format!("{naps}#[cfg(test)]\nmod tests {{\n{naps}}}\n");
        let tree = files(&[
            ("crates/a/tests/whole.rs", &naps),
            ("crates/a/src/timer.rs", &naps),
            ("crates/a/src/beside.rs", &beside),
            ("web/src/a.test.ts", &naps),
        ]);
        let what = "a test sleeps; wait for a condition with a bound";
        assert_eq!(
            shown(judge(&tree, &[])),
            [
                format!("crates/a/tests/whole.rs:1: {what}"),
                format!("crates/a/src/beside.rs:4: {what}"),
                format!("web/src/a.test.ts:1: {what}"),
            ]
        );
    }

    #[test]
    fn an_excuse_covers_its_file_and_must_be_needed() {
        let tree = files(&[("crates/a/tests/naps.rs", &naps()), ("crates/a/tests/b.rs", "")]);
        let excused = [("crates/a/tests/naps.rs", "why")];
        assert!(judge(&tree, &excused).is_empty());
        let stale = [excused[0], ("crates/a/tests/b.rs", "why")];
        assert_eq!(
            shown(judge(&tree, &stale)),
            ["crates/a/tests/b.rs: is excused for sleeping, and does not"]
        );
    }
}
