use super::frames::{Cancel, Offered};
use super::{Agent, ConnectionId, Effect, Host, KeeperCore, Now, Target};
use crate::protocol::{
    Call, Cancelled, Hello, Message, PROTOCOL_VERSION, ProtocolError, ReadFrom, Refusal, Reply,
    Status, Stop, StopScope, Welcome, WriteChunk, Written,
};
use crate::record::{Mark, SignalledBy};
use crate::spool::{AppendError, SpoolFs};
use std::collections::VecDeque;

/// Signals that wait for a full disk before further ones are refused.
const OWED_RECORDS_MAX: usize = 16;
/// The last of the signals that have a name everywhere.
const NAMED_SIGNAL_MAX: i32 = 31;

impl<F: SpoolFs> KeeperCore<F> {
    pub(super) fn take_message(
        &mut self,
        now: Now,
        connection: ConnectionId,
        message: &Message<'_>,
        effects: &mut VecDeque<Effect>,
    ) {
        let greeted = self.host.as_ref().is_some_and(|host| host.connection == connection);
        let answered = match Call::decode(message) {
            Ok(Call::Hello(hello)) => self.greet(now, connection, message.id, *hello, effects),
            _ if !greeted => Err(Refusal::NotGreeted),
            Ok(Call::ReadFrom { from, window }) => self.read_from(from, window).map(Some),
            Ok(Call::Acknowledge { position }) => self.acknowledge(position).map(Some),
            Ok(Call::WriteFrame(chunk)) => self.write_frame(&chunk),
            Ok(Call::CancelFrame { number }) => self.cancel_frame(now, number).map(Some),
            Ok(Call::Stop(stop)) => self.stop(now, stop, effects).map(Some),
            Ok(Call::Status) => {
                effects.push_back(Effect::ReportStatus(
                    connection,
                    message.id,
                    Box::new(self.status(now)),
                ));
                Ok(None)
            }
            Err(ProtocolError::UnknownKind(_)) => Err(Refusal::Unsupported),
            Err(
                ProtocolError::Body(_) | ProtocolError::TooLong { .. } | ProtocolError::TooShort,
            ) => Err(Refusal::Malformed),
        };
        match answered {
            Ok(Some(reply)) => effects.push_back(Effect::Reply(connection, message.id, reply)),
            Ok(None) => {}
            Err(refusal) => {
                let is_final = refusal.is_final();
                effects.push_back(Effect::Reply(connection, message.id, Reply::Refused(refusal)));
                if is_final {
                    effects.push_back(Effect::Close(connection));
                }
            }
        }
    }

    fn greet(
        &mut self,
        now: Now,
        connection: ConnectionId,
        id: u32,
        hello: Hello,
        effects: &mut VecDeque<Effect>,
    ) -> Result<Option<Reply<'static>>, Refusal> {
        if hello.secret != self.spec.secret || hello.attempt != self.spec.attempt {
            return Err(Refusal::Denied);
        }
        if hello.incarnation != self.spec.incarnation {
            return Err(Refusal::Foreign);
        }
        if let Some(older) = self.host_connection().filter(|&older| older != connection) {
            self.lose(now, older);
            effects.push_back(Effect::Close(older));
        }
        if self.host.is_none() {
            self.host = Some(Host { connection, reader: None, window: 0 });
        }
        match hello.start {
            Some(start) if self.agent == Agent::Unborn && self.greeting.is_none() => {
                // Answered once it is known what became of the start.
                self.greeting = Some((connection, id));
                holdfast_fault::point("keeper.start.before");
                effects.push_back(Effect::Start(start));
                Ok(None)
            }
            _ => Ok(Some(self.welcome())),
        }
    }

    pub(super) fn welcome(&self) -> Reply<'static> {
        Reply::Welcome(Box::new(Welcome {
            version: PROTOCOL_VERSION,
            attempt: self.spec.attempt,
            incarnation: self.spec.incarnation,
            agent: self.agent_state(),
            first: self.spool.first(),
            end: self.spool.end(),
            frames: self.frames.numbers(),
        }))
    }

    fn read_from(&mut self, from: ReadFrom, window: u64) -> Result<Reply<'static>, Refusal> {
        let reader = match from {
            ReadFrom::Cursor => None,
            ReadFrom::Position(position) if position > self.spool.end() => {
                return Err(Refusal::Ahead { end: self.spool.end() });
            }
            ReadFrom::Position(position) if position < self.spool.first() => {
                return Err(Refusal::Gone { first: self.spool.first() });
            }
            ReadFrom::Position(position) => {
                let sought = self.spool.seek(position);
                Some(sought.map_err(|error| Refusal::Failed(error.to_string()))?)
            }
        };
        let host = self.host.as_mut().ok_or(Refusal::NotGreeted)?;
        match reader {
            Some(reader) => {
                host.reader = Some(reader);
                host.window = window;
            }
            None if host.reader.is_none() => return Err(Refusal::Malformed),
            None => host.window = host.window.saturating_add(window),
        }
        Ok(Reply::Reading)
    }

    fn acknowledge(&mut self, position: u64) -> Result<Reply<'static>, Refusal> {
        if position > self.spool.end() {
            return Err(Refusal::Ahead { end: self.spool.end() });
        }
        holdfast_fault::point("keeper.ack.before");
        self.acknowledged = self.acknowledged.max(position);
        self.spool.acknowledge(position);
        holdfast_fault::point("keeper.ack.after");
        Ok(Reply::Acknowledged)
    }

    fn write_frame(&mut self, chunk: &WriteChunk<'_>) -> Result<Option<Reply<'static>>, Refusal> {
        let known = chunk.number <= self.frames.numbers().accepted;
        let dead = matches!(self.agent, Agent::Dead(_) | Agent::NeverBorn);
        if !known && (dead || self.ending.is_some()) {
            return Err(Refusal::Ended);
        }
        Ok(match self.frames.offer(self.spool.fs(), chunk)? {
            Offered::More => None,
            Offered::Accepted => Some(Reply::Written(Written::Accepted)),
            Offered::Already => Some(Reply::Written(Written::Already)),
        })
    }

    fn cancel_frame(&mut self, now: Now, number: u64) -> Result<Reply<'static>, Refusal> {
        match self.frames.look_at(number)? {
            Cancel::Begun => return Ok(Reply::Cancelled(Cancelled::Begun)),
            Cancel::Before => return Ok(Reply::Cancelled(Cancelled::Cancelled)),
            Cancel::Possible => {}
        }
        // Behind the last record nothing is recorded; nothing is written to a dead agent either.
        if !self.ended {
            holdfast_fault::point("keeper.frame.cancel.before");
            self.record_now(now, &Mark::FrameCancelled(number)).map_err(|error| match error {
                AppendError::Full => Refusal::NoSpace,
                AppendError::Io(error) => Refusal::Failed(error.to_string()),
            })?;
            holdfast_fault::point("keeper.frame.cancel.after");
        }
        self.frames.cancel(self.spool.fs(), number);
        Ok(Reply::Cancelled(Cancelled::Cancelled))
    }

    fn stop(
        &mut self,
        now: Now,
        stop: Stop,
        effects: &mut VecDeque<Effect>,
    ) -> Result<Reply<'static>, Refusal> {
        let end = self.spool.end();
        match stop.unless_after {
            Some(position) if position > end => return Err(Refusal::Ahead { end }),
            Some(position) if position < end => return Err(Refusal::NotIdle { end }),
            _ => {}
        }
        match stop.scope {
            StopScope::Signal(signal) => self.signal_agent(now, signal, effects)?,
            StopScope::Tree { grace } => self.stop_tree(now, grace, effects)?,
            StopScope::Agent { grace } => self.stop_agent(now, grace, effects)?,
        }
        Ok(Reply::Stopping)
    }

    fn signal_agent(
        &mut self,
        now: Now,
        signal: i32,
        effects: &mut VecDeque<Effect>,
    ) -> Result<(), Refusal> {
        if !(1..=NAMED_SIGNAL_MAX).contains(&signal) {
            return Err(Refusal::Malformed);
        }
        if self.agent().is_none() {
            return Err(Refusal::NoAgent);
        }
        if self.owed.len() >= OWED_RECORDS_MAX {
            return Err(Refusal::NoSpace);
        }
        self.record_signal(now, signal, SignalledBy::Host);
        effects.push_back(Effect::Signal(Target::Agent, signal));
        Ok(())
    }

    /// The status, but for what only the shell can see.
    fn status(&self, now: Now) -> Status {
        Status {
            phase: self.phase(),
            stalled: self.stall(),
            first: self.spool.first(),
            end: self.spool.end(),
            spool_bytes: self.spool.bytes(),
            silent_for: now.saturating_sub(self.last_output_at),
            frames: self.frames.numbers(),
            stderr_tail: Vec::new(),
            stderr_bytes: 0,
            leftovers: Vec::new(),
            leftovers_count: 0,
        }
    }
}
