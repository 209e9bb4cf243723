//! What is removed in time, and what is not.

use holdfast_core::fact::{Author, Death, Fact, Place};
use holdfast_core::item::{Body, Field, ItemKind, Row};
use holdfast_core::time::Micros;
use rusqlite::params;

use crate::contract::attachments::file;
use crate::contract::pen::message_id;

use super::{chat, open, raw, store};
use crate::sqlite::project::PIECE_BYTES_MAX;
use crate::sqlite::tidy::{expire, kept};
use crate::{ChangeBounds, Store};

const DAY: i64 = 24 * 3600 * 1_000_000;

fn rows(db: &rusqlite::Connection, table: &str) -> i64 {
    db.query_row(&format!("SELECT COUNT(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn the_rows_of_a_deleted_chat_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    let mut other = chat(&sqlite, 2).await;
    for pen in [&mut pen, &mut other] {
        for n in 1..=300 {
            let item = pen.item(n, ItemKind::Message, Body::Text).await;
            let text = Row::ItemText { item, field: Field::Text, at: 0, text: "x".to_owned() };
            pen.write([], [text]).await;
        }
        pen.accept(1, "secret").await;
        let (who, at) = ("ada".to_owned(), Micros(1));
        sqlite.put_draft(pen.id, who, "draft".to_owned(), at, None).await.unwrap();
    }
    pen.put([Fact::ChatDeleted]).await;
    // The writer has ended when what it had to do is done.
    sqlite.stop();
    let db = raw(dir.path());
    assert_eq!(rows(&db, "items"), 300);
    assert_eq!(rows(&db, "item_pieces"), 300);
    assert_eq!(rows(&db, "message_texts"), 1);
    assert_eq!(rows(&db, "drafts"), 1);
    assert_eq!(rows(&db, "messages"), 2);
    assert_eq!(rows(&db, "chats"), 2);
    let key = *pen.id.uuid().as_bytes();
    let facts = "SELECT COUNT(*) FROM facts WHERE chat = ?";
    assert_eq!(db.query_row(facts, [key], |row| row.get::<_, i64>(0)).unwrap(), 0);
    let titled = "SELECT COUNT(last_prompt) FROM chats WHERE chat = ?";
    assert_eq!(db.query_row(titled, [key], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[tokio::test]
async fn what_was_attached_to_a_deleted_chat_is_removed_with_its_files() {
    let dir = tempfile::tempdir().unwrap();
    let (sqlite, blobs) = (open(dir.path()), crate::Blobs::of(dir.path()));
    let mut pen = chat(&sqlite, 1).await;
    let mut other = chat(&sqlite, 2).await;
    for pen in [&mut pen, &mut other] {
        for n in 1..=40 {
            let added = file(n);
            let mut incoming = blobs.begin(pen.id, added.id).unwrap();
            incoming.write(b"bytes").unwrap();
            incoming.keep().unwrap().confirm();
            pen.put([Fact::AttachmentAdded(added)]).await;
        }
        let (message, attachments) = (message_id(1), vec![file(1).id, file(2).id]);
        let (by, place, bytes, digest) = (Author::Person, Place::Tail, 0, String::new());
        pen.put([Fact::MessageAccepted { message, by, bytes, digest, place, attachments }]).await;
    }
    pen.put([Fact::ChatDeleted]).await;
    sqlite.stop();
    let db = raw(dir.path());
    assert_eq!((rows(&db, "attachments"), rows(&db, "message_attachments")), (40, 2));
    assert!(blobs.open(pen.id, file(1).id).is_err());
    assert!(!dir.path().join(format!("attachments/{}", pen.id)).exists());
    assert!(blobs.open(other.id, file(40).id).is_ok());
}

#[tokio::test]
async fn nothing_of_a_deleted_chat_is_removed_before_its_agent_has_ended() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    let attempt = pen.start().await;
    let item = pen.item(1, ItemKind::Message, Body::Text).await;
    pen.put([Fact::ChatDeleted]).await;
    sqlite.stop();
    assert_eq!(rows(&raw(dir.path()), "items"), 1);
    let sqlite = open(dir.path());
    pen.store = store(&sqlite);
    let text = "last words".to_owned();
    pen.write([], [Row::ItemText { item, field: Field::Text, at: 0, text }]).await;
    pen.put([Fact::AttemptEnded { attempt, death: Death::KeeperLost }]).await;
    sqlite.stop();
    for table in ["items", "item_pieces", "facts"] {
        assert_eq!(rows(&raw(dir.path()), table), 0, "{table}");
    }
}

#[tokio::test]
async fn a_closed_item_has_few_pieces() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    let item = pen.item(1, ItemKind::Message, Body::Text).await;
    let piece = "x".repeat(1000);
    for n in 0..200 {
        let (at, text) = (n * 1000, piece.clone());
        pen.write([], [Row::ItemText { item, field: Field::Text, at, text }]).await;
    }
    pen.write([], [Row::ItemClosed { item }]).await;
    sqlite.stop();
    let db = raw(dir.path());
    assert_eq!(rows(&db, "item_pieces"), 4);
    let longest = "SELECT MAX(length(bytes)) FROM item_pieces";
    let longest: usize = db.query_row(longest, [], |row| row.get(0)).unwrap();
    assert!(longest <= PIECE_BYTES_MAX);
}

#[tokio::test]
async fn changes_go_only_when_they_are_old_and_many() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut db = raw(dir.path());
    let now = 1000 * DAY;
    let add = |n: i64, at: i64| {
        let sql = "INSERT INTO changes (n, chat, what, at) VALUES (?, NULL, 'counts', ?)";
        raw(dir.path()).execute(sql, params![n, at]).unwrap();
    };
    for n in 1..=5 {
        add(n, now - 100 * DAY);
    }
    add(6, now - DAY);
    add(7, now - 100 * DAY);
    // Old, but few.
    expire(&mut db, now).unwrap();
    assert_eq!(rows(&db, "changes"), 7);
    // Many: what is old goes, up to the first that is not.
    add(kept::CHANGES + 6, now);
    while expire(&mut db, now).unwrap() {}
    let left: Vec<i64> = {
        let mut sql = db.prepare("SELECT n FROM changes ORDER BY n").unwrap();
        sql.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(left, [6, 7, kept::CHANGES + 6]);
    let newest = kept::CHANGES as u64 + 6;
    let bounds = sqlite.change_bounds().await.unwrap();
    assert_eq!(bounds, ChangeBounds { complete_after: 5, newest });
    // Nothing is counted anew after all changes went.
    db.execute("DELETE FROM changes", []).unwrap();
    assert_eq!(sqlite.change_bounds().await.unwrap().newest, 5);
}

#[tokio::test]
async fn operations_are_kept_for_ninety_days() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut db = raw(dir.path());
    let now = 1000 * DAY;
    for (key, at) in [("old", now - 91 * DAY), ("young", now - 89 * DAY)] {
        let sql = "INSERT INTO operations (principal, key, chat, at, body, reply)
            VALUES ('ada', ?, zeroblob(16), ?, zeroblob(32), '{\"reply\":\"done\"}')";
        db.execute(sql, params![key, at]).unwrap();
    }
    while expire(&mut db, now).unwrap() {}
    let there = async |key: &str| {
        sqlite.operation("ada".to_owned(), key.to_owned()).await.unwrap().is_some()
    };
    assert!(!there("old").await);
    assert!(there("young").await);
}

#[test]
fn nothing_expires_before_the_clock_has_settled() {
    use crate::sqlite::tidy::Tidy;
    let mut tidy = Tidy::new(crate::Blobs::of("/nowhere".as_ref()));
    assert_eq!(tidy.settled(), None);
    let minute = 60_000_000;
    tidy.heard(10 * DAY);
    assert_eq!(tidy.settled(), None);
    tidy.heard(10 * DAY + minute - 1);
    assert_eq!(tidy.settled(), None);
    tidy.heard(10 * DAY + minute);
    assert_eq!(tidy.settled(), Some(10 * DAY + minute));
    // A jump, to either side, begins anew.
    for jump in [200 * DAY, DAY] {
        tidy.heard(jump);
        assert_eq!(tidy.settled(), None);
        tidy.heard(jump + minute);
        assert_eq!(tidy.settled(), Some(jump + minute));
    }
}
