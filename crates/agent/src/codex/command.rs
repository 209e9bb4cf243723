//! The command line that Codex is started with.

use std::ffi::OsString;

/// What makes Codex speak with a program rather than with a person.
const APP_SERVER: &str = "app-server";

/// The program and its arguments: what the configuration says, and the word for the app-server, unless
/// the configuration says that itself.
#[must_use]
pub fn argv(command: &[OsString]) -> Vec<OsString> {
    let mut argv = command.to_vec();
    if !argv.iter().any(|word| word == APP_SERVER) {
        argv.push(APP_SERVER.into());
    }
    argv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_for_the_app_server_is_there_once() {
        for (command, whole) in [
            (&["codex"][..], &["codex", "app-server"][..]),
            (&["codex", "-c", "a=b"], &["codex", "-c", "a=b", "app-server"]),
            (&["codex", "app-server", "-c", "a=b"], &["codex", "app-server", "-c", "a=b"]),
        ] {
            let command: Vec<OsString> = command.iter().map(OsString::from).collect();
            assert_eq!(argv(&command), whole);
        }
    }
}
