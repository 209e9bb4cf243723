//! The end of an attempt: the rest of its spool, then its death, then its traces.

use std::collections::VecDeque;

use holdfast_core::fact::Death;
use holdfast_core::ids::Position;
use holdfast_core::input::{Boot, KeeperEvent};
use holdfast_core::provider::StartFault;
use holdfast_host::attempt::death_of;
use holdfast_keeper::Record;
use holdfast_keeper::protocol::Call;
use holdfast_keeper::spool::SpoolReader;

use super::talk::{has_news, take};
use super::{Driver, Origin, Stage, Writing};
use crate::actor::Word;
use crate::agent::short;
use crate::machine::Holder;
use crate::world::World;

const ENOENT: i32 = 2;
const EACCES: i32 = 13;

impl Driver {
    /// Once the death is committed, the keeper is told that it may go.
    pub(super) fn let_go(&mut self, w: &mut World, wire: u64, say: &mut Vec<Word>) -> Stage {
        if !has_news(w, wire) {
            if self.orders.finished {
                let position = self.position;
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

    /// Takes in what a dead keeper left, then tells the death.
    pub(super) fn bury(&mut self, w: &mut World) -> Stage {
        let now = w.machine.boot;
        let Some(folder) = w.machine.folders.get(&self.attempt) else {
            return never_born(self.origin);
        };
        let record = folder.record;
        let files = match &folder.holder {
            Holder::Gone(files) => Some(files.clone()),
            Holder::Nobody | Holder::Keeper(_) => None,
        };
        let (mut rest, mut end, mut born) = (VecDeque::new(), None, false);
        let reader =
            files.map(|files| SpoolReader::open(files, self.attempt.uuid(), self.position));
        match reader {
            Some(Ok(reader)) => {
                for (record, next) in reader.map_while(Result::ok) {
                    self.position = next;
                    born |= matches!(record, Record::Started(_));
                    end = death_of(&record).or(end);
                    rest.extend(word_of(record, next));
                }
            }
            Some(Err(error)) => w.say(|| format!("the spool of {}: {error}", short(self.attempt))),
            None => {}
        }
        let boot = match record {
            Some(record) if record.boot == now => Boot::Same,
            // A keeper that did anything had written its record: without one nothing is proven.
            Some(_) | None => Boot::Other,
        };
        let started = born || record.is_some_and(|record| record.agent);
        let death = match end {
            Some((death, _)) => death,
            None if !started => Death::NeverBorn,
            None if self.served => Death::KeeperLost,
            None => Death::HostLost,
        };
        if self.spawned && death == Death::NeverBorn {
            // Else it would be started again and again, as fast as it dies.
            let (fault, text) = (StartFault::AgentRefused, "its keeper ended".to_owned());
            rest.push_back(Word::Event(KeeperEvent::SpawnFailed { fault, text }));
        }
        let lives = !w.calm && w.rng.permille(w.weather.survivors);
        let survivors = if lives { vec![1] } else { Vec::new() };
        rest.push_back(dead(death, boot, survivors));
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

pub(super) fn never_born(origin: Origin) -> Stage {
    // A folder that is not there proves nothing after a power cut.
    let boot = match origin {
        Origin::Fresh => Boot::Same,
        Origin::Adopted => Boot::Other,
    };
    Stage::Burying { rest: VecDeque::from([dead(Death::NeverBorn, boot, Vec::new())]) }
}

pub(super) fn dead(death: Death, boot: Boot, survivors: Vec<u32>) -> Word {
    Word::Event(KeeperEvent::Dead { death, boot, survivors, stderr: String::new() })
}

/// Tells of a record. The last one is told as what it says: the position never passes it before the
/// death is committed, so that whoever comes after a crash reads it again.
pub(super) fn word_of(record: Record, next: u64) -> Option<Word> {
    match record {
        Record::Exited { .. } => None,
        Record::SpawnFailed { errno, text } => {
            let missing = matches!(errno, ENOENT | EACCES);
            let fault = if missing { StartFault::AgentMissing } else { StartFault::AgentRefused };
            Some(Word::Event(KeeperEvent::SpawnFailed { fault, text }))
        }
        other => Some(Word::Record(other, Position(next))),
    }
}
