//! How hard an agent thinks: what it tells of it, and an agent that takes no such word.

use super::Draft;
use crate::fact::Fact;
use crate::item::Notice;
use crate::limits::{EFFORTS_MAX, TITLE_CHARS_MAX, cut};

/// The agent thinks as hard as this; empty: as it does by itself.
pub(super) fn told(d: &mut Draft<'_>, effort: &str) {
    let effort = cut(effort, TITLE_CHARS_MAX);
    if d.chat.head.effort.as_deref().unwrap_or_default() != effort {
        let effort = Some(effort);
        d.push(Fact::AgentRetuned { model: None, mode: None, effort });
    }
}

/// The efforts that the agent knows.
pub(super) fn known(d: &mut Draft<'_>, mut efforts: Vec<String>) {
    efforts.truncate(EFFORTS_MAX);
    for effort in &mut efforts {
        *effort = cut(effort, TITLE_CHARS_MAX);
    }
    if d.chat.head.efforts != efforts {
        d.push(Fact::EffortsTold { efforts });
    }
}

/// The session stands: an agent that takes no effort has not heard of the one that was asked for.
pub(super) fn unheard(d: &mut Draft<'_>) {
    let takes = d.chat.head.attempt.as_ref().is_some_and(|attempt| attempt.capabilities.effort);
    if d.chat.head.effort.is_some() && !takes {
        d.say(Notice::SettingRefused, "This agent takes no effort.");
        told(d, "");
    }
}
