//! A fork: asked of one chat, and opened as another.

use holdfast_core::ids::ChatId;
use holdfast_core::input::{Caller, Command, Reply};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::ChatRow;

use crate::attachments::{Row, settle};
use crate::clock;
use crate::host::{Host, unasked, uncertain};

impl Host {
    /// Opens another chat that begins as this one is, up to the item at a place, and answers
    /// [`Reply::Opened`]. A repeat of the operation gets the first answer.
    ///
    /// # Errors
    ///
    /// The refusals of the rules, of operations, of commits, of the disk, of a stop.
    pub async fn fork(&self, chat: ChatId, at: u64, caller: Caller) -> Result<Reply, Refusal> {
        let open = |host: Self, caller| async move { host.open_fork(chat, at, caller).await };
        self.to_its_end(caller, open).await
    }

    async fn open_fork(&self, chat: ChatId, at: u64, caller: Caller) -> Result<Reply, Refusal> {
        let store = self.store();
        let turn = store.turn_place(chat, at).await.map_err(|error| unasked(&error))?;
        let attachments = store.files_until(chat, at).await.map_err(|error| unasked(&error))?;
        let fork = Command::Fork { at, turn, attachments };
        let fork = match self.submit(chat, fork, Caller::default()).await? {
            Reply::Forkable { fork } => fork,
            other => return Ok(other),
        };
        let row = store.chat(chat).await.map_err(|error| unasked(&error))?;
        let Some(ChatRow { title, project, summary, .. }) = row else {
            return Err(Refusal::new(Code::ChatNotFound, "There is no such chat."));
        };
        let (blobs, other) = (self.blobs(), clock::new_chat());
        let files: Vec<_> = fork.attachments.iter().map(|file| file.id).collect();
        let shared = tokio::task::spawn_blocking(move || blobs.share(chat, other, &files)).await;
        let shared = shared.map_err(|_| uncertain())?;
        let shared = shared.map_err(|error| holdfast_store::blobs::refusal(&error))?;
        holdfast_fault::point("host.fork.shared");
        let open = Command::Open {
            agent: summary.agent,
            cwd: summary.cwd,
            project,
            title,
            slot: None,
            model: summary.model,
            effort: summary.effort,
            mode: summary.mode,
            fork: Some(fork),
            adopt: None,
            message: None,
        };
        let answer = self.submit(other, open, caller).await;
        for kept in shared {
            match &answer {
                Ok(Reply::Opened { chat, .. }) if *chat == other => settle(kept, Row::There).await,
                // It may be there and may not: the mark stays, and the next start looks.
                Err(refusal) if refusal.code == Code::NotDurable => drop(kept),
                Ok(_) | Err(_) => settle(kept, Row::Gone).await,
            }
        }
        answer
    }
}
