//! Unsafe code has one home: what runs in a child between fork and exec.

use crate::tidy::tree::{Finding, Tree};

const ALLOW: &[&str] = &[concat!("allow(unsa", "fe_code"), concat!("expect(unsa", "fe_code")];

/// The crate in which one file may hold unsafe code.
const HOME: &str = "crates/keeper/src/";

/// At most one file, in the keeper, allows unsafe code.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let allowing: Vec<_> = tree
        .files
        .iter()
        .filter(|file| file.is(&["rs"]) && ALLOW.iter().any(|word| file.text.contains(word)))
        .collect();
    let home = allowing.iter().position(|file| file.path.starts_with(HOME));
    let what = "allows unsafe code; its one home is a single file of the keeper";
    allowing
        .iter()
        .enumerate()
        .filter(|(index, _)| Some(*index) != home)
        .map(|(_, file)| Finding::file(&file.path, what))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{files, shown};

    #[test]
    fn a_second_home_and_a_home_elsewhere_are_found() {
        for word in ALLOW {
            let line = format!("#![{word})]");
            let tree = files(&[
                ("crates/keeper/src/tree/birth.rs", &line),
                ("crates/keeper/src/spool.rs", &line),
                ("crates/host/src/host.rs", &line),
            ]);
            let what = "allows unsafe code; its one home is a single file of the keeper";
            assert_eq!(
                shown(check(&tree)),
                [
                    format!("crates/keeper/src/spool.rs: {what}"),
                    format!("crates/host/src/host.rs: {what}"),
                ]
            );
        }
    }
}
