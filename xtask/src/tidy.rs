//! `cargo xtask tidy`: the house rules that a machine can check.
//!
//! A rule is a file here with a `check` function over the [`Tree`]; it returns what it found and
//! decides nothing else. Strings that a rule forbids are written in two halves in the rule itself,
//! so that no rule has to excuse its own file.

mod arrows;
mod codes;
mod guide;
mod length;
mod lockfiles;
mod patches;
mod points;
mod private;
mod pure;
mod sleep;
mod tree;
mod unfinished;
mod unsafe_home;

use anyhow::{Result, bail};

use tree::{Finding, Tree};

type Rule = fn(&Tree) -> Vec<Finding>;

/// Every rule with the name that its findings carry.
const RULES: &[(&str, Rule)] = &[
    ("arrows", arrows::check),
    ("codes", codes::check),
    ("guide", guide::check),
    ("length", length::check),
    ("lockfiles", lockfiles::check),
    ("patches", patches::check),
    ("points", points::check),
    ("private", private::check),
    ("pure", pure::check),
    ("sleep", sleep::check),
    ("unfinished", unfinished::check),
    ("unsafe", unsafe_home::check),
];

/// Checks the repository and prints what it found, one line each.
///
/// # Errors
/// A rule found something, or the repository cannot be read.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::read()?;
    let mut count = 0;
    for (name, rule) in RULES {
        for finding in rule(&tree) {
            println!("{finding} [{name}]");
            count += 1;
        }
    }
    if count > 0 {
        bail!("tidy found {count}");
    }
    println!("tidy: {} rules hold over {} files", RULES.len(), tree.files.len());
    Ok(())
}
