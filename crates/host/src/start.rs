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
        let mut attempts = HashSet::new();
        let mut unread = 0_u32;
        for chat in owing {
            match self.attempt_of(chat).await {
                Some(attempt) => attempts.extend(attempt),
                None => unread += 1,
            }
            let _ = self.actor(chat);
        }
        if unread == 0 {
            self.clear_leftovers(&attempts);
        } else {
            // What cannot be read decides nothing: any folder may be one of theirs.
            self.shared.note_damage(format!(
                "{unread} chats that owe something could not be read: what attempts left on disk is kept."
            ));
        }
        Ok(())
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
    fn clear_leftovers(&self, current: &HashSet<uuid::Uuid>) {
        let data_dir = &self.shared.options.data_dir;
        let found = match registry::list(data_dir) {
            Ok(found) => found,
            Err(error) => {
                self.shared.note_damage(format!("The attempts on disk cannot be listed: {error}"));
                return;
            }
        };
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

/// Removes an attempt from the disk once its keeper, which was killed, is gone.
async fn remove_when_dead(dir: AttemptDir) {
    if !attempt::is_gone(&dir).await {
        tracing::warn!("the keeper of attempt {} was killed and lives", dir.attempt());
        return;
    }
    if let Err(error) = registry::remove(&dir) {
        tracing::warn!("an attempt's leftovers stay: {error}");
    }
}
