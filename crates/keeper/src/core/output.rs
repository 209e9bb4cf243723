use super::{Agent, Effect, Host, KeeperCore, Now, Stdout, ending::Ending};
use crate::limits::{PUSH_BYTES_MAX, RETRY_EVERY};
use crate::protocol::{Reply, Stall};
use crate::record::{Mark, ProcessId};
use crate::spool::{AppendError, Filled, Room, SpoolFs};
use std::collections::VecDeque;
use std::io;

impl<F: SpoolFs> KeeperCore<F> {
    /// Whether the agent's stdout is to be read.
    #[must_use]
    pub fn wants_output(&self) -> bool {
        let born = matches!(self.agent, Agent::Running(_) | Agent::Dead(_));
        // After the last record it is read and dropped, so that what was left alive does not block.
        born && (self.ended || (self.stdout == Stdout::Open && self.stall().is_none()))
    }

    /// Whether only what the pipe already holds is still wanted: an empty pipe is its end.
    #[must_use]
    pub fn takes_last_bytes(&self) -> bool {
        self.stdout == Stdout::Open && matches!(self.ending, Some(Ending::Closing { .. }))
    }

    pub(super) fn stall(&self) -> Option<Stall> {
        if self.stdout == Stdout::Closed || self.takes_last_bytes() {
            return None;
        }
        if self.disk_retry_at.is_some() || !self.owed.is_empty() {
            Some(Stall::Disk)
        } else if self.spool.bytes() >= self.spec.limits.spool_bytes_max {
            Some(Stall::SpoolBound)
        } else {
            None
        }
    }

    /// Takes what was read from the agent's stdout, and says how many of the bytes need not be offered
    /// again.
    pub fn output(&mut self, now: Now, bytes: &[u8]) -> usize {
        self.last_output_at = now;
        if self.stdout == Stdout::Closed {
            return bytes.len();
        }
        if self.takes_last_bytes() {
            return self.last_output(now, bytes);
        }
        if self.stall().is_some() {
            return 0;
        }
        holdfast_fault::point("keeper.line.before");
        match self.spool.append_output(bytes, Room::Lines) {
            Ok(taken) => {
                holdfast_fault::point("keeper.line.after");
                if taken < bytes.len() {
                    self.disk_retry_at = Some(now.saturating_add(RETRY_EVERY));
                }
                taken
            }
            Err(_) => {
                self.disk_retry_at = Some(now.saturating_add(RETRY_EVERY));
                0
            }
        }
    }

    /// The last bytes of a dead agent may use the reserve; what does not fit even there is counted.
    fn last_output(&mut self, now: Now, bytes: &[u8]) -> usize {
        let taken = if self.owed.is_empty() && self.lost_bytes == 0 {
            self.spool.append_output(bytes, Room::LastBytes).unwrap_or(0)
        } else {
            0
        };
        self.lost_bytes += (bytes.len() - taken) as u64;
        if let Some(Ending::Closing { bytes_left, .. }) = &mut self.ending {
            *bytes_left = bytes_left.saturating_sub(bytes.len() as u64);
            if *bytes_left == 0 {
                self.output_ended(now);
            }
        }
        bytes.len()
    }

    pub(super) fn output_ended(&mut self, now: Now) {
        if self.stdout == Stdout::Open {
            self.stdout = Stdout::Closed;
            self.record(now, Mark::StdoutClosed { lost_bytes: self.lost_bytes });
        }
    }

    /// Records, or owes the record until the disk takes it. Order is kept.
    pub(super) fn record(&mut self, now: Now, mark: Mark) {
        self.owed.push_back(mark);
        self.pay_owed(now);
    }

    /// Records now or not at all.
    pub(super) fn record_now(&mut self, now: Now, mark: &Mark) -> Result<(), AppendError> {
        self.pay_owed(now);
        if !self.owed.is_empty() {
            return Err(AppendError::Full);
        }
        self.spool.append(mark)
    }

    pub(super) fn pay_owed(&mut self, now: Now) {
        while let Some(mark) = self.owed.front() {
            let closes = matches!(mark, Mark::StdoutClosed { .. });
            let ends = matches!(mark, Mark::Exited { .. } | Mark::SpawnFailed { .. });
            // What the agent had begun and not finished belongs before the end of its stdout.
            let torn = if closes { self.spool.end_torn_line() } else { Ok(()) };
            if torn.and_then(|()| self.spool.append(mark)).is_err() {
                self.disk_retry_at = Some(now.saturating_add(RETRY_EVERY));
                return;
            }
            self.owed.pop_front();
            if ends {
                self.ended = true;
                // Once in a life, and the last thing that anybody wants to lose.
                let _ = self.spool.sync();
            }
        }
    }

    /// Nobody but the disk has the records while no host is there, so they are made durable.
    pub(super) fn sync_when_due(&mut self, now: Now) {
        let due = now >= self.synced_at.saturating_add(RETRY_EVERY);
        if self.host.is_none() && due && self.spool.has_unsynced() {
            self.synced_at = now;
            // What fails is tried again in a second.
            let _ = self.spool.sync();
        }
    }

    /// Appends one message with records for the host to `out`, if there are any and it wants them.
    ///
    /// # Errors
    /// The spool cannot be read; the connection is of no use then.
    pub fn push_records(&mut self, out: &mut Vec<u8>, scratch: &mut Vec<u8>) -> io::Result<Pushed> {
        let Some(Host { reader: Some(reader), window, .. }) = &mut self.host else {
            return Ok(Pushed::Nothing);
        };
        if *window == 0 || reader.position >= self.spool.end() {
            return Ok(Pushed::Nothing);
        }
        scratch.clear();
        let max = PUSH_BYTES_MAX.min(usize::try_from(*window).unwrap_or(PUSH_BYTES_MAX));
        let position = match self.spool.read(reader, scratch, max)? {
            Filled::Records { first } => first,
            // A push without records at a position further on says that what is between is missing.
            Filled::Damaged { next } => next,
            Filled::End { .. } => return Ok(Pushed::Nothing),
        };
        *window = window.saturating_sub(scratch.len() as u64);
        Reply::Push { position, bytes: scratch }.encode(0, out);
        Ok(Pushed::Some)
    }

    /// Copies the next bytes for the agent's stdin into `buffer` and says how many.
    pub fn stdin_bytes(&mut self, buffer: &mut [u8]) -> usize {
        self.frames.bytes_in_flight(self.spool.fs(), buffer)
    }

    /// Whether there are bytes for the agent's stdin.
    #[must_use]
    pub fn has_stdin_bytes(&self) -> bool {
        self.frames.has_bytes_in_flight()
    }

    /// Whether the next bytes for stdin are the first of a frame.
    #[must_use]
    pub fn is_at_frame_start(&self) -> bool {
        self.frames.is_at_start()
    }

    pub(super) fn stdin_took(&mut self, now: Now, bytes: usize) {
        if let Some(number) = self.frames.took(self.spool.fs(), bytes) {
            self.frame_done(now, number);
        }
    }

    fn frame_done(&mut self, now: Now, number: u64) {
        holdfast_fault::point("keeper.frame.done.before");
        self.record(now, Mark::FrameDone(number));
        holdfast_fault::point("keeper.frame.done.after");
    }

    /// Begins the next frame, if it is its turn. Its beginning is on record before its first byte.
    pub(super) fn begin_frame(&mut self, now: Now) {
        while matches!(self.agent, Agent::Running(ProcessId { .. }))
            && self.ending.is_none()
            && self.disk_retry_at.is_none()
            && let Some(number) = self.frames.next_to_begin()
        {
            holdfast_fault::point("keeper.frame.begin.before");
            if self.record_now(now, &Mark::FrameBegun(number)).is_err() {
                self.disk_retry_at = Some(now.saturating_add(RETRY_EVERY));
                return;
            }
            holdfast_fault::point("keeper.frame.begin.after");
            if let Some(empty) = self.frames.begin() {
                self.frame_done(now, empty);
            }
        }
    }

    /// Forgets the host of `connection`, if it is the host.
    pub(super) fn lose(&mut self, now: Now, connection: super::ConnectionId) {
        if self.host.as_ref().is_some_and(|host| host.connection == connection) {
            self.host = None;
            self.hostless_since = now;
            self.greeting = None;
            self.frames.drop_upload(self.spool.fs());
        }
    }

    pub(super) fn answer_greeting(&mut self, effects: &mut VecDeque<Effect>) {
        if let Some((connection, id)) = self.greeting.take() {
            effects.push_back(Effect::Reply(connection, id, self.welcome()));
        }
    }
}

/// What was pushed to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pushed {
    /// A message was appended.
    Some,
    /// Nothing is there that the host wants now.
    Nothing,
}
