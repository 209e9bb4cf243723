//! The command line that an agent is started with.

use std::ffi::OsString;

use crate::codec::AgentKind;

/// What makes Codex speak with a program rather than with a person.
const APP_SERVER: &str = "app-server";

impl AgentKind {
    /// The arguments of an agent, its program first: what the configuration says, and what it takes
    /// for the program to speak its protocol. A configuration that says that itself is taken as it
    /// is.
    #[must_use]
    pub fn argv(self, command: &[OsString]) -> Vec<OsString> {
        let mut argv = command.to_vec();
        match self {
            Self::Codex => {
                if !argv.iter().any(|word| word == APP_SERVER) {
                    argv.push(APP_SERVER.into());
                }
            }
            Self::Acp | Self::Claude => {}
        }
        argv
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_needs_to_hear_is_added_once() {
        for (kind, command, argv) in [
            (AgentKind::Codex, &["codex"][..], &["codex", "app-server"][..]),
            (AgentKind::Codex, &["codex", "-c", "a=b"], &["codex", "-c", "a=b", "app-server"]),
            (
                AgentKind::Codex,
                &["codex", "app-server", "-c", "a=b"],
                &["codex", "app-server", "-c", "a=b"],
            ),
            (AgentKind::Acp, &["agent", "--acp"], &["agent", "--acp"]),
        ] {
            let command: Vec<OsString> = command.iter().map(OsString::from).collect();
            assert_eq!(kind.argv(&command), argv);
        }
    }
}
