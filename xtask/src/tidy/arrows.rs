//! Each crate is a frontier of knowledge; the arrows between them go one way.

use crate::tidy::tree::{Crate, Finding, Tree};

/// What a crate may depend on, within the workspace. Development dependencies are free.
const ARROWS: &[(&str, &[&str])] = &[
    // It knows the API alone, as any other client.
    ("holdfast-cli", &[]),
    ("holdfast-core", &[]),
    ("holdfast-fault", &[]),
    ("holdfast-store", &["holdfast-core", "holdfast-fault"]),
    ("holdfast-agent", &["holdfast-core"]),
    ("holdfast-keeper", &["holdfast-fault"]),
    (
        "holdfast-host",
        &["holdfast-agent", "holdfast-core", "holdfast-fault", "holdfast-keeper", "holdfast-store"],
    ),
    ("holdfast-http", &["holdfast-core", "holdfast-store"]),
    (
        "holdfast",
        &[
            "holdfast-agent",
            "holdfast-cli",
            "holdfast-core",
            "holdfast-fault",
            "holdfast-host",
            "holdfast-http",
            "holdfast-keeper",
            "holdfast-store",
        ],
    ),
    // For tests and figures only; nothing above names them.
    ("holdfast-bench", &["holdfast-core", "holdfast-store"]),
    (
        "holdfast-sim",
        &[
            "holdfast-agent",
            "holdfast-core",
            "holdfast-fault",
            "holdfast-host",
            "holdfast-keeper",
            "holdfast-store",
        ],
    ),
    ("holdfast-pinned", &[]),
    (
        "holdfast-testkit",
        &[
            "holdfast-agent",
            "holdfast-core",
            "holdfast-fault",
            "holdfast-keeper",
            "holdfast-pinned",
        ],
    ),
    ("xtask", &["holdfast-pinned"]),
];

/// Libraries that would carry a crate over its frontier.
const FOREIGN: &[(&str, &[&str], &str)] = &[
    (
        "holdfast-core",
        &[
            "axum",
            "futures-util",
            "getrandom",
            "libc",
            "reqwest",
            "rusqlite",
            "rustix",
            "tempfile",
            "tokio",
            "tokio-util",
            "tower",
            "tracing",
        ],
        "the rules do no I/O",
    ),
    ("holdfast-store", &["axum", "reqwest", "tower-http"], "the store knows no HTTP"),
    (
        "holdfast-agent",
        &["axum", "reqwest", "rusqlite", "tokio"],
        "codecs are bytes in, events out",
    ),
    ("holdfast-keeper", &["axum", "reqwest", "rusqlite"], "a keeper owns one process tree"),
    ("holdfast-host", &["axum", "rusqlite", "tower-http"], "the host knows no HTTP and no SQL"),
    ("holdfast-http", &["rusqlite"], "routes ask the host and the store"),
];

/// Every dependency of every crate follows an arrow and stays within its frontier.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.crates.iter().flat_map(|one| check_crate(tree, one)).collect()
}

fn check_crate(tree: &Tree, one: &Crate) -> Vec<Finding> {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == one.name) else {
        return vec![Finding::file(&one.manifest, "has no arrows; add what it may depend on")];
    };
    let mut findings = Vec::new();
    for dependency in &one.dependencies {
        let inside = tree.crates.iter().any(|other| other.name == *dependency);
        if inside && !allowed.contains(&dependency.as_str()) {
            let what = format!("{} must not depend on {dependency}", one.name);
            findings.push(Finding::file(&one.manifest, what));
        }
        for (_, libraries, why) in FOREIGN.iter().filter(|(name, ..)| *name == one.name) {
            if libraries.contains(&dependency.as_str()) {
                let what = format!("{} must not depend on {dependency}: {why}", one.name);
                findings.push(Finding::file(&one.manifest, what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{crates, shown};

    #[test]
    fn an_arrow_that_is_not_drawn_is_found() {
        let tree = crates(&[
            ("holdfast-core", &["serde", "holdfast-store"]),
            ("holdfast-store", &["holdfast-core", "rusqlite"]),
            ("holdfast-testkit", &[]),
            ("holdfast", &["holdfast-testkit"]),
        ]);
        assert_eq!(
            shown(check(&tree)),
            [
                "holdfast-core/Cargo.toml: holdfast-core must not depend on holdfast-store",
                "holdfast/Cargo.toml: holdfast must not depend on holdfast-testkit",
            ]
        );
    }

    #[test]
    fn a_library_beyond_the_frontier_is_found() {
        for (name, libraries, why) in FOREIGN {
            for library in *libraries {
                let shown = shown(check(&crates(&[(name, &[library])])));
                assert_eq!(
                    shown,
                    [format!("{name}/Cargo.toml: {name} must not depend on {library}: {why}")]
                );
            }
        }
    }

    #[test]
    fn a_new_crate_has_to_be_placed() {
        assert_eq!(
            shown(check(&crates(&[("holdfast-new", &[])]))),
            ["holdfast-new/Cargo.toml: has no arrows; add what it may depend on"]
        );
    }

    #[test]
    fn the_arrows_have_no_circle() {
        let mut left: Vec<_> = ARROWS.to_vec();
        while !left.is_empty() {
            let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
            let before = left.len();
            left.retain(|(_, allowed)| allowed.iter().any(|name| names.contains(name)));
            assert!(left.len() < before, "a circle among {names:?}");
        }
    }
}
