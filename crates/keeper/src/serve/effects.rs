use super::shell::Shell;
use super::{HERE, agent, log};
use crate::clock::now;
use crate::core::{ConnectionId, Effect, Input, Look, Target};
use crate::limits::{PROCESSES_NAMED_MAX, STDERR_STATUS_BYTES_MAX};
use crate::protocol::{Leftover, Phase, Reply, Start, Status};
use crate::record::{Exit, FoundBy};
use crate::registry::{stderr_tail, write_record};
use crate::tree::{self, Found, Net};
use rustix::process::{Signal, WaitOptions};
use std::path::Path;

/// Whether this process has children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Children {
    None,
    Some,
}

impl Shell {
    /// Gives an input to the core and does what comes of it, to the end.
    pub(super) fn step(&mut self, input: Input<'_>) {
        self.core.step(now(), input, &mut self.effects);
        self.act_on_all();
    }

    pub(super) fn act_on_all(&mut self) {
        while let Some(effect) = self.effects.pop_front() {
            self.act(effect);
        }
    }

    fn act(&mut self, effect: Effect) {
        match effect {
            Effect::Reply(connection, id, reply) => self.reply(connection, id, &reply),
            Effect::ReportStatus(connection, id, mut status) => {
                self.complete(&mut status);
                self.reply(connection, id, &Reply::Status(status));
            }
            Effect::Close(connection) => self.close(connection),
            Effect::Start(start) => self.start(&start),
            Effect::Signal(target, signal) => self.signal(target, signal),
            Effect::Look => self.look(),
            Effect::Finish => self.finish = true,
        }
    }

    fn reply(&mut self, connection: ConnectionId, id: u32, reply: &Reply<'_>) {
        if let Some(connection) = self.connections.iter_mut().find(|each| each.id == connection) {
            reply.encode(id, connection.output());
        }
    }

    /// Sends what the peer takes at once, and closes.
    fn close(&mut self, connection: ConnectionId) {
        self.connections.retain_mut(|each| {
            if each.id == connection {
                let _ = each.send();
            }
            each.id != connection
        });
    }

    fn start(&mut self, start: &Start) {
        match agent::start(start, self.record.attempt) {
            Ok((process, pipes)) => {
                holdfast_fault::point("keeper.start.after");
                self.pipes = pipes;
                self.record.agent = Some(process);
                if let Err(error) = write_record(Path::new(HERE), &self.record) {
                    // The agent runs, and is found by its cookie should this process be lost.
                    log(&error);
                }
                self.core.step(now(), Input::Born(process), &mut self.effects);
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(0);
                let input = Input::NotBorn { errno, text: error.to_string() };
                self.core.step(now(), input, &mut self.effects);
            }
        }
    }

    fn signal(&mut self, target: Target, signal: i32) {
        let Some(signal) = Signal::from_named_raw(signal) else { return };
        match target {
            Target::Agent => {
                if let Some(agent) = self.core.agent() {
                    let _ = tree::send(agent, signal);
                }
            }
            Target::Tree => {
                let net = if signal == Signal::KILL { Net::Descent } else { Net::Wide };
                for found in self.find(net).unwrap_or_default() {
                    let _ = tree::send(found.process, signal);
                }
            }
        }
    }

    fn find(&self, net: Net) -> std::io::Result<Vec<Found>> {
        tree::find(&[std::process::id()], self.record.attempt, net)
    }

    pub(super) fn look(&mut self) {
        let children = self.reap();
        // If /proc cannot be read, that nothing lives is not proven.
        let found = self.find(Net::Descent);
        let alive = found.as_ref().map_or(1, |found| found.len() as u64);
        let named = found.unwrap_or_default();
        let look = Look {
            named: named.iter().take(PROCESSES_NAMED_MAX).map(Found::describe).collect(),
            count: match children {
                Children::None => alive,
                Children::Some => alive.max(1),
            },
        };
        self.core.step(now(), Input::Looked(look), &mut self.effects);
    }

    /// Takes the exits of everything that has died below this process.
    pub(super) fn reap(&mut self) -> Children {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    let agent = self.core.agent();
                    let is_agent = agent
                        .is_some_and(|agent| i64::from(agent.pid) == i64::from(pid.as_raw_pid()));
                    let exit = status
                        .exit_status()
                        .map(Exit::Code)
                        .or_else(|| status.terminating_signal().map(Exit::Signal));
                    if let (true, Some(exit)) = (is_agent, exit) {
                        self.core.step(now(), Input::AgentExited(exit), &mut self.effects);
                    } else if self.core.phase() == Phase::Stopping {
                        self.look_soon = true;
                    }
                }
                Ok(None) => return Children::Some,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Children::None,
            }
        }
    }

    fn complete(&self, status: &mut Status) {
        status.stderr_tail =
            stderr_tail(Path::new(HERE), STDERR_STATUS_BYTES_MAX).unwrap_or_default();
        status.stderr_bytes = self.stderr.total();
        let agent = self.core.agent();
        let mut found = tree::list_descendants(self.record.attempt).unwrap_or_default();
        found.retain(|found| Some(found.process) != agent);
        status.leftovers_count = found.len() as u64;
        status.leftovers = found.iter().take(PROCESSES_NAMED_MAX).map(describe).collect();
    }
}

fn describe(found: &Found) -> Leftover {
    debug_assert!(found.by != FoundBy::Agent, "the agent itself is no leftover");
    Leftover { process: found.describe(), ports: tree::listening_ports(found.process.pid) }
}
