//! A keeper that is dead: the rest of its spool is taken in as if live, what may still live of its
//! agent is ended, then the death is told. And a keeper that is not ours to adopt.

use std::time::Duration;

use holdfast_core::input::{Boot, KeeperEvent};
use holdfast_keeper::Record;
use holdfast_keeper::registry::{self, KeeperRecord, ReadDeadError};
use holdfast_keeper::spool::OpenError;
use holdfast_keeper::tree::{self, Survivors};
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::driver::{Run, chain};
use super::verdict::{Note, Remains, buried, not_adopted};
use super::{GONE_POLL, Reading, Word};
use crate::clock;

/// How long a keeper that let its lock go may take to end.
const ENDING_MAX: Duration = Duration::from_secs(1);
/// Records that wait between disk and actor.
const RECORDS_WAITING_MAX: usize = 16;

/// Takes in what a dead keeper left, proves the death of what it kept, and tells it.
pub(super) async fn bury(run: &mut Run) {
    let record = run.dir.record().ok().flatten();
    if let Some(record) = &record
        && lives_elsewhere(record).await
    {
        unadopted(run).await;
        return;
    }
    take_rest(run).await;
    let note = record.as_ref().map(|record| Note {
        boot: match tree::boot_id() {
            Ok(now) if now == record.boot_id => Boot::Same,
            Ok(_) | Err(_) => Boot::Other,
        },
        agent: record.agent.map(|agent| agent.pid),
    });
    let attempt = run.start.attempt.uuid();
    let kept = run.start.kept.processes();
    let look = move || tree::end_survivors(attempt, record.as_ref(), &kept);
    let survivors = match tokio::task::spawn_blocking(look).await {
        Ok(Ok(Survivors::None)) => Some(Vec::new()),
        Ok(Ok(Survivors::Alive { named, .. })) => {
            Some(named.iter().map(|survivor| survivor.process.pid).collect())
        }
        Ok(Err(_)) | Err(_) => None,
    };
    let remains = Remains { note, survivors, served: run.served, spawned: run.spawned };
    let verdict = buried(&run.reading, remains);
    run.end(verdict).await;
}

/// Whether the keeper that the record names lives although the lock here is free: then this is a copy
/// of the directory that it belongs to, and what it keeps is not ours to end.
async fn lives_elsewhere(record: &KeeperRecord) -> bool {
    if !tree::boot_id().is_ok_and(|boot| boot == record.boot_id) {
        return false;
    }
    // One that is ending has let its lock go a moment before it is gone.
    let until = clock::timer() + ENDING_MAX;
    while tree::is_alive(record.keeper) {
        if clock::timer() >= until {
            return true;
        }
        sleep(GONE_POLL).await;
    }
    false
}

/// Takes in the rest of the spool.
async fn take_rest(run: &mut Run) {
    // A host that is just starting a keeper may hold a copy of a dead one's lock for a moment.
    let _ = super::is_gone(&run.dir).await;
    let (send, mut records) = mpsc::channel::<(Record, u64)>(RECORDS_WAITING_MAX);
    run.reading = Reading::from(run.reading.position());
    let (dir, from) = (run.dir.clone(), run.reading.position());
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
    while let Some((record, next)) = records.recv().await {
        run.take(record, next).await;
    }
    let read = reading.await.unwrap_or_else(|error| Err(error.to_string()));
    if let Err(why) = read {
        let text = format!("The rest of the agent's output on disk could not be read: {why}");
        run.say(Word::Event(KeeperEvent::LineSkipped { text })).await;
    }
}

/// The keeper is not ours: it is shown and left.
pub(super) async fn unadopted(run: &mut Run) {
    let record = run.dir.record().ok().flatten();
    run.end(not_adopted(record.map_or(0, |record| record.keeper.pid))).await;
}
