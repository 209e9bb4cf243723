//! The commands that an agent has for its users: what can be written after a slash.

use serde::{Deserialize, Serialize};

use crate::limits::{COMMAND_NAME_CHARS_MAX, COMMANDS_MAX, cut, label};

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlashCommand {
    /// What is written after the slash.
    pub name: String,
    /// What it does, in the agent's words, cut to a label; empty where it does not say.
    pub description: String,
    /// What may follow the name, cut to a label; empty where nothing does.
    pub hint: String,
}

impl SlashCommand {
    /// A command as an agent tells it, with or without its slash. One whose name is empty or too long
    /// to be written is none.
    #[must_use]
    pub fn told(name: &str, description: &str, hint: &str) -> Option<Self> {
        let name = name.trim().trim_start_matches('/');
        // A name that is cut would be another command.
        let fits = !name.is_empty() && cut(name, COMMAND_NAME_CHARS_MAX) == name;
        fits.then(|| Self {
            name: name.to_owned(),
            description: label(description),
            hint: label(hint),
        })
    }

    /// The first of those that an agent tells, each name once.
    pub fn distinct(told: impl Iterator<Item = Self>) -> Vec<Self> {
        let mut kept: Vec<Self> = Vec::new();
        for command in told {
            if kept.len() >= COMMANDS_MAX {
                break;
            }
            if kept.iter().all(|known| known.name != command.name) {
                kept.push(command);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_kept_as_it_is_written_or_not_at_all() {
        let told = SlashCommand::told("/review", " Looks\nat it. ", "[file]").unwrap();
        let parts = (told.name.as_str(), told.description.as_str(), told.hint.as_str());
        assert_eq!(parts, ("review", "Looks at it.", "[file]"));
        let longest = "x".repeat(COMMAND_NAME_CHARS_MAX);
        assert!(SlashCommand::told(&longest, "", "").is_some());
        for none in ["", " ", "/", "a\nb", &format!("{longest}x")] {
            assert_eq!(SlashCommand::told(none, "it", ""), None, "{none:?}");
        }
    }

    #[test]
    fn so_many_are_kept_and_each_once() {
        let told = (0..COMMANDS_MAX * 2 + 2).map(|n| format!("c{}", n / 2));
        let told = told.filter_map(|name| SlashCommand::told(&name, "", ""));
        let kept = SlashCommand::distinct(told);
        assert_eq!(kept.len(), COMMANDS_MAX);
        assert_eq!(kept[1].name, "c1");
    }
}
