//! Commits: fences, groups, keys.

use holdfast_core::fact::{Author, Death, Fact, Place};
use holdfast_core::ids::{Position, Seq};
use holdfast_core::input::Reply;
use holdfast_core::item::Row;
use holdfast_core::limits::CODEC_STATE_BYTES_MAX;
use holdfast_core::time::Micros;

use super::pen::{accepted, attempt_id, chat_id, message_id, opened};
use super::{Backend, Pen};
use crate::{CommitError, FactRow, Operation, Progress, StoredFact};

pub(super) fn titled(title: &str) -> Fact {
    Fact::ChatTitled { title: title.to_owned(), by: holdfast_core::fact::Namer::Person }
}

fn key(key: &str) -> Operation {
    Operation {
        principal: "ada".to_owned(),
        key: key.to_owned(),
        body: [7; 32],
        reply: Reply::Done,
    }
}

pub(super) async fn a_decision_on_an_old_head_is_fenced(b: impl Backend) {
    let mut first = Pen::open(b.store(), 1).await;
    let mut second = Pen::new(b.store(), 1);
    second.chat = first.chat.clone();
    first.put([titled("first")]).await;
    let error = second.refused([titled("second")], []).await;
    let fenced = CommitError::Fenced { chat: first.id, decided: Seq(1), found: Seq(2) };
    assert_eq!(error, fenced);
    let row = b.store().chat(first.id).await.unwrap().unwrap();
    assert_eq!(row.title.as_deref(), Some("first"));
    // Also a chat that is there already, and one that is not there.
    let error = Pen::new(b.store(), 1).refused([opened()], []).await;
    assert!(matches!(error, CommitError::Fenced { .. }), "{error}");
    second.id = chat_id(2);
    let error = second.refused([titled("third")], []).await;
    assert!(matches!(error, CommitError::Fenced { .. }), "{error}");
}

pub(super) async fn a_unit_that_contradicts_itself_is_refused(b: impl Backend) {
    let mut unborn = Pen::new(b.store(), 1);
    let error = unborn.refused([titled("x")], []).await;
    assert!(matches!(error, CommitError::Refused(_)), "{error}");

    let mut pen = Pen::open(b.store(), 1).await;
    let mut unit = pen.unit(vec![titled("x")], Vec::new());
    unit.head.seq = Seq(9);
    assert!(matches!(pen.commit(unit).await, Err(CommitError::Refused(_))));
    let mut unit = pen.unit(vec![titled("x")], Vec::new());
    unit.summary.seq = Seq(9);
    assert!(matches!(pen.commit(unit).await, Err(CommitError::Refused(_))));
    let mut unit = pen.unit(Vec::new(), Vec::new());
    let codec = vec![0; CODEC_STATE_BYTES_MAX + 1];
    unit.progress = Some(Progress { attempt: attempt_id(1), codec, position: Position(0) });
    assert!(matches!(pen.commit(unit).await, Err(CommitError::Refused(_))));
    pen.put([titled("y")]).await;
}

pub(super) async fn a_group_is_stored_as_a_whole_or_not_at_all(b: impl Backend) {
    let store = b.store();
    let mut pens = Vec::new();
    for n in 1..=3 {
        pens.push(Pen::open(b.store(), n).await);
    }
    let before = store.change_bounds().await.unwrap();
    let mut units: Vec<_> =
        pens.iter().map(|pen| pen.unit(vec![titled("all")], Vec::new())).collect();
    units[0].operation = Some(key("k"));
    units[2].after = Seq(7);
    let error = store.commit(units.clone()).await.unwrap_err();
    assert!(matches!(error, CommitError::Fenced { .. }), "{error}");
    for pen in &pens {
        assert_eq!(store.chat(pen.id).await.unwrap().unwrap().title, None);
        assert_eq!(store.load(pen.id).await.unwrap().unwrap().chat, pen.chat);
        assert_eq!(store.facts(pen.id, Seq(0), 10).await.unwrap().len(), 1);
    }
    assert_eq!(store.operation("ada".into(), "k".into()).await.unwrap(), None);
    assert_eq!(store.change_bounds().await.unwrap(), before);

    units[2].after = Seq(1);
    let done = store.commit(units).await.unwrap();
    assert_eq!(done.len(), 3);
    for pair in done.windows(2) {
        assert_eq!(pair[0].changes().end, pair[1].changes().start);
    }
    for pen in &pens {
        assert_eq!(store.chat(pen.id).await.unwrap().unwrap().title.as_deref(), Some("all"));
    }
    assert!(store.operation("ada".into(), "k".into()).await.unwrap().is_some());

    // Two units of one chat may go together, and none.
    let first = pens[0].unit(vec![titled("one")], Vec::new());
    // The pen has not taken what the group stored.
    assert!(store.commit(vec![first]).await.is_err());
    let all = pens[1].unit(vec![titled("all")], Vec::new());
    pens[1].took(&all);
    let one = pens[1].unit(vec![titled("one")], Vec::new());
    pens[1].took(&one);
    let two = pens[1].unit(vec![titled("two")], Vec::new());
    store.commit(vec![one, two]).await.unwrap();
    assert_eq!(store.chat(pens[1].id).await.unwrap().unwrap().title.as_deref(), Some("two"));
    assert!(store.commit(Vec::new()).await.unwrap().is_empty());
}

pub(super) async fn a_key_is_spent_once(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    let mut unit = pen.unit(vec![titled("first")], Vec::new());
    unit.operation = Some(key("k"));
    let at = unit.at;
    pen.commit(unit).await.unwrap();
    let mut unit = pen.unit(vec![titled("second")], Vec::new());
    unit.operation = Some(key("k"));
    assert_eq!(pen.commit(unit).await.unwrap_err(), CommitError::OperationExists);
    assert_eq!(store.chat(pen.id).await.unwrap().unwrap().title.as_deref(), Some("first"));

    let stored = store.operation("ada".into(), "k".into()).await.unwrap().unwrap();
    assert_eq!((stored.chat, stored.at), (Some(pen.id), at));
    assert_eq!((stored.operation, stored.row), (key("k"), None));
    // Keys of two principals never meet.
    let mut unit = pen.unit(vec![titled("third")], Vec::new());
    unit.operation = Some(Operation { principal: "bob".to_owned(), ..key("k") });
    pen.commit(unit).await.unwrap();
    assert_eq!(store.operation("ada".into(), "other".into()).await.unwrap(), None);
}

/// What a caller was shown of a chat it is shown again, whatever became of the chat.
pub(super) async fn a_row_that_was_shown_is_kept_as_it_was(mut b: impl Backend) {
    let shows = |k: &str| Operation { reply: Reply::Row, ..key(k) };
    let mut pen = Pen::open(b.store(), 1).await;
    let mut unit = pen.unit(vec![titled("first")], Vec::new());
    unit.operation = Some(shows("k"));
    pen.commit(unit).await.unwrap();
    let first = pen.store.chat(pen.id).await.unwrap().unwrap();
    assert_eq!(first.title.as_deref(), Some("first"));
    pen.store.remember(Some(pen.id), shows("nothing"), Micros(5)).await.unwrap();
    pen.put([titled("second")]).await;
    pen.put([Fact::ChatDeleted]).await;
    b.reopen();
    for k in ["k", "nothing"] {
        let stored = b.store().operation("ada".into(), k.into()).await.unwrap().unwrap();
        assert_eq!((stored.chat, stored.row), (Some(pen.id), Some(first.clone())));
    }
}

pub(super) async fn an_operation_about_several_chats_is_kept_by_itself(mut b: impl Backend) {
    let store = b.store();
    let before = store.change_bounds().await.unwrap();
    let (offers, superseded) = (vec![(chat_id(1), Micros(9))], vec![chat_id(2)]);
    let all = Operation { reply: Reply::Chosen { offers, superseded }, ..key("k") };
    store.remember(None, all.clone(), Micros(5)).await.unwrap();
    let again = store.remember(None, key("k"), Micros(6)).await;
    assert_eq!(again, Err(CommitError::OperationExists));
    assert_eq!(store.change_bounds().await.unwrap(), before);
    let mut pen = Pen::open(b.store(), 1).await;
    let mut unit = pen.unit(vec![titled("x")], Vec::new());
    unit.operation = Some(key("k"));
    assert_eq!(pen.commit(unit).await.unwrap_err(), CommitError::OperationExists);
    b.reopen();
    let stored = b.store().operation("ada".into(), "k".into()).await.unwrap().unwrap();
    assert_eq!((stored.chat, stored.at, stored.operation), (None, Micros(5), all));
}

pub(super) async fn a_failed_commit_spends_no_key(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let row = Row::MessageText { message: message_id(9), text: "x".to_owned() };
    let mut unit = pen.unit(Vec::new(), vec![row]);
    unit.operation = Some(key("k"));
    assert!(matches!(pen.commit(unit).await, Err(CommitError::Refused(_))));
    assert_eq!(b.store().operation("ada".into(), "k".into()).await.unwrap(), None);
    let mut unit = pen.unit(vec![titled("x")], Vec::new());
    unit.operation = Some(key("k"));
    pen.commit(unit).await.unwrap();
}

pub(super) async fn calls_at_the_same_time_fail_each_by_itself(b: impl Backend) {
    let store = b.store();
    let mut calls = Vec::new();
    for n in 1..=40 {
        let pen = Pen::new(b.store(), n);
        let mut unit = pen.unit(vec![opened()], Vec::new());
        if n % 4 == 0 {
            unit.rows = vec![Row::MessageText { message: message_id(n), text: "x".to_owned() }];
        }
        calls.push((n, tokio::spawn(store.commit(vec![unit]))));
    }
    let mut ranges = Vec::new();
    for (n, call) in calls {
        match call.await.unwrap() {
            Ok(done) => ranges.push(done[0].changes().clone()),
            Err(error) => {
                assert!(n % 4 == 0 && matches!(error, CommitError::Refused(_)), "{n}: {error}");
            }
        }
        let there = store.chat(chat_id(n)).await.unwrap().is_some();
        assert_eq!(there, n % 4 != 0, "{n}");
    }
    ranges.sort_by_key(|range| range.start);
    assert_eq!(ranges.len(), 30);
    assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
}

pub(super) async fn what_was_committed_is_there_after_opening_again(mut b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    pen.accept(1, "hello").await;
    let (incarnation, generation) = (b.store().incarnation(), b.store().generation());
    let bounds = b.store().change_bounds().await.unwrap();
    let row = b.store().chat(pen.id).await.unwrap();
    b.reopen();
    let store = b.store();
    assert_eq!(store.incarnation(), incarnation);
    assert_eq!(store.generation(), generation + 1);
    assert_eq!(store.load(pen.id).await.unwrap().unwrap().chat, pen.chat);
    assert_eq!(store.chat(pen.id).await.unwrap(), row);
    assert_eq!(store.change_bounds().await.unwrap(), bounds);
    assert_eq!(*store.subscribe().borrow(), bounds.newest);
    pen.store = b.store();
    let done = pen.put([titled("on")]).await;
    assert_eq!(done.changes().start, bounds.newest + 1);
    assert!(store.damage().is_empty(), "{:?}", store.damage());
}

pub(super) async fn progress_moves_with_the_commit_and_ends_with_its_attempt(b: impl Backend) {
    let store = b.store();
    let mut pen = Pen::open(b.store(), 1).await;
    let attempt = pen.start().await;
    assert_eq!(store.load(pen.id).await.unwrap().unwrap().progress, None);
    for position in 1..3 {
        let mut unit = pen.unit(Vec::new(), Vec::new());
        let codec = vec![0xFF, position as u8];
        let progress = Progress { attempt, codec, position: Position(position) };
        unit.progress = Some(progress.clone());
        pen.commit(unit).await.unwrap();
        assert_eq!(store.load(pen.id).await.unwrap().unwrap().progress, Some(progress));
    }
    pen.put([titled("x")]).await;
    assert!(store.load(pen.id).await.unwrap().unwrap().progress.is_some());
    let death = Death::Exited { code: Some(0), signal: None };
    pen.put([Fact::AttemptEnded { attempt, death }]).await;
    assert_eq!(store.load(pen.id).await.unwrap().unwrap().progress, None);
}

pub(super) async fn facts_are_read_back_in_order(b: impl Backend) {
    let mut pen = Pen::open(b.store(), 1).await;
    let message = accepted(1, "hi", Author::App, Place::Tail);
    pen.put([titled("a"), message.clone()]).await;
    let facts = b.store().facts(pen.id, Seq(1), 10).await.unwrap();
    let at = Micros(pen.now);
    let row = |seq, fact| FactRow { seq: Seq(seq), at, fact: StoredFact::Known(fact) };
    assert_eq!(facts, [row(2, titled("a")), row(3, message)]);
    assert_eq!(b.store().facts(pen.id, Seq(0), 1).await.unwrap().len(), 1);
    assert!(b.store().facts(pen.id, Seq(3), 10).await.unwrap().is_empty());
}
