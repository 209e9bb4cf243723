//! The short spellings in which the head stores what it may hold hundreds of: 256 live tasks and 64
//! prompts fit into `HEAD_BYTES_MAX` only without the names of their fields.

use crate::head::{Prompt, PromptState, Task};
use crate::ids::FrameNo;
use crate::provider::{PromptKind, TaskKind};
use crate::time::Micros;

/// A stored text that spells no task or prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} spells no {what}")]
pub struct Misspelt {
    /// What it was to spell.
    pub what: &'static str,
    /// The text, cut to 80 characters.
    pub text: String,
}

impl Misspelt {
    fn new(what: &'static str, text: &str) -> Self {
        Self { what, text: text.chars().take(80).collect() }
    }
}

/// `cb17`: a command, in the background, since 17 µs; `f` where it ends with the turn.
impl From<Task> for String {
    fn from(task: Task) -> Self {
        let kind = match task.kind {
            TaskKind::Agent => 'a',
            TaskKind::Workflow => 'w',
            TaskKind::Command => 'c',
            TaskKind::Monitor => 'm',
            TaskKind::Unknown => 'u',
        };
        let ground = if task.foreground { 'f' } else { 'b' };
        format!("{kind}{ground}{}", task.since.0)
    }
}

impl TryFrom<String> for Task {
    type Error = Misspelt;

    fn try_from(text: String) -> Result<Self, Misspelt> {
        let parse = || {
            let mut chars = text.chars();
            let kind = match chars.next()? {
                'a' => TaskKind::Agent,
                'w' => TaskKind::Workflow,
                'c' => TaskKind::Command,
                'm' => TaskKind::Monitor,
                // A kind of a newer build counts as work, as everywhere.
                _ => TaskKind::Unknown,
            };
            let foreground = match chars.next()? {
                'f' => true,
                'b' => false,
                _ => return None,
            };
            let since = Micros(chars.as_str().parse().ok()?);
            Some(Self { kind, since, foreground })
        };
        parse().ok_or_else(|| Misspelt::new("task", &text))
    }
}

/// `a17 i2.9 o`: an approval, since 17 µs, shown by item 9 of attempt 2, open; in place of `o` the
/// number of the frame of its answer, or `w` once that is written.
impl From<Prompt> for String {
    fn from(prompt: Prompt) -> Self {
        let kind = match prompt.kind {
            PromptKind::Approval => 'a',
            PromptKind::Question => 'q',
        };
        let state = match prompt.state {
            PromptState::Open => "o".to_owned(),
            PromptState::Answered { frame } => frame.0.to_string(),
            PromptState::Written => "w".to_owned(),
        };
        format!("{kind}{} {} {state}", prompt.since.0, prompt.item)
    }
}

impl TryFrom<String> for Prompt {
    type Error = Misspelt;

    fn try_from(text: String) -> Result<Self, Misspelt> {
        let parse = || {
            let mut words = text.splitn(3, ' ');
            let mut first = words.next()?.chars();
            let kind = match first.next()? {
                'a' => PromptKind::Approval,
                'q' => PromptKind::Question,
                _ => return None,
            };
            let since = Micros(first.as_str().parse().ok()?);
            let item = words.next()?.parse().ok()?;
            let state = match words.next()? {
                "o" => PromptState::Open,
                "w" => PromptState::Written,
                frame => PromptState::Answered { frame: FrameNo(frame.parse().ok()?) },
            };
            Some(Self { kind, item, since, state })
        };
        parse().ok_or_else(|| Misspelt::new("prompt", &text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ItemId;

    #[test]
    fn what_is_spelt_reads_back() {
        for kind in [
            TaskKind::Agent,
            TaskKind::Workflow,
            TaskKind::Command,
            TaskKind::Monitor,
            TaskKind::Unknown,
        ] {
            for foreground in [true, false] {
                let task = Task { kind, since: Micros(-3), foreground };
                assert_eq!(Task::try_from(String::from(task)), Ok(task));
            }
        }
        for kind in [PromptKind::Approval, PromptKind::Question] {
            for state in [
                PromptState::Open,
                PromptState::Answered { frame: FrameNo(7) },
                PromptState::Written,
            ] {
                let prompt = Prompt { kind, item: ItemId::new(2, 9), since: Micros(17), state };
                assert_eq!(Prompt::try_from(String::from(prompt)), Ok(prompt));
            }
        }
    }

    #[test]
    fn what_is_stored_stays_readable() {
        let task = Task { kind: TaskKind::Command, since: Micros(17), foreground: false };
        assert_eq!(String::from(task), "cb17");
        assert_eq!(Task::try_from("zf5".to_owned()).map(|t| t.kind), Ok(TaskKind::Unknown));
        for odd in ["", "c", "cx5", "cb", "cb5x", "é"] {
            assert!(Task::try_from(odd.to_owned()).is_err(), "{odd}");
        }
        for odd in ["", "a", "a17", "a17 i2.9", "a17 i2.9 x", "z17 i2.9 o", "a17 i2.9 o o"] {
            assert!(Prompt::try_from(odd.to_owned()).is_err(), "{odd}");
        }
    }
}
