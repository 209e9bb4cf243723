//! The end of an attempt: the rest of its spool, then its death, then its traces.

use std::collections::VecDeque;

use holdfast_core::input::Boot;
use holdfast_host::attempt::verdict::{self, Note, Remains, buried};
use holdfast_host::attempt::{Reading, Word};
use holdfast_keeper::protocol::Call;
use holdfast_keeper::spool::SpoolReader;

use super::talk::{has_news, take};
use super::{Driver, Stage, Writing};
use crate::agent::short;
use crate::machine::Holder;
use crate::world::World;

/// The pid of what lives on.
const AGENT_PID: u32 = 1;

impl Driver {
    /// Once the death is committed, the keeper is told that it may go.
    pub(super) fn let_go(&mut self, w: &mut World, wire: u64, say: &mut Vec<Word>) -> Stage {
        if !has_news(w, wire) {
            if self.orders.finished {
                let position = self.reading.position();
                self.call(w, wire, &Call::Acknowledge { position });
                (self.unseen, self.writing) = (false, Writing::Wait);
            } else {
                self.write(w, wire);
            }
            return Stage::LetGo { wire };
        }
        match take(w, wire) {
            Some(bytes) => {
                self.hear_answer(w, &bytes, say);
                Stage::LetGo { wire }
            }
            // It is gone.
            None => {
                w.machine.wires.remove(&wire);
                Stage::Buried
            }
        }
    }

    pub(super) fn has_folder(&self, w: &World) -> bool {
        w.machine.folders.contains_key(&self.attempt)
    }

    /// There is nothing on disk.
    pub(super) fn without_folder(&self) -> Stage {
        let verdict = verdict::without_folder(self.origin, Vec::new());
        Stage::Burying { rest: verdict.words(String::new()).into() }
    }

    /// Takes in what a dead keeper left, then tells the death.
    pub(super) fn bury(&mut self, w: &mut World) -> Stage {
        let now = w.machine.boot;
        let folder = w.machine.folders.get(&self.attempt);
        let note = folder.and_then(|folder| folder.record).map(|note| Note {
            boot: if note.boot == now { Boot::Same } else { Boot::Other },
            agent: note.agent.then_some(AGENT_PID),
        });
        let files = folder.and_then(|folder| match &folder.holder {
            Holder::Gone(files) => Some(files.clone()),
            Holder::Nobody | Holder::Keeper(_) => None,
        });
        self.reading = Reading::from(self.reading.position());
        let mut rest = VecDeque::new();
        let from = self.reading.position();
        match files.map(|files| SpoolReader::open(files, self.attempt.uuid(), from)) {
            Some(Ok(reader)) => {
                for (record, next) in reader.map_while(Result::ok) {
                    rest.extend(self.reading.take(record, next));
                }
            }
            Some(Err(error)) => w.say(|| format!("the spool of {}: {error}", short(self.attempt))),
            None => {}
        }
        let lives = !w.calm && w.rng.permille(w.weather.survivors);
        // Or it cannot be looked.
        let survivors = match lives {
            true => w.rng.permille(500).then(|| vec![AGENT_PID]),
            false => Some(Vec::new()),
        };
        let (served, spawned) = (self.served, self.spawned);
        let verdict = buried(&self.reading, Remains { note, survivors, served, spawned });
        rest.extend(verdict.words(String::new()));
        Stage::Burying { rest }
    }

    pub(super) fn clear(&self, w: &mut World) -> Stage {
        let dead = w.machine.folders.get(&self.attempt).is_some_and(|folder| !folder.is_alive());
        if dead {
            w.machine.folders.remove(&self.attempt);
        }
        Stage::Over
    }
}
