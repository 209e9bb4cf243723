//! What is attached, and what names it.

use holdfast_core::attachment::Attachment;
use holdfast_core::fact::{Author, Fact, Place, WithdrawnWhy};
use holdfast_core::ids::{AttachmentId, MessageId};
use holdfast_core::item::{Field, Row};
use uuid::Uuid;

use super::messages::queue;
use super::pen::{accepted, message_id};
use super::{Backend, Pen};
use crate::CommitError;

pub(crate) fn file(n: u128) -> Attachment {
    Attachment {
        id: AttachmentId::new(Uuid::from_u128(n)),
        name: format!("{n} \u{00e9}.png"),
        media_type: "image/png".to_owned(),
        bytes: 7,
        sha256: format!("{n:064x}"),
    }
}

pub(crate) async fn attach(pen: &mut Pen, n: u128) -> Attachment {
    pen.put([Fact::AttachmentAdded(file(n))]).await;
    file(n)
}

/// A message that names these.
pub(crate) async fn names(pen: &mut Pen, n: u128, these: &[&Attachment]) -> MessageId {
    let Fact::MessageAccepted { message, by, bytes, digest, place, .. } =
        accepted(n, "look", Author::Person, Place::Tail)
    else {
        panic!("another fact");
    };
    let attachments = these.iter().map(|one| one.id).collect();
    pen.put([Fact::MessageAccepted { message, by, bytes, digest, place, attachments }]).await;
    message_id(n)
}

pub(crate) async fn same_as_loaded(pen: &Pen) {
    let loaded = pen.store.load(pen.id).await.unwrap().unwrap();
    assert_eq!(loaded.chat, pen.chat);
}

pub(super) async fn what_is_attached_is_there_in_order_until_it_is_let_go(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let (one, two) = (attach(&mut pen, 2).await, attach(&mut pen, 1).await);
    let again = pen.refused([Fact::AttachmentAdded(file(2))], []).await;
    assert!(matches!(again, CommitError::Refused(_)), "{again:?}");
    b.reopen();
    pen.store = b.store();
    same_as_loaded(&pen).await;
    let all = pen.store.attachments(pen.id).await.unwrap();
    let there: Vec<_> = all.iter().map(|row| row.attachment.clone()).collect();
    assert_eq!(there, [one.clone(), two.clone()]);
    assert!(all.iter().all(|row| row.named.is_none() && row.at.0 > 0));
    assert_eq!(pen.store.attachment(pen.id, one.id).await.unwrap().as_ref(), all.first());
    let mut other = Pen::open(b.store(), 2).await;
    assert_eq!(other.store.attachment(other.id, one.id).await.unwrap(), None);
    attach(&mut other, 2).await;
    pen.put([Fact::AttachmentRemoved { attachment: one.id }]).await;
    assert_eq!(pen.store.attachment(pen.id, one.id).await.unwrap(), None);
    assert!(other.store.attachment(other.id, one.id).await.unwrap().is_some());
    same_as_loaded(&pen).await;
}

pub(super) async fn a_message_has_what_it_names_in_its_order_wherever_it_goes(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let (one, two) = (attach(&mut pen, 1).await, attach(&mut pen, 2).await);
    let message = names(&mut pen, 7, &[&two, &one]).await;
    let row = pen.store.chat(pen.id).await.unwrap().unwrap();
    assert_eq!(row.last_prompt.as_deref(), Some("2 \u{e9}.png, 1 \u{e9}.png"), "it has no text");
    let plain = pen.accept(8, "plain").await;
    let named = [two.clone(), one.clone()];
    b.reopen();
    pen.store = b.store();
    same_as_loaded(&pen).await;
    let waiting = queue(&*pen.store, pen.id).await;
    assert_eq!(waiting[0].attachments, named);
    assert_eq!((waiting[1].id, waiting[1].attachments.len()), (plain, 0));
    assert_eq!(pen.store.attachment(pen.id, one.id).await.unwrap().unwrap().named, Some(message));

    pen.put([Fact::MessageEdited { message, bytes: 1, digest: "d".to_owned() }]).await;
    pen.start().await;
    let item = pen.hand(message, 1).await;
    let row = pen.store.message(pen.id, message).await.unwrap().unwrap();
    assert_eq!(row.attachments, named);
    let shown = pen.store.item(pen.id, item).await.unwrap().unwrap();
    assert_eq!(shown.message.unwrap().attachments, named);
    // One without a word is shown as one.
    let empty = Row::MessageText { message, text: String::new() };
    pen.write([], [empty]).await;
    let shown = pen.store.item(pen.id, item).await.unwrap().unwrap();
    assert_eq!((shown.texts.len(), shown.message.unwrap().attachments.len()), (0, 2));
    let text = pen.store.item_text(pen.id, item, Field::Text, 0..9).await.unwrap().unwrap();
    assert_eq!((text.bytes.len(), text.total), (0, 0));
    pen.put([Fact::MessageRequeued { message, place: Place::Head }]).await;
    same_as_loaded(&pen).await;
    pen.put([Fact::MessageWithdrawn { message, why: WithdrawnWhy::Person }]).await;
    let row = pen.store.message(pen.id, message).await.unwrap().unwrap();
    assert_eq!(row.attachments, named);
    same_as_loaded(&pen).await;
    // One that is named once more is named by both.
    let later = names(&mut pen, 9, &[&one]).await;
    let rows = [message, later].map(|message| pen.store.message(pen.id, message));
    for (row, count) in rows.into_iter().zip([2, 1]) {
        assert_eq!(row.await.unwrap().unwrap().attachments.len(), count);
    }
}

pub(super) async fn nothing_attached_to_a_deleted_chat_is_shown(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let one = attach(&mut pen, 1).await;
    let message = names(&mut pen, 7, &[&one]).await;
    pen.put([Fact::ChatDeleted]).await;
    assert_eq!(pen.store.attachments(pen.id).await.unwrap(), []);
    assert_eq!(pen.store.attachment(pen.id, one.id).await.unwrap(), None);
    let row = pen.store.message(pen.id, message).await.unwrap().unwrap();
    assert_eq!(row.attachments, []);
}
