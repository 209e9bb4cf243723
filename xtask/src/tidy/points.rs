//! A fault point that stands nowhere proves nothing.

use crate::tidy::tree::{File, Finding, Tree};

/// The list of every fault point.
const LIST: &str = "crates/fault/src/points.rs";

/// What passes a point.
const PASSES: &[&str] = &["point(\"", "is_next(\""];

/// Every listed point is passed in some crate, and every passed one is listed.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(list) = tree.file(LIST) else { return Vec::new() };
    let listed: Vec<(usize, &str)> =
        list.lines().filter_map(|(number, line)| Some((number, literal(line)?))).collect();
    let mut findings = Vec::new();
    for (number, name) in &listed {
        // A name may be chosen in one place and passed in another: any mention as a literal counts.
        let quoted = format!("\"{name}\"");
        if !product(tree).any(|file| file.text.contains(&quoted)) {
            findings.push(Finding::line(LIST, *number, format!("`{name}` is passed nowhere")));
        }
    }
    for (path, number, name) in passed(tree) {
        if !listed.iter().any(|(_, listed)| *listed == name) {
            let what = format!("the fault point `{name}` is not listed in {LIST}");
            findings.push(Finding::line(path, number, what));
        }
    }
    findings
}

/// Where points are passed: path, line and name.
fn passed(tree: &Tree) -> Vec<(&str, usize, &str)> {
    let mut found = Vec::new();
    for file in product(tree) {
        for (number, line) in file.lines() {
            for call in PASSES {
                let names = line.split(call).skip(1).filter_map(|rest| rest.split('"').next());
                // Points have a role before a dot; other functions may bear these names.
                found.extend(
                    names.filter(|name| name.contains('.')).map(|name| (&*file.path, number, name)),
                );
            }
        }
    }
    found
}

/// The sources that may pass a point. The crate that defines them passes made-up ones in its own
/// tests, and a campaign that names a point does not pass it.
fn product(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| {
        file.is(&["rs"])
            && file.path.starts_with("crates/")
            && file.path.contains("/src/")
            && !file.path.starts_with("crates/fault/")
            && !file.path.starts_with("crates/testkit/")
    })
}

/// The string literal that a line of the list holds.
fn literal(line: &str) -> Option<&str> {
    line.trim().strip_prefix('"')?.strip_suffix("\",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{files, shown};

    #[test]
    fn a_point_that_stands_nowhere_and_one_that_is_not_listed_are_found() {
        let tree = files(&[
            (
                LIST,
                "/// All.\npub const POINTS: &[&str] = &[\n    \"host.a\",\n    \"host.b\",\n];\n",
            ),
            ("crates/fault/src/lib.rs", "point(\"made.up\")"),
            ("crates/host/tests/kill.rs", "(\"host.b\")"),
            ("crates/host/src/a.rs", "fault::point(\"host.a\");\nif is_next(\"host.c\") {}\n"),
        ]);
        assert_eq!(
            shown(check(&tree)),
            [
                format!("{LIST}:4: `host.b` is passed nowhere"),
                format!("crates/host/src/a.rs:2: the fault point `host.c` is not listed in {LIST}"),
            ]
        );
    }
}
