//! The rules: ids, facts, the head of a chat, fold and decide. No I/O.

pub mod activity;
pub mod adopt;
pub mod attachment;
pub mod compact;
pub mod continuation;
pub mod decide;
pub mod effect;
pub mod fact;
pub mod fold;
pub mod fork;
pub mod frame;
pub mod happened;
pub mod head;
pub mod ids;
pub mod input;
pub mod item;
pub mod limits;
pub mod offer;
pub mod provider;
pub mod queue;
pub mod recap;
pub mod refusal;
pub mod slash;
pub mod summary;
pub mod time;

use sha2::{Digest, Sha256};

/// The digest by which a message's text is known again in an agent's own store: 128 bits of the
/// SHA-256 of the text, trimmed, with `\n` for every line end, as lower-case hexadecimal.
#[must_use]
pub fn digest(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    let hash = Sha256::digest(text.trim().as_bytes());
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
