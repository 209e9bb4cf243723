//! A writer that is killed: what it acknowledged is there, and nothing is there by halves.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing; a child says what it did"
)]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;

use common::{as_child, chat_id, child, load, message, open, opened, unit};
use holdfast_core::head::Chat;
use holdfast_store::{FILE, Journal, Sqlite, Store};

/// Chats that the child writes at the same time.
const CHATS: u128 = 6;

/// Goes on for ever: each task writes its own chat, and every third commit is a group that also
/// writes the chat beside it, which nobody else writes.
async fn write_for_ever(dir: &Path) {
    let store = open(dir);
    let mut tasks = Vec::new();
    for n in 1..=CHATS {
        tasks.push(tokio::spawn(write_chat(store.clone(), n)));
    }
    for task in tasks {
        task.await.unwrap();
    }
}

async fn write_chat(store: Sqlite, n: u128) {
    let (mut own, mut beside) = (Chat::default(), Chat::default());
    for round in 0.. {
        let (fact, row) = message(n * 1_000_000 + round, &"text ".repeat(50));
        let mut facts = vec![fact];
        if round == 0 {
            facts.insert(0, opened());
        }
        let mut units = vec![unit(chat_id(n), &own, facts, vec![row])];
        if round % 3 == 0 {
            let (fact, row) = message(n * 1_000_000 + round, "beside");
            let facts = if round == 0 { vec![opened(), fact] } else { vec![fact] };
            units.push(unit(chat_id(100 + n), &beside, facts, vec![row]));
        }
        for done in store.commit(units).await.unwrap() {
            let chat = if done.chat == chat_id(n) { &mut own } else { &mut beside };
            for fact in &done.facts {
                holdfast_core::fold::fold(chat, fact, done.at);
            }
        }
        println!("acknowledged {n} {round}");
    }
}

/// What the child acknowledged is there, groups are whole, and the store goes on.
async fn check(dir: &Path, acknowledged: &BTreeSet<(u128, u128)>) {
    let store = open(dir);
    assert!(store.damage().is_empty(), "{:?}", store.damage());
    for n in 1..=CHATS {
        let own = load(&store, chat_id(n)).await;
        let beside = load(&store, chat_id(100 + n)).await;
        assert_eq!(own.is_some(), beside.is_some());
        let stored = own.as_ref().map_or(0, |chat| chat.aside.queue.len() as u128);
        let groups = beside.map_or(0, |chat| chat.aside.queue.len() as u128);
        // At most the one commit that was not acknowledged is there too.
        let told = acknowledged.iter().filter(|(of, _)| *of == n).count() as u128;
        assert!(told <= stored && stored <= told + 1, "{n}: {told} {stored}");
        assert_eq!(groups, stored.div_ceil(3));
        let chat = own.unwrap_or_default();
        let facts = if stored == 0 { vec![opened()] } else { Vec::new() };
        store.commit(vec![unit(chat_id(n), &chat, facts, Vec::new())]).await.unwrap();
    }
    let changes = store.changes(0, 1000).await.unwrap();
    for (at, change) in (1..).zip(&changes) {
        assert_eq!(change.n, at);
    }
}

fn read(line: &str) -> Option<(u128, u128)> {
    let (n, round) = line.split_once("acknowledged ")?.1.split_once(' ')?;
    Some((n.parse().ok()?, round.parse().ok()?))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_writer_acknowledged_is_there() {
    if let Some(dir) = as_child() {
        write_for_ever(&dir).await;
        return;
    }
    for lines in [1, 40, 333] {
        let dir = tempfile::tempdir().unwrap();
        let mut writer = child("what_a_killed_writer_acknowledged_is_there", dir.path(), &[], None);
        let mut out = BufReader::new(writer.stdout.take().unwrap()).lines();
        let mut acknowledged = BTreeSet::new();
        while acknowledged.len() < lines {
            acknowledged.extend(read(&out.next().unwrap().unwrap()));
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        // What it said before it died counts too.
        acknowledged.extend(out.map_while(Result::ok).filter_map(|line| read(&line)));
        check(dir.path(), &acknowledged).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_may_die_at_every_point_of_a_commit() {
    if let Some(dir) = as_child() {
        write_for_ever(&dir).await;
        return;
    }
    for point in [
        "host.commit.batch.before",
        "host.commit.before",
        "host.commit.after",
        "host.commit.batch.after",
    ] {
        for passage in ["1", "2", "17"] {
            let dir = tempfile::tempdir().unwrap();
            let fault = format!("{point}:{passage}");
            let env = [(holdfast_fault::ENV, fault.as_str())];
            let test = "it_may_die_at_every_point_of_a_commit";
            let output = child(test, dir.path(), &env, None).wait_with_output().unwrap();
            use std::os::unix::process::ExitStatusExt;
            assert_eq!(output.status.signal(), Some(9), "{fault}");
            let said = String::from_utf8(output.stdout).unwrap();
            let acknowledged = said.lines().filter_map(read).collect();
            check(dir.path(), &acknowledged).await;
        }
    }
}

/// After a power cut the log may end anywhere: what is left is the state after some commit.
#[tokio::test]
async fn a_log_that_is_cut_anywhere_leaves_the_state_of_a_commit() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut chat = Chat::default();
    for n in 0..12 {
        let (fact, row) = message(n + 1, &"x".repeat(3000));
        let facts = if n == 0 { vec![opened(), fact] } else { vec![fact] };
        let done = store.commit(vec![unit(chat_id(1), &chat, facts, vec![row])]).await.unwrap();
        for fact in &done[0].facts {
            holdfast_core::fold::fold(&mut chat, fact, done[0].at);
        }
    }
    let log = format!("{FILE}-wal");
    let file = std::fs::read(dir.path().join(FILE)).unwrap();
    let whole = std::fs::read(dir.path().join(&log)).unwrap();
    let mut seen = BTreeSet::new();
    let steps = 60;
    for step in 0..=steps {
        let cut = tempfile::tempdir().unwrap();
        std::fs::write(cut.path().join(FILE), &file).unwrap();
        let end = whole.len() * step / steps;
        std::fs::write(cut.path().join(&log), &whole[..end]).unwrap();
        let store = open(cut.path());
        let stored = load(&store, chat_id(1)).await.unwrap_or_default();
        seen.insert(stored.aside.queue.len());
        assert!(store.damage().is_empty(), "{:?}", store.damage());
    }
    assert!(seen.contains(&12) && seen.contains(&0) && seen.len() > 6, "{seen:?}");
}
