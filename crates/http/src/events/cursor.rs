//! Cursors: where in the change feed of which store a client is. Opaque to clients.

use std::fmt;
use std::str::FromStr;

use holdfast_store::ChangeBounds;
use uuid::Uuid;

/// A place in a change feed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The life of the store that the number belongs to.
    pub(crate) incarnation: Uuid,
    /// The number of the last change that was seen.
    pub(crate) change: u64,
}

/// A text that is no cursor.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoCursor;

impl Cursor {
    /// Whether everything after it can still be told: it is of this store, not of its future, and
    /// nothing after it was pruned.
    pub(crate) fn is_whole(self, incarnation: Uuid, bounds: ChangeBounds) -> bool {
        self.incarnation == incarnation
            && self.change <= bounds.newest
            && self.change >= bounds.complete_after
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.incarnation.simple(), self.change)
    }
}

impl FromStr for Cursor {
    type Err = NoCursor;
    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (incarnation, change) = text.split_once('-').ok_or(NoCursor)?;
        let digits = !change.is_empty() && change.bytes().all(|byte| byte.is_ascii_digit());
        if incarnation.len() != 32 || !digits {
            return Err(NoCursor);
        }
        Ok(Self {
            incarnation: Uuid::try_parse(incarnation).map_err(|_| NoCursor)?,
            change: change.parse().map_err(|_| NoCursor)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const HERE: Uuid = Uuid::from_u128(7);
    const BOUNDS: ChangeBounds = ChangeBounds { complete_after: 10, newest: 20 };

    #[rstest]
    #[case::oldest_kept(HERE, 10, true)]
    #[case::newest(HERE, 20, true)]
    #[case::too_old(HERE, 9, false)]
    #[case::of_the_future(HERE, 21, false)]
    #[case::foreign(Uuid::from_u128(8), 15, false)]
    fn a_cursor_is_whole_or_has_a_gap(
        #[case] incarnation: Uuid,
        #[case] change: u64,
        #[case] whole: bool,
    ) {
        assert_eq!(Cursor { incarnation, change }.is_whole(HERE, BOUNDS), whole);
    }

    #[test]
    fn a_cursor_reads_back_and_other_texts_are_none() {
        let cursor = Cursor { incarnation: HERE, change: u64::MAX };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        let hex = HERE.simple();
        for odd in ["", "-", "7", &format!("{hex}-"), &format!("{hex}-+1"), &format!("{hex}1-1")] {
            assert_eq!(odd.parse::<Cursor>(), Err(NoCursor), "{odd}");
        }
        assert!(format!("{hex}-99999999999999999999").parse::<Cursor>().is_err());
    }
}
