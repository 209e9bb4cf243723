//! The numbers that an attempt gives to what the agent brings forth, and digests of its own ids.

use serde::{Deserialize, Serialize};

/// The last numbers given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ordinals {
    item: u32,
    prompt: u32,
    task: u32,
}

impl Ordinals {
    pub(crate) fn item(&mut self) -> u32 {
        self.item = self.item.saturating_add(1);
        self.item
    }

    pub(crate) fn prompt(&mut self) -> u32 {
        self.prompt = self.prompt.saturating_add(1);
        self.prompt
    }

    pub(crate) fn task(&mut self) -> u32 {
        self.task = self.task.saturating_add(1);
        self.task
    }
}

/// A digest of bytes (FNV-1a, 64 bits): agents' ids and what of a text was shown already are kept as
/// digests, because they may be long. It is stored, so it never changes. An agent that makes two ids
/// collide mixes up its own items only.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    digest_on(0xcbf2_9ce4_8422_2325, bytes)
}

/// The digest of what has the digest `before`, and then these bytes.
pub(crate) fn digest_on(before: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(before, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The digest of an id within a session other than the chat's own.
pub(crate) fn digest_within(session: &str, id: &str) -> u64 {
    digest(format!("{session}\u{0}{id}").as_bytes())
}

/// Bytes of a text within JSON, quotes excluded.
pub(crate) fn json_bytes(text: &str) -> usize {
    text.chars()
        .map(|c| match c {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            c if c < ' ' => 6,
            c => c.len_utf8(),
        })
        .sum()
}

/// Digits of a number.
pub(crate) fn digits(n: u64) -> usize {
    n.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// The longest beginning of a text that has at most `max` bytes and ends between characters.
pub(crate) fn head(text: &str, max: usize) -> &str {
    let end = text.floor_char_boundary(max);
    text.get(..end).unwrap_or_default()
}
