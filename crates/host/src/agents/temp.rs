//! The temp directories of chats: made with an agent, removed with the chat.

use std::path::PathBuf;

use holdfast_core::head::Life;
use holdfast_core::ids::ChatId;

use super::Agents;
use crate::host::Host;

impl Agents {
    /// Removes what the agents of a deleted chat left in its temp directory.
    pub(crate) fn remove_temp(&self, chat: ChatId) {
        let dir = self.temp_dir(chat);
        tokio::task::spawn_blocking(move || remove(&dir));
    }
}

/// What is not there is removed.
fn remove(dir: &PathBuf) {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!("{} stays: {error}", dir.display());
        }
        Ok(()) | Err(_) => {}
    }
}

impl Host {
    /// Removes the temp directories of chats that were deleted when a host died before it had
    /// done so. One whose chat cannot be read, or is not known, stays.
    pub(crate) async fn sweep_temp(&self) {
        let root = self.shared.options.agents.temp_root().to_owned();
        let listed = tokio::task::spawn_blocking(move || names(&root)).await.unwrap_or_default();
        for chat in listed.iter().filter_map(|name| name.parse::<ChatId>().ok()) {
            let Ok(Some(loaded)) = self.store().load(chat).await else { continue };
            let head = &loaded.chat.head;
            if loaded.read_only.is_none() && head.life == Life::Deleted && head.attempt.is_none() {
                self.shared.options.agents.remove_temp(chat);
            }
        }
    }
}

fn names(root: &PathBuf) -> Vec<String> {
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}
