use super::{Agent, Effect, KeeperCore, Look, Now, Stdout, Target};
use crate::limits::{DRAIN_MAX, KILL_MAX, LOOK_EVERY, RETRY_EVERY};
use crate::protocol::Refusal;
use crate::record::{Exit, Mark, SignalledBy, TreeEnd};
use crate::spool::SpoolFs;
use std::collections::VecDeque;
use std::time::Duration;

const TERM: i32 = libc::SIGTERM;
const KILL: i32 = libc::SIGKILL;
/// What is still taken out of a pipe whose writers are dead. No unprivileged pipe holds more.
const LAST_BYTES_MAX: u64 = 1024 * 1024;

/// How an attempt comes to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ending {
    /// The agent has ended by itself; what else has its stdout may write for a while.
    Draining { until: Now, look_at: Now },
    /// TERM is out.
    Terminating { whom: Whom, kill_at: Now, look_at: Now },
    /// KILL is out, and again at each look.
    Killing { whom: Whom, give_up_at: Now, look_at: Now },
    /// The tree has been judged; the last bytes of stdout are taken.
    Closing { tree: TreeEnd, bytes_left: u64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whom {
    Tree,
    /// Only the agent; the rest is left.
    Agent,
}

impl Whom {
    fn target(self) -> Target {
        match self {
            Self::Tree => Target::Tree,
            Self::Agent => Target::Agent,
        }
    }
}

impl<F: SpoolFs> KeeperCore<F> {
    pub(super) fn record_signal(&mut self, now: Now, signal: i32, by: SignalledBy) {
        holdfast_fault::point("keeper.signalled.before");
        self.record(now, Mark::Signalled { signal, by });
        holdfast_fault::point("keeper.signalled.after");
    }

    /// A host asks for the end of everything.
    pub(super) fn stop_tree(
        &mut self,
        now: Now,
        grace: Duration,
        effects: &mut VecDeque<Effect>,
    ) -> Result<(), Refusal> {
        match (&self.agent, &self.ending) {
            (Agent::Unborn, _) if self.greeting.is_some() => Err(Refusal::NoAgent),
            (Agent::Unborn, _) => {
                self.never_be_born(now);
                Ok(())
            }
            (Agent::NeverBorn, _) => Err(Refusal::Ended),
            (Agent::Dead(_), None) if !self.holding => Err(Refusal::Ended),
            // Under way: a shorter grace is taken over.
            (_, Some(Ending::Terminating { whom: Whom::Tree, kill_at, look_at })) => {
                let kill_at = (*kill_at).min(now.saturating_add(grace));
                let look_at = *look_at;
                self.ending = Some(Ending::Terminating { whom: Whom::Tree, kill_at, look_at });
                Ok(())
            }
            (_, Some(Ending::Killing { whom: Whom::Tree, .. } | Ending::Closing { .. })) => Ok(()),
            _ => {
                self.terminate(now, Whom::Tree, grace, SignalledBy::Host, TERM, effects);
                Ok(())
            }
        }
    }

    /// A host asks for the end of the agent alone.
    pub(super) fn stop_agent(
        &mut self,
        now: Now,
        grace: Duration,
        effects: &mut VecDeque<Effect>,
    ) -> Result<(), Refusal> {
        if self.agent().is_none() {
            return Err(Refusal::NoAgent);
        }
        if self.ending.is_some() {
            return Err(Refusal::Ended);
        }
        self.terminate(now, Whom::Agent, grace, SignalledBy::Host, TERM, effects);
        Ok(())
    }

    /// Somebody else wants the keeper to end. It is on record, and durable, before anything is signalled:
    /// the machine may be going down.
    pub(super) fn outside_signal(&mut self, now: Now, signal: i32, effects: &mut VecDeque<Effect>) {
        let again = self.finish_when_ended;
        self.finish_when_ended = true;
        let grace = if again { Duration::ZERO } else { self.grace() };
        self.end_from_within(now, grace, SignalledBy::Outside, signal, effects);
    }

    /// No host has come for too long.
    pub(super) fn host_is_lost(&mut self, now: Now, effects: &mut VecDeque<Effect>) {
        if !self.finish_when_ended {
            self.finish_when_ended = true;
            self.end_from_within(now, self.grace(), SignalledBy::HostLost, TERM, effects);
        }
    }

    fn end_from_within(
        &mut self,
        now: Now,
        grace: Duration,
        by: SignalledBy,
        signal: i32,
        effects: &mut VecDeque<Effect>,
    ) {
        match (&self.agent, &self.ending) {
            (Agent::Unborn, _) => effects.push_back(Effect::Finish),
            (Agent::NeverBorn, _) => {}
            // What is left to do is to write the last records, which a broken disk may never take.
            (Agent::Dead(_), None) if !self.holding => {
                if grace.is_zero() {
                    effects.push_back(Effect::Finish);
                }
            }
            (_, Some(Ending::Closing { .. })) => {}
            (_, Some(Ending::Terminating { whom: Whom::Tree, .. })) if grace.is_zero() => {
                self.kill(now, Whom::Tree, effects);
            }
            _ => {
                self.terminate(now, Whom::Tree, grace, by, signal, effects);
            }
        }
    }

    fn never_be_born(&mut self, now: Now) {
        self.agent = Agent::NeverBorn;
        self.stdout = Stdout::Closed;
        let text = "stopped before it was started".to_owned();
        self.record(now, Mark::SpawnFailed { errno: 0, text });
    }

    fn terminate(
        &mut self,
        now: Now,
        whom: Whom,
        grace: Duration,
        by: SignalledBy,
        signal: i32,
        effects: &mut VecDeque<Effect>,
    ) {
        if !self.ended {
            self.record_signal(now, signal, by);
            match by {
                SignalledBy::Outside | SignalledBy::HostLost => drop(self.spool.sync()),
                SignalledBy::Host => {}
            }
        }
        self.begin_terminating(now, whom, grace, effects);
    }

    fn begin_terminating(
        &mut self,
        now: Now,
        whom: Whom,
        grace: Duration,
        effects: &mut VecDeque<Effect>,
    ) {
        if grace.is_zero() {
            self.kill(now, whom, effects);
            return;
        }
        effects.push_back(Effect::Signal(whom.target(), TERM));
        let (kill_at, look_at) = (now.saturating_add(grace), now.saturating_add(LOOK_EVERY));
        self.ending = Some(Ending::Terminating { whom, kill_at, look_at });
    }

    fn kill(&mut self, now: Now, whom: Whom, effects: &mut VecDeque<Effect>) {
        effects.push_back(Effect::Signal(whom.target(), KILL));
        let (give_up_at, look_at) = (now.saturating_add(KILL_MAX), now.saturating_add(LOOK_EVERY));
        self.ending = Some(Ending::Killing { whom, give_up_at, look_at });
    }

    fn grace(&self) -> Duration {
        Duration::from_millis(self.spec.limits.grace_ms)
    }

    pub(super) fn agent_exited(&mut self, now: Now, exit: Exit, effects: &mut VecDeque<Effect>) {
        // One that was given up as a survivor may still die.
        if self.agent().is_none() {
            return;
        }
        self.agent = Agent::Dead(exit);
        self.frames.break_stdin(self.spool.fs());
        if self.ending.is_none() {
            let until = now.saturating_add(DRAIN_MAX);
            let look_at = now.saturating_add(LOOK_EVERY);
            self.ending = Some(Ending::Draining { until, look_at });
        }
        effects.push_back(Effect::Look);
    }

    pub(super) fn looked(&mut self, now: Now, look: &Look, effects: &mut VecDeque<Effect>) {
        let dead = matches!(self.agent, Agent::Dead(_));
        match self.ending.clone() {
            None => self.holding &= look.count > 0,
            Some(Ending::Closing { .. }) => {}
            Some(Ending::Draining { .. } | Ending::Terminating { .. } | Ending::Killing { .. })
                if look.count == 0 && dead =>
            {
                self.close(TreeEnd::Clear);
            }
            Some(
                Ending::Terminating { whom: Whom::Agent, .. }
                | Ending::Killing { whom: Whom::Agent, .. },
            ) if dead => self.close(TreeEnd::Left { named: look.named.clone(), count: look.count }),
            Some(Ending::Draining { until, .. }) => {
                if self.stdout == Stdout::Closed || now >= until {
                    self.begin_terminating(now, Whom::Tree, self.grace(), effects);
                }
            }
            Some(Ending::Terminating { whom, kill_at, .. }) => {
                if now >= kill_at {
                    self.kill(now, whom, effects);
                }
            }
            Some(Ending::Killing { whom, give_up_at, .. }) => {
                if now >= give_up_at {
                    let (named, count) = (look.named.clone(), look.count);
                    self.close(TreeEnd::Survivors { named, count });
                } else {
                    effects.push_back(Effect::Signal(whom.target(), KILL));
                }
            }
        }
    }

    fn close(&mut self, tree: TreeEnd) {
        if self.ended {
            // What had been left is gone now, or was seen to survive: its keeper is not needed for it.
            self.ending = None;
            self.holding = false;
            return;
        }
        self.ending = Some(Ending::Closing { tree, bytes_left: LAST_BYTES_MAX });
    }

    /// Looks when a look is due, and writes the last record when everything before it is written.
    pub(super) fn go_on_ending(&mut self, now: Now, effects: &mut VecDeque<Effect>) {
        match &mut self.ending {
            None => {
                if self.holding && now >= self.hold_look_at {
                    self.hold_look_at = now.saturating_add(RETRY_EVERY);
                    effects.push_back(Effect::Look);
                }
            }
            Some(
                Ending::Draining { look_at, .. }
                | Ending::Terminating { look_at, .. }
                | Ending::Killing { look_at, .. },
            ) => {
                if now >= *look_at {
                    *look_at = now.saturating_add(LOOK_EVERY);
                    effects.push_back(Effect::Look);
                }
            }
            Some(Ending::Closing { .. }) => {
                if self.stdout == Stdout::Closed {
                    self.exit(now);
                }
            }
        }
    }

    fn exit(&mut self, now: Now) {
        let Some(Ending::Closing { tree, .. }) = self.ending.take() else { return };
        // An agent that does not die of KILL has no exit: it is among the survivors.
        let exit = match self.agent {
            Agent::Dead(exit) => exit,
            Agent::Unborn | Agent::Running(_) | Agent::NeverBorn => Exit::Signal(KILL),
        };
        self.agent = Agent::Dead(exit);
        self.frames.break_stdin(self.spool.fs());
        self.holding = matches!(tree, TreeEnd::Left { .. });
        holdfast_fault::point("keeper.exit.before");
        self.record(now, Mark::Exited { exit, tree });
        holdfast_fault::point("keeper.exit.after");
    }

    pub(super) fn ending_tick(&self) -> Option<Now> {
        match &self.ending {
            None => self.holding.then_some(self.hold_look_at),
            Some(
                Ending::Draining { look_at, .. }
                | Ending::Terminating { look_at, .. }
                | Ending::Killing { look_at, .. },
            ) => Some(*look_at),
            Some(Ending::Closing { .. }) => None,
        }
    }
}
