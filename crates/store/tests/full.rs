//! A disk that is full, and one that fails.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing; a child says what it did"
)]

mod common;

use std::path::{Path, PathBuf};

use common::{as_child, chat_id, child, load, message, message_id, open, opened, unit};
use holdfast_core::head::Chat;
use holdfast_store::{CommitError, Journal, Sqlite, Store};

/// A file system of its own; gone when it is dropped.
struct Small(PathBuf);

impl Small {
    fn mount(size: &std::ffi::CStr) -> Self {
        let dir = tempfile::tempdir().unwrap().keep();
        let flags = rustix::mount::MountFlags::empty();
        rustix::mount::mount("tmpfs", &dir, "tmpfs", flags, Some(size)).unwrap();
        Self(dir)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        rustix::mount::unmount(&self.0, rustix::mount::UnmountFlags::DETACH).unwrap();
        std::fs::remove_dir(&self.0).unwrap();
    }
}

async fn accept(store: &Sqlite, chat: &mut Chat, n: u128, text: &str) -> Result<(), CommitError> {
    let (fact, row) = message(n, text);
    let facts = if chat.head.seq.0 == 0 { vec![opened(), fact] } else { vec![fact] };
    let done = store.commit(vec![unit(chat_id(1), chat, facts, vec![row])]).await?;
    for fact in &done[0].facts {
        holdfast_core::fold::fold(chat, fact, done[0].at);
    }
    Ok(())
}

#[tokio::test]
async fn a_full_disk_refuses_loses_nothing_and_recovers_without_a_restart() {
    let disk = Small::mount(c"size=2m");
    let dir = disk.0.join("data");
    let store = open(&dir);
    let mut chat = Chat::default();
    accept(&store, &mut chat, 1, "kept").await.unwrap();
    // Somebody else fills the disk, up to the last byte.
    let ballast = disk.0.join("ballast");
    let mut bytes = 2 * 1024 * 1024;
    while bytes > 0 {
        let old = std::fs::read(&ballast).unwrap_or_default();
        if std::fs::write(&ballast, [old.as_slice(), &vec![0; bytes]].concat()).is_err() {
            std::fs::write(&ballast, old).unwrap();
            bytes /= 2;
        }
    }
    let mut n = 2;
    let error = loop {
        match accept(&store, &mut chat, n, &"y".repeat(5000)).await {
            Ok(()) => n += 1,
            Err(error) => break error,
        }
        assert!(n < 1000);
    };
    assert_eq!(error, CommitError::StorageFull);
    // Again and again, also for many at once.
    for _ in 0..3 {
        let calls: Vec<_> = (0..5)
            .map(|k| {
                let (fact, row) = message(500 + k, &"z".repeat(50_000));
                let facts = vec![opened(), fact];
                let unit = unit(chat_id(10 + k), &Chat::default(), facts, vec![row]);
                tokio::spawn(store.commit(vec![unit]))
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap(), Err(CommitError::StorageFull));
        }
    }
    // Reads work, and nothing that was acknowledged is lost.
    assert_eq!(load(&store, chat_id(1)).await.unwrap(), chat);
    assert_eq!(store.message(chat_id(1), message_id(1)).await.unwrap().unwrap().text, "kept");

    std::fs::remove_file(&ballast).unwrap();
    accept(&store, &mut chat, n, "room again").await.unwrap();
    store.stop();
    drop(store);
    let store = open(&dir);
    assert_eq!(load(&store, chat_id(1)).await.unwrap(), chat);
    store.stop();
}

#[tokio::test]
async fn a_store_on_a_full_disk_opens_and_can_be_read() {
    let disk = Small::mount(c"size=2m");
    let dir = disk.0.join("data");
    let store = open(&dir);
    let mut chat = Chat::default();
    accept(&store, &mut chat, 1, "kept").await.unwrap();
    let (incarnation, generation) = (store.incarnation(), store.generation());
    store.stop();
    drop(store);
    let ballast = disk.0.join("ballast");
    let mut bytes = 2 * 1024 * 1024;
    while bytes > 64 {
        let old = std::fs::read(&ballast).unwrap_or_default();
        if std::fs::write(&ballast, [old.as_slice(), &vec![0; bytes]].concat()).is_err() {
            std::fs::write(&ballast, old).unwrap();
            bytes /= 2;
        }
    }
    // The shared index of the log needs a few pages: so much is left.
    let left = std::fs::metadata(&ballast).unwrap().len() - 36 * 1024;
    std::fs::OpenOptions::new().write(true).open(&ballast).unwrap().set_len(left).unwrap();
    let fill = disk.0.join("fill");
    let store = open(&dir);
    drop(std::fs::write(&fill, vec![0; 64 * 1024]));
    assert!(store.damage().iter().any(|line| line.contains("disk is full")));
    assert_eq!(store.incarnation(), incarnation);
    assert!(store.generation() > generation);
    assert_eq!(load(&store, chat_id(1)).await.unwrap(), chat);
    store.stop();
}

/// Folding the log back takes room in the file; without it nothing that was stored is lost.
#[tokio::test]
async fn a_log_that_cannot_be_folded_back_is_shown_and_not_fatal() {
    let disk = Small::mount(c"size=7m");
    let dir = disk.0.join("data");
    let store = open(&dir);
    let mut chat = Chat::default();
    let mut n = 1;
    let said = |store: &Sqlite| store.damage().iter().any(|line| line.contains("write-ahead log"));
    // What folding took of the disk may then be missing to the log: that is told too.
    let mut tries = 0;
    while !said(&store) {
        match accept(&store, &mut chat, n, &"y".repeat(20_000)).await {
            Ok(()) => n += 1,
            Err(error) => assert_eq!(error, CommitError::StorageFull),
        }
        tries += 1;
        assert!(tries < 1000);
    }
    assert_eq!(load(&store, chat_id(1)).await.unwrap(), chat);
    // With room again it is folded, and nothing is said any more.
    rustix::mount::mount_remount(&disk.0, rustix::mount::MountFlags::empty(), c"size=40m").unwrap();
    while said(&store) {
        accept(&store, &mut chat, n, &"y".repeat(20_000)).await.unwrap();
        n += 1;
        assert!(n < 1000);
    }
    assert_eq!(load(&store, chat_id(1)).await.unwrap(), chat);
    store.stop();
}

/// The disk fails at a commit: nobody can say whether it is stored, until it was read anew.
async fn meet_a_failing_disk(dir: &Path) {
    let store = open(dir);
    let mut chat = Chat::default();
    let mut n = 1;
    let error = loop {
        match accept(&store, &mut chat, n, &"x".repeat(20_000)).await {
            Ok(()) => n += 1,
            Err(error) => break error,
        }
        assert!(n < 1000);
    };
    assert!(matches!(error, CommitError::Uncertain(_)), "{error:?}");
    assert!(!store.damage().is_empty());
    // What is stored is whole; whoever asked reads it and goes on from there.
    let mut found = load(&store, chat_id(1)).await.unwrap();
    assert!(found == chat || found.aside.queue.len() == chat.aside.queue.len() + 1);
    assert_eq!(*store.subscribe().borrow(), store.change_bounds().await.unwrap().newest);
    use rustix::process::{Resource, Rlimit, setrlimit};
    setrlimit(Resource::Fsize, Rlimit { current: None, maximum: None }).unwrap();
    accept(&store, &mut found, n + 1, "again").await.unwrap();
    store.stop();
    drop(store);
    let store = open(dir);
    assert_eq!(load(&store, chat_id(1)).await.unwrap(), found);
    println!("survived {n}");
}

#[tokio::test]
async fn a_failing_disk_leaves_the_outcome_open_and_the_store_alive() {
    if let Some(dir) = as_child() {
        meet_a_failing_disk(&dir).await;
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let test = "a_failing_disk_leaves_the_outcome_open_and_the_store_alive";
    // 1 MiB a file.
    let output = child(test, dir.path(), &[], Some(2048)).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("survived"), "{said}\n{complained}");
}
