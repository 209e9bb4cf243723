//! How much of a text was shown already, where the agent tells it piece by piece and then whole.

use holdfast_core::item::Field;
use holdfast_core::provider::ProviderEvent;
use serde::{Deserialize, Serialize};

use crate::ordinals::{digest, digest_on};

/// What stands between a text and another that replaces it.
const REPLACED: &str = "\n[the agent replaced the text above]\n";

/// What stands before the beginning of a text of which only the rest was told piece by piece: Codex
/// gives the first output of a command to its model alone, until the command has ended.
const BEGAN: &str = "\n[the output above began with]\n";

/// A text that was shown up to here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shown {
    /// Bytes shown: where the next piece begins.
    #[serde(rename = "a")]
    at: u64,
    /// The digest of them.
    #[serde(rename = "d")]
    digest: u64,
}

impl Default for Shown {
    fn default() -> Self {
        Self { at: 0, digest: digest(b"") }
    }
}

impl Shown {
    /// Shows one more piece.
    pub(super) fn add(
        &mut self,
        item: u32,
        field: Field,
        text: String,
        out: &mut Vec<ProviderEvent>,
    ) {
        if text.is_empty() {
            return;
        }
        let at = self.at;
        self.at = at.saturating_add(text.len() as u64);
        self.digest = digest_on(self.digest, text.as_bytes());
        out.push(ProviderEvent::ItemText { item, field, at, text });
    }

    /// Shows what is new of the whole text. One that is shorter than what was shown says nothing
    /// new: agents cut what is long.
    pub(super) fn whole(
        &mut self,
        item: u32,
        field: Field,
        text: &str,
        out: &mut Vec<ProviderEvent>,
    ) {
        let known = usize::try_from(self.at).unwrap_or(usize::MAX);
        let Some(before) = text.as_bytes().get(..known) else { return };
        if digest(before) == self.digest {
            let more = text.get(known..).unwrap_or_default().to_owned();
            return self.add(item, field, more, out);
        }
        let (began, rest) = text.as_bytes().split_at(text.len() - known);
        match text.get(..began.len()).filter(|_| digest(rest) == self.digest) {
            Some(began) => self.add(item, field, format!("{BEGAN}{began}"), out),
            None => self.add(item, field, format!("{REPLACED}{text}"), out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pieces: &[&str], whole: &str) -> String {
        let (mut shown, mut out) = (Shown::default(), Vec::new());
        for piece in pieces {
            shown.add(1, Field::Text, (*piece).to_owned(), &mut out);
        }
        shown.whole(1, Field::Text, whole, &mut out);
        let mut all = String::new();
        for event in out {
            if let ProviderEvent::ItemText { at, text, .. } = event {
                assert_eq!(at, all.len() as u64);
                all.push_str(&text);
            }
        }
        all
    }

    #[test]
    fn what_was_shown_is_not_shown_again() {
        for (pieces, whole, shown) in [
            (&["a", "b"][..], "ab", "ab"),
            (&["a"], "abc", "abc"),
            (&[], "abc", "abc"),
            (&["ab", "cd"], "ab", "abcd"),
            (&["é"], "éa", "éa"),
            (&["ab"], "xyz", "ab\n[the agent replaced the text above]\nxyz"),
            (&["a"], "é", "a\n[the agent replaced the text above]\né"),
            (&["b", "c"], "abc", "bc\n[the output above began with]\na"),
            (&["b"], "éb", "b\n[the output above began with]\né"),
        ] {
            assert_eq!(told(pieces, whole), shown, "{pieces:?} {whole}");
        }
    }
}
