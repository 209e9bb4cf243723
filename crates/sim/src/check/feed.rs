//! The change feed: every commit's changes, in order and without a gap; whoever reads what it names
//! has in the end what is stored.

use std::collections::BTreeMap;

use holdfast_core::ids::{ChatId, ItemId, PromptId, TaskId, TurnId};
use holdfast_store::{
    Change, ChatFilter, ChatRow, Committed, Counts, ItemRow, MemoryStore, MessageRow, OfferRow,
    PageFrom, PromptRow, TaskRow, TurnRow, Unit, What,
};

use crate::world::World;

/// Commits between two looks of the reader.
const LOOK_EVERY: u64 = 7;
/// Commits between two comparisons of what it shows with what is stored.
const COMPARE_EVERY: u64 = 31;
/// Changes of one look.
const CHANGES_MAX: usize = 1000;

/// What a page shows that reads only what the feed names.
#[derive(Debug, Default)]
pub(super) struct Reader {
    cursor: u64,
    commits: u64,
    chats: BTreeMap<ChatId, Option<ChatRow>>,
    items: BTreeMap<(ChatId, ItemId), Option<ItemRow>>,
    turns: BTreeMap<(ChatId, TurnId), Option<TurnRow>>,
    prompts: BTreeMap<(ChatId, PromptId), Option<PromptRow>>,
    tasks: BTreeMap<(ChatId, TaskId), Option<TaskRow>>,
    queues: BTreeMap<ChatId, Vec<MessageRow>>,
    offers: BTreeMap<ChatId, Option<OfferRow>>,
    counts: Counts,
}

/// A unit was stored.
pub(super) fn moved(w: &mut World, unit: &Committed<Unit>) {
    let range = unit.changes().clone();
    if !range.is_empty() {
        if range.start != w.checks.changes + 1 {
            let last = w.checks.changes;
            w.fail(format!("changes {range:?} follow upon {last}"));
        }
        w.checks.changes = range.end - 1;
    }
    w.checks.reader.commits += 1;
    if w.checks.reader.commits.is_multiple_of(LOOK_EVERY) {
        look(w);
    }
    if w.checks.reader.commits.is_multiple_of(COMPARE_EVERY) {
        compare(w);
    }
}

/// Reads what has changed since the last look.
fn look(w: &mut World) {
    let (store, reader) = (&w.journal.store, &mut w.checks.reader);
    loop {
        let changes = store.changes(reader.cursor, CHANGES_MAX);
        let Some(last) = changes.last().map(|change| change.n) else { return };
        let gap = changes.iter().zip(reader.cursor + 1..).find(|(change, n)| change.n != *n);
        if let Some((_, n)) = gap {
            return w.fail(format!("the feed has no change {n}"));
        }
        for change in changes {
            reader.read(store, change);
        }
        reader.cursor = last;
    }
}

/// What is shown is what is stored, at any time.
fn compare(w: &mut World) {
    look(w);
    if let Some(wrong) = w.checks.reader.wrong(&w.journal.store) {
        w.fail(wrong);
    }
}

impl Reader {
    fn read(&mut self, store: &MemoryStore, change: Change) {
        let Some(chat) = change.chat else {
            self.counts = store.counts();
            return;
        };
        match change.what {
            What::Chat => drop(self.chats.insert(chat, store.chat(chat))),
            What::Item(id) => drop(self.items.insert((chat, id), store.item(chat, id))),
            What::Turn(id) => drop(self.turns.insert((chat, id), store.turn(chat, id))),
            What::Prompt(id) => drop(self.prompts.insert((chat, id), store.prompt(chat, id))),
            What::Task(id) => drop(self.tasks.insert((chat, id), store.task(chat, id))),
            What::Queue => drop(self.queues.insert(chat, store.queue(chat))),
            What::Offer => drop(self.offers.insert(chat, store.offer(chat))),
            What::Removed => self.forget(chat),
            What::Failure | What::Counts => {}
        }
    }

    fn forget(&mut self, gone: ChatId) {
        self.chats.remove(&gone);
        self.items.retain(|(chat, _), _| *chat != gone);
        self.turns.retain(|(chat, _), _| *chat != gone);
        self.prompts.retain(|(chat, _), _| *chat != gone);
        self.tasks.retain(|(chat, _), _| *chat != gone);
        self.queues.remove(&gone);
        self.offers.remove(&gone);
    }

    /// What is shown otherwise than it is stored, if anything is.
    fn wrong(&self, store: &MemoryStore) -> Option<String> {
        let listed = store.chats(ChatFilter::All, None, 100).unwrap_or_default().rows;
        for row in &listed {
            let shown = self.chats.get(&row.id).and_then(Option::as_ref);
            if shown != Some(row) {
                return Some(format!("{} is shown as {shown:?}, and is {row:?}", row.id));
            }
            let queue = self.queues.get(&row.id).cloned().unwrap_or_default();
            if queue != store.queue(row.id) {
                return Some(format!("the queue of {} is shown as {queue:?}", row.id));
            }
            if self.offers.get(&row.id).cloned().flatten() != store.offer(row.id) {
                return Some(format!("the offer of {} is shown wrong", row.id));
            }
            for item in store.items(row.id, PageFrom::Newest, 200) {
                let shown = self.items.get(&(row.id, item.id)).and_then(Option::as_ref);
                if shown != Some(&item) {
                    return Some(format!("{} is shown as {shown:?}, and is {item:?}", item.id));
                }
            }
        }
        let mut rows = Vec::new();
        rows.extend(self.turns.iter().map(|((c, id), row)| (*row == store.turn(*c, *id), "turn")));
        rows.extend(self.tasks.iter().map(|((c, id), row)| (*row == store.task(*c, *id), "task")));
        let prompts = self.prompts.iter();
        rows.extend(prompts.map(|((c, id), row)| (*row == store.prompt(*c, *id), "prompt")));
        if let Some((_, what)) = rows.iter().find(|(right, _)| !right) {
            return Some(format!("a {what} is shown wrong"));
        }
        if self.counts != store.counts() {
            return Some(format!("{:?} is shown, {:?} counted", self.counts, store.counts()));
        }
        None
    }
}

/// Everything has come to rest.
pub(super) fn is_complete(w: &mut World) {
    compare(w);
    let told = w.checks.changes;
    if w.checks.reader.cursor != told {
        let cursor = w.checks.reader.cursor;
        w.fail(format!("the feed ends at {cursor}, the commits at {told}"));
    }
}
