//! What goes to a keeper and comes from it: the stop first, then acknowledgements, then frames in
//! their order; records as they are pushed.

use holdfast_core::input::{Boot, KeeperEvent};
use holdfast_keeper::limits::MESSAGE_BYTES_MAX;
use holdfast_keeper::protocol::{Call, Message, Refusal, Reply, Stop, StopScope, WriteChunk};
use holdfast_keeper::spool::Assembler;

use holdfast_host::attempt::death_of;

use super::bury::{dead, word_of};
use super::{Driver, FrameOrder, Stage, Waiting};
use crate::actor::Word;
use crate::agent::short;
use crate::world::World;

/// How soon a refused frame, or a keeper that does not answer, is tried again, in microseconds.
const RETRY_MICROS: u64 = 50_000;

impl Driver {
    pub(super) fn call(&mut self, w: &mut World, wire: u64, call: &Call<'_>) -> u32 {
        self.calls += 1;
        let mut bytes = Vec::new();
        call.encode(self.calls, &mut bytes);
        if let Some(wire) = w.machine.wires.get_mut(&wire) {
            wire.to_keeper.push_back(bytes);
        }
        self.calls
    }

    pub(super) fn read(
        &mut self,
        w: &mut World,
        wire: u64,
        mut assembler: Option<Assembler>,
        say: &mut Vec<Word>,
    ) -> Stage {
        let Some(bytes) = take(w, wire) else { return self.lost(w, wire) };
        let id = Message::take(&bytes, MESSAGE_BYTES_MAX).ok().flatten().map(|(m, _)| m.id);
        match decode(&bytes) {
            Some(Reply::Reading) => assembler = Some(Assembler::new(self.position)),
            Some(Reply::Push { position, bytes }) => {
                if let Some(assembler) = &mut assembler {
                    assembler.push(position, bytes.to_vec());
                }
            }
            Some(Reply::Refused(Refusal::Gone { first })) if assembler.is_none() => {
                w.fail(format!("records before {first} are gone that were never committed"));
            }
            Some(Reply::Refused(Refusal::Ahead { end })) if assembler.is_none() => {
                w.fail(format!("a living keeper ends at {end}, before {}", self.position));
            }
            Some(reply) => self.answered(w, id, &reply, say),
            None => w.fail("a keeper sent what is no message".to_owned()),
        }
        while let Some((record, next)) = assembler.as_mut().and_then(Assembler::next) {
            self.position = next;
            let end = death_of(&record);
            say.extend(word_of(record, next));
            self.found |= end.is_some() || next >= self.end_then;
            if let Some((death, survivors)) = end {
                say.push(dead(death, Boot::Same, survivors));
                self.waiting = None;
                return Stage::LetGo { wire };
            }
        }
        Stage::Reading { wire, assembler }
    }

    pub(super) fn answered(
        &mut self,
        w: &mut World,
        id: Option<u32>,
        reply: &Reply<'_>,
        say: &mut Vec<Word>,
    ) {
        let Some((_, waiting)) = self.waiting.filter(|(call, _)| Some(*call) == id) else { return };
        self.waiting = None;
        match (waiting, reply) {
            (Waiting::Frame(number), Reply::Written(_) | Reply::Cancelled(_)) => {
                self.written = number;
                if matches!(self.orders.frames.get(&number), Some(FrameOrder::Cancel)) {
                    self.cancelled = number;
                }
            }
            (Waiting::Frame(_), Reply::Refused(Refusal::Busy | Refusal::NoSpace)) => {
                self.retry_at = Some(w.clock.awake + RETRY_MICROS);
            }
            (Waiting::Frame(number), Reply::Refused(refusal)) => {
                w.say(|| format!("frame {number} of {}: {refusal}", short(self.attempt)));
                self.refused = Some(number);
            }
            (Waiting::Stop, Reply::Refused(Refusal::NotIdle { .. })) => {
                say.push(Word::Event(KeeperEvent::StopRefused));
            }
            _ => {}
        }
    }

    /// What is to be given next, if something is.
    pub(super) fn next_call(&self) -> Option<Waiting> {
        if self.orders.finished {
            return None;
        }
        if self.orders.stop != self.stopped && self.orders.stop.is_some() {
            return Some(Waiting::Stop);
        }
        if self.orders.acknowledged > self.acknowledged {
            return Some(Waiting::Acknowledge);
        }
        if self.orders.stop.is_some() {
            return None;
        }
        let back = self.orders.frames.range(..=self.written).find(|(number, frame)| {
            matches!(frame, FrameOrder::Cancel) && self.cancelled < **number
        });
        if let Some((number, _)) = back {
            return Some(Waiting::Cancel(*number));
        }
        let next = self.orders.frames.keys().find(|number| **number > self.written);
        next.filter(|number| self.refused != Some(**number)).map(|number| Waiting::Frame(*number))
    }

    pub(super) fn give(&mut self, w: &mut World, wire: u64) {
        let Some(next) = self.next_call() else { return };
        let call = match next {
            Waiting::Stop => {
                self.stopped = self.orders.stop;
                let Some(stop) = self.orders.stop else { return };
                let grace = std::time::Duration::from_micros(stop.grace_micros);
                let scope = if stop.leaving {
                    StopScope::Agent { grace }
                } else {
                    StopScope::Tree { grace }
                };
                self.call(w, wire, &Call::Stop(Stop { scope, unless_after: stop.unless_after }))
            }
            Waiting::Acknowledge => {
                self.acknowledged = self.orders.acknowledged;
                self.call(w, wire, &Call::Acknowledge { position: self.acknowledged })
            }
            Waiting::Cancel(number) => {
                self.cancelled = number;
                self.call(w, wire, &Call::CancelFrame { number })
            }
            Waiting::Frame(number) => match self.orders.frames.get(&number).cloned() {
                Some(FrameOrder::Write(bytes)) => {
                    let total = bytes.len() as u64;
                    let chunk = WriteChunk { number, total, offset: 0, bytes: &bytes };
                    self.call(w, wire, &Call::WriteFrame(chunk))
                }
                Some(FrameOrder::Cancel) | None => {
                    self.call(w, wire, &Call::CancelFrame { number })
                }
            },
        };
        self.waiting = Some((call, next));
    }

    /// The connection ended: the keeper is dead, or has another host.
    pub(super) fn lost(&mut self, w: &mut World, wire: u64) -> Stage {
        w.machine.wires.remove(&wire);
        self.waiting = None;
        Stage::Attach
    }
}

pub(super) fn has_news(w: &World, wire: u64) -> bool {
    w.machine.wires.get(&wire).is_none_or(|wire| !wire.to_host.is_empty() || wire.keeper_gone)
}

pub(super) fn take(w: &mut World, wire: u64) -> Option<Vec<u8>> {
    w.machine.wires.get_mut(&wire)?.to_host.pop_front()
}

pub(super) fn decode(bytes: &[u8]) -> Option<Reply<'_>> {
    let (message, _) = Message::take(bytes, MESSAGE_BYTES_MAX).ok()??;
    Reply::decode(&message).ok()
}
