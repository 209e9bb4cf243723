//! A patch that no longer fits the code proves nothing when somebody wants to run it.

use crate::shell;
use crate::tidy::tree::{Finding, Tree};

/// Every kept patch can be applied to the code as it is.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let fits = |path: &str| {
        let mut git = shell::command("git");
        shell::answers(git.current_dir(shell::root()).args(["apply", "--check"]).arg(path))
    };
    let patches = tree.files.iter().filter(|file| file.is(&["patch"]));
    let stale = patches.filter(|file| !fits(&file.path));
    stale.map(|file| Finding::line(&file.path, 1, "does not fit the code: make it anew")).collect()
}
