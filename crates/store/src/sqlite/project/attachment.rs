//! Attachments, and the messages that name them.

use holdfast_core::attachment::Attachment;
use holdfast_core::ids::{AttachmentId, MessageId};
use rusqlite::params;

use super::Projection;
use crate::journal::CommitError;
use crate::sqlite::fail::Fail;

impl Projection<'_> {
    pub(super) fn attach(&self, added: &Attachment) -> Result<(), Fail> {
        let sql = "INSERT INTO attachments (chat, id, name, media_type, bytes, sha256, at)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
        let uuid = added.id.uuid();
        let new = self.db.prepare_cached(sql)?.execute(params![
            self.key,
            uuid.as_bytes().as_slice(),
            added.name,
            added.media_type,
            added.bytes,
            added.sha256,
            self.at.0,
        ])?;
        if new == 0 {
            let text = format!("{} was attached before", added.id);
            return Err(CommitError::Refused(text).into());
        }
        Ok(())
    }

    pub(super) fn detach(&self, attachment: AttachmentId) -> Result<(), Fail> {
        let uuid = attachment.uuid();
        let mut sql =
            self.db.prepare_cached("DELETE FROM attachments WHERE chat = ? AND id = ?")?;
        sql.execute(params![self.key, uuid.as_bytes().as_slice()])?;
        Ok(())
    }

    /// Notes what goes with a message that was just accepted.
    pub(super) fn name(&self, message: MessageId, named: &[AttachmentId]) -> Result<(), Fail> {
        let of = message.uuid();
        let of = of.as_bytes().as_slice();
        for (place, attachment) in (1_i64..).zip(named) {
            let uuid = attachment.uuid();
            let id = uuid.as_bytes().as_slice();
            let sql = "INSERT INTO message_attachments (message, place, attachment)
                SELECT n, ?, ? FROM messages WHERE chat = ? AND id = ?";
            self.db.prepare_cached(sql)?.execute(params![place, id, self.key, of])?;
            let sql = "UPDATE attachments SET named = ? WHERE chat = ? AND id = ?";
            self.db.prepare_cached(sql)?.execute(params![of, self.key, id])?;
        }
        Ok(())
    }
}
