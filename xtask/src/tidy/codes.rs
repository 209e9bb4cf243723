//! Every public error code has a page that explains it, and every page a code.

use std::collections::BTreeSet;

use crate::tidy::tree::{Finding, Tree};

/// The one registry of public error codes: `Code::as_str` names each.
const REGISTRY: &str = "crates/core/src/refusal.rs";

/// A page is `<code>.md` in here; its heading is the code.
const PAGES: &str = "docs/errors/";

/// The folder's own introduction is no page of a code.
const INTRODUCTION: &str = "README";

/// Codes and pages agree.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let codes = tree.file(REGISTRY).map(|file| codes(&file.text)).unwrap_or_default();
    let pages: BTreeSet<&str> = tree
        .files
        .iter()
        .filter_map(|file| file.path.strip_prefix(PAGES)?.strip_suffix(".md"))
        .filter(|page| *page != INTRODUCTION)
        .collect();
    let mut findings = Vec::new();
    if codes.is_empty() && tree.file(REGISTRY).is_some() {
        findings.push(Finding::file(REGISTRY, "no code is found in `as_str`"));
    }
    for code in codes.iter().filter(|code| !pages.contains(code.as_str())) {
        findings.push(Finding::file(REGISTRY, format!("`{code}` has no page {PAGES}{code}.md")));
    }
    for page in pages {
        let path = format!("{PAGES}{page}.md");
        if !codes.contains(page) {
            findings.push(Finding::file(&path, format!("explains no code of {REGISTRY}")));
        } else if tree.file(&path).and_then(|file| file.text.lines().next())
            != Some(&format!("# {page}"))
        {
            findings.push(Finding::file(&path, format!("does not begin with `# {page}`")));
        }
    }
    findings
}

/// The string literals in the body of `as_str`.
fn codes(text: &str) -> BTreeSet<String> {
    let Some((_, rest)) = text.split_once("fn as_str") else { return BTreeSet::new() };
    let Some((_, body)) = rest.split_once('{') else { return BTreeSet::new() };
    let mut depth = 1_usize;
    let end = body.find(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let body = &body[..end.unwrap_or(body.len())];
    // Between quotes are the odd pieces.
    body.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{files, shown};

    const SOURCE: &str = r#"
impl Code {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChatNotFound => "chat_not_found",
            Self::QueueFull { .. } => { "queue_full" }
        }
    }
}
const OTHER: &str = "no_code";
"#;

    #[test]
    fn the_codes_are_the_literals_of_as_str() {
        let codes: Vec<String> = codes(SOURCE).into_iter().collect();
        assert_eq!(codes, ["chat_not_found", "queue_full"]);
    }

    #[test]
    fn a_code_without_a_page_and_a_page_without_a_code_are_found() {
        let tree = files(&[
            (REGISTRY, SOURCE),
            ("docs/errors/README.md", "# Errors\n"),
            ("docs/errors/queue_full.md", "# Queue is full\n"),
            ("docs/errors/old.md", "# old\n"),
        ]);
        assert_eq!(
            shown(check(&tree)),
            [
                "crates/core/src/refusal.rs: `chat_not_found` has no page \
                 docs/errors/chat_not_found.md",
                "docs/errors/old.md: explains no code of crates/core/src/refusal.rs",
                "docs/errors/queue_full.md: does not begin with `# queue_full`",
            ]
        );
    }

    #[test]
    fn a_registry_that_cannot_be_read_is_found() {
        let tree = files(&[(REGISTRY, "enum Code {}")]);
        assert_eq!(
            shown(check(&tree)),
            ["crates/core/src/refusal.rs: no code is found in `as_str`"]
        );
    }
}
