//! A fork: asked of one chat, and opened as another.

use holdfast_core::ids::ChatId;
use holdfast_core::input::{Caller, Command, Reply};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::ChatRow;

use crate::host::{Host, unasked};

impl Host {
    /// Opens another chat that begins as this one is, up to the item at a place, and answers
    /// [`Reply::Opened`]. A repeat of the operation gets the first answer.
    ///
    /// # Errors
    ///
    /// The refusals of the rules, of operations, of commits, of a stop.
    pub async fn fork(&self, chat: ChatId, at: u64, caller: Caller) -> Result<Reply, Refusal> {
        if let Some(reply) = self.replayed(&caller).await? {
            return Ok(reply);
        }
        let fork = match self.submit(chat, Command::Fork { at }, Caller::default()).await? {
            Reply::Forkable { fork } => fork,
            other => return Ok(other),
        };
        let row = self.store().chat(chat).await.map_err(|error| unasked(&error))?;
        let Some(ChatRow { title, project, summary, .. }) = row else {
            return Err(Refusal::new(Code::ChatNotFound, "There is no such chat."));
        };
        let open = Command::Open {
            agent: summary.agent,
            cwd: summary.cwd,
            project,
            title,
            slot: None,
            model: summary.model,
            mode: summary.mode,
            fork: Some(fork),
            message: None,
        };
        self.open(open, caller).await
    }
}
