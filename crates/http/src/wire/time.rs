//! Times: RFC 3339 in UTC with microseconds, so that a time that is a name reads back exactly.

use holdfast_core::time::Micros;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A time: RFC 3339 in UTC with microseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(value_type = String, format = DateTime, example = "2026-01-02T03:04:05.000006Z")]
pub(crate) struct Time(String);

/// A time as text: `2026-01-02T03:04:05.000006Z`. What lies beyond the years of the calendar is
/// shown as its end.
pub(crate) fn rfc3339(at: Micros) -> Time {
    let ends = if at.0 < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let at = Timestamp::from_microsecond(at.0).unwrap_or(ends);
    Time(format!("{at:.6}"))
}

/// The time that a text names; finer than microseconds is cut.
pub(crate) fn parse(text: &str) -> Option<Micros> {
    text.parse::<Timestamp>().ok().map(|at| Micros(at.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_reads_back_exactly() {
        assert_eq!(rfc3339(Micros(0)).0, "1970-01-01T00:00:00.000000Z");
        for at in [0, 1, 1_767_323_045_000_006, -1] {
            assert_eq!(parse(&rfc3339(Micros(at)).0), Some(Micros(at)));
        }
        assert_eq!(parse("2026-01-02T04:04:05.000006+01:00"), parse("2026-01-02T03:04:05.000006Z"));
        for odd in ["", "yesterday", "2026-13-01T00:00:00Z", "1767323045"] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_damaged_time_is_still_shown() {
        assert!(rfc3339(Micros(i64::MAX)).0.starts_with("9999-"));
        assert!(!rfc3339(Micros(i64::MIN)).0.is_empty());
    }
}
