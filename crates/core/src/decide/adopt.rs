//! A chat that goes on with a session which was there before it. What the session holds is shown as it
//! was read; nothing is sent, and nothing runs, before a message is.

use super::Draft;
use crate::adopt::{Adopted, Entry};
use crate::fact::{Fact, Namer};
use crate::ids::ItemId;
use crate::item::{Notice, Row};
use crate::limits::{TITLE_CHARS_MAX, cut};

/// The ordinal of the life in which the entries were written, before the chat's first attempt.
const BEFORE: u32 = 1;

/// The chat that was just opened goes on with this session.
pub(super) fn begin(d: &mut Draft<'_>, adopted: Adopted) {
    let Adopted { handle, title, messages, entries, older, damaged, since } = adopted;
    let shown = u32::try_from(entries.len()).unwrap_or(u32::MAX);
    d.push(Fact::ChatAdopted { handle, messages, shown, older });
    let title = cut(&title.unwrap_or_default(), TITLE_CHARS_MAX);
    if !title.is_empty() && !d.chat.head.named {
        d.push(Fact::ChatTitled { title, by: Namer::Agent });
    }
    for (n, entry) in (1..).zip(entries) {
        show(d, ItemId::new(BEFORE, n), entry);
    }
    let damage = match damaged {
        0 => String::new(),
        1 => "One line of the agent's file could not be read.".to_owned(),
        many => format!("{many} lines of the agent's file could not be read."),
    };
    d.say(Notice::Adopted { shown, older, since }, &damage);
}

fn show(d: &mut Draft<'_>, item: ItemId, entry: Entry) {
    let Entry { kind, role, body, texts, at } = entry;
    d.add_item(item, kind, role, None, body);
    for (field, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        d.row(Row::ItemText { item, field, at: 0, text });
    }
    if let Some(at) = at {
        d.row(Row::ItemDated { item, at });
    }
    d.row(Row::ItemClosed { item });
}
