//! Opening the page in a browser.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::data_dir::write_whole;

/// The file that leads a browser to the page.
const FILE: &str = "open.html";
/// Programs that open a file with what the person prefers.
const OPENERS: [&str; 2] = ["xdg-open", "open"];

/// Opens a sign-in link. The link counts for whoever has it, and a command line can be read by
/// everybody on the machine: so the browser is given a private file that leads there. Where there is
/// no browser, that is said, and the host serves all the same.
///
/// # Errors
/// The file cannot be written, or nothing that opens it was found.
pub(crate) fn open(data: &Path, link: &str) -> anyhow::Result<()> {
    let file = data.join(FILE);
    let text = format!(
        "<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer>\
         <meta http-equiv=refresh content=\"0;url={link}\"><title>Holdfast</title>"
    );
    write_whole(&file, text.as_bytes())?;
    anyhow::ensure!(
        OPENERS.iter().any(|program| started(program, &file)),
        "no program that opens a browser was found"
    );
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "a browser is the person's, not the host's to end")]
fn started(program: &str, file: &Path) -> bool {
    let mut command = Command::new(program);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A zombie of it stays until the host ends: one for each start.
    command.spawn().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_link_is_in_a_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(FILE);
        write_whole(&file, b"x").unwrap();
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!started("holdfast-no-such-program", &file));
    }
}
