//! Messages whose outcome is not known, looked for in what the thread holds (delivery.md, "Settling
//! after a death"). Each was handed over with its id as `clientUserMessageId`, which Codex writes
//! down.
//!
//! All turns are read, from the newest back, each with its first message and its last answer. A
//! message that was taken into a running turn is not among those: so the newest turns are read
//! once more, item by item.

use holdfast_core::ids::MessageId;
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::wire;

/// Turns, or items, of one page.
const PAGE_MEMBERS: u32 = 20;
/// Pages that are read at most.
const PAGES_MAX: u32 = 500;
/// The newest turns that are read item by item.
const WHOLE_TURNS_MAX: usize = 4;
/// Bytes of the agent's name of the next page.
const CURSOR_BYTES_MAX: usize = 2 * 1024;
/// Bytes of a turn's id.
const TURN_ID_BYTES_MAX: usize = 128;

/// A search under way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Search {
    /// What is still looked for.
    sought: Vec<MessageId>,
    reading: Reading,
    /// The newest turns that are yet to be read item by item.
    newest: Vec<String>,
    /// The next page; none is the first.
    cursor: Option<String>,
    pages: u32,
}

/// What is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Reading {
    /// Turns.
    #[default]
    Turns,
    /// The items of the first of the newest turns.
    Items,
}

impl Search {
    pub(super) fn of(sought: Vec<MessageId>) -> Self {
        Self { sought, ..Self::default() }
    }

    /// What to ask next: a method and its parameters.
    pub(super) fn next(&self, thread: &str) -> Option<(&'static str, Value)> {
        if self.sought.is_empty() {
            return None;
        }
        let mut params = json!({
            "threadId": thread,
            "cursor": self.cursor,
            "limit": PAGE_MEMBERS,
            "sortDirection": "desc",
        });
        match self.reading {
            Reading::Turns => {
                params["itemsView"] = json!("summary");
                Some(("thread/turns/list", params))
            }
            Reading::Items => {
                params["turnId"] = json!(self.newest.first()?);
                params["deferOutput"] = json!({ "commandExecution": true, "mcpToolCall": true });
                Some(("thread/items/list", params))
            }
        }
    }

    /// Nothing more can be read: what was not found may be there or not.
    pub(super) fn give_up(&mut self) {
        self.sought.clear();
    }

    /// A page came. What is nowhere is absent; a page that cannot be read proves nothing.
    pub(super) fn page(&mut self, result: Option<&RawValue>, out: &mut Vec<ProviderEvent>) {
        let told: wire::Page<'_> = wire::read(result).unwrap_or_default();
        let Some(data) = told.data else { return self.give_up() };
        for member in data.0 {
            let member: wire::Member<'_> = serde_json::from_str(member.get()).unwrap_or_default();
            match (self.reading, member.items, member.item) {
                (Reading::Turns, Some(items), _) => {
                    let Some(turn) = member.id else { return self.give_up() };
                    if self.newest.len() < WHOLE_TURNS_MAX && turn.len() <= TURN_ID_BYTES_MAX {
                        self.newest.push(turn);
                    }
                    items.0.into_iter().for_each(|item| self.compare(item, out));
                }
                (Reading::Items, _, Some(item)) => self.compare(item, out),
                (Reading::Turns, None, _) | (Reading::Items, _, None) => return self.give_up(),
            }
        }
        self.pages = self.pages.saturating_add(1);
        self.turn_over(told.next, out);
    }

    fn compare(&mut self, item: &RawValue, out: &mut Vec<ProviderEvent>) {
        let item: wire::Item<'_> = serde_json::from_str(item.get()).unwrap_or_default();
        let named = item.client.and_then(|client| client.parse::<MessageId>().ok());
        let place = self.sought.iter().position(|message| Some(*message) == named);
        if let Some(place) = place {
            let message = self.sought.remove(place);
            out.push(ProviderEvent::StoreAnswered { message, held: true });
        }
    }

    /// Goes on to the next page, or to what is read next.
    fn turn_over(&mut self, next: Option<String>, out: &mut Vec<ProviderEvent>) {
        if let Some(next) = next {
            let no_further = next.len() > CURSOR_BYTES_MAX || self.cursor.as_ref() == Some(&next);
            if no_further || self.pages >= PAGES_MAX {
                self.give_up();
            }
            self.cursor = Some(next);
            return;
        }
        self.cursor = None;
        match self.reading {
            Reading::Turns => self.reading = Reading::Items,
            Reading::Items => drop(self.newest.remove(0)),
        }
        if self.newest.is_empty() {
            let absent = std::mem::take(&mut self.sought).into_iter();
            out.extend(absent.map(|message| ProviderEvent::StoreAnswered { message, held: false }));
        }
    }
}
