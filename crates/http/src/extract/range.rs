//! `Range`: one part of a big text, in bytes.

use axum::http::{HeaderMap, header};

/// What is asked of a text of a known length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All of it. A header that cannot be read, or that asks for several parts, is passed over, as
    /// RFC 9110 has it.
    Whole,
    /// The bytes from `start` to before `end`; never empty.
    Part {
        /// The first byte.
        start: u64,
        /// The byte after the last.
        end: u64,
    },
    /// Nothing that is there.
    Outside,
}

/// Reads the `Range` header against a length in bytes.
pub(crate) fn wanted(headers: &HeaderMap, bytes: u64) -> Wanted {
    let header = headers.get(header::RANGE).and_then(|value| value.to_str().ok());
    header.and_then(|text| parse(text, bytes)).unwrap_or(Wanted::Whole)
}

fn parse(text: &str, bytes: u64) -> Option<Wanted> {
    let (from, to) = text.trim().strip_prefix("bytes=")?.trim().split_once('-')?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number beyond 64 bits is beyond every text.
        digits.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    let (start, end) = if from.is_empty() {
        let last = number(to)?;
        if last == 0 {
            return Some(Wanted::Outside);
        }
        (bytes.saturating_sub(last), bytes)
    } else {
        let start = number(from)?;
        let last = if to.is_empty() { u64::MAX } else { number(to)? };
        if last < start {
            return None;
        }
        (start, last.saturating_add(1).min(bytes))
    };
    Some(if start < end { Wanted::Part { start, end } } else { Wanted::Outside })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("bytes=0-3", Wanted::Part { start: 0, end: 4 })]
    #[case("bytes=8-", Wanted::Part { start: 8, end: 10 })]
    #[case("bytes=-3", Wanted::Part { start: 7, end: 10 })]
    #[case("bytes=-99", Wanted::Part { start: 0, end: 10 })]
    #[case("bytes=4-99999999999999999999999", Wanted::Part { start: 4, end: 10 })]
    #[case("bytes=9-9", Wanted::Part { start: 9, end: 10 })]
    #[case("bytes=10-", Wanted::Outside)]
    #[case("bytes=99999999999999999999999-", Wanted::Outside)]
    #[case("bytes=-0", Wanted::Outside)]
    #[case("bytes=3-1", Wanted::Whole)]
    #[case("bytes=0-1,3-4", Wanted::Whole)]
    #[case("bytes=+1-2", Wanted::Whole)]
    #[case("lines=0-1", Wanted::Whole)]
    #[case("", Wanted::Whole)]
    fn a_range_is_read_as_rfc_9110_has_it(#[case] text: &str, #[case] is: Wanted) {
        let mut headers = HeaderMap::new();
        headers.insert(header::RANGE, text.parse().unwrap());
        assert_eq!(wanted(&headers, 10), is);
    }
}
