//! What a host does first: it loads the chats that owe something, which is all the recovery there
//! is, and clears what attempts left on disk that no chat has any more.

use std::collections::HashSet;

use holdfast_core::ids::ChatId;
use holdfast_keeper::registry::{self, AttemptDir};
use holdfast_store::QueryError;

use crate::attempt;
use crate::host::Host;

impl Host {
    /// Begins to host: adopts, settles, goes on.
    ///
    /// # Errors
    ///
    /// The store cannot say which chats owe something.
    pub async fn start(&self) -> Result<(), QueryError> {
        let owing = self.store().owing().await?;
        // Before any actor lives: what one of them begins is not what an earlier host left.
        let found = registry::list(&self.shared.options.data_dir);
        let current = self.attempts_of(&owing).await;
        self.sweep_attachments().await;
        for chat in owing {
            let _ = self.actor(chat);
        }
        let host = self.clone();
        tokio::spawn(async move { host.sweep_temp().await });
        match (found, current) {
            (Ok(found), Ok(current)) => self.clear_leftovers(found, &current),
            (Err(error), _) => {
                self.shared.note_damage(format!("The attempts on disk cannot be listed: {error}"));
            }
            // What cannot be read decides nothing: any folder may be one of theirs.
            (_, Err(unread)) => self.shared.note_damage(format!(
                "{unread} chats that owe something could not be read: what attempts left on disk is kept."
            )),
        }
        Ok(())
    }

    /// The keepers that hold what people chose to leave running when they closed a chat. None where a chat
    /// that may have an attempt cannot be read.
    pub(crate) async fn keepers_left(&self) -> Vec<AttemptDir> {
        let found = registry::look(&self.shared.options.data_dir).unwrap_or_default();
        let mut left: Vec<AttemptDir> = found
            .into_iter()
            .filter(|dir| dir.is_alive().unwrap_or(false) && holds_leftovers(dir))
            .collect();
        if left.is_empty() {
            return left;
        }
        let Ok(owing) = self.store().owing().await else { return Vec::new() };
        let Ok(current) = self.attempts_of(&owing).await else { return Vec::new() };
        left.retain(|dir| !current.contains(&dir.attempt()));
        left
    }

    /// The attempts that these chats have; or how many of the chats cannot be read.
    async fn attempts_of(&self, chats: &[ChatId]) -> Result<HashSet<uuid::Uuid>, u32> {
        let mut attempts = HashSet::new();
        let mut unread = 0;
        for chat in chats {
            match self.attempt_of(*chat).await {
                Some(attempt) => attempts.extend(attempt),
                None => unread += 1,
            }
        }
        if unread == 0 { Ok(attempts) } else { Err(unread) }
    }

    /// The attempt that a chat has, if any; none at all where the chat cannot be read.
    async fn attempt_of(&self, chat: ChatId) -> Option<Option<uuid::Uuid>> {
        let loaded = self.store().load(chat).await.ok()?;
        match loaded {
            Some(loaded) if loaded.read_only.is_some() => None,
            Some(loaded) => Some(loaded.chat.head.attempt.map(|attempt| attempt.id.uuid())),
            None => Some(None),
        }
    }

    /// Removes what is on disk of attempts whose death is committed. A keeper that no chat knows
    /// and whose agent may live is never adopted and never ended: it is shown.
    fn clear_leftovers(&self, found: Vec<AttemptDir>, current: &HashSet<uuid::Uuid>) {
        for dir in found.into_iter().filter(|dir| !current.contains(&dir.attempt())) {
            match dir.is_alive() {
                Ok(false) => {
                    if let Err(error) = registry::remove(&dir) {
                        tracing::warn!("an attempt's leftovers stay: {error}");
                    }
                }
                Ok(true) if release_ended(&dir) => {
                    tokio::spawn(remove_when_dead(dir));
                }
                Ok(true) if holds_leftovers(&dir) => tracing::info!(
                    "the keeper of attempt {} holds what a closed chat left running",
                    dir.attempt()
                ),
                Ok(true) | Err(_) => self.shared.note_damage(format!(
                    "A keeper lives that belongs to no chat of this store: attempt {}. It was \
                     left alone.",
                    dir.attempt()
                )),
            }
        }
    }
}

/// Ends a keeper that only waits to be told that its attempt's death is known: the host died
/// between the commit and the word.
fn release_ended(dir: &AttemptDir) -> bool {
    let Ok(Some(record)) = dir.record() else { return false };
    let over = record.agent.is_none_or(|agent| !holdfast_keeper::tree::is_alive(agent))
        && holdfast_keeper::tree::count(dir.attempt()).is_ok_and(|count| count == 0);
    over && holdfast_keeper::tree::kill_keeper(record.keeper)
}

/// Whether a keeper only holds what a person chose to leave: its agent is dead, something lives on.
fn holds_leftovers(dir: &AttemptDir) -> bool {
    let Ok(Some(record)) = dir.record() else { return false };
    record.agent.is_some_and(|agent| !holdfast_keeper::tree::is_alive(agent))
}

/// Removes an attempt from the disk once its keeper, which was told to end, is gone; answers whether it
/// is.
pub(crate) async fn remove_when_dead(dir: AttemptDir) -> bool {
    if !attempt::is_gone(&dir).await {
        tracing::warn!("the keeper of attempt {} was told to end and lives", dir.attempt());
        return false;
    }
    if let Err(error) = registry::remove(&dir) {
        tracing::warn!("an attempt's leftovers stay: {error}");
    }
    true
}
