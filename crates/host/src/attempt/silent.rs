//! A keeper that lives and does not answer: stopped by a signal, or stuck. That is shown, and ends
//! nothing by itself; what is to end is ended without it.

use std::time::Duration;

use holdfast_core::input::KeeperEvent;
use holdfast_keeper::connect::{AttachError, CallError, Link};
use holdfast_keeper::record::ProcessId;
use holdfast_keeper::registry::KeeperRecord;
use holdfast_keeper::tree;
use tokio::sync::watch;
use tokio::time::timeout;

use super::driver::Run;
use super::{Orders, StopOrder, Word, is_gone};

/// How often a keeper that is asked for nothing is asked whether it answers. With the bound of a call
/// this is how long one that does not is taken for one that runs.
const ASK_EVERY: Duration = Duration::from_secs(5);

/// Asks the keeper again and again for what it has said already. One that does not answer loses the
/// connection by that.
pub(super) async fn ask(link: Link, mut orders: watch::Receiver<Orders>) {
    let mut stop = None;
    loop {
        let other = |orders: &Orders| orders.stop != stop;
        if let Ok(orders) = timeout(ASK_EVERY, orders.wait_for(other)).await {
            let Ok(orders) = orders else { return };
            stop = orders.stop;
        }
        let acknowledged = orders.borrow().acknowledged;
        let answer = link.acknowledge(acknowledged).await;
        if matches!(answer, Err(CallError::Disconnected | CallError::Silent)) {
            return;
        }
    }
}

/// A connection is lost.
pub(super) async fn lost(run: &mut Run, link: &Link) {
    if link.is_silent() {
        end_or_tell(run).await;
    }
}

/// A keeper could not be greeted.
pub(super) async fn unattached(run: &mut Run, error: &AttachError) {
    if matches!(error, AttachError::Silent(_)) {
        end_or_tell(run).await;
    }
}

/// Ends the keeper where its attempt is to end: what it kept is then ended like that of any dead one.
async fn end_or_tell(run: &mut Run) {
    let attempt = run.start.attempt;
    let ends = run.orders.borrow().stop.as_ref().is_some_and(ends_all);
    let keeper = if ends { keeper(run.dir.record().ok().flatten(), run.keeper) } else { None };
    if keeper.is_some_and(tree::kill_keeper) && is_gone(&run.dir).await {
        tracing::warn!(%attempt, "its keeper did not answer, and was killed");
        return;
    }
    tracing::warn!(%attempt, "its keeper does not answer{}", if ends { ", nor can it be killed" } else { "" });
    run.say(Word::Event(KeeperEvent::Silent)).await;
}

/// The keeper's process: by its record, which it may have written in another boot; where it was stopped
/// before it wrote one, by the driver that started it.
fn keeper(record: Option<KeeperRecord>, spawned: Option<ProcessId>) -> Option<ProcessId> {
    let Some(record) = record else { return spawned };
    tree::boot_id().is_ok_and(|boot| boot == record.boot_id).then_some(record.keeper)
}

/// Whether a stop asks for the end of everything, whatever the agent says: a release may be refused by
/// what it said, and what a person chose to leave would not outlive its keeper.
const fn ends_all(stop: &StopOrder) -> bool {
    !stop.leaving && stop.unless_after.is_none()
}
