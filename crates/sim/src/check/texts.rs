//! What an agent wrote is in the transcript: no line lost, none doubled, each in its order.

use std::collections::BTreeMap;

use holdfast_core::head::Life;
use holdfast_core::ids::{AttemptId, ChatId, ItemId};
use holdfast_store::PageFrom;

use crate::evidence::Told;
use crate::world::World;

/// Compares all that an attempt has in the transcript with the lines of its spool.
pub(super) fn are_whole(w: &mut World, chat: ChatId, attempt: AttemptId) {
    let loaded = w.journal.store.load(chat);
    if loaded.is_none_or(|loaded| loaded.chat.head.life == Life::Deleted) {
        return;
    }
    let Some(seen) = w.evidence.attempts.get(&attempt) else { return };
    let wanted: Vec<&String> = seen.spooled.iter().filter_map(|line| token(&line.told)).collect();
    let origin = seen.origin;

    let mut places: BTreeMap<String, (ItemId, usize)> = BTreeMap::new();
    let mut twice = None;
    let mut after = 0;
    loop {
        let page = w.journal.store.items(chat, PageFrom::After(after), 200);
        let Some(last) = page.last() else { break };
        after = last.place;
        for item in page.iter().filter(|item| item.id.origin == origin && item.prompt.is_none()) {
            for text in &item.texts {
                for token in tokens(&text.head) {
                    let place = (item.id, places.len());
                    if places.insert(token.clone(), place).is_some() {
                        twice = Some(token);
                    }
                }
            }
        }
    }
    let missing = wanted.iter().find(|token| !places.contains_key(**token)).map(|t| (*t).clone());
    let foreign = places.keys().find(|token| !wanted.contains(token)).cloned();
    let mut last: BTreeMap<ItemId, usize> = BTreeMap::new();
    let mut disorder = None;
    for token in &wanted {
        if let Some((item, at)) = places.get(*token) {
            if last.get(item).is_some_and(|before| before > at) {
                disorder = Some((*token).clone());
            }
            last.insert(*item, *at);
        }
    }
    if let Some(token) = twice {
        w.fail(format!("{token} of {attempt} is in the transcript twice"));
    }
    if let Some(token) = missing {
        w.fail(format!("{token} of {attempt} is not in the transcript"));
    }
    if let Some(token) = foreign {
        w.fail(format!("{token} is in the transcript of {attempt}, which never wrote it"));
    }
    if let Some(token) = disorder {
        w.fail(format!("{token} of {attempt} is out of order in the transcript"));
    }
}

fn token(told: &Told) -> Option<&String> {
    match told {
        Told::Token(token) => Some(token),
        Told::Asked { .. }
        | Told::TookBack { .. }
        | Told::TaskOn { .. }
        | Told::TaskOff { .. }
        | Told::Ended { .. }
        | Told::Other => None,
    }
}

fn tokens(text: &str) -> Vec<String> {
    let parts = text.split_inclusive('>');
    let found = parts.filter_map(|part| part.find('<').map(|at| part.get(at..).unwrap_or(part)));
    found.map(str::to_owned).collect()
}
