//! Attachments: kept with the chat, named by messages, let go where no message names them.

use super::Draft;
use crate::attachment::{Attachment, media_type, name, room, size};
use crate::fact::Fact;
use crate::head::Life;
use crate::ids::AttachmentId;
use crate::input::Reply;
use crate::refusal::{Code, Refusal};

/// Keeps an attachment whose bytes are durable already.
pub(super) fn add(d: &mut Draft<'_>, attachment: Attachment) -> Result<Reply, Refusal> {
    if d.chat.head.life != Life::Open {
        let text = "The chat is closed. Open it again to attach something.";
        return Err(Refusal::new(Code::ChatClosed, text));
    }
    let attachment = Attachment {
        name: name(&attachment.name)?,
        media_type: media_type(&attachment.media_type)?,
        ..attachment
    };
    size(attachment.bytes)?;
    room(&d.chat.aside.attachments, attachment.bytes)?;
    d.push(Fact::AttachmentAdded(attachment.clone()));
    Ok(Reply::Attached(attachment))
}

/// Lets go of an attachment that no message names: what a message holds goes with its chat only.
pub(super) fn remove(d: &mut Draft<'_>, attachment: AttachmentId) -> Result<Reply, Refusal> {
    let Some(held) = d.chat.aside.attachments.get(&attachment) else {
        let text = format!("The chat has no attachment {attachment}.");
        return Err(Refusal::new(Code::AttachmentNotFound, text));
    };
    if let Some(message) = held.named {
        let text = format!("The message {message} names this attachment: it goes with the chat.");
        return Err(Refusal::new(Code::AttachmentInUse, text));
    }
    d.push(Fact::AttachmentRemoved { attachment });
    Ok(Reply::Done)
}
