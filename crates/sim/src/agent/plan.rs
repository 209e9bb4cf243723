//! What an agent will do for one message.

use std::collections::VecDeque;

use crate::rng::Rng;

/// One thing that an agent does in a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Say(Voice),
    Tool,
    Ask(Wants),
    TaskOn {
        kind: &'static str,
        foreground: bool,
    },
    TaskOff,
    Title,
    /// A line that makes no sense.
    Noise,
    /// It works on, without a word, until somebody stops it.
    Linger,
    /// Its process ends in the middle.
    Die,
    /// The reply to the prompt.
    End(End),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    Message,
    Thought,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    Approval,
    Question,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Turn,
    Refusal,
    /// An error after it has begun to work.
    Error,
}

/// What becomes of a message at its arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reception {
    /// Rejected as such: it is nowhere.
    Rejected,
    /// Answered with an error that proves nothing.
    Failed,
    Work(VecDeque<Act>),
}

/// How trying this agent is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manners {
    Plain,
    Odd,
}

pub(crate) fn reception(rng: &mut Rng, manners: Manners) -> Reception {
    if manners == Manners::Odd {
        match rng.below(40) {
            0 => return Reception::Rejected,
            1 => return Reception::Failed,
            _ => {}
        }
    }
    let mut acts = VecDeque::new();
    for _ in 0..rng.below(5) {
        acts.push_back(one(rng, manners));
    }
    if manners == Manners::Odd {
        match rng.below(20) {
            0 => acts.push_back(Act::Die),
            1 => acts.push_back(Act::Linger),
            _ => {}
        }
    }
    acts.push_back(Act::End(match rng.below(24) {
        0 if manners == Manners::Odd => End::Refusal,
        1 if manners == Manners::Odd => End::Error,
        _ => End::Turn,
    }));
    Reception::Work(acts)
}

fn one(rng: &mut Rng, manners: Manners) -> Act {
    match rng.below(16) {
        0..=5 => Act::Say(Voice::Message),
        6 | 7 => Act::Say(Voice::Thought),
        8 => Act::Tool,
        9 => Act::Ask(Wants::Approval),
        10 => Act::Ask(Wants::Question),
        11 | 12 => {
            let kinds = ["agent", "command", "monitor", "workflow", "odd"];
            let kind = rng.pick(&kinds).copied().unwrap_or("agent");
            Act::TaskOn { kind, foreground: rng.permille(300) }
        }
        13 => Act::TaskOff,
        14 => Act::Title,
        15 if manners == Manners::Odd => Act::Noise,
        _ => Act::Say(Voice::Message),
    }
}
