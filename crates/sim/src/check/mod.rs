//! The promises, checked against what was answered to people and what the agents really saw.
//! Each file is one family; all are asked at every commit, and again at the end.

pub(crate) mod acks;
mod feed;
mod messages;
mod offers;
pub(crate) mod prompts;
pub(crate) mod sighting;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

use holdfast_core::fact::Fact;
use holdfast_core::ids::{AttemptId, ChatId, MessageId, PromptId};
use holdfast_store::{Committed, Loaded, MemoryStore, Unit};

use crate::journal::Cause;
use crate::world::World;

/// A message that was accepted.
#[derive(Debug)]
struct Accepted {
    chat: ChatId,
    cause: Cause,
    /// When its sender was told.
    acknowledged_at: Option<u64>,
}

/// What the checks remember.
#[derive(Debug, Default)]
pub(crate) struct Checks {
    messages: BTreeMap<MessageId, Accepted>,
    texts: BTreeSet<String>,
    /// The attempt and frame that each was last handed over with.
    handed: BTreeMap<MessageId, (AttemptId, u64)>,
    answers: BTreeSet<(ChatId, PromptId)>,
    winners: BTreeMap<(ChatId, PromptId), usize>,
    changes: u64,
    reader: feed::Reader,
}

/// A chat before a commit.
#[derive(Debug)]
pub(crate) struct Before {
    loaded: Option<Loaded>,
}

impl Before {
    pub(crate) fn of(store: &MemoryStore, chat: ChatId) -> Self {
        Self { loaded: store.load(chat) }
    }
}

/// A unit was stored.
pub(crate) fn committed(w: &mut World, unit: &Committed<Unit>, before: &Before, cause: Cause) {
    for fact in &unit.facts {
        w.say(|| {
            let text = format!("{fact:?}");
            let chat = crate::agent::short_chat(unit.chat);
            format!("fact {chat} {}", text.get(..300).unwrap_or(&text))
        });
    }
    feed::moved(w, unit);
    for (at, fact) in unit.facts.iter().enumerate() {
        if let Fact::AttemptStarting { attempt, origin, .. } = fact {
            let ended = unit.facts.iter().take(at);
            let ended = ended.filter(|fact| matches!(fact, Fact::AttemptEnded { .. })).count();
            if ended == 0 && before.head().is_some_and(|head| head.attempt.is_some()) {
                w.fail(format!("{} begins a second attempt", unit.chat));
            }
            w.evidence.begin(*attempt, unit.chat, *origin);
        }
        messages::happened(w, unit, fact, before, cause);
        prompts::happened(w, unit, fact, before);
        offers::happened(w, unit, at, before, cause);
    }
    messages::are_somewhere(w, unit.chat);
    if unit.facts.iter().any(|fact| matches!(fact, Fact::AttemptEnded { .. }))
        && let Some(attempt) = before.head().and_then(|head| head.attempt.as_ref())
    {
        texts::are_whole(w, unit.chat, attempt.id);
    }
}

impl Before {
    fn head(&self) -> Option<&holdfast_core::head::Head> {
        self.loaded.as_ref().map(|loaded| &loaded.chat.head)
    }
}

/// Everything has come to rest.
pub(crate) fn at_rest(w: &mut World) {
    messages::are_settled(w);
    let live: Vec<_> = w
        .people
        .chats
        .keys()
        .filter_map(|chat| Some((*chat, w.journal.store.load(*chat)?.chat.head.attempt?.id)))
        .collect();
    for (chat, attempt) in live {
        texts::are_whole(w, chat, attempt);
    }
    feed::is_complete(w);
}
