//! A file is about one thing and is read in one sitting.

use crate::tidy::tree::{Finding, Tree};

/// Above this many lines a source file is two things.
const SOURCE_LINES_MAX: usize = 600;

/// Source files are at most [`SOURCE_LINES_MAX`] lines long.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    tree.files
        .iter()
        .filter(|file| file.is(&["rs", "ts", "tsx"]))
        .filter_map(|file| {
            let lines = file.text.lines().count();
            (lines > SOURCE_LINES_MAX).then(|| {
                let what = format!("{lines} lines; above {SOURCE_LINES_MAX} it is two things");
                Finding::file(&file.path, what)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tree::fixture::{files, shown};

    #[test]
    fn one_line_too_many_is_found() {
        let long = "x\n".repeat(SOURCE_LINES_MAX + 1);
        let fits = "x\n".repeat(SOURCE_LINES_MAX);
        let tree = files(&[("a.rs", &long), ("b.rs", &fits), ("c.tsx", &long), ("d.md", &long)]);
        let what = "601 lines; above 600 it is two things";
        assert_eq!(shown(check(&tree)), [format!("a.rs: {what}"), format!("c.tsx: {what}")]);
    }
}
