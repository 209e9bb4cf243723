//! Texts on a terminal: harmless, in columns, with times that a person reads.

use std::borrow::Cow;

use jiff::Timestamp;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Whether a character could move the cursor, change the terminal or the order of what is read.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with everything made visible that acts on a terminal; line ends and tabs stay.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| acts(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\0'..='\x1f' => {
                shown.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'))
            }
            '\x7f' => shown.push('\u{2421}'),
            c if acts(c) => shown.push_str(&format!("<U+{:04X}>", u32::from(c))),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The text on one line, harmless, its white space single.
pub(crate) fn line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    harmless(&words.join(" ")).into_owned()
}

/// JSON in which a terminal sees nothing that acts: only texts can hold such characters, and there
/// they may be written as escapes.
pub(crate) fn harmless_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(|c| acts(c) && c != '\n') {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if acts(c) && c != '\n' {
            shown.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The beginning of a text in so many columns, with a mark where it is cut.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut room = columns.saturating_sub(1);
    let mut shown = String::new();
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if width > room {
            break;
        }
        room -= width;
        shown.push(c);
    }
    shown.truncate(shown.trim_end().len());
    shown.push('…');
    shown
}

/// Rows in aligned columns, two spaces between them; the last column takes what is left of `width`.
pub(crate) fn columns(rows: &[Vec<String>], width: Option<usize>) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest =
        |n: usize| rows.iter().filter_map(|row| Some(row.get(n)?.width())).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(widest).collect();
    let one = |row: &Vec<String>| {
        let mut shown = String::new();
        for (n, cell) in row.iter().enumerate() {
            if n + 1 == row.len() {
                let room = width.map(|width| width.saturating_sub(shown.width()).max(8));
                shown.push_str(&room.map_or_else(|| cell.clone(), |room| cut(cell, room)));
            } else {
                shown.push_str(cell);
                let gap = widths.get(n).copied().unwrap_or(0).saturating_sub(cell.width()) + 2;
                shown.push_str(&" ".repeat(gap));
            }
        }
        shown.trim_end().to_owned()
    };
    rows.iter().map(one).collect()
}

/// How long ago a time was, in words; what cannot be read is shown as it is.
pub(crate) fn ago(at: &str, now: Timestamp) -> String {
    let Ok(then) = at.parse::<Timestamp>() else { return line(at) };
    let seconds = now.as_second().saturating_sub(then.as_second());
    match seconds {
        ..5 => "just now".to_owned(),
        5..60 => format!("{seconds} s ago"),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// A count with its noun: `1 chat`, `2 chats`.
pub(crate) fn count(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Bytes for a person: `512 B`, `1.5 MiB`.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.into_iter().find(|(_, size)| n >= *size) {
        Some((unit, size)) => {
            let tenths = u128::from(n) * 10 / u128::from(size);
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{n} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("a\tb\nc", "a\tb\nc")]
    #[case::escape("\x1b[2J", "␛[2J")]
    #[case::bell_and_return("a\x07\rb", "a␇␍b")]
    #[case::delete("\x7f", "␡")]
    #[case::c1("\u{9b}31m", "<U+009B>31m")]
    #[case::reversed("x\u{202e}y", "x<U+202E>y")]
    #[case::isolate("\u{2066}", "<U+2066>")]
    #[case::other_scripts("naïve 名前 🙂", "naïve 名前 🙂")]
    fn what_acts_on_a_terminal_is_made_visible(#[case] text: &str, #[case] shown: &str) {
        assert_eq!(harmless(text), shown);
    }

    #[test]
    fn json_stays_the_same_json() {
        let json = serde_json::to_string("\u{9b}\u{202e}\x1b\x7f ok").unwrap();
        let shown = harmless_json(&json);
        assert!(!shown.chars().any(acts), "{shown}");
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), "\u{9b}\u{202e}\x1b\x7f ok");
    }

    #[test]
    fn columns_are_as_wide_as_they_look() {
        let rows = [["名前", "x", "a long text"], ["b", "yy", "z"]];
        let rows: Vec<Vec<String>> = rows.iter().map(|r| r.map(str::to_owned).to_vec()).collect();
        assert_eq!(columns(&rows, None), ["名前  x   a long text", "b     yy  z"]);
        assert_eq!(columns(&rows, Some(18)), ["名前  x   a long…", "b     yy  z"]);
    }

    #[rstest]
    #[case(0, "just now")]
    #[case(-100, "just now")]
    #[case(59, "59 s ago")]
    #[case(60, "1 min ago")]
    #[case(7200, "2 h ago")]
    #[case(172_800, "2 days ago")]
    fn times_are_told_as_people_tell_them(#[case] seconds: i64, #[case] told: &str) {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let then = Timestamp::from_second(1_800_000_000 - seconds).unwrap();
        assert_eq!(ago(&then.to_string(), now), told);
        assert_eq!(ago("yester\x1bday", now), "yester␛day");
    }

    #[rstest]
    #[case(0, "0 B")]
    #[case(1023, "1023 B")]
    #[case(1536, "1.5 KiB")]
    #[case(5 << 30, "5.0 GiB")]
    fn bytes_have_units(#[case] n: u64, #[case] shown: &str) {
        assert_eq!(bytes(n), shown);
    }
}
