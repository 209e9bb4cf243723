//! The host's side of one attempt: bring the keeper forth or find it, greet, read from where it was
//! committed, give what is owed (the stop first, then acknowledgements, then frames in order), and
//! at the end bury it: the rest of its spool, then its death.

mod birth;
mod bury;
mod talk;

use std::collections::{BTreeMap, VecDeque};

use holdfast_core::fact::Secret;
use holdfast_core::ids::{AttemptId, ChatId, Position};
use holdfast_keeper::spool::Assembler;

use self::talk::has_news;
use crate::actor::Word;
use crate::world::World;

/// Words that wait for an actor.
const WORDS_WAITING_MAX: usize = 4;

/// What is to become of a frame.
#[derive(Clone, Debug)]
pub(crate) enum FrameOrder {
    Write(Vec<u8>),
    Cancel,
}

/// A stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StopOrder {
    pub(crate) grace_micros: u64,
    /// Whether what outlived its tool call is left.
    pub(crate) leaving: bool,
    pub(crate) unless_after: Option<u64>,
}

/// What is owed to an attempt: a level, not a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    pub(crate) frames: BTreeMap<u64, FrameOrder>,
    pub(crate) stop: Option<StopOrder>,
    pub(crate) acknowledged: u64,
    pub(crate) finished: bool,
}

#[derive(Debug)]
enum Stage {
    Create,
    Spawn,
    Attach,
    Greeted {
        wire: u64,
    },
    Reading {
        wire: u64,
        assembler: Option<Assembler>,
    },
    /// The death was told; its commit is waited for, then the keeper may go.
    LetGo {
        wire: u64,
    },
    /// Words that are told before the end.
    Burying {
        rest: VecDeque<Word>,
    },
    Buried,
    Over,
}

/// Which answer is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    Stop,
    Acknowledge,
    Frame(u64),
    /// One that the keeper has already is to be had back.
    Cancel(u64),
}

/// The host's side of one attempt.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) chat: ChatId,
    pub(crate) attempt: AttemptId,
    secret: Secret,
    position: u64,
    served: bool,
    stage: Stage,
    pub(crate) orders: Orders,
    calls: u32,
    waiting: Option<(u32, Waiting)>,
    stopped: Option<StopOrder>,
    acknowledged: u64,
    written: u64,
    /// A frame that the keeper does not take, until the orders change.
    refused: Option<u64>,
    cancelled: u64,
    /// It started the keeper.
    spawned: bool,
    /// The spool's end when the keeper was greeted.
    end_then: u64,
    /// The actor was told all that says whether the attempt lives.
    pub(crate) found: bool,
    origin: Origin,
    /// Nothing is tried before this.
    pub(crate) retry_at: Option<u64>,
}

/// Whether an attempt begins, or was there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Fresh,
    Adopted,
}

impl Driver {
    pub(crate) fn new(
        chat: ChatId,
        attempt: AttemptId,
        secret: Secret,
        position: Position,
        origin: Origin,
    ) -> Self {
        let stage = match origin {
            Origin::Fresh => Stage::Create,
            Origin::Adopted => Stage::Attach,
        };
        Self {
            chat,
            attempt,
            secret,
            position: position.0,
            served: false,
            stage,
            orders: Orders::default(),
            calls: 0,
            waiting: None,
            stopped: None,
            acknowledged: 0,
            written: 0,
            refused: None,
            cancelled: 0,
            spawned: false,
            end_then: 0,
            found: false,
            origin,
            retry_at: None,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Gives it what is owed now.
    pub(crate) fn order(&mut self, orders: Orders) {
        if orders.stop.is_none() {
            self.stopped = None;
        }
        self.refused = None;
        self.orders = orders;
    }

    fn wire(&self) -> Option<u64> {
        match &self.stage {
            Stage::Greeted { wire } | Stage::Reading { wire, .. } | Stage::LetGo { wire } => {
                Some(*wire)
            }
            Stage::Create
            | Stage::Spawn
            | Stage::Attach
            | Stage::Burying { .. }
            | Stage::Buried
            | Stage::Over => None,
        }
    }

    /// The process that it is in is gone.
    pub(crate) fn drop_link(&self, w: &mut World) {
        if let Some(wire) = self.wire() {
            w.machine.hang_up(wire);
        }
    }

    /// Whether it can do something; `words` wait for its actor already.
    pub(crate) fn can_act(&self, w: &World, words: usize) -> bool {
        if self.retry_at.is_some_and(|at| w.clock.awake < at) {
            return false;
        }
        let room = words < WORDS_WAITING_MAX;
        match &self.stage {
            Stage::Create | Stage::Spawn | Stage::Attach => true,
            Stage::Greeted { wire } => has_news(w, *wire),
            Stage::Reading { wire, .. } => {
                (room && has_news(w, *wire))
                    || (self.waiting.is_none() && self.next_call().is_some())
            }
            Stage::LetGo { wire } => {
                has_news(w, *wire) || (self.orders.finished && self.waiting.is_none())
            }
            Stage::Burying { .. } => room,
            Stage::Buried => self.orders.finished,
            Stage::Over => false,
        }
    }

    /// Does one thing; what it says goes to the actor of its chat.
    pub(crate) fn step(&mut self, w: &mut World, say: &mut Vec<Word>) {
        self.retry_at = None;
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        self.stage = match stage {
            Stage::Create => self.create(w, say),
            Stage::Spawn => self.spawn(w, say),
            Stage::Attach => self.attach(w),
            Stage::Greeted { wire } => self.greeted(w, wire),
            Stage::Reading { wire, assembler } => {
                let write = self.waiting.is_none() && self.next_call().is_some();
                if write && (!has_news(w, wire) || w.rng.permille(500)) {
                    self.give(w, wire);
                    Stage::Reading { wire, assembler }
                } else {
                    self.read(w, wire, assembler, say)
                }
            }
            Stage::LetGo { wire } => self.let_go(w, wire),
            Stage::Burying { mut rest } => match rest.pop_front() {
                Some(word) => {
                    say.push(word);
                    self.found |= rest.is_empty();
                    Stage::Burying { rest }
                }
                None => Stage::Buried,
            },
            Stage::Buried | Stage::Over => self.clear(w),
        };
    }
}
