//! Grants: what a person allowed for this chat, for good (delivery.md, "Prompts"). An agent keeps such a
//! word for as long as it lives; the host keeps it for the chat, and gives it again when a later agent
//! asks for the very same thing.

use super::{Draft, prompt};
use crate::fact::Fact;
use crate::frame::Answer;
use crate::ids::{GrantId, PromptId};
use crate::input::Reply;
use crate::limits::{GRANTS_MAX, label};
use crate::provider::{Asked, PromptKind};
use crate::refusal::{Code, Refusal};

const ALLOW_ALWAYS: &str = "allow_always";
const ALLOW_ONCE: &str = "allow_once";

/// A person chose this option: was it for good?
pub(super) fn learn(d: &mut Draft<'_>, asked: &Asked, answer: &Answer, by: &str) {
    let Answer::Option { option, .. } = answer else { return };
    let always = |it: &&crate::provider::PromptOption| it.id == *option && it.kind == ALLOW_ALWAYS;
    let Some(deed) = &asked.deed else { return };
    if asked.kind != PromptKind::Approval || !asked.options.iter().any(|it| always(&it)) {
        return;
    }
    let known = &d.chat.aside.grants;
    if known.len() >= GRANTS_MAX || known.values().any(|known| known == deed) {
        return;
    }
    d.push(Fact::GrantGiven {
        grant: GrantId(d.chat.head.grants.saturating_add(1)),
        deed: deed.clone(),
        label: label(&asked.label),
        by: by.to_owned(),
    });
}

/// An agent asks: a person may have allowed it before. One that cannot be answered now is left to a
/// person.
pub(super) fn answer(d: &mut Draft<'_>, prompt: PromptId) {
    let Some(asked) = d.chat.aside.prompts.get(&prompt) else { return };
    let Some(deed) = asked.deed.as_ref().filter(|_| asked.kind == PromptKind::Approval) else {
        return;
    };
    let granted = d.chat.aside.grants.iter().find(|(_, known)| *known == deed);
    let Some(grant) = granted.map(|(grant, _)| *grant) else { return };
    let of_kind = |kind| asked.options.iter().find(|option| option.kind == kind);
    let Some(option) = of_kind(ALLOW_ALWAYS).or_else(|| of_kind(ALLOW_ONCE)) else { return };
    let answer = Answer::Option { option: option.id.clone(), text: None };
    // Without room for the frame, or with an agent that is being stopped, nothing is answered.
    let _ = prompt::give(d, prompt, answer, format!("grant {grant}"), None);
}

/// A person takes it back. The agent that was told it keeps it until it ends.
pub(super) fn end(d: &mut Draft<'_>, grant: GrantId) -> Result<Reply, Refusal> {
    if !d.chat.aside.grants.contains_key(&grant) {
        let text = format!("The chat has no grant {grant}. It may have been taken back.");
        return Err(Refusal::new(Code::GrantNotFound, text));
    }
    d.push(Fact::GrantEnded { grant });
    Ok(Reply::Done)
}
