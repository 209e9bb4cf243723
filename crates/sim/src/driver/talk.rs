//! What goes to a keeper and comes from it: the stop first, then acknowledgements, then frames in
//! their order; records as they are pushed.

use holdfast_host::attempt::{After, Ask, BUSY_RETRY, FrameOrder, Next, Word, verdict};
use holdfast_keeper::connect::CallError;
use holdfast_keeper::limits::MESSAGE_BYTES_MAX;
use holdfast_keeper::protocol::{Call, Message, Refusal, Reply, WriteChunk};
use holdfast_keeper::spool::Assembler;

use super::{Driver, Stage, Writing};
use crate::world::World;

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
            Some(Reply::Reading) => assembler = Some(Assembler::new(self.reading.position())),
            Some(Reply::Push { position, bytes }) => {
                if let Some(assembler) = &mut assembler {
                    assembler.push(position, bytes.to_vec());
                }
            }
            Some(Reply::Refused(Refusal::Gone { first })) if assembler.is_none() => {
                w.fail(format!("records before {first} are gone that were never committed"));
            }
            Some(Reply::Refused(Refusal::Ahead { end })) if assembler.is_none() => {
                w.fail(format!(
                    "a living keeper ends at {end}, before {}",
                    self.reading.position()
                ));
            }
            Some(reply) => self.answered(w, id, &reply, say),
            None => w.fail("a keeper sent what is no message".to_owned()),
        }
        while let Some((record, next)) = assembler.as_mut().and_then(Assembler::next) {
            say.extend(self.reading.take(record, next));
            self.found |= self.reading.finds_life();
            if let Some((death, survivors)) = self.reading.end().cloned() {
                say.extend(verdict::told(death, survivors).words(String::new()));
                self.found = true;
                return Stage::LetGo { wire };
            }
        }
        Stage::Reading { wire, assembler }
    }

    /// Hears an answer behind the last record.
    pub(super) fn hear_answer(&mut self, w: &mut World, bytes: &[u8], say: &mut Vec<Word>) {
        let id = Message::take(bytes, MESSAGE_BYTES_MAX).ok().flatten().map(|(m, _)| m.id);
        if let Some(reply) = decode(bytes) {
            self.answered(w, id, &reply, say);
        }
    }

    fn answered(&mut self, w: &mut World, id: Option<u32>, reply: &Reply<'_>, say: &mut Vec<Word>) {
        let Writing::Asked(call, ask) = &self.writing else { return };
        if Some(*call) != id {
            return;
        }
        let answer = match reply {
            Reply::Refused(refusal) => Err(CallError::Refused(refusal.clone())),
            _ => Ok(()),
        };
        self.writing = match self.writer.answered(ask, &answer) {
            After::Next => Writing::Next { from: None },
            After::Tell(event) => {
                say.push(Word::Event(event));
                Writing::Next { from: None }
            }
            After::Again => {
                let retry = u64::try_from(BUSY_RETRY.as_micros()).unwrap_or(u64::MAX);
                Writing::Next { from: Some(w.clock.awake + retry) }
            }
            After::Wait | After::Over => Writing::Wait,
        };
    }

    /// Whether its writer can go on.
    pub(super) fn can_write(&self, w: &World) -> bool {
        match &self.writing {
            Writing::Next { from } => from.is_none_or(|from| from <= w.clock.awake),
            Writing::Asked(..) => false,
            Writing::Wait => self.unseen,
        }
    }

    /// When its writer tries again.
    pub(crate) fn wakes_at(&self) -> Option<u64> {
        match &self.writing {
            Writing::Next { from } => *from,
            Writing::Asked(..) | Writing::Wait => None,
        }
    }

    /// Its writer does what is next.
    pub(super) fn write(&mut self, w: &mut World, wire: u64) {
        self.unseen = false;
        let ask = match self.writer.next(&self.orders) {
            Next::Ask(ask) => ask,
            Next::Wait | Next::Over => {
                self.writing = Writing::Wait;
                return;
            }
        };
        let call = match &ask {
            Ask::Stop(stop) => self.call(w, wire, &Call::Stop(*stop)),
            Ask::Acknowledge(position) => {
                self.call(w, wire, &Call::Acknowledge { position: *position })
            }
            Ask::Frame(number, FrameOrder::Write(bytes)) => {
                let total = bytes.len() as u64;
                let chunk = WriteChunk { number: *number, total, offset: 0, bytes };
                self.call(w, wire, &Call::WriteFrame(chunk))
            }
            Ask::TakeBack(number) | Ask::Frame(number, FrameOrder::Cancel) => {
                self.call(w, wire, &Call::CancelFrame { number: *number })
            }
        };
        self.writing = Writing::Asked(call, ask);
    }

    /// The connection ended: the keeper is dead, or has another host.
    pub(super) fn lost(&mut self, w: &mut World, wire: u64) -> Stage {
        w.machine.wires.remove(&wire);
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
