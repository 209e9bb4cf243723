//! Every public error code has a page that explains it, and every page a code.

use std::collections::BTreeMap;

use crate::tidy::tree::{Finding, Tree};

/// The one registry of public error codes. In its `codes!` table a line reads
/// `Name = "code", status;`.
const REGISTRY: &str = "crates/core/src/refusal.rs";

/// Where the table begins; it ends with a brace on a line of its own.
const TABLE: &str = "\ncodes! {\n";

/// A page is `<code>.md` in here.
const PAGES: &str = "docs/errors/";

/// The folder's own introduction is no page of a code.
const INTRODUCTION: &str = "README";

/// Codes, pages and the links to them agree, also on the status that goes with a code.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let codes = tree.file(REGISTRY).map(|file| codes(&file.text)).unwrap_or_default();
    let mut findings = Vec::new();
    if codes.is_empty() && tree.file(REGISTRY).is_some() {
        findings.push(Finding::file(REGISTRY, "no code is found in the table `codes!`"));
    }
    for (code, status) in &codes {
        let path = format!("{PAGES}{code}.md");
        let head = format!("# {code}\n\nHTTP {status}.");
        match tree.file(&path) {
            None => findings.push(Finding::file(REGISTRY, format!("`{code}` has no page {path}"))),
            Some(page) if !page.text.starts_with(&head) => {
                let what = format!("does not begin with `# {code}` and `HTTP {status}.`");
                findings.push(Finding::file(&path, what));
            }
            Some(_) => {}
        }
    }
    let listed = format!("{PAGES}{INTRODUCTION}.md");
    if let Some(introduction) = tree.file(&listed) {
        for code in codes.keys() {
            if !introduction.text.contains(&format!("[{code}]({code}.md)")) {
                findings.push(Finding::file(&listed, format!("does not link `{code}`")));
            }
        }
    }
    for file in &tree.files {
        let page = file.path.strip_prefix(PAGES).and_then(|name| name.strip_suffix(".md"));
        if page.is_some_and(|page| page != INTRODUCTION && !codes.contains_key(page)) {
            findings.push(Finding::file(&file.path, format!("explains no code of {REGISTRY}")));
        }
    }
    findings
}

/// The codes of the table, each with its status.
fn codes(text: &str) -> BTreeMap<&str, &str> {
    let table = text.split_once(TABLE).map_or("", |(_, rest)| rest);
    let table = table.split_once("\n}").map_or(table, |(table, _)| table);
    table
        .lines()
        .filter_map(|line| {
            let (code, status) = line.split_once(" = \"")?.1.split_once("\", ")?;
            Some((code, status.strip_suffix(';')?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{files, shown};

    const SOURCE: &str = r#"
macro_rules! codes {
    ($($name:ident = $text:literal, $status:literal;)*) => {};
}

codes! {
    /// There is none; unlike = "this", 1.
    ChatNotFound = "chat_not_found", 404;
    /// Full.
    QueueFull = "queue_full", 429;
    Internal = "internal", 500;
}

const OTHER: &str = "no_code";
"#;

    #[test]
    fn the_codes_are_those_of_the_table() {
        let codes: Vec<_> = codes(SOURCE).into_iter().collect();
        let expected = [("chat_not_found", "404"), ("internal", "500"), ("queue_full", "429")];
        assert_eq!(codes, expected);
    }

    #[test]
    fn a_code_without_its_page_and_a_page_without_its_code_are_found() {
        let tree = files(&[
            (REGISTRY, SOURCE),
            (
                "docs/errors/README.md",
                "# Errors\n[internal](internal.md) [queue_full](queue_full.md)\n",
            ),
            ("docs/errors/internal.md", "# internal\n\nHTTP 500. A defect.\n"),
            ("docs/errors/queue_full.md", "# queue_full\n\nHTTP 409. Full.\n"),
            ("docs/errors/old.md", "# old\n"),
        ]);
        assert_eq!(
            shown(check(&tree)),
            [
                "crates/core/src/refusal.rs: `chat_not_found` has no page \
                 docs/errors/chat_not_found.md",
                "docs/errors/queue_full.md: does not begin with `# queue_full` and `HTTP 429.`",
                "docs/errors/README.md: does not link `chat_not_found`",
                "docs/errors/old.md: explains no code of crates/core/src/refusal.rs",
            ]
        );
    }

    #[test]
    fn a_registry_that_cannot_be_read_is_found() {
        let tree = files(&[(REGISTRY, "enum Code {}")]);
        assert_eq!(
            shown(check(&tree)),
            ["crates/core/src/refusal.rs: no code is found in the table `codes!`"]
        );
    }
}
