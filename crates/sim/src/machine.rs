//! The machine: attempts on disk, keepers that live, the sockets between keepers and the host. It
//! outlives the host, and is what a power cut falls on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use holdfast_core::ids::{AttemptId, ChatId};
use holdfast_keeper::Record;
use holdfast_keeper::registry::Spec;
use holdfast_keeper::spool::{PowerCutFs, SpoolReader};

use crate::agent::short;
use crate::keeper::Keeper;
use crate::world::World;

/// What a keeper tells of itself in its folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) boot: u64,
    pub(crate) agent: bool,
}

/// Who holds the lock of an attempt.
#[derive(Debug)]
pub(crate) enum Holder {
    /// Nobody did yet but the host that is making it.
    Nobody,
    Keeper(Box<Keeper>),
    /// A keeper did. These are its files.
    Gone(PowerCutFs),
}

/// One attempt on disk.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) chat: ChatId,
    pub(crate) spec: Spec,
    pub(crate) record: Option<Note>,
    pub(crate) holder: Holder,
    /// Its names are durable, as the system writes everything back after a while.
    pub(crate) settled_at: u64,
}

impl Folder {
    /// Whether its lock is held.
    pub(crate) fn is_alive(&self) -> bool {
        match self.holder {
            Holder::Keeper(_) => true,
            Holder::Nobody | Holder::Gone(_) => false,
        }
    }
}

/// One connection: whole messages in two directions.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    pub(crate) to_keeper: VecDeque<Vec<u8>>,
    pub(crate) to_host: VecDeque<Vec<u8>>,
    pub(crate) host_gone: bool,
    pub(crate) keeper_gone: bool,
}

/// What is on the machine.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) folders: BTreeMap<AttemptId, Folder>,
    pub(crate) wires: BTreeMap<u64, Wire>,
    next_wire: u64,
    /// How many times it was booted.
    pub(crate) boot: u64,
}

impl Machine {
    /// Opens a connection to the keeper of an attempt, if it lives.
    pub(crate) fn connect(&mut self, attempt: AttemptId) -> Option<u64> {
        match self.folders.get_mut(&attempt).map(|folder| &mut folder.holder) {
            Some(Holder::Keeper(keeper)) => {
                self.next_wire += 1;
                self.wires.insert(self.next_wire, Wire::default());
                keeper.wires.push(self.next_wire);
                Some(self.next_wire)
            }
            Some(Holder::Nobody | Holder::Gone(_)) | None => None,
        }
    }

    /// The host's end of a connection is closed.
    pub(crate) fn hang_up(&mut self, wire: u64) {
        if let Some(wire) = self.wires.get_mut(&wire) {
            wire.host_gone = true;
            wire.to_host.clear();
        }
    }
}

/// The keeper of an attempt is gone, and with it its agent.
pub(crate) fn kill_keeper(w: &mut World, attempt: AttemptId) {
    let Some(folder) = w.machine.folders.get_mut(&attempt) else { return };
    let holder = std::mem::replace(&mut folder.holder, Holder::Nobody);
    let Holder::Keeper(mut keeper) = holder else {
        folder.holder = holder;
        return;
    };
    w.say(|| format!("keeper {} is dead", short(attempt)));
    if let Some(agent) = &mut keeper.agent {
        agent.end(w, crate::agent::Exit::Signal(9));
    }
    for wire in &keeper.wires {
        if let Some(wire) = w.machine.wires.get_mut(wire) {
            wire.keeper_gone = true;
        }
    }
    let torn = keeper.fate.dead.get();
    let files = keeper.into_files();
    if let Some(folder) = w.machine.folders.get_mut(&attempt) {
        folder.holder = Holder::Gone(files);
    }
    if torn {
        look_what_is_left(w, attempt);
    }
}

/// The spool of a dead keeper is not what was written: finds out what is left of it.
fn look_what_is_left(w: &mut World, attempt: AttemptId) {
    let Some(seen) = w.evidence.attempts.get_mut(&attempt) else { return };
    let progress = w.journal.store.load(seen.chat).and_then(|loaded| loaded.progress);
    let committed = progress.filter(|progress| progress.attempt == attempt);
    let committed = committed.map_or(0, |progress| progress.position.0);
    let mut left = BTreeSet::new();
    seen.exited = false;
    if let Some(Holder::Gone(files)) = w.machine.folders.get(&attempt).map(|folder| &folder.holder)
        && let Ok(reader) = SpoolReader::open(files.clone(), attempt.uuid(), committed)
    {
        for (record, next) in reader.map_while(Result::ok) {
            match record {
                Record::Line(_) | Record::Signalled { .. } => drop(left.insert(next)),
                Record::Exited { .. } => seen.exited = true,
                _ => {}
            }
        }
    }
    seen.keep(committed, &left);
}

/// Everything on the machine dies, as by `kill -9`: the page cache stays.
pub(crate) fn kill_everything(w: &mut World) {
    crate::host::crash(w);
    let all: Vec<AttemptId> = w.machine.folders.keys().copied().collect();
    for attempt in all {
        kill_keeper(w, attempt);
    }
}

/// The power goes. What was not synced may be lost, and the next boot is another one.
pub(crate) fn cut_power(w: &mut World) {
    kill_everything(w);
    w.machine.boot += 1;
    w.machine.wires.clear();
    let mut lost = Vec::new();
    for (attempt, folder) in &mut w.machine.folders {
        if let Some(seen) = w.evidence.attempts.get_mut(attempt) {
            seen.cut = true;
        }
        // Names that nobody synced are written back within half a minute or so.
        let young = w.clock.awake < folder.settled_at;
        if young && w.rng.permille(200) {
            lost.push(*attempt);
            continue;
        }
        if young && w.rng.permille(300) {
            folder.record = None;
        }
        if let Holder::Gone(files) = &mut folder.holder {
            let kind = w.rng.below(3);
            let rng = &mut w.rng;
            files.power_cut(|length| match kind {
                0 => 0,
                1 => length,
                _ if rng.permille(500) => length,
                _ => rng.below(length + 1),
            });
        }
    }
    for attempt in lost {
        w.say(|| format!("the folder of {} is lost", short(attempt)));
        w.machine.folders.remove(&attempt);
    }
    let hit: Vec<AttemptId> =
        w.evidence.attempts.iter().filter(|(_, seen)| seen.cut).map(|(id, _)| *id).collect();
    for attempt in hit {
        look_what_is_left(w, attempt);
    }
    w.homes.power_cut(&mut w.rng);
}
