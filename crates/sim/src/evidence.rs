//! What the agents and their keepers really did, seen from outside: no line of it comes from the
//! host. The checks compare the journal with this.

use std::collections::{BTreeMap, BTreeSet};

use holdfast_core::ids::{AttemptId, ChatId, MessageId};

/// What one line of an agent tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// A piece of text or output; the token is in no other line.
    Token(String),
    Asked {
        request: u64,
    },
    TookBack {
        request: u64,
    },
    TaskOn {
        id: String,
        label: String,
        foreground: bool,
    },
    TaskOff {
        id: String,
    },
    /// The reply to the message in this frame.
    Ended {
        frame: u64,
    },
    Other,
}

/// A line that is whole in the spool.
#[derive(Clone, Debug)]
pub(crate) struct Spooled {
    /// The position behind it.
    pub(crate) position: u64,
    pub(crate) told: Told,
}

/// A question of an agent.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) request: u64,
    pub(crate) label: String,
    /// What came back; none until something does.
    pub(crate) answer: Option<Option<String>>,
}

/// A message that an agent read, whole.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    pub(crate) frame: u64,
    pub(crate) message: MessageId,
    pub(crate) session: String,
    /// It was rejected as such.
    pub(crate) rejected: bool,
    /// A person asked for it to be sent once more, since.
    pub(crate) excused: bool,
}

/// One attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) chat: ChatId,
    pub(crate) origin: u32,
    /// Which message was committed for which frame.
    pub(crate) handed: BTreeMap<u64, MessageId>,
    pub(crate) sightings: Vec<Sighting>,
    pub(crate) asks: Vec<Ask>,
    pub(crate) spooled: Vec<Spooled>,
    /// The spool's end when somebody else than the host told the keeper to stop.
    pub(crate) signalled_at: Option<u64>,
    /// Its last record is in the spool.
    pub(crate) exited: bool,
    /// The power went since it began.
    pub(crate) cut: bool,
    /// It spoke although no message was with it.
    pub(crate) stirred: bool,
    /// The agent's process is there.
    pub(crate) lives: bool,
}

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    pub(crate) attempts: BTreeMap<AttemptId, Attempt>,
}

impl Evidence {
    pub(crate) fn begin(&mut self, attempt: AttemptId, chat: ChatId, origin: u32) {
        let seen = Attempt {
            chat,
            origin,
            handed: BTreeMap::new(),
            sightings: Vec::new(),
            asks: Vec::new(),
            spooled: Vec::new(),
            signalled_at: None,
            exited: false,
            cut: false,
            stirred: false,
            lives: false,
        };
        self.attempts.insert(attempt, seen);
    }

    /// All sightings of a message, with their attempts.
    pub(crate) fn of(
        &self,
        message: MessageId,
    ) -> impl Iterator<Item = (AttemptId, &Sighting)> + '_ {
        self.attempts.iter().flat_map(move |(id, attempt)| {
            let seen = attempt.sightings.iter();
            seen.filter(move |one| one.message == message).map(|one| (*id, one))
        })
    }

    /// A person asked for the message once more: what was seen of it so far may be seen again.
    pub(crate) fn excuse(&mut self, message: MessageId) {
        let all = self.attempts.values_mut().flat_map(|attempt| &mut attempt.sightings);
        for sighting in all.filter(|one| one.message == message) {
            sighting.excused = true;
        }
    }

    /// The attempts of a chat whose agents live.
    pub(crate) fn living(&self, chat: ChatId) -> usize {
        self.attempts.values().filter(|attempt| attempt.chat == chat && attempt.lives).count()
    }
}

impl Attempt {
    /// Its spool was damaged: of what is not committed only this is left, by the positions behind it.
    pub(crate) fn keep(&mut self, committed: u64, left: &BTreeSet<u64>) {
        let is_left = |position: u64| position <= committed || left.contains(&position);
        self.spooled.retain(|line| is_left(line.position));
        self.signalled_at.take_if(|at| !is_left(*at + 1));
    }
}

/// What an attempt's lines up to a position show to be going on.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Live {
    /// Requests without an answer, oldest first.
    pub(crate) asks: Vec<u64>,
    /// Ids and labels of tasks, in order of start.
    pub(crate) tasks: Vec<(String, String, Foreground)>,
    /// Frames whose turns were told to be over.
    pub(crate) ended: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreground {
    Yes,
    No,
}

impl Attempt {
    /// What the lines before `position` show.
    pub(crate) fn live(&self, position: u64) -> Live {
        let mut live = Live::default();
        for line in self.spooled.iter().take_while(|line| line.position <= position) {
            match &line.told {
                Told::Asked { request } => live.asks.push(*request),
                Told::TookBack { request } => live.asks.retain(|open| open != request),
                Told::TaskOn { id, label, foreground } => {
                    let fore = if *foreground { Foreground::Yes } else { Foreground::No };
                    live.tasks.push((id.clone(), label.clone(), fore));
                }
                Told::TaskOff { id } => live.tasks.retain(|(open, ..)| open != id),
                Told::Ended { frame } => {
                    live.ended.push(*frame);
                    live.asks.clear();
                    live.tasks.retain(|(_, _, fore)| *fore == Foreground::No);
                }
                Told::Token(_) | Told::Other => {}
            }
        }
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(lines: &[(u64, Told)]) -> Attempt {
        let mut evidence = Evidence::default();
        let id = AttemptId::new(uuid::Uuid::from_u128(1));
        evidence.begin(id, ChatId::new(uuid::Uuid::from_u128(2)), 1);
        let mut attempt = evidence.attempts.remove(&id).unwrap();
        let lines = lines.iter().cloned();
        attempt.spooled = lines.map(|(position, told)| Spooled { position, told }).collect();
        attempt
    }

    fn task(id: &str, foreground: bool) -> Told {
        Told::TaskOn { id: id.to_owned(), label: id.to_owned(), foreground }
    }

    #[test]
    fn what_is_live_is_what_was_told_before_a_position() {
        let seen = attempt(&[
            (1, task("back", false)),
            (2, task("fore", true)),
            (3, Told::Asked { request: 7 }),
            (4, Told::Ended { frame: 3 }),
            (5, Told::TaskOff { id: "back".to_owned() }),
        ]);
        let names = |at| seen.live(at).tasks.into_iter().map(|(id, ..)| id).collect::<Vec<_>>();
        assert_eq!(names(3), ["back", "fore"]);
        assert_eq!(seen.live(3).asks, [7]);
        assert_eq!(names(4), ["back"], "a turn takes along what is in its foreground");
        assert_eq!((seen.live(4).asks, seen.live(4).ended), (vec![], vec![3]));
        assert_eq!(names(5), [""; 0]);
    }

    #[test]
    fn of_a_damaged_spool_only_what_is_left_counts() {
        let mut seen = attempt(&[(1, Told::Other), (2, task("a", false)), (3, task("b", false))]);
        seen.signalled_at = Some(5);
        seen.keep(1, &BTreeSet::from([3]));
        let left: Vec<u64> = seen.spooled.iter().map(|line| line.position).collect();
        assert_eq!((left, seen.signalled_at), (vec![1, 3], None));
    }
}
