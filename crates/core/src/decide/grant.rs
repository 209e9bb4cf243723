//! Grants: what a person allowed for this chat, for good (delivery.md, "Prompts"). An agent keeps such a
//! word for as long as it lives; the host keeps it for the chat, and gives it again when a later agent
//! asks for the very same thing.

use super::{Draft, prompt};
use crate::digest;
use crate::fact::Fact;
use crate::frame::Answer;
use crate::ids::{GrantId, PromptId};
use crate::input::Reply;
use crate::limits::{GRANTS_MAX, label};
use crate::provider::{Asked, PromptKind, PromptOption};
use crate::refusal::{Code, Refusal};

const ALLOW_ALWAYS: &str = "allow_always";

/// What is allowed: the deed, by this very option. An agent may offer several that hold for good, and a
/// wider one another time.
fn allowed(deed: &str, option: &PromptOption) -> String {
    digest(&format!("{deed}\n{}\n{}", option.id, option.label))
}

/// The option with this id; none where several have it, for nobody knows which is meant then.
fn only<'a>(asked: &'a Asked, id: &str) -> Option<&'a PromptOption> {
    let mut with = asked.options.iter().filter(|option| option.id == id);
    with.next().filter(|_| with.next().is_none())
}

/// A person chose this option: was it for good?
pub(super) fn learn(d: &mut Draft<'_>, asked: &Asked, answer: &Answer, by: &str) {
    let Answer::Option { option, .. } = answer else { return };
    let Some(deed) = asked.deed.as_ref().filter(|_| asked.kind == PromptKind::Approval) else {
        return;
    };
    let Some(option) = only(asked, option).filter(|option| option.kind == ALLOW_ALWAYS) else {
        return;
    };
    let (deed, known) = (allowed(deed, option), &d.chat.aside.grants);
    if known.len() >= GRANTS_MAX || known.values().any(|known| *known == deed) {
        return;
    }
    d.push(Fact::GrantGiven {
        grant: GrantId(d.chat.head.grants.saturating_add(1)),
        deed,
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
    let granted = |option: &&PromptOption| {
        let allowed = allowed(deed, option);
        let grant = d.chat.aside.grants.iter().find(|(_, known)| **known == allowed);
        grant.map(|(grant, _)| *grant)
    };
    let mut always = asked
        .options
        .iter()
        .filter(|option| option.kind == ALLOW_ALWAYS && only(asked, &option.id).is_some());
    let Some((option, grant)) = always.find_map(|it| Some((it, granted(&it)?))) else { return };
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
