//! What is committed is finished: no reminders, no stubs, no tests that do not run, no half merge.

use crate::tidy::tree::{Finding, Tree};

/// Reminders; each counts as a whole word, in source and prose.
const REMINDERS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Stubs and tests that do not run, in Rust.
const RUST: &[&str] =
    &[concat!("to", "do!"), concat!("unimple", "mented!"), concat!("#[ig", "nore")];

/// Tests that do not run, or that keep the others from running, in TypeScript.
const TYPESCRIPT: &[&str] = &[concat!(".sk", "ip("), concat!(".on", "ly("), concat!(".to", "do(")];

/// How git marks the two sides of a conflict.
const CONFLICT: &[&str] = &[concat!("<<<<", "<<< "), concat!(">>>>", ">>> ")];

/// Files in which a person writes; recorded frames and snapshots may say anything.
const WRITTEN: &[&str] =
    &["rs", "ts", "tsx", "js", "mjs", "css", "html", "md", "toml", "sql", "sh", "yml", "yaml"];

/// No reminder, stub, skipped test or conflict mark is left.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &tree.files {
        let in_code: &[&str] = if file.is(&["rs"]) {
            RUST
        } else if file.is(&["ts", "tsx", "js", "mjs"]) {
            TYPESCRIPT
        } else {
            &[]
        };
        for (number, line) in file.lines() {
            let reminders =
                REMINDERS.iter().filter(|word| file.is(WRITTEN) && has_word(line, word));
            let code = in_code.iter().filter(|word| line.contains(**word));
            let conflict = CONFLICT.iter().filter(|mark| line.starts_with(**mark));
            for word in reminders.chain(code).chain(conflict) {
                let what = format!("`{}` is left", word.trim_end());
                findings.push(Finding::line(&file.path, number, what));
            }
        }
    }
    findings
}

fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].chars().next_back().is_some_and(part_of_word)
            && !line[at + word.len()..].chars().next().is_some_and(part_of_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::files;

    fn found(path: &str, line: &str) -> usize {
        check(&files(&[(path, line)])).len()
    }

    #[test]
    fn every_mark_is_found_where_it_counts() {
        for word in REMINDERS {
            assert_eq!(found("a.rs", &format!("// {word}: later")), 1, "{word}");
            assert_eq!(found("a.md", word), 1, "{word}");
            assert_eq!(found("frames.jsonl", word), 0, "{word}");
        }
        for word in RUST {
            assert_eq!(found("a.rs", &format!("    {word}")), 1, "{word}");
        }
        for word in TYPESCRIPT {
            assert_eq!(found("a.test.ts", &format!("it{word}")), 1, "{word}");
            assert_eq!(found("a.rs", &format!("iter{word}1)")), 0, "{word}");
        }
        for mark in CONFLICT {
            assert_eq!(found("frames.jsonl", &format!("{mark}HEAD")), 1, "{mark}");
        }
    }

    #[test]
    fn a_word_inside_another_is_another_word() {
        assert_eq!(found("a.sh", &format!("mktemp /tmp/a.{0}{0}", REMINDERS[2])), 0);
    }
}
