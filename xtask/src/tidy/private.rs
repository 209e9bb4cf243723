//! Nothing committed names the place or the tools with which it was made.

use crate::tidy::tree::{Finding, Tree};

/// Where packages come from is the machine's own setting.
const HOSTS: &[&str] = &[
    concat!("crates", ".io"),
    concat!("npm", "js."),
    concat!("py", "pi.org"),
    concat!("python", "hosted.org"),
    concat!("deb.", "debian.org"),
    concat!("proxy.", "golang.org"),
];

/// Paths of one machine; each counts only where it starts a path.
const PATHS: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/tmp/", "brief"),
    concat!("../sha", "red"),
    concat!(".lib", "rary/"),
];

/// Tools and marks of how a change was made.
const MARKS: &[&str] =
    &[concat!("issues", " show"), concat!("Co-Authored", "-By:"), concat!("Generated", " with [")];

/// cargo writes the default registry's name into its own lock files.
const LOCK_FILE: &str = "Cargo.lock";

/// No file names a package host, a path of one machine, or a private tool.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| !is_lock_file(&file.path)) {
        for (number, line) in file.lines() {
            let mut found = |kind: &str, word: &str| {
                findings.push(Finding::line(&file.path, number, format!("names {kind} {word}")));
            };
            for host in HOSTS.iter().filter(|host| line.contains(**host)) {
                found("the package host", host);
            }
            for path in PATHS.iter().filter(|path| starts_a_path(line, path)) {
                found("the machine's path", path);
            }
            for mark in MARKS.iter().filter(|mark| line.contains(**mark)) {
                found("the private", mark);
            }
        }
    }
    findings
}

fn is_lock_file(path: &str) -> bool {
    path.rsplit('/').next() == Some(LOCK_FILE)
}

/// Whether `path` stands in the line and is not the tail of a longer path.
fn starts_a_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.}~*)>".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{files, shown};

    #[test]
    fn every_forbidden_word_is_found() {
        for word in [HOSTS, PATHS, MARKS].concat() {
            let tree = files(&[("docs/a.md", &format!("fine\nsee {word}\n"))]);
            let shown = shown(check(&tree));
            assert_eq!(shown.len(), 1, "{word}: {shown:?}");
            assert!(shown[0].starts_with("docs/a.md:2: names "), "{shown:?}");
        }
    }

    #[test]
    fn a_longer_path_is_another_path() {
        let text = format!("/home/ada{0}x ~{0}x ${{HOME}}{0}x", PATHS[0]);
        assert!(check(&files(&[("a.rs", &text)])).is_empty());
        assert_eq!(check(&files(&[("a.rs", PATHS[0])])).len(), 1);
    }

    #[test]
    fn a_lock_file_may_name_where_its_packages_are_from() {
        assert!(check(&files(&[(LOCK_FILE, HOSTS[0])])).is_empty());
        assert!(check(&files(&[(&format!("fuzz/{LOCK_FILE}"), HOSTS[0])])).is_empty());
        assert_eq!(check(&files(&[(&format!("my-{LOCK_FILE}"), HOSTS[0])])).len(), 1);
    }
}
