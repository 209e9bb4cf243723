//! What outlived the tool call that started it: processes of the attempt that no longer descend from
//! the agent. A tool's own shell, a language server, a background command that the agent holds are
//! its children; what was left behind when its parent ended was handed to the keeper.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use holdfast_core::activity;
use holdfast_core::ids::AttemptId;
use holdfast_core::input::KeeperEvent;
use holdfast_core::limits::LEFTOVERS_NAMED_MAX;
use holdfast_keeper::connect::Link;
use holdfast_keeper::protocol::Leftover;
use holdfast_keeper::record::ProcessId;
use holdfast_keeper::registry::AttemptDir;
use holdfast_keeper::tree;
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};

use super::Word;

/// How long after an agent's word it is looked: what a tool call leaves is there by then.
const LOOK_AFTER: Duration = Duration::from_secs(2);
/// How often it is looked while something is known to be left over.
const LOOK_AGAIN: Duration = Duration::from_secs(10);

/// Tells the actor what outlived its tool call, whenever that changes. An agent that says nothing
/// leaves nothing, and costs nothing: each look reads all of `/proc`.
pub(super) async fn watch(
    link: Link,
    dir: AttemptDir,
    attempt: AttemptId,
    speak: mpsc::Sender<(AttemptId, Word)>,
    spoke: Arc<Notify>,
    kept: Known,
) {
    let mut told = Vec::new();
    loop {
        if told.is_empty() {
            spoke.notified().await;
        } else {
            // Whichever comes first.
            let _ = timeout(LOOK_AGAIN, spoke.notified()).await;
        }
        sleep(LOOK_AFTER).await;
        let Ok(status) = link.status().await else { return };
        kept.set(status.leftovers.iter().map(|leftover| leftover.process.process).collect());
        let agent = dir.record().ok().flatten().and_then(|record| record.agent);
        let Some(agent) = agent.filter(|agent| tree::is_alive(*agent)) else { continue };
        let outlived = outlived(&status.leftovers, agent.pid);
        let ids: Vec<String> = outlived.iter().map(|leftover| id(leftover)).collect();
        if ids == told {
            continue;
        }
        told = ids;
        let count = u32::try_from(outlived.len()).unwrap_or(u32::MAX);
        let named = outlived.into_iter().take(LEFTOVERS_NAMED_MAX).map(|leftover| {
            (id(leftover), leftover.process.command.clone(), leftover.ports.clone())
        });
        let event = KeeperEvent::Leftovers { named: named.collect(), count };
        if speak.send((attempt, Word::Event(event))).await.is_err() {
            return;
        }
    }
}

/// What a keeper was last seen to keep beside the agent. When it is lost, this is how a process is found
/// that has cleaned its environment of the attempt's cookie.
#[derive(Clone, Debug, Default)]
pub struct Known(Arc<Mutex<Vec<ProcessId>>>);

impl Known {
    /// What the chat knows of, from before this host.
    #[must_use]
    pub fn of(leftovers: &[activity::Leftover]) -> Self {
        let processes = leftovers.iter().filter_map(|leftover| {
            let (pid, start_time) = leftover.id.split_once('.')?;
            Some(ProcessId { pid: pid.parse().ok()?, start_time: start_time.parse().ok()? })
        });
        Self(Arc::new(Mutex::new(processes.collect())))
    }

    fn set(&self, processes: Vec<ProcessId>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = processes;
    }

    pub(super) fn processes(&self) -> Vec<ProcessId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Those that run on and do not descend from the agent. One that has ended since the keeper looked
/// descends from nobody, and outlived nothing.
fn outlived(kept: &[Leftover], agent: u32) -> Vec<&Leftover> {
    let runs_on =
        |process: ProcessId| !tree::descends(process.pid, agent) && tree::is_alive(process);
    kept.iter().filter(|leftover| runs_on(leftover.process.process)).collect()
}

fn id(leftover: &Leftover) -> String {
    let process = leftover.process.process;
    format!("{}.{}", process.pid, process.start_time)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "a test starts what is left over")]
mod tests {
    use std::process::{Child, Command, Stdio};

    use holdfast_keeper::record::{FoundBy, Survivor};

    use super::*;

    /// A process that ends with its test, also with one that fails.
    struct Sleeper(Child);

    impl Sleeper {
        fn new() -> Self {
            let mut command = Command::new("sleep");
            Self(command.arg("600").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
        }

        fn end(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn leftover(sleeper: &Sleeper) -> Leftover {
        let process = tree::process_id(sleeper.0.id()).unwrap();
        Leftover {
            process: Survivor {
                process,
                uid: 0,
                state: 'S',
                command: "sleep".into(),
                found_by: FoundBy::Cookie,
            },
            ports: Vec::new(),
        }
    }

    #[test]
    fn what_ended_since_the_look_or_is_the_agents_own_is_not_left_over() {
        let (mut ended, living) = (Sleeper::new(), Sleeper::new());
        let kept = [leftover(&ended), leftover(&living)];
        let ids = |agent| outlived(&kept, agent).into_iter().map(id).collect::<Vec<_>>();
        ended.end();
        let nobody = ended.0.id();
        assert_eq!(ids(nobody), [id(&kept[1])]);
        assert_eq!(ids(std::process::id()), [""; 0]);
    }
}
