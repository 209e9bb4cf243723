//! An attempt is brought forth, or found again, and greeted.

use holdfast_core::input::KeeperEvent;
use holdfast_core::provider::StartFault;
use holdfast_host::attempt::verdict::{Course, course};
use holdfast_host::attempt::{Word, Writer};
use holdfast_keeper::connect::AttachError;
use holdfast_keeper::protocol::{Call, Hello, PROTOCOL_VERSION, ReadFrom, Reply, Start};
use holdfast_keeper::registry::{Limits, Secret as KeeperSecret, Spec};

use super::talk::{decode, take};
use super::{Driver, Stage, Writing};
use crate::keeper::Keeper;
use crate::machine::{Folder, Holder};
use crate::world::World;

/// When names that nobody synced are surely on disk, in microseconds.
const NAMES_SETTLE_MICROS: u64 = 30_000_000;

impl Driver {
    pub(super) fn create(&mut self, w: &mut World, say: &mut Vec<Word>) -> Stage {
        if !w.calm && w.rng.permille(w.weather.birth_fails) {
            let (fault, text) = (StartFault::DirectoryGone, "/gone".to_owned());
            say.push(Word::Event(KeeperEvent::SpawnFailed { fault, text }));
            return self.without_folder();
        }
        if w.disk_full {
            let (fault, text) = (StartFault::AgentRefused, "no space".to_owned());
            say.push(Word::Event(KeeperEvent::SpawnFailed { fault, text }));
            return self.without_folder();
        }
        let Some(secret) = self.keeper_secret() else {
            w.fail("the secret of an attempt is none".to_owned());
            return Stage::Over;
        };
        let spec = Spec {
            attempt: self.attempt.uuid(),
            secret,
            incarnation: w.journal.store.incarnation(),
            limits: match w.weather.keeper_patience.filter(|_| !w.calm) {
                Some(ms) => Limits { host_gone_ms: ms, start_wait_ms: ms, ..Limits::default() },
                None => Limits::default(),
            },
        };
        let settled_at = w.clock.awake + NAMES_SETTLE_MICROS;
        let holder = Holder::Nobody;
        let folder = Folder { chat: self.chat, spec, record: None, holder, settled_at };
        w.machine.folders.insert(self.attempt, folder);
        Stage::Spawn
    }

    pub(super) fn spawn(&mut self, w: &mut World, say: &mut Vec<Word>) -> Stage {
        if let Some(keeper) = Keeper::start(w, self.attempt) {
            if let Some(folder) = w.machine.folders.get_mut(&self.attempt) {
                folder.holder = Holder::Keeper(Box::new(keeper));
            }
            self.spawned = true;
            return Stage::Attach;
        }
        w.machine.folders.remove(&self.attempt);
        let (fault, text) = (StartFault::AgentRefused, "no keeper".to_owned());
        say.push(Word::Event(KeeperEvent::SpawnFailed { fault, text }));
        self.without_folder()
    }

    pub(super) fn attach(&mut self, w: &mut World) -> Stage {
        let Some(wire) = w.machine.connect(self.attempt) else {
            return match course(&AttachError::Dead(self.attempt.uuid())) {
                Course::Bury => self.bury(w),
                Course::Leave | Course::Again => Stage::Attach,
            };
        };
        let Some(secret) = self.keeper_secret() else { return Stage::Over };
        let start = Start { argv: vec!["agent".into()], env: Vec::new(), cwd: "/work".into() };
        let hello = Hello {
            version: PROTOCOL_VERSION,
            attempt: self.attempt.uuid(),
            secret,
            incarnation: w.journal.store.incarnation(),
            start: Some(start),
        };
        (self.writer, self.writing) = (Writer::default(), Writing::Next { from: None });
        self.call(w, wire, &Call::Hello(Box::new(hello)));
        Stage::Greeted { wire }
    }

    pub(super) fn keeper_secret(&self) -> Option<KeeperSecret> {
        let hex = &self.secret.0;
        let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..hex.len()).step_by(2).map(byte).collect();
        KeeperSecret::from_slice(&bytes?)
    }

    pub(super) fn greeted(&mut self, w: &mut World, wire: u64) -> Stage {
        let Some(bytes) = take(w, wire) else { return self.lost(w, wire) };
        match decode(&bytes) {
            Some(Reply::Welcome(welcome)) => {
                self.served = true;
                self.reading.attached(welcome.end);
                self.found |= self.reading.finds_life();
                let from = ReadFrom::Position(self.reading.position());
                self.call(w, wire, &Call::ReadFrom { from, window: u64::MAX });
                Stage::Reading { wire, assembler: None }
            }
            other => {
                w.fail(format!("a keeper answers a greeting with {other:?}"));
                Stage::Over
            }
        }
    }
}
