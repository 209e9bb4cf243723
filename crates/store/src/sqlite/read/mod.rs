//! The queries in SQL, one file for each family of rows.

mod attachment;
mod chat;
mod feed;
mod item;
mod live;
mod load;
mod message;

pub(super) use attachment::{attachment, attachments, files_until, of_message};
pub(super) use chat::{by_sessions, chat, chat_by_slot, chats, counts, is_here, owing};
pub(super) use feed::{change_bounds, changes, draft, failures, offer, offers};
pub(super) use item::{item, item_text, items};
pub(super) use live::{commands, grants, prompt, task, turn, turn_place, turns};
pub(super) use load::{facts, load};
pub(super) use message::{message, queue};

use super::fail::Fail;

/// The error of a stored value that this build does not know.
pub(super) fn bad(what: &str, value: &str) -> Fail {
    let value: String = value.chars().take(80).collect();
    Fail::Bad(format!("{what} is stored as {value:?}, which this build does not know"))
}
