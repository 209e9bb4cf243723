//! What the agents and their keepers really did, seen from outside: no line of it comes from the
//! host. The checks compare the journal with this.

use std::collections::BTreeMap;

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
    /// Lines that its keeper was writing when it died: they may be there or not.
    pub(crate) maybe: Vec<Told>,
    /// The spool's end when somebody else than the host told the keeper to stop.
    pub(crate) signalled_at: Option<u64>,
    /// Its last record is in the spool.
    pub(crate) exited: bool,
    /// A power cut fell on its spool: the tail may be gone, with holes.
    pub(crate) cut: bool,
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
            maybe: Vec::new(),
            signalled_at: None,
            exited: false,
            cut: false,
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
