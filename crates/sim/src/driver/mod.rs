//! The host's side of one attempt: bring the keeper forth or find it, greet, read from where it was
//! committed, give what is owed (the stop first, then acknowledgements, then frames in order), and
//! at the end bury it: the rest of its spool, then its death.

mod birth;
mod bury;
mod talk;

use std::collections::VecDeque;

use holdfast_core::fact::Secret;
use holdfast_core::ids::{AttemptId, ChatId, Position};
use holdfast_host::attempt::{Ask, Orders, Origin, Reading, Word, Writer};
use holdfast_keeper::spool::Assembler;

use self::talk::has_news;
use crate::world::World;

/// Words that wait for an actor.
const WORDS_WAITING_MAX: usize = 4;

#[derive(Debug)]
enum Stage {
    Create,
    Spawn,
    /// It is looked whether there is anything on disk.
    Find,
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

/// What its writer is at.
#[derive(Debug)]
enum Writing {
    /// It looks what is next, at once or from then on.
    Next { from: Option<u64> },
    /// The answer to this call is waited for.
    Asked(u32, Ask),
    /// Nothing, until the orders change.
    Wait,
}

/// The host's side of one attempt.
#[derive(Debug)]
pub(crate) struct Driver {
    pub(crate) chat: ChatId,
    pub(crate) attempt: AttemptId,
    secret: Secret,
    reading: Reading,
    served: bool,
    stage: Stage,
    pub(crate) orders: Orders,
    /// The orders were not looked at since they changed.
    unseen: bool,
    calls: u32,
    writer: Writer,
    writing: Writing,
    /// It started the keeper.
    spawned: bool,
    /// The actor was told all that says whether the attempt lives.
    pub(crate) found: bool,
    origin: Origin,
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
            Origin::Adopted => Stage::Find,
        };
        Self {
            chat,
            attempt,
            secret,
            reading: Reading::from(position.0),
            served: false,
            stage,
            orders: Orders::default(),
            unseen: true,
            calls: 0,
            writer: Writer::default(),
            writing: Writing::Wait,
            spawned: false,
            found: false,
            origin,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Gives it what is owed now.
    pub(crate) fn order(&mut self, orders: Orders) {
        self.orders = orders;
        self.unseen = true;
    }

    /// The death is committed.
    pub(crate) fn finish(&mut self) {
        self.orders.finished = true;
        self.unseen = true;
    }

    fn wire(&self) -> Option<u64> {
        match &self.stage {
            Stage::Greeted { wire } | Stage::Reading { wire, .. } | Stage::LetGo { wire } => {
                Some(*wire)
            }
            Stage::Create
            | Stage::Spawn
            | Stage::Find
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
        let room = words < WORDS_WAITING_MAX;
        match &self.stage {
            Stage::Create | Stage::Spawn | Stage::Find | Stage::Attach => true,
            Stage::Greeted { wire } => has_news(w, *wire),
            Stage::Reading { wire, .. } => (room && has_news(w, *wire)) || self.can_write(w),
            Stage::LetGo { wire } => has_news(w, *wire) || self.can_write(w),
            Stage::Burying { .. } => room,
            Stage::Buried => self.orders.finished,
            Stage::Over => false,
        }
    }

    /// Does one thing; what it says goes to the actor of its chat.
    pub(crate) fn step(&mut self, w: &mut World, say: &mut Vec<Word>) {
        let stage = std::mem::replace(&mut self.stage, Stage::Over);
        self.stage = match stage {
            Stage::Create => self.create(w, say),
            Stage::Spawn => self.spawn(w, say),
            Stage::Find if self.has_folder(w) => Stage::Attach,
            Stage::Find => self.without_folder(),
            Stage::Attach => self.attach(w),
            Stage::Greeted { wire } => self.greeted(w, wire),
            Stage::Reading { wire, assembler } => {
                if self.can_write(w) && (!has_news(w, wire) || w.rng.permille(500)) {
                    self.write(w, wire);
                    Stage::Reading { wire, assembler }
                } else {
                    self.read(w, wire, assembler, say)
                }
            }
            Stage::LetGo { wire } => self.let_go(w, wire, say),
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
