//! A lock file pins versions and contents, not the place they were fetched from.

use crate::tidy::tree::{Finding, Tree};

const RESOLVED: &str = "\"resolved\"";

/// No npm lock file names where its packages were fetched.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with("package-lock.json")) {
        for (number, _) in file.lines().filter(|(_, line)| line.contains(RESOLVED)) {
            let what = "names a host; set omit-lockfile-registry-resolved and lock again";
            findings.push(Finding::line(&file.path, number, what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{files, shown};

    #[test]
    fn a_place_in_a_lock_file_is_found() {
        let line = "{\n  \"resolved\": \"x\"\n}\n";
        let tree = files(&[("web/package-lock.json", line), ("web/package.json", line)]);
        assert_eq!(
            shown(check(&tree)),
            ["web/package-lock.json:2: names a host; \
              set omit-lockfile-registry-resolved and lock again"]
        );
    }
}
