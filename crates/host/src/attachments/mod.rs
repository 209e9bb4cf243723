//! What people attach: taken in, let go, and given to agents ([`letter`]). The bytes stay, under a
//! mark, before the chat decides about them, and the mark goes once it has.

pub mod letter;

use std::io;

use holdfast_core::attachment::Attachment;
use holdfast_core::ids::{AttachmentId, ChatId};
use holdfast_core::input::{Caller, Command, Reply};
use holdfast_core::refusal::{Code, Refusal};
use holdfast_store::Blobs;
use holdfast_store::blobs::{Incoming, Kept, refusal};

use crate::host::{Host, uncertain};

/// What somebody attaches: all its bytes are written, and nothing is decided.
#[derive(Debug)]
pub struct Upload {
    /// Its bytes.
    pub incoming: Incoming,
    /// What is known of them; the id is that of the bytes.
    pub attachment: Attachment,
}

impl Host {
    /// Where the bytes of attachments are.
    #[must_use]
    pub fn blobs(&self) -> Blobs {
        Blobs::of(&self.shared.options.data_dir)
    }

    /// Keeps what somebody attaches, and answers [`Reply::Attached`] once bytes and row are durable. A
    /// repeat of the operation gets the first answer; what it brought is let go.
    ///
    /// # Errors
    ///
    /// The refusals of the rules, of operations, of commits, of the disk, of a stop.
    pub async fn attach(
        &self,
        chat: ChatId,
        upload: Upload,
        caller: Caller,
    ) -> Result<Reply, Refusal> {
        let keep = |host: Self, caller| async move { host.keep(chat, upload, caller).await };
        self.to_its_end(caller, keep).await
    }

    async fn keep(&self, chat: ChatId, upload: Upload, caller: Caller) -> Result<Reply, Refusal> {
        let Upload { incoming, attachment } = upload;
        let kept = blocking(move || incoming.keep()).await?;
        holdfast_fault::point("host.attachment.kept");
        let id = attachment.id;
        let answer = self.submit(chat, Command::Attach(attachment), caller).await;
        holdfast_fault::point("host.attachment.stored");
        match &answer {
            Ok(Reply::Attached(stored)) if stored.id == id => settle(kept, Row::There).await,
            // It may be there and may not: the mark stays, and the next start looks.
            Err(refusal) if refusal.code == Code::NotDurable => drop(kept),
            Ok(_) | Err(_) => settle(kept, Row::Gone).await,
        }
        answer
    }

    /// Lets go of an attachment that no message names; its bytes go once that is durable.
    ///
    /// # Errors
    ///
    /// The refusals of the rules, of operations, of commits, of the disk, of a stop.
    pub async fn detach(
        &self,
        chat: ChatId,
        attachment: AttachmentId,
        caller: Caller,
    ) -> Result<Reply, Refusal> {
        let let_go =
            |host: Self, caller| async move { host.let_go(chat, attachment, caller).await };
        self.to_its_end(caller, let_go).await
    }

    async fn let_go(
        &self,
        chat: ChatId,
        attachment: AttachmentId,
        caller: Caller,
    ) -> Result<Reply, Refusal> {
        let blobs = self.blobs();
        let kept = blocking(move || blobs.leave(chat, attachment)).await?;
        let answer = self.submit(chat, Command::Detach { attachment }, caller).await;
        match &answer {
            Ok(_) => settle(kept, Row::Gone).await,
            Err(refusal) if refusal.code == Code::NotDurable => drop(kept),
            Err(_) => settle(kept, Row::There).await,
        }
        answer
    }

    /// Settles what a host left half done that died: what has a row stays, what has none goes. What
    /// cannot be read decides nothing.
    pub(crate) async fn sweep_attachments(&self) {
        let blobs = self.blobs();
        let marked = match tokio::task::spawn_blocking(move || blobs.marked()).await {
            Ok(Ok(marked)) => marked,
            Ok(Err(error)) => {
                let text = format!("The attachments on disk cannot be listed: {error}");
                return self.note_damage(text);
            }
            Err(_) => return,
        };
        for (chat, id, kept) in marked {
            match self.store().attachment(chat, id).await {
                Ok(Some(_)) => settle(kept, Row::There).await,
                Ok(None) => settle(kept, Row::Gone).await,
                Err(error) => tracing::warn!(%chat, "the attachment {id} stays marked: {error}"),
            }
        }
    }
}

/// What is known of the row of an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Row {
    There,
    Gone,
}

/// Has the bytes of an attachment follow its row. What that leaves undone is found marked.
pub(crate) async fn settle(kept: Kept, row: Row) {
    let settled = tokio::task::spawn_blocking(move || match row {
        Row::There => kept.confirm(),
        Row::Gone => kept.discard(),
    });
    let _ = settled.await;
}

async fn blocking(
    act: impl FnOnce() -> io::Result<Kept> + Send + 'static,
) -> Result<Kept, Refusal> {
    match tokio::task::spawn_blocking(act).await {
        Ok(done) => done.map_err(|error| refusal(&error)),
        Err(_) => Err(uncertain()),
    }
}

#[cfg(test)]
mod tests;
