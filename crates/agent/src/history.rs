//! What an agent's own files say of a session that was there before any chat: at a glance, for a list,
//! and whole, for a chat that goes on with it. The files are read by the host; what their lines mean is
//! known by the agent's module. They may be damaged, huge, and growing meanwhile: a line that cannot be
//! read is counted and passed over, and only the newest entries are kept.

use std::collections::VecDeque;

use holdfast_core::adopt::Entry;
use holdfast_core::item::{Body, CallState, Field, ItemKind, Role, ToolCall};
use holdfast_core::limits::{FORK_BYTES_MAX, FORK_ITEMS_MAX, LABEL_CHARS_MAX, cut};
use holdfast_core::time::Micros;

use crate::ordinals::head;

/// Bytes of one text of an entry; the rest stays in the agent's file, and is said to.
const TEXT_BYTES_MAX: usize = 256 * 1024;
/// Bytes of an agent's id of a call.
const CALL_ID_BYTES_MAX: usize = 1024;
/// Bytes of a directory's path.
const CWD_BYTES_MAX: usize = holdfast_core::limits::CWD_BYTES_MAX;
/// Bytes of a title or of first words that are looked at.
const WORDS_BYTES_MAX: usize = 16 * LABEL_CHARS_MAX;

/// What is seen of a session at a glance: in the beginning and the end of its file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    /// Its id, where the file says it itself.
    pub id: Option<String>,
    /// What it is called, best name first.
    pub title: Option<String>,
    /// The first words of the person, cut to a label.
    pub first: Option<String>,
    /// The directory in which it was begun.
    pub cwd: Option<String>,
    /// Whether it is a conversation of its own that a person may go on with.
    pub is_session: bool,
}

/// A session as its file shows it.
#[derive(Debug, Default)]
pub struct History {
    kept: VecDeque<Kept>,
    bytes: u64,
    /// What it is called.
    pub title: Option<String>,
    /// The first words of the person, cut to a label.
    pub first: Option<String>,
    /// How many messages of people it holds.
    pub messages: u64,
    /// How many entries there are before those that are kept.
    pub older: u64,
    /// When it began.
    pub since: Option<Micros>,
    /// Lines that could not be read.
    pub damaged: u64,
    /// Lines of a kind that this build does not know.
    pub unknown: u64,
}

#[derive(Debug)]
struct Kept {
    entry: Entry,
    /// The agent's id of a call that has yet to give its result.
    call: Option<String>,
}

impl History {
    /// The entries that are kept, oldest first. A call whose end is not in the file has an unknown one.
    #[must_use]
    pub fn entries(self) -> Vec<Entry> {
        let entries = self.kept.into_iter().map(|kept| kept.entry);
        entries
            .map(|mut entry| {
                if let Body::Call(call) = &mut entry.body
                    && call.state == CallState::Running
                {
                    call.state = CallState::Unknown;
                }
                entry
            })
            .collect()
    }

    /// Adds what was said.
    pub(crate) fn say(
        &mut self,
        (kind, role): (ItemKind, Role),
        body: Body,
        text: &str,
        at: Option<Micros>,
    ) {
        let texts = vec![(Field::Text, bounded(text))];
        self.keep(Entry { kind, role, body, texts, at }, None);
    }

    /// Adds a message of a person.
    pub(crate) fn person(&mut self, text: &str, at: Option<Micros>) {
        self.messages = self.messages.saturating_add(1);
        if self.first.is_none() {
            self.first = words(text);
        }
        self.say((ItemKind::Message, Role::User), Body::Text, text, at);
    }

    /// Adds a call of a tool that has yet to give its result.
    pub(crate) fn call(&mut self, id: &str, call: ToolCall, input: &str, at: Option<Micros>) {
        let texts = match input {
            "" | "{}" => Vec::new(),
            input => vec![(Field::Input, bounded(input))],
        };
        let (kind, role, body) = (ItemKind::ToolCall, Role::Agent, Body::Call(call));
        // A longer one is no id of a call: its result would not be found.
        let id = (id.len() <= CALL_ID_BYTES_MAX).then(|| id.to_owned());
        self.keep(Entry { kind, role, body, texts, at }, id);
    }

    /// A call gave its result. That of one that is not kept any more goes with it.
    pub(crate) fn gave(&mut self, id: &str, state: CallState, output: &str) {
        let mut calls = self.kept.iter_mut().rev();
        let Some(kept) = calls.find(|kept| kept.call.as_deref() == Some(id)) else { return };
        kept.call = None;
        let before = kept.entry.bytes();
        if let Body::Call(call) = &mut kept.entry.body {
            call.state = state;
        }
        kept.entry.texts.push((Field::Output, bounded(output)));
        self.bytes = self.bytes.saturating_sub(before).saturating_add(kept.entry.bytes());
        self.fit();
    }

    /// Adds to the text of the last entry, if it is of this kind.
    pub(crate) fn goes_on(&mut self, kind: ItemKind, more: &str) -> bool {
        let last = self.kept.back_mut().filter(|kept| kept.entry.kind == kind);
        let Some((_, text)) = last.and_then(|kept| kept.entry.texts.first_mut()) else {
            return false;
        };
        let before = text.len();
        if before > TEXT_BYTES_MAX {
            // It is cut already, and says so.
            return true;
        }
        *text = bounded(&format!("{text}{more}"));
        let grown = text.len().saturating_sub(before);
        self.bytes = self.bytes.saturating_add(u64::try_from(grown).unwrap_or(u64::MAX));
        self.fit();
        true
    }

    fn keep(&mut self, entry: Entry, call: Option<String>) {
        self.bytes = self.bytes.saturating_add(entry.bytes());
        self.kept.push_back(Kept { entry, call });
        self.fit();
    }

    fn fit(&mut self) {
        while self.kept.len() > FORK_ITEMS_MAX || self.bytes > FORK_BYTES_MAX {
            let Some(gone) = self.kept.pop_front() else { return };
            self.bytes = self.bytes.saturating_sub(gone.entry.bytes());
            self.older = self.older.saturating_add(1);
        }
    }
}

/// A call as an entry shows it.
pub(crate) fn tool(name: String, kind: &str, state: CallState) -> ToolCall {
    let name = if name.is_empty() { "tool".to_owned() } else { name };
    ToolCall { name, tool_kind: kind.to_owned(), state, task: None, within: None }
}

/// A text, cut at a bound and said to be.
fn bounded(text: &str) -> String {
    let kept = head(text, TEXT_BYTES_MAX);
    match text.len().saturating_sub(kept.len()) {
        0 => kept.to_owned(),
        more => format!("{kept}\n[{more} bytes more are in the agent's own file]"),
    }
}

/// A text as a label, if there is any.
pub(crate) fn words(text: &str) -> Option<String> {
    let label = cut(head(text.trim(), WORDS_BYTES_MAX), LABEL_CHARS_MAX);
    Some(label).filter(|label| !label.is_empty())
}

/// A directory that a chat can have.
pub(crate) fn directory(path: Option<String>) -> Option<String> {
    path.filter(|path| path.starts_with('/') && path.len() <= CWD_BYTES_MAX && !path.contains('\0'))
}

/// The time that a text names, as these files write it: `2026-11-30T22:51:32.320Z`.
pub(crate) fn time(text: Option<&str>) -> Option<Micros> {
    let text = text?.strip_suffix('Z').filter(|text| text.len() <= 40)?;
    let (day, clock) = text.split_once('T')?;
    let number = |text: &str, digits: usize| {
        let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        if plain { text.parse::<i64>().ok() } else { None }
    };
    let mut day = day.split('-');
    let (year, month, date) = (day.next()?, day.next()?, day.next()?);
    let (year, month, date) = (number(year, 4)?, number(month, 2)?, number(date, 2)?);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut clock = clock.split(':');
    let (hour, minute, second) = (clock.next()?, clock.next()?, clock.next()?);
    let (hour, minute, second) = (number(hour, 2)?, number(minute, 2)?, number(second, 2)?);
    let whole = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&date)
        && hour < 24
        && minute < 60
        && second <= 60;
    let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let micros = number(&micros, 6)?;
    // Days since 1970 of the Gregorian calendar, with years that begin in March.
    let shifted = if month > 2 { year } else { year - 1 };
    let (era, month) = (shifted / 400, (month + 9) % 12);
    let of_era = shifted - era * 400;
    let of_year = (153 * month + 2) / 5 + date - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second;
    whole.then_some(Micros(seconds * 1_000_000 + micros))
}

/// The whole lines of the end of a file: the first of what was read began before it.
pub(crate) fn whole_lines(tail: &[u8]) -> impl Iterator<Item = &[u8]> {
    tail.split(|byte| *byte == b'\n').skip(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let second = 1_000_000;
        for (text, at) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2026-11-30T22:51:32.320Z", Some(1_796_079_092 * second + 320_000)),
            ("2024-02-29T23:59:59.123456789Z", Some(1_709_251_199 * second + 123_456)),
            ("2026-11-30T22:51:32", None),
            ("2026-13-30T22:51:32Z", None),
            ("2026-11-30T22:51:3xZ", None),
            ("+026-11-30T22:51:32Z", None),
            ("2026-11-30T22:51:32.é23Z", None),
            ("", None),
        ] {
            assert_eq!(time(Some(text)), at.map(Micros), "{text}");
        }
    }

    #[test]
    fn the_newest_entries_are_kept_and_the_others_counted() {
        let mut history = History::default();
        for n in 0..FORK_ITEMS_MAX + 7 {
            history.person(&format!("message {n}"), None);
        }
        assert_eq!((history.older, history.messages), (7, FORK_ITEMS_MAX as u64 + 7));
        assert_eq!(history.first.as_deref(), Some("message 0"));
        history.call("c", tool(String::new(), "other", CallState::Running), "{}", None);
        let long = "é".repeat(TEXT_BYTES_MAX);
        for _ in 0..100 {
            history.say((ItemKind::Message, Role::Agent), Body::Text, &long, None);
        }
        assert!(history.bytes <= FORK_BYTES_MAX, "{}", history.bytes);
        history.gave("c", CallState::Completed, "of one that is gone");
        let entries = history.entries();
        assert_eq!(entries.len(), 31);
        let text = &entries[0].texts[0].1;
        assert!(
            text.ends_with("[262144 bytes more are in the agent's own file]"),
            "{}",
            text.len()
        );
    }

    #[test]
    fn a_text_that_is_cut_takes_no_more_and_an_endless_id_is_not_kept() {
        let mut history = History::default();
        history.say((ItemKind::Compaction, Role::Agent), Body::Text, "begins", None);
        let long = "x".repeat(TEXT_BYTES_MAX);
        assert!(history.goes_on(ItemKind::Compaction, &long));
        let bytes = history.bytes;
        for _ in 0..1_000_000 {
            assert!(history.goes_on(ItemKind::Compaction, "more"));
        }
        assert_eq!(history.bytes, bytes);
        let id = "i".repeat(CALL_ID_BYTES_MAX + 1);
        history.call(&id, tool(String::new(), "other", CallState::Running), "{}", None);
        assert_eq!(history.kept.back().unwrap().call, None);
    }

    #[test]
    fn a_result_goes_to_its_call_and_a_call_without_one_has_an_unknown_end() {
        let mut history = History::default();
        for id in ["a", "b"] {
            history.call(id, tool(id.to_owned(), "other", CallState::Running), "{\"x\":1}", None);
        }
        history.gave("a", CallState::Failed, "no");
        history.gave("a", CallState::Completed, "twice");
        history.gave("z", CallState::Completed, "nobody's");
        let entries = history.entries();
        let states: Vec<_> = entries
            .iter()
            .map(|entry| match &entry.body {
                Body::Call(call) => (call.state, entry.texts.len()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(states, [(CallState::Failed, 2), (CallState::Unknown, 1)]);
    }
}
