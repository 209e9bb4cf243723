//! Chats: slots, lists, counts, drafts, deletion.

use std::sync::Arc;

use holdfast_core::fact::{Author, Death, Fact, Place};
use holdfast_core::head::Life;
use holdfast_core::ids::{ChatId, Seq};
use holdfast_core::input::Reply;
use holdfast_core::item::{Body, Field, ItemKind};
use holdfast_core::limits::DRAFT_BYTES_MAX;
use holdfast_core::offer::Failure;
use holdfast_core::time::Micros;

use super::feed::offered;
use super::pen::{accepted, chat_id, message_id};
use super::{Backend, Pen};
use crate::{ChatFilter, CommitError, Counts, MessageState, Operation, PageFrom, QueryError, What};

fn bound(slot: Option<&str>) -> Fact {
    Fact::SlotBound { slot: slot.map(str::to_owned) }
}

pub(super) async fn a_slot_belongs_to_one_open_chat(b: impl Backend) {
    let store = b.store();
    let mut one = Pen::open(b.store(), 1).await;
    let mut two = Pen::open(b.store(), 2).await;
    one.put([bound(Some("main"))]).await;
    let owner = async || store.chat_by_slot("main".to_owned()).await.unwrap().map(|row| row.id);
    assert_eq!(owner().await, Some(one.id));
    let taken = CommitError::SlotTaken { slot: "main".to_owned() };
    assert_eq!(two.refused([bound(Some("main"))], []).await, taken);
    assert_eq!(store.chat(two.id).await.unwrap().unwrap().slot, None);
    // A closed chat lets go of it, and gets it back only if it is free.
    one.put([Fact::ChatClosed]).await;
    assert_eq!(owner().await, None);
    two.put([bound(Some("main"))]).await;
    assert_eq!(owner().await, Some(two.id));
    assert_eq!(one.refused([Fact::ChatReopened], []).await, taken);
    two.put([bound(None)]).await;
    one.put([Fact::ChatReopened]).await;
    assert_eq!(owner().await, Some(one.id));
}

pub(super) async fn a_slot_moves_within_one_group(b: impl Backend) {
    let store = b.store();
    let mut one = Pen::open(b.store(), 1).await;
    let two = Pen::open(b.store(), 2).await;
    one.put([bound(Some("main"))]).await;
    let free = one.unit(vec![bound(None)], Vec::new());
    let take = two.unit(vec![bound(Some("main"))], Vec::new());
    assert!(store.commit(vec![take.clone(), free.clone()]).await.is_err());
    store.commit(vec![free, take]).await.unwrap();
    let owner = store.chat_by_slot("main".to_owned()).await.unwrap().unwrap();
    assert_eq!(owner.id, two.id);
}

pub(super) async fn lists_are_paged_and_filtered(b: impl Backend) {
    let store = b.store();
    let mut pens = Vec::new();
    for n in 1..=7 {
        pens.push(Pen::open(b.store(), n).await);
    }
    pens[2].put([Fact::ChatClosed]).await;
    pens[4].put([Fact::ChatClosed]).await;
    pens[5].put([Fact::ChatDeleted]).await;
    let title = "happened last".to_owned();
    pens[0].put([Fact::ChatTitled { title, by: holdfast_core::fact::Namer::Person }]).await;
    pens[0].accept(1, "hello").await;
    let list = async |filter, size| {
        let (mut all, mut before) = (Vec::new(), None);
        loop {
            let page = store.chats(filter, before, size).await.unwrap();
            assert!(page.rows.len() <= size);
            all.extend(page.rows.into_iter().map(|row| row.id));
            before = page.next;
            if before.is_none() {
                return all;
            }
        }
    };
    let ids = |ns: &[u128]| ns.iter().map(|n| chat_id(*n)).collect::<Vec<ChatId>>();
    for size in [1, 2, 100] {
        assert_eq!(list(ChatFilter::Open, size).await, ids(&[1, 7, 4, 2]));
        assert_eq!(list(ChatFilter::Closed, size).await, ids(&[5, 3]));
        assert_eq!(list(ChatFilter::All, size).await, ids(&[1, 5, 3, 7, 4, 2]));
    }
    let odd = store.chats(ChatFilter::Open, Some("x".to_owned()), 5).await;
    assert_eq!(odd, Err(QueryError::InvalidPage));
    let row = store.chat(pens[0].id).await.unwrap().unwrap();
    assert_eq!(row.title.as_deref(), Some("happened last"));
    assert_eq!((row.project.as_deref(), row.unreadable), (Some("engine"), None));
    assert_eq!((row.created_at, row.updated_at), (Micros(1001), Micros(1003)));
    assert_eq!(row.summary, pens[0].unit(Vec::new(), Vec::new()).summary);
}

pub(super) async fn looking_and_arranging_move_no_chat(mut b: impl Backend) {
    let mut one = Pen::open(b.store(), 1).await;
    Pen::open(b.store(), 2).await;
    let attempt = one.start().await;
    for fact in [
        Fact::ChatSeen { seen: false },
        Fact::ChatSeen { seen: true },
        Fact::ChatPinned { pinned: true },
        Fact::ChatFiled { folder: Some("Work".to_owned()) },
        Fact::ChatTagged { tags: vec!["a".to_owned()] },
        bound(Some("main")),
        Fact::AttemptEnded { attempt, death: Death::HostLost },
    ] {
        let done = one.put([fact.clone()]).await;
        // Whoever shows the row is told all the same.
        let told = one.store.changes(done.changes().start - 1, 10).await.unwrap();
        assert!(told.iter().any(|change| change.what == What::Chat), "{fact:?}");
    }
    for _ in 0..2 {
        let page = b.store().chats(ChatFilter::Open, None, 9).await.unwrap();
        let rows: Vec<_> = page.rows.iter().map(|row| (row.id, row.updated_at)).collect();
        assert_eq!(rows, [(chat_id(2), Micros(1001)), (chat_id(1), Micros(1001))]);
        b.reopen();
    }
    one.store = b.store();
    one.accept(1, "hello").await;
    let page = b.store().chats(ChatFilter::Open, None, 9).await.unwrap();
    assert_eq!((page.rows[0].id, page.rows[0].updated_at), (chat_id(1), Micros(one.now)));
}

pub(super) async fn counts_follow_the_summaries(b: impl Backend) {
    let store = b.store();
    let counts = async || store.counts().await.unwrap();
    assert_eq!(counts().await, Counts::default());
    let mut one = Pen::open(b.store(), 1).await;
    let mut two = Pen::open(b.store(), 2).await;
    one.accept(1, "a").await;
    one.accept(2, "b").await;
    assert_eq!(counts().await, Counts { open: 2, queued: 2, ..Counts::default() });
    one.start().await;
    one.hand(message_id(1), 1).await;
    assert_eq!(counts().await, Counts { open: 2, queued: 1, running: 1, ..Counts::default() });
    two.put([offered(1)]).await;
    assert_eq!(counts().await.to_resume, 0);
    let done = two.put([Fact::OfferShown { recorded_at: Micros(1) }]).await;
    assert_eq!(counts().await.to_resume, 1);
    let told = store.changes(done.changes().start - 1, 10).await.unwrap();
    assert!(told.iter().any(|change| change.what == What::Counts && change.chat.is_none()));
    let failure =
        Failure { code: "agent_died".to_owned(), text: "x".to_owned(), actions: Vec::new() };
    two.put([Fact::FailureFiled(failure)]).await;
    assert_eq!(counts().await.to_check, 1);
    two.put([Fact::ChatDeleted]).await;
    assert_eq!(counts().await, Counts { open: 1, queued: 1, running: 1, ..Counts::default() });
    one.put([Fact::ChatClosed]).await;
    assert_eq!(counts().await.open, 0);
}

pub(super) async fn owing_chats_are_found(b: impl Backend) {
    let store = b.store();
    let mut one = Pen::open(b.store(), 1).await;
    let mut two = Pen::open(b.store(), 2).await;
    Pen::open(b.store(), 3).await;
    assert_eq!(store.owing().await.unwrap(), []);
    one.accept(1, "runs").await;
    two.put([offered(1)]).await;
    assert_eq!(store.owing().await.unwrap(), [one.id, two.id]);
    two.put([Fact::OfferShown { recorded_at: Micros(1) }]).await;
    assert_eq!(store.owing().await.unwrap(), [one.id]);
}

pub(super) async fn a_deleted_chat_is_gone(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let attempt = pen.start().await;
    let handed = pen.accept(1, "at the agent").await;
    pen.hand(handed, 1).await;
    let waits = pen.accept(2, "waits").await;
    let item = pen.item(9, ItemKind::Message, Body::Text).await;
    pen.put([super::journal::titled("mine"), offered(1)]).await;
    let principal = || "ada".to_owned();
    b.store().put_draft(pen.id, principal(), "draft".to_owned(), Micros(1), None).await.unwrap();
    let done = pen.put([Fact::ChatDeleted]).await;
    let told = b.store().changes(done.changes().start - 1, 10).await.unwrap();
    assert!(told.iter().any(|c| c.what == What::Removed && c.chat == Some(pen.id)));
    assert!(told.iter().all(|c| c.what != What::Chat && c.what != What::Queue));
    // Its agent is still being stopped and may write.
    pen.write(
        [],
        [holdfast_core::item::Row::ItemText {
            item,
            field: Field::Text,
            at: 0,
            text: "last words".to_owned(),
        }],
    )
    .await;
    for round in 0..3 {
        let store = b.store();
        let row = store.chat(pen.id).await.unwrap().unwrap();
        assert_eq!(row.summary.life, Life::Deleted);
        assert_eq!((row.title, row.first_prompt, row.last_prompt), (None, None, None));
        assert!(store.chats(ChatFilter::All, None, 9).await.unwrap().rows.is_empty());
        assert!(store.items(pen.id, PageFrom::Newest, 9).await.unwrap().is_empty());
        assert_eq!(store.item(pen.id, item).await.unwrap(), None);
        assert_eq!(store.item_text(pen.id, item, Field::Text, 0..5).await.unwrap(), None);
        assert!(store.turns(pen.id, None, 9).await.unwrap().is_empty());
        assert!(super::messages::queue(&*store, pen.id).await.is_empty());
        assert!(store.facts(pen.id, Seq(0), 9).await.unwrap().is_empty());
        assert!(store.offers().await.unwrap().is_empty());
        assert_eq!(store.draft(pen.id, principal()).await.unwrap(), None);
        let row = store.message(pen.id, waits).await.unwrap().unwrap();
        let withdrawn = holdfast_core::fact::WithdrawnWhy::ChatDeleted;
        assert_eq!((row.state, row.text.as_str()), (MessageState::Withdrawn(withdrawn), ""));
        let row = store.message(pen.id, handed).await.unwrap().unwrap();
        assert_eq!((row.state, row.text.as_str()), (MessageState::Taken, ""));
        let draft = store.put_draft(pen.id, principal(), "x".to_owned(), Micros(1), None).await;
        assert!(matches!(draft, Err(CommitError::Refused(_))));
        let loaded = store.load(pen.id).await.unwrap().unwrap();
        assert_eq!((loaded.chat.head, loaded.read_only), (pen.chat.head.clone(), None));
        match round {
            0 => {
                pen.put([Fact::AttemptEnded { attempt, death: Death::KeeperLost }]).await;
            }
            _ => b.reopen(),
        }
        pen.store = b.store();
    }
}

pub(super) async fn a_draft_is_kept_until_a_message_clears_it(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let (ada, bob) = (|| "ada".to_owned(), || "bob".to_owned());
    let put = |store: &dyn crate::Store, who: String, text: &str| {
        store.put_draft(chat_id(1), who, text.to_owned(), Micros(7), None)
    };
    put(&*b.store(), ada(), "half a th").await.unwrap();
    put(&*b.store(), ada(), "half a thought").await.unwrap();
    put(&*b.store(), bob(), "bob's").await.unwrap();
    b.reopen();
    let store = b.store();
    pen.store = b.store();
    let draft = store.draft(pen.id, ada()).await.unwrap().unwrap();
    assert_eq!((draft.text.as_str(), draft.at), ("half a thought", Micros(7)));
    // A refused message leaves it, an accepted one clears its author's.
    let mut unit = pen.unit(vec![accepted(1, "x", Author::Person, Place::Tail)], Vec::new());
    unit.clear_draft = Some(ada());
    let mut refused = unit.clone();
    refused.after = Seq(5);
    assert!(pen.commit(refused).await.is_err());
    assert!(store.draft(pen.id, ada()).await.unwrap().is_some());
    pen.commit(unit).await.unwrap();
    assert_eq!(store.draft(pen.id, ada()).await.unwrap(), None);
    assert_eq!(store.draft(pen.id, bob()).await.unwrap().unwrap().text, "bob's");
    put(&*store, bob(), "").await.unwrap();
    assert_eq!(store.draft(pen.id, bob()).await.unwrap(), None);
    let long = "x".repeat(DRAFT_BYTES_MAX + 1);
    assert!(matches!(put(&*store, ada(), &long).await, Err(CommitError::Refused(_))));
    put(&*store, ada(), &long[1..]).await.unwrap();
    let nowhere = store.put_draft(chat_id(8), ada(), "x".to_owned(), Micros(1), None).await;
    assert!(matches!(nowhere, Err(CommitError::Refused(_))));
}

pub(super) async fn a_draft_is_put_once_under_one_key(mut b: impl Backend) {
    let pen = Pen::open(b.store(), 1).await;
    let ada = || "ada".to_owned();
    let operation = || {
        let (principal, key, reply) = (ada(), "k".to_owned(), Reply::Done);
        Some(Operation { principal, key, body: [1; 32], reply })
    };
    let put = |store: Arc<dyn crate::Store>, text: &str, at: i64, operation| {
        store.put_draft(chat_id(1), ada(), text.to_owned(), Micros(at), operation)
    };
    put(b.store(), "older", 7, operation()).await.unwrap();
    put(b.store(), "newer", 8, None).await.unwrap();
    let again = put(b.store(), "older", 9, operation()).await;
    assert_eq!(again, Err(CommitError::OperationExists));
    // What is refused spends no key.
    let refused = b.store().put_draft(
        chat_id(8),
        ada(),
        "x".to_owned(),
        Micros(9),
        operation().map(|o| Operation { key: "free".to_owned(), ..o }),
    );
    assert!(matches!(refused.await, Err(CommitError::Refused(_))));
    b.reopen();
    assert_eq!(b.store().draft(pen.id, ada()).await.unwrap().unwrap().text, "newer");
    assert_eq!(b.store().operation(ada(), "free".to_owned()).await.unwrap(), None);
    let stored = b.store().operation(ada(), "k".to_owned()).await.unwrap().unwrap();
    assert_eq!((stored.chat, stored.at), (Some(pen.id), Micros(7)));
}
