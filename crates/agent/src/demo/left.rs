//! What a session left undone when its agent went, as its own store tells it: a continuation goes
//! on from there.

use std::time::Duration;

use super::directive::{self, BackgroundKind, Directive};
use super::store::Record;

/// How a continuation begins (`holdfast_core::continuation`).
const CONTINUATION: &str = "Your work in this chat was stopped from outside";

/// Whether a user's own text asks to go on with what was stopped.
pub(super) fn is_continuation(own: &str) -> bool {
    own.trim_start().starts_with(CONTINUATION)
}

/// How far a message was done.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Place {
    /// Directives that are done.
    pub(super) directives: usize,
    /// Lines that the next one has said.
    pub(super) lines: u64,
}

/// A message that was not done to its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Work {
    text: String,
    place: Place,
}

/// Background work that has not ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LeftTask {
    pub(super) id: String,
    pub(super) kind: BackgroundKind,
    pub(super) lasts: Duration,
    pub(super) label: String,
}

/// What is left undone.
#[derive(Default, Debug)]
pub(super) struct Left {
    pub(super) work: Option<Work>,
    pub(super) tasks: Vec<LeftTask>,
}

impl Left {
    /// Follows the records of a session, oldest first.
    pub(super) fn follow(&mut self, record: &Record) {
        match record {
            Record::User { text, .. } => {
                let text = directive::own_text(text);
                if !is_continuation(text) {
                    self.work = Some(Work { text: text.to_owned(), place: Place::default() });
                }
            }
            Record::Did(place) => {
                if let Some(work) = &mut self.work {
                    work.place = *place;
                }
            }
            Record::Ended => self.work = None,
            Record::Task { id, kind, lasts, label } => {
                let (id, label) = (id.clone(), label.clone());
                self.tasks.push(LeftTask { id, kind: *kind, lasts: *lasts, label });
            }
            Record::TaskEnded { id } => self.tasks.retain(|task| task.id != *id),
            Record::Opened { .. } | Record::Agent { .. } | Record::Title { .. } => {}
        }
    }
}

impl Work {
    /// What is still to be done of it, and from where. What only waited when it was cut off is
    /// over, and what could do harm twice is not done again.
    pub(super) fn rest(self) -> (Vec<Directive>, Place) {
        let Self { text, mut place } = self;
        let directives = directive::parse(&text);
        if directives.get(place.directives).is_some_and(|cut| !goes_on(cut)) {
            place = Place { directives: place.directives + 1, lines: 0 };
        }
        (directives, place)
    }
}

/// Whether a directive that was cut off is done again, or from where it was.
fn goes_on(cut: &Directive) -> bool {
    match cut {
        Directive::Say(_)
        | Directive::Think(_)
        | Directive::Ask { .. }
        | Directive::Approve { .. }
        | Directive::Retract { .. }
        | Directive::Prompt
        | Directive::Count
        | Directive::Stream { .. }
        | Directive::Clock { .. }
        | Directive::Plan(_)
        | Directive::Title(_)
        | Directive::Malformed { .. } => true,
        // A task is among the tasks that are left.
        Directive::Background { .. }
        | Directive::Slow(_)
        | Directive::Tool { .. }
        | Directive::Die(_)
        | Directive::Flood(_)
        | Directive::Fork
        | Directive::Output(_)
        | Directive::Raw(_)
        | Directive::Line(_)
        | Directive::Endless
        | Directive::Error(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_continuation_is_known_by_its_beginning() {
        assert!(is_continuation(holdfast_core::continuation::TEXT));
        assert!(!is_continuation("[[say Your work in this chat was stopped from outside]]"));
    }

    fn user(text: &str) -> Record {
        Record::User { text: text.to_owned(), message_id: "m".to_owned() }
    }

    fn left(records: &[Record]) -> Left {
        let mut left = Left::default();
        for record in records {
            left.follow(record);
        }
        left
    }

    #[test]
    fn what_was_done_is_not_left() {
        let stream = "[[say a]] [[stream 9 1]] [[say b]]";
        let cut = Place { directives: 1, lines: 4 };
        let records = [user(stream), Record::Did(cut)];
        let work = left(&records).work.unwrap();
        assert_eq!(work.clone().rest().1, cut);
        // A continuation that is cut off goes on with the same.
        let again = [&records[..], &[user(holdfast_core::continuation::TEXT)]].concat();
        assert_eq!(left(&again).work, Some(work));
        let done = [&again[..], &[Record::Ended]].concat();
        assert_eq!(left(&done).work, None);
    }

    #[test]
    fn a_wait_that_was_cut_is_over_and_a_death_is_not_repeated() {
        for text in ["[[slow 9]] [[say b]]", "[[die]] [[say b]]", "[[tool t 9]] [[say b]]"] {
            let (directives, place) = left(&[user(text)]).work.unwrap().rest();
            assert_eq!(directives[place.directives], Directive::Say("b".to_owned()), "{text}");
        }
    }
}
