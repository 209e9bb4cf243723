//! The change feed, offers and failures.

use holdfast_core::activity::Lead;
use holdfast_core::fact::{Death, Fact, OfferEnd};
use holdfast_core::item::{Body, Field, ItemKind, Row};
use holdfast_core::offer::{Action, Cause, Failure, Snapshot, TaskCounts};
use holdfast_core::time::Micros;

use super::pen::{chat_id, message_id};
use super::{Backend, Pen};
use crate::{ChangeBounds, What};

fn snapshot() -> Snapshot {
    Snapshot {
        lead: Lead::Working,
        starting: false,
        prompts: Vec::new(),
        tasks: Vec::new(),
        more_prompts: 0,
        more_tasks: 0,
        task_counts: TaskCounts::default(),
    }
}

pub(crate) fn offered(at: i64) -> Fact {
    Fact::OfferRecorded {
        cause: Cause::HostLost,
        recorded_at: Micros(at),
        snapshot: Box::new(snapshot()),
        continuation: message_id(99),
        root: Some("r".to_owned()),
    }
}

pub(super) async fn every_change_is_told_in_order(b: impl Backend) {
    let store = b.store();
    let mut one = Pen::open(b.store(), 1).await;
    let mut two = Pen::open(b.store(), 2).await;
    let message = one.accept(1, "hi").await;
    two.item(1, ItemKind::Message, Body::Text).await;
    one.start().await;
    let item = one.hand(message, 1).await;
    let all = store.changes(0, 1000).await.unwrap();
    let newest = all.last().unwrap().n;
    assert_eq!(all.iter().map(|c| c.n).collect::<Vec<_>>(), (1..=newest).collect::<Vec<_>>());
    assert_eq!(store.change_bounds().await.unwrap(), ChangeBounds { complete_after: 0, newest });
    for after in 0..=newest {
        for limit in [1, 3, 1000] {
            let page = store.changes(after, limit).await.unwrap();
            let rest = &all[after as usize..];
            assert_eq!(page, rest[..limit.min(rest.len())]);
        }
    }
    assert!(store.changes(newest + 5, 10).await.unwrap().is_empty());
    assert!(store.changes(u64::MAX, 10).await.unwrap().is_empty());
    for what in
        [What::Chat, What::Queue, What::Item(item), What::Turn(holdfast_core::ids::TurnId(1))]
    {
        assert!(all.iter().any(|c| c.what == what && c.chat == Some(one.id)), "{what}");
    }
    assert!(all.iter().any(|c| c.what == What::Counts && c.chat.is_none()));
}

pub(super) async fn a_commit_without_effect_tells_nothing(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let item = pen.item(1, ItemKind::Message, Body::Text).await;
    let text = Row::ItemText { item, field: Field::Text, at: 0, text: "abc".to_owned() };
    let done = pen.write([], [text.clone()]).await;
    assert_eq!(done.changes().end - done.changes().start, 1);
    let done = pen.write([], [text]).await;
    assert!(done.changes().is_empty());
    let done = pen.write([], [Row::ItemClosed { item }]).await;
    assert!(!done.changes().is_empty());
    let done = pen.write([], [Row::ItemClosed { item }]).await;
    assert!(done.changes().is_empty());
}

pub(super) async fn the_newest_change_is_announced(b: impl Backend) {
    let store = b.store();
    let mut newest = store.subscribe();
    let mut pen = Pen::open(b.store(), 1).await;
    newest.changed().await.unwrap();
    let told = *newest.borrow_and_update();
    assert_eq!(told, store.change_bounds().await.unwrap().newest);
    let done = pen.accept(1, "hi").await;
    newest.changed().await.unwrap();
    assert_eq!(*newest.borrow(), store.change_bounds().await.unwrap().newest);
    assert!(store.message(pen.id, done).await.unwrap().is_some());
}

pub(super) async fn an_item_bears_the_number_of_its_last_change(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    let message = pen.accept(1, "hi").await;
    pen.start().await;
    let item = pen.hand(message, 1).await;
    pen.put([Fact::MessageDoubted { message, asking: true }]).await;
    let version = store.item(pen.id, item).await.unwrap().unwrap().version;
    let all = store.changes(0, 1000).await.unwrap();
    let last = all.iter().rev().find(|c| c.what == What::Item(item)).unwrap();
    assert_eq!(version, last.n);
}

pub(super) async fn an_offer_lives_until_it_ends(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let mut other = Pen::open(b.store(), 2).await;
    let done = pen.put([offered(20)]).await;
    let told = b.store().changes(done.changes().start - 1, 10).await.unwrap();
    assert!(told.iter().any(|c| c.what == What::Offer));
    // A held queue is another queue.
    assert!(told.iter().any(|c| c.what == What::Queue));
    other.put([offered(10)]).await;
    b.reopen();
    pen.store = b.store();
    let offers = b.store().offers().await.unwrap();
    let order: Vec<_> = offers.iter().map(|row| row.chat).collect();
    assert_eq!(order, [chat_id(2), chat_id(1)]);
    let row = b.store().offer(pen.id).await.unwrap().unwrap();
    assert_eq!(Some(&row), offers.get(1));
    assert_eq!((row.cause, row.recorded_at), (Some(Cause::HostLost), Micros(20)));
    assert_eq!((row.snapshot, row.continuation), (Some(snapshot()), Some(message_id(99))));
    assert!(!row.shown && !row.resuming && !row.needs_choice && row.readable);
    let recorded_at = Micros(20);
    pen.put([Fact::OfferShown { recorded_at }, Fact::ResumeStarted { recorded_at, choice: None }])
        .await;
    let row = b.store().offer(pen.id).await.unwrap().unwrap();
    assert!(row.shown && row.resuming);
    pen.put([Fact::ResumeStopped { recorded_at }]).await;
    assert!(!b.store().offer(pen.id).await.unwrap().unwrap().resuming);
    // A newer stop takes its place.
    pen.put([offered(30)]).await;
    let row = b.store().offer(pen.id).await.unwrap().unwrap();
    assert_eq!((row.recorded_at, row.shown), (Micros(30), false));
    pen.put([Fact::OfferEnded { recorded_at: Micros(30), how: OfferEnd::Dismissed }]).await;
    assert_eq!(b.store().offer(pen.id).await.unwrap(), None);

    // It needs a choice as long as a message is in doubt.
    let message = pen.accept(1, "hi").await;
    let attempt = pen.start().await;
    pen.hand(message, 1).await;
    let ended = Fact::AttemptEnded { attempt, death: Death::KeeperLost };
    pen.put([offered(40), ended, Fact::MessageDoubted { message, asking: false }]).await;
    assert!(pen.unit(Vec::new(), Vec::new()).summary.needs_choice);
    assert!(b.store().offer(pen.id).await.unwrap().unwrap().needs_choice);
    let evidence = holdfast_core::fact::Evidence::Person;
    pen.put([Fact::MessageSettled { message, evidence }]).await;
    assert!(!b.store().offer(pen.id).await.unwrap().unwrap().needs_choice);
}

pub(super) async fn a_failure_lives_until_it_is_cleared(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    let failure = Failure {
        code: "login_needed".to_owned(),
        text: "Log in.".to_owned(),
        actions: vec![Action::Retry, Action::OpenChat],
    };
    pen.put([Fact::FailureFiled(failure.clone())]).await;
    let rows = store.failures().await.unwrap();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!((row.chat, row.at), (pen.id, Micros(pen.now)));
    assert_eq!(
        (&row.code, &row.text, &row.actions),
        (&failure.code, &failure.text, &failure.actions)
    );
    let done = pen.put([Fact::FailureCleared]).await;
    assert!(store.failures().await.unwrap().is_empty());
    let told = store.changes(done.changes().start - 1, 10).await.unwrap();
    assert!(told.iter().any(|c| c.what == What::Failure));
}
