//! The stop of a host, in order (offers.md): one commit of all snapshots, then the keepers, then
//! the proven deaths.

use std::time::Duration;

use holdfast_core::fact::StopWhy;
use holdfast_core::offer::Cause;
use holdfast_keeper::protocol::Leftover;
use holdfast_keeper::tree;
use holdfast_store::CommitError;
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::time::{timeout, timeout_at};
use uuid::Uuid;

use crate::actor::{Message, Prepare};
use crate::clock;
use crate::host::Host;
use crate::start::remove_when_dead;

/// How long all actors have to hand out their parts.
const PREPARE_MAX: Duration = Duration::from_millis(800);
/// How long agents have to end before the host leaves them to the next one.
const DEATHS_MAX: Duration = Duration::from_secs(12);

/// Agents that were left running, because what they were doing is not recorded.
#[derive(Debug, Error)]
pub enum StopError {
    /// The store did not take it: no agent is stopped.
    #[error("the store did not take what chats were doing")]
    Commit(#[source] CommitError),
    /// These chats were busy; all others are stopped.
    #[error("{chats} chats did not say in time what they were doing")]
    Busy {
        /// How many.
        chats: usize,
    },
}

impl Host {
    /// Takes no further writes, records what every chat was doing, stops all agents, and waits for
    /// their deaths. What is not over in time is finished by the next host: the stop is committed.
    ///
    /// # Errors
    ///
    /// [`StopError`]: the agents of which it speaks go on under their keepers.
    pub async fn stop_agents(&self, cause: Cause) -> Result<(), StopError> {
        self.set_stopping();
        let mut units = Vec::new();
        let mut outcomes = Vec::new();
        let mut prepared = Vec::new();
        // One bound for all of them: what is not ready by then is a keeper's to keep.
        let until = clock::timer() + PREPARE_MAX;
        let mut busy = 0;
        for actor in self.loaded() {
            let (unit, ready) = oneshot::channel();
            let (decided, outcome) = oneshot::channel();
            let why = StopWhy::Offered(cause);
            let message = Message::Prepare(Prepare { why, unit, outcome });
            match timeout_at(until, actor.send(message)).await {
                Ok(Ok(())) => prepared.push((ready, decided)),
                Ok(Err(_)) => {}
                Err(_) => busy += 1,
            }
        }
        for (ready, decided) in prepared {
            match timeout_at(until, ready).await {
                Ok(Ok(Some(unit))) => {
                    units.push(unit);
                    outcomes.push(decided);
                }
                Ok(Ok(None) | Err(_)) => {}
                Err(_) => busy += 1,
            }
        }
        let committed = match units.is_empty() {
            true => Ok(()),
            false => self.store().commit(units).await.map(|_| ()),
        };
        holdfast_fault::point("host.stop.committed");
        for outcome in outcomes {
            let _ = outcome.send(committed.is_ok());
        }
        committed.map_err(StopError::Commit)?;
        let ended = async { tokio::join!(self.attempts_ended(), self.end_left()) };
        if timeout(DEATHS_MAX, ended).await.is_err() {
            tracing::warn!("not every agent ended in time: the next start finishes the stop");
        }
        if busy > 0 {
            return Err(StopError::Busy { chats: busy });
        }
        Ok(())
    }

    /// Ends what closed chats left running: it was left to this host. Its keepers know all of it, and are
    /// told to end it as whoever shuts a machine down would tell them.
    async fn end_left(&self) {
        self.end_keepers(|_| true).await;
    }

    async fn end_keepers(&self, wanted: impl Fn(Uuid) -> bool) -> Vec<Uuid> {
        let mut ends = Vec::new();
        let left = self.keepers_left().await.into_iter();
        for dir in left.filter(|dir| wanted(dir.attempt())) {
            let record = dir.record().ok().flatten();
            if record.is_some_and(|record| tree::terminate_keeper(&record)) {
                ends.push((dir.attempt(), tokio::spawn(remove_when_dead(dir))));
            }
        }
        let mut ended = Vec::new();
        for (attempt, end) in ends {
            if end.await.is_ok_and(|gone| gone) {
                ended.push(attempt);
            }
        }
        ended
    }

    /// What closed chats left running because a person chose so, with its processes: by the attempt
    /// that it is of. What cannot be looked at is left out.
    pub async fn left(&self) -> Vec<(Uuid, Vec<Leftover>)> {
        let mut left = Vec::new();
        for dir in self.keepers_left().await {
            let attempt = dir.attempt();
            // It reads all of `/proc`.
            let look = move || Some(tree::kept(&dir.record().ok()??).unwrap_or_default());
            let kept = tokio::task::spawn_blocking(look).await.ok().flatten().unwrap_or_default();
            if !kept.is_empty() {
                left.push((attempt, kept));
            }
        }
        left
    }

    /// Ends what was left running of this attempt, or all of it, and answers of which attempts nothing
    /// lives any more. What is not there has ended already.
    pub async fn end_what_was_left(&self, of: Option<Uuid>) -> Vec<Uuid> {
        let host = self.clone();
        // A caller who goes away does not take the end of it along.
        let ended =
            async move { host.end_keepers(|attempt| of.is_none_or(|of| of == attempt)).await };
        tokio::spawn(ended).await.unwrap_or_default()
    }

    /// Takes no further writes and leaves the agents to their keepers.
    pub fn keep_agents(&self) {
        self.set_stopping();
    }
}
