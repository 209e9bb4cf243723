//! Messages and the queue.

use holdfast_core::fact::{Author, Evidence, Fact, Paused, Place, RefusedWhy, WithdrawnWhy};
use holdfast_core::ids::{ChatId, FrameNo, MessageId, TaskId, TurnId};
use holdfast_core::item::Row;
use holdfast_core::provider::TaskKind;

use super::pen::{accepted, attempt_id, message_id};
use super::{Backend, Pen};
use crate::{CommitError, MessageRow, MessageState, QueueBounds, Store};

/// All that waits, with its texts.
pub(crate) async fn queue(store: &dyn Store, chat: ChatId) -> Vec<MessageRow> {
    let all = QueueBounds { messages: 10_000, head_bytes: 1 << 20, bytes: usize::MAX };
    store.queue(chat, None, all).await.unwrap().unwrap().rows
}

/// The ids that wait, by the rows; they are those that the head's fold has.
async fn waiting(pen: &Pen) -> Vec<MessageId> {
    let rows = queue(&*pen.store, pen.id).await;
    let by_rows: Vec<_> = rows.iter().map(|row| row.id).collect();
    let by_fold: Vec<_> = pen.chat.aside.queue.iter().map(|queued| queued.message).collect();
    assert_eq!(by_rows, by_fold);
    assert!(rows.iter().all(|row| row.state == MessageState::Queued));
    let loaded = pen.store.load(pen.id).await.unwrap().unwrap();
    assert_eq!(loaded.chat, pen.chat);
    by_rows
}

fn ids(ns: impl IntoIterator<Item = u128>) -> Vec<MessageId> {
    ns.into_iter().map(message_id).collect()
}

pub(super) async fn the_queue_is_in_the_order_of_the_head(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    for n in 1..=3 {
        pen.accept(n, &format!("text {n}")).await;
    }
    assert_eq!(waiting(&pen).await, ids(1..=3));
    pen.put([accepted(4, "now", Author::Person, Place::Head)]).await;
    assert_eq!(waiting(&pen).await, ids([4, 1, 2, 3]));
    // What the order does not name goes behind, in the order it had.
    pen.put([Fact::QueueOrdered { order: ids([3, 9, 1]) }]).await;
    assert_eq!(waiting(&pen).await, ids([3, 1, 4, 2]));
    pen.put([Fact::MessageWithdrawn { message: message_id(1), why: WithdrawnWhy::Person }]).await;
    assert_eq!(waiting(&pen).await, ids([3, 4, 2]));
    pen.put([accepted(5, "tail", Author::App, Place::Tail)]).await;
    pen.start().await;
    pen.hand(message_id(3), 1).await;
    assert_eq!(waiting(&pen).await, ids([4, 2, 5]));
    for (place, order) in [(Place::Head, [3, 4, 2, 5]), (Place::Tail, [4, 2, 5, 3])] {
        pen.put([Fact::MessageRequeued { message: message_id(3), place }]).await;
        assert_eq!(waiting(&pen).await, ids(order));
        let item = pen.chat.head.host_items;
        let item = holdfast_core::ids::ItemId::new(0, item);
        let (message, attempt, frame) = (message_id(3), attempt_id(1), FrameNo(2));
        pen.put([Fact::MessageHanded { message, attempt, frame, item, into: None }]).await;
        assert_eq!(waiting(&pen).await, ids([4, 2, 5]));
    }
    let edited = Fact::MessageEdited { message: message_id(2), bytes: 5, digest: "d".to_owned() };
    let text = Row::MessageText { message: message_id(2), text: "other".to_owned() };
    pen.write([edited, Fact::QueuePaused { by: Paused::Person }], [text]).await;
    assert_eq!(waiting(&pen).await, ids([4, 2, 5]));
    let row = &queue(&*pen.store, pen.id).await[1];
    assert_eq!((row.text.as_str(), row.bytes, row.digest.as_str()), ("other", 5, "d"));
    // A fact about a message that is not there, or does not wait, moves nothing.
    let (message, place) = (message_id(77), Place::Head);
    pen.put([
        Fact::MessageRequeued { message, place },
        Fact::MessageRequeued { message: message_id(4), place },
        Fact::MessageWithdrawn { message: message_id(1), why: WithdrawnWhy::Person },
    ])
    .await;
    assert_eq!(waiting(&pen).await, ids([4, 2, 5]));
}

pub(super) async fn the_queue_is_read_in_pages_of_beginnings(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    for n in 1..=5 {
        pen.accept(n, &format!("{n}é{}", "x".repeat(100_000))).await;
    }
    let page = async |from, messages, head_bytes, bytes| {
        let bounds = QueueBounds { messages, head_bytes, bytes };
        let page = pen.store.queue(pen.id, from, bounds).await.unwrap()?;
        let texts: Vec<String> = page.rows.iter().map(|row| row.text.clone()).collect();
        assert!(page.rows.iter().all(|row| row.bytes == 100_003));
        Some((texts, page.next))
    };
    let texts = |ns: &[u32]| ns.iter().map(|n| format!("{n}é")).collect::<Vec<_>>();
    // Two bytes would cut the é.
    assert_eq!(page(None, 1, 2, 9).await, Some((vec!["1".to_owned()], Some(message_id(2)))));
    assert_eq!(page(None, 2, 3, 99).await, Some((texts(&[1, 2]), Some(message_id(3)))));
    assert_eq!(page(None, 9, 3, 9).await, Some((texts(&[1, 2, 3]), Some(message_id(4)))));
    assert_eq!(page(None, 5, 3, 15).await, Some((texts(&[1, 2, 3, 4, 5]), None)));
    assert_eq!(page(Some(message_id(4)), 9, 3, 99).await, Some((texts(&[4, 5]), None)));
    // One at least, however little room there is.
    assert_eq!(page(None, 0, 3, 0).await, Some((texts(&[1]), Some(message_id(2)))));
    assert_eq!(page(Some(message_id(9)), 9, 3, 99).await, None);
}

pub(super) async fn a_message_goes_its_way(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let message = pen.accept(1, "hello").await;
    pen.start().await;
    let item = pen.hand(message, 1).await;
    let row = b.store().message(pen.id, message).await.unwrap().unwrap();
    assert_eq!(row.state, MessageState::Taken);
    assert_eq!(
        (row.item, row.turn, row.attempt),
        (Some(item), Some(TurnId(1)), Some(attempt_id(1)))
    );
    assert_eq!((row.text.as_str(), row.bytes, row.by), ("hello", 5, Author::Person));

    let why = RefusedWhy::Rejected { text: "no \"login\"".to_owned() };
    let evidence = Evidence::Person;
    for (fact, state) in [
        (Fact::MessageDoubted { message, asking: true }, MessageState::Unknown { asking: true }),
        (Fact::MessageDoubted { message, asking: false }, MessageState::Unknown { asking: false }),
        (Fact::MessageRefused { message, why: why.clone() }, MessageState::Refused(why)),
        (Fact::MessageTaken { message, evidence }, MessageState::Taken),
        (Fact::MessageSettled { message, evidence }, MessageState::Settled),
        // It is over: nothing moves it any more.
        (Fact::MessageDoubted { message, asking: true }, MessageState::Settled),
        (Fact::MessageTaken { message, evidence }, MessageState::Settled),
        (Fact::MessageWithdrawn { message, why: WithdrawnWhy::Discarded }, MessageState::Settled),
        // But for the agent's own store, which has lost it.
        (Fact::SettledSuspected { message }, MessageState::Settled),
        (Fact::MessageDisproved { message }, MessageState::Refused(RefusedWhy::NotInStore)),
    ] {
        pen.put([fact.clone()]).await;
        let row = b.store().message(pen.id, message).await.unwrap().unwrap();
        assert_eq!(row.state, state, "{fact:?}");
    }
    let gone = pen.accept(2, "later").await;
    let why = WithdrawnWhy::OfferEnded;
    pen.put([Fact::MessageWithdrawn { message: gone, why }]).await;
    let row = b.store().message(pen.id, gone).await.unwrap().unwrap();
    assert_eq!(row.state, MessageState::Withdrawn(why));
    assert_eq!(b.store().message(pen.id, message_id(3)).await.unwrap(), None);
}

pub(super) async fn a_message_cannot_be_accepted_twice(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    pen.accept(1, "once").await;
    let again = accepted(1, "twice", Author::Person, Place::Tail);
    let error = pen.refused([again.clone()], []).await;
    assert!(matches!(error, CommitError::Refused(_)), "{error}");
    // Another chat has messages of its own.
    let mut other = Pen::open(b.store(), 2).await;
    other.put([again]).await;
    assert_eq!(b.store().message(pen.id, message_id(1)).await.unwrap().unwrap().text, "once");
}

pub(super) async fn the_last_prompt_is_a_persons_last_message(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    let last = async || store.chat(super::pen::chat_id(1)).await.unwrap().unwrap().last_prompt;
    assert_eq!(last().await, None);
    let message = pen.accept(1, &format!("  first\nline {}", "é".repeat(300))).await;
    let cut = last().await.unwrap();
    assert!(cut.starts_with("first line é") && cut.ends_with('…'), "{cut}");
    assert_eq!(cut.chars().count(), crate::LAST_PROMPT_CHARS_MAX);
    let row = Row::MessageText { message: message_id(2), text: "an app's".to_owned() };
    pen.write([accepted(2, "an app's", Author::App, Place::Tail)], [row]).await;
    assert_eq!(last().await, Some(cut));
    let row = Row::MessageText { message, text: "edited".to_owned() };
    let fact = Fact::MessageEdited { message, bytes: 6, digest: String::new() };
    pen.write([fact], [row]).await;
    assert_eq!(last().await.as_deref(), Some("edited"));
}

pub(super) async fn the_first_prompt_stays(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let row = Row::MessageText { message: message_id(9), text: "an app's".to_owned() };
    pen.write([accepted(9, "an app's", Author::App, Place::Tail)], [row]).await;
    let message = pen.accept(1, "frist").await;
    let row = Row::MessageText { message, text: "first".to_owned() };
    let fact = Fact::MessageEdited { message, bytes: 5, digest: String::new() };
    pen.write([fact], [row]).await;
    pen.accept(2, "second").await;
    for _ in 0..2 {
        let row = b.store().chat(pen.id).await.unwrap().unwrap();
        assert_eq!(row.first_prompt.as_deref(), Some("first"));
        assert_eq!(row.last_prompt.as_deref(), Some("second"));
        b.reopen();
    }
}

pub(super) async fn loading_gives_what_was_decided_upon(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    pen.accept(1, "one").await;
    pen.accept(2, "two").await;
    pen.start().await;
    pen.hand(message_id(1), 1).await;
    let (task, kind, label) = (TaskId::new(1, 1), TaskKind::Agent, "look".to_owned());
    pen.put([Fact::TaskStarted { task, kind, label, foreground: false }]).await;
    let (prompt, item) = (holdfast_core::ids::PromptId::new(1, 1), super::prompts::ITEM);
    let asked = super::prompts::asked();
    pen.put([Fact::PromptOpened { prompt, item, asked }]).await;
    assert_eq!(b.store().load(pen.id).await.unwrap().unwrap().chat, pen.chat);
    b.reopen();
    let loaded = b.store().load(pen.id).await.unwrap().unwrap();
    assert_eq!(loaded.chat, pen.chat);
    assert_eq!(loaded.read_only, None);
    assert_eq!(loaded.chat.aside.queue[0].digest, holdfast_core::digest("two"));
    assert_eq!(b.store().load(super::pen::chat_id(9)).await.unwrap(), None);
}
