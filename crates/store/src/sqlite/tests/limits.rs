//! Bounds: the file, the log, the queues.

use std::sync::mpsc;

use holdfast_core::fact::Fact;
use holdfast_core::item::Row;

use super::{chat, open, store};
use crate::contract::pen::{Pen, message_id, opened};
use crate::sqlite::{FILE, Options, Sqlite};
use crate::{CommitError, Journal, QueryError, Store};

fn titled(title: &str) -> Fact {
    Fact::ChatTitled { title: title.to_owned(), by: holdfast_core::fact::Namer::Person }
}

/// A store that has room for about this many pages.
fn small(dir: &std::path::Path, pages: u32) -> Sqlite {
    let pages_max = Some(pages);
    Sqlite::open(&Options { pages_max, ..Options::new(dir) }).unwrap()
}

/// A unit that does not fit into a full store.
fn large(pen: &Pen) -> crate::Unit {
    let text = "x".repeat(900_000);
    let row = Row::MessageText { message: message_id(1), text };
    pen.unit(Vec::new(), vec![row])
}

#[tokio::test]
async fn a_full_file_refuses_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = small(dir.path(), 150);
    let mut pen = chat(&sqlite, 1).await;
    pen.accept(1, "kept").await;
    let mut acknowledged = 0;
    let full = loop {
        let text = "y".repeat(20_000);
        let message = message_id(100 + acknowledged);
        let row = Row::MessageText { message, text: text.clone() };
        let fact = crate::contract::pen::accepted(
            100 + acknowledged,
            &text,
            holdfast_core::fact::Author::Person,
            holdfast_core::fact::Place::Tail,
        );
        let unit = pen.unit(vec![fact], vec![row]);
        match pen.commit(unit).await {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 100);
    };
    assert_eq!(full, CommitError::StorageFull);
    assert!(acknowledged > 2);
    assert_eq!(sqlite.load(pen.id).await.unwrap().unwrap().chat, pen.chat);
    let waiting = crate::contract::messages::queue(&sqlite, pen.id).await;
    assert_eq!(waiting.len(), 1 + acknowledged as usize);
    assert_eq!(sqlite.message(pen.id, message_id(1)).await.unwrap().unwrap().text, "kept");
    sqlite.stop();
    // With room again it goes on.
    let sqlite = open(dir.path());
    pen.store = store(&sqlite);
    assert_eq!(sqlite.load(pen.id).await.unwrap().unwrap().chat, pen.chat);
    pen.put([titled("room")]).await;
}

/// The full disk rolls the whole transaction back, savepoints included: each call is tried again
/// alone.
#[tokio::test]
async fn a_call_that_does_not_fit_takes_no_other_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = small(dir.path(), 120);
    let mut pen = chat(&sqlite, 1).await;
    pen.accept(1, "x").await;
    let mut calls = Vec::new();
    for n in 2..=12 {
        let small = Pen::new(store(&sqlite), n).unit(vec![opened()], Vec::new());
        calls.push((true, tokio::spawn(sqlite.commit(vec![small]))));
        calls.push((false, tokio::spawn(sqlite.commit(vec![large(&pen)]))));
    }
    for (fits, call) in calls {
        match call.await.unwrap() {
            Ok(_) => assert!(fits),
            Err(error) => assert_eq!((fits, error), (false, CommitError::StorageFull)),
        }
    }
    assert_eq!(sqlite.counts().await.unwrap().open, 12);
    let changes = sqlite.changes(0, 1000).await.unwrap();
    let newest = changes.last().unwrap().n;
    assert_eq!(changes.len() as u64, newest);
    assert_eq!(*sqlite.subscribe().borrow(), newest);
}

#[tokio::test]
async fn the_log_is_folded_back() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    pen.accept(1, "x").await;
    for n in 0..60 {
        // A page that stays as it is would not be written again.
        let text = format!("{n:05}").repeat(180_000);
        pen.write([], [Row::MessageText { message: message_id(1), text }]).await;
    }
    let log = dir.path().join(format!("{FILE}-wal")).metadata().unwrap().len();
    assert!(log < 20 * 1024 * 1024, "{log} bytes");
}

#[tokio::test]
async fn too_many_queries_are_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let (go, wait) = mpsc::sync_channel::<()>(0);
    let wait = std::sync::Arc::new(std::sync::Mutex::new(wait));
    let readers = sqlite.inner.readers().unwrap();
    let mut asked = Vec::new();
    loop {
        let wait = wait.clone();
        let answer = readers.ask(move |_| {
            // It ends when the other side does.
            assert!(wait.lock().unwrap().recv().is_err());
            Ok(())
        });
        asked.push(tokio::spawn(answer));
        tokio::task::yield_now().await;
        let last = asked.last_mut().unwrap();
        if last.is_finished() {
            assert_eq!(last.await.unwrap(), Err(QueryError::Overloaded));
            asked.pop();
            break;
        }
        assert!(asked.len() < 5000);
    }
    drop(go);
    for answer in asked {
        assert_eq!(answer.await.unwrap(), Ok(()));
    }
    assert!(sqlite.counts().await.is_ok());
}

#[tokio::test]
async fn a_stopped_store_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let pen = chat(&sqlite, 1).await;
    let unit = pen.unit(vec![titled("x")], Vec::new());
    sqlite.stop();
    assert_eq!(sqlite.commit(vec![unit]).await, Err(CommitError::Stopped));
    assert_eq!(sqlite.counts().await, Err(QueryError::Stopped));
}

#[tokio::test]
async fn stopping_does_not_wait_for_a_call_that_nobody_waits_for() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let pen = chat(&sqlite, 1).await;
    let idle = sqlite.commit(vec![pen.unit(vec![titled("x")], Vec::new())]);
    let stopping = sqlite.clone();
    let stopped = tokio::task::spawn_blocking(move || stopping.stop());
    tokio::time::timeout(std::time::Duration::from_secs(20), stopped).await.unwrap().unwrap();
    assert_eq!(idle.await, Err(CommitError::Stopped));
}

#[tokio::test]
async fn what_waits_is_written_before_it_stops() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut calls = Vec::new();
    for n in 1..=50 {
        let unit = Pen::new(store(&sqlite), n).unit(vec![opened()], Vec::new());
        calls.push(tokio::spawn(sqlite.commit(vec![unit])));
        tokio::task::yield_now().await;
    }
    let stopping = sqlite.clone();
    tokio::task::spawn_blocking(move || stopping.stop()).await.unwrap();
    let mut stored = 0;
    for call in calls {
        match call.await.unwrap() {
            Ok(_) => stored += 1,
            Err(error) => assert_eq!(error, CommitError::Stopped),
        }
    }
    drop(sqlite);
    assert_eq!(open(dir.path()).counts().await.unwrap().open, stored);
}
