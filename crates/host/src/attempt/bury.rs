//! A keeper that is dead: the rest of its spool is taken in as if live, what may still live of its
//! agent is ended, then the death is told. And a keeper that is not ours to adopt.

use holdfast_core::fact::Death;
use holdfast_core::input::{Boot, KeeperEvent};
use holdfast_core::provider::StartFault;
use holdfast_keeper::Record;
use holdfast_keeper::registry::{self, KeeperRecord, ReadDeadError};
use holdfast_keeper::spool::OpenError;
use holdfast_keeper::tree::{self, Survivors};
use tokio::sync::mpsc;

use super::Word;
use super::driver::{Run, chain};
use super::record::death_of;

/// Records that wait between disk and actor.
const RECORDS_WAITING_MAX: usize = 16;

/// Takes in what a dead keeper left, proves the death of what it kept, and tells it.
pub(super) async fn bury(run: &mut Run) {
    let record = run.dir.record().ok().flatten();
    if record.as_ref().is_some_and(lives_elsewhere) {
        unadopted(run).await;
        return;
    }
    let (end, born) = take_rest(run).await;
    let boot = match (&record, tree::boot_id()) {
        (Some(record), Ok(now)) if record.boot_id == now => Boot::Same,
        // A keeper that did anything has written its record: without one nothing is proven.
        (Some(_) | None, _) => Boot::Other,
    };
    let attempt = run.start.attempt.uuid();
    let (known, kept) = (record.clone(), run.start.kept.processes());
    let look = move || tree::end_survivors(attempt, known.as_ref(), &kept);
    let looked = tokio::task::spawn_blocking(look);
    // Whoever could not look does not know that nothing lives.
    let unlooked = || record.as_ref().and_then(|record| record.agent).map(|agent| agent.pid);
    let survivors: Vec<u32> = match looked.await {
        Ok(Ok(Survivors::None)) => Vec::new(),
        Ok(Ok(Survivors::Alive { named, .. })) => {
            named.iter().map(|survivor| survivor.process.pid).collect()
        }
        Ok(Err(_)) | Err(_) => unlooked().into_iter().collect(),
    };
    let started = born || record.is_some_and(|record| record.agent.is_some());
    let death = match end {
        Some(death) => death,
        None if !started => Death::NeverBorn,
        None if run.served => Death::KeeperLost,
        None => Death::HostLost,
    };
    if run.spawned && death == Death::NeverBorn {
        // Else it would be started again and again, as fast as it dies.
        let text = "Its keeper ended before it had started the agent.".to_owned();
        run.fault(StartFault::AgentRefused, text).await;
    }
    run.dead(death, boot, survivors).await;
}

/// Whether the keeper that the record names lives although the lock here is free: then this is a copy
/// of the directory that it belongs to, and what it keeps is not ours to end.
fn lives_elsewhere(record: &KeeperRecord) -> bool {
    tree::boot_id().is_ok_and(|boot| boot == record.boot_id) && tree::is_alive(record.keeper)
}

/// Takes in the rest of the spool; says how the attempt ended, if that is written there, and
/// whether its agent was ever born.
async fn take_rest(run: &mut Run) -> (Option<Death>, bool) {
    // A host that is just starting a keeper may hold a copy of a dead one's lock for a moment.
    let _ = super::is_gone(&run.dir).await;
    let (send, mut records) = mpsc::channel::<(Record, u64)>(RECORDS_WAITING_MAX);
    let (dir, from) = (run.dir.clone(), run.position);
    let reading = tokio::task::spawn_blocking(move || {
        let reader = match registry::read_dead(&dir, from) {
            Ok(reader) => reader,
            // What was not synced before a power cut is gone: there is nothing more to read.
            Err(ReadDeadError::Open { source: OpenError::Ahead { .. }, .. }) => return Ok(()),
            Err(error) => return Err(chain(&error)),
        };
        for entry in reader {
            let entry = entry.map_err(|error| chain(&error))?;
            if send.blocking_send(entry).is_err() {
                break;
            }
        }
        Ok(())
    });
    let (mut end, mut born) = (None, false);
    while let Some((record, next)) = records.recv().await {
        run.position = next;
        born |= matches!(record, Record::Started(_));
        // What lived on then is looked for anew.
        let last = death_of(&record).map(|(death, _)| death);
        run.tell(record, next, last.is_some()).await;
        end = last.or(end);
    }
    let read = reading.await.unwrap_or_else(|error| Err(error.to_string()));
    if let Err(why) = read {
        let text = format!("The rest of the agent's output on disk could not be read: {why}");
        run.say(Word::Event(KeeperEvent::LineSkipped { text })).await;
    }
    (end, born)
}

/// A keeper that belongs to another life of the store, or that the host is ahead of: it is never
/// adopted. It is shown as what may still live, for a person to settle.
pub(super) async fn unadopted(run: &mut Run) {
    let record = run.dir.record().ok().flatten();
    let pid = record.as_ref().map_or(0, |record| record.keeper.pid);
    run.dead(Death::HostLost, Boot::Other, vec![pid]).await;
}
