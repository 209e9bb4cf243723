//! What cannot be read is shown as such and kept, for that chat alone.

use std::os::unix::fs::PermissionsExt;

use holdfast_core::activity::Shown;
use holdfast_core::fact::Fact;
use holdfast_core::ids::Seq;
use rusqlite::params;

use super::{chat, open, raw};
use crate::contract::feed::offered;
use crate::sqlite::{FILE, OpenError, Options, Sqlite};
use crate::{ChatFilter, Store, StoredFact};

#[tokio::test]
async fn loading_reads_the_head_and_not_the_facts() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    pen.accept(1, "hello").await;
    pen.start().await;
    raw(dir.path()).execute("DELETE FROM facts", []).unwrap();
    let loaded = sqlite.load(pen.id).await.unwrap().unwrap();
    assert_eq!((loaded.chat, loaded.read_only), (pen.chat, None));
}

#[tokio::test]
async fn a_head_that_cannot_be_read_is_folded_again() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    pen.accept(1, "hello").await;
    pen.accept(2, "again").await;
    pen.start().await;
    pen.hand(crate::contract::pen::message_id(1), 1).await;
    for damage in [
        "UPDATE heads SET version = 99, head = json_set(head, '$.agent', 'other')",
        "UPDATE heads SET version = 1, head = json_set(head, '$.seq', 1)",
        "UPDATE heads SET version = 1, head = '{\"seq\":7'",
        "DELETE FROM heads",
    ] {
        raw(dir.path()).execute(damage, []).unwrap();
        let loaded = sqlite.load(pen.id).await.unwrap().unwrap();
        assert_eq!((&loaded.chat, loaded.read_only), (&pen.chat, None), "{damage}");
    }
    // The next commit writes a head that can be read.
    pen.put([Fact::ChatTitled {
        title: "healed".to_owned(),
        by: holdfast_core::fact::Namer::Person,
    }])
    .await;
    raw(dir.path()).execute("DELETE FROM facts", []).unwrap();
    assert_eq!(sqlite.load(pen.id).await.unwrap().unwrap().chat, pen.chat);
}

#[tokio::test]
async fn a_fact_of_a_newer_version_makes_its_chat_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let pen = chat(&sqlite, 1).await;
    let other = chat(&sqlite, 2).await;
    let add = "INSERT INTO facts (chat, seq, at, kind, body)
        VALUES (?, 2, 5, 'chat_translated', '{\"fact\":\"chat_translated\"}')";
    let key = *pen.id.uuid().as_bytes();
    raw(dir.path()).execute(add, params![key]).unwrap();
    raw(dir.path()).execute("UPDATE chats SET seq = 2 WHERE chat = ?", params![key]).unwrap();
    let loaded = sqlite.load(pen.id).await.unwrap().unwrap();
    let why = loaded.read_only.unwrap();
    assert!(why.contains("chat_translated"), "{why}");
    assert_eq!(loaded.chat.head.agent, "demo");
    assert_eq!(sqlite.damage(), [why]);
    let rows = sqlite.chats(ChatFilter::Open, None, 9).await.unwrap().rows;
    assert_eq!(rows.len(), 2);
    let facts = sqlite.facts(pen.id, Seq(1), 9).await.unwrap();
    assert!(
        matches!(&facts[0].fact, StoredFact::Unreadable { kind, .. } if kind == "chat_translated")
    );
    let whole = sqlite.load(other.id).await.unwrap().unwrap();
    assert_eq!((whole.chat, whole.read_only), (other.chat, None));
}

#[tokio::test]
async fn a_damaged_history_makes_its_chat_read_only() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    pen.accept(1, "one").await;
    pen.accept(2, "two").await;
    let mut other = chat(&sqlite, 2).await;
    other.accept(3, "three").await;
    let db = raw(dir.path());
    db.execute("UPDATE heads SET head = 'x'", []).unwrap();
    for damage in [
        "UPDATE facts SET body = 'x' WHERE chat = ? AND seq = 2",
        "UPDATE facts SET body = CAST(x'FF00FF' AS TEXT) WHERE chat = ? AND seq = 2",
        "DELETE FROM facts WHERE chat = ? AND seq = 2",
        "DELETE FROM facts WHERE chat = ? AND seq = 3",
    ] {
        db.execute(damage, params![*pen.id.uuid().as_bytes()]).unwrap();
        let loaded = sqlite.load(pen.id).await.unwrap().unwrap();
        assert!(loaded.read_only.is_some(), "{damage}");
        assert_eq!(loaded.chat.head.agent, "demo");
    }
    let whole = sqlite.load(other.id).await.unwrap().unwrap();
    assert_eq!((whole.chat, whole.read_only), (other.chat, None));
}

#[tokio::test]
async fn a_state_that_cannot_be_read_is_listed_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let pen = chat(&sqlite, 1).await;
    chat(&sqlite, 2).await;
    for damage in ["UPDATE chats SET version = 99", "UPDATE chats SET summary = '{'"] {
        let sql = format!("{damage} WHERE chat = ?");
        raw(dir.path()).execute(&sql, params![*pen.id.uuid().as_bytes()]).unwrap();
        let rows = sqlite.chats(ChatFilter::Open, None, 9).await.unwrap().rows;
        let odd = rows.iter().find(|row| row.id == pen.id).unwrap();
        assert!(odd.unreadable.is_some());
        assert_eq!(odd.summary.shown, Shown::ToCheck);
        assert_eq!(odd.project.as_deref(), Some("engine"));
        assert!(rows.iter().any(|row| row.unreadable.is_none()));
    }
}

#[tokio::test]
async fn an_offer_whose_description_cannot_be_read_is_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    pen.put([offered(5)]).await;
    let set = "UPDATE offers SET snapshot = '{', cause = 'sunspots', continuation = x'00'";
    raw(dir.path()).execute(set, []).unwrap();
    let offers = sqlite.offers().await.unwrap();
    assert_eq!(offers.len(), 1);
    let row = &offers[0];
    assert_eq!((row.chat, row.recorded_at.0), (pen.id, 5));
    assert_eq!((row.cause, &row.snapshot, row.continuation), (None, &None, None));
    assert!(row.readable);
    // The chat itself cannot be read: the offer stays.
    raw(dir.path()).execute_batch("UPDATE heads SET head = 'x'; DELETE FROM facts").unwrap();
    let row = sqlite.offer(pen.id).await.unwrap().unwrap();
    assert!(!row.readable);
}

#[tokio::test]
async fn a_newer_schema_is_refused_with_a_sentence() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).stop();
    raw(dir.path()).pragma_update(None, "user_version", 1000).unwrap();
    let error = Sqlite::open(&Options::new(dir.path())).unwrap_err();
    assert!(matches!(error, OpenError::Newer { found: 1000, .. }), "{error}");
    assert!(error.to_string().contains("newer Holdfast"));
}

#[tokio::test]
async fn a_file_that_is_no_store_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = vec![7; 8192];
    std::fs::write(dir.path().join(FILE), &bytes).unwrap();
    let error = Sqlite::open(&Options::new(dir.path())).unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
    assert_eq!(std::fs::read(dir.path().join(FILE)).unwrap(), bytes);
}

/// Zeroes or truncates what it will of the file: nothing may crash, and whatever can be opened
/// lists and loads.
#[tokio::test]
async fn a_damaged_file_never_crashes() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    for n in 1..=30 {
        let mut pen = chat(&sqlite, n).await;
        pen.accept(n, &"text ".repeat(400)).await;
    }
    sqlite.stop();
    drop(sqlite);
    let whole = std::fs::read(dir.path().join(FILE)).unwrap();
    assert!(whole.len() > 50 * 4096);
    let mut served = 0;
    for page in 0..whole.len() / 4096 {
        for cut in [false, true] {
            let hurt = tempfile::tempdir().unwrap();
            let mut bytes = whole.clone();
            if cut {
                bytes.truncate(page * 4096 + 100);
            } else {
                bytes[page * 4096..(page + 1) * 4096].fill(0);
            }
            std::fs::write(hurt.path().join(FILE), bytes).unwrap();
            let Ok(sqlite) = Sqlite::open(&Options::new(hurt.path())) else { continue };
            let listed = sqlite.chats(ChatFilter::All, None, 100).await;
            for n in 1..=30 {
                let id = crate::contract::pen::chat_id(n);
                drop(sqlite.load(id).await);
                drop(sqlite.items(id, crate::PageFrom::Newest, 10).await);
            }
            served += usize::from(listed.is_ok_and(|page| !page.rows.is_empty()));
            sqlite.stop();
        }
    }
    // Most pages belong to one table: the list of chats survives their loss.
    assert!(served > 5, "{served}");
}

#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("a/b");
    let sqlite = open(&dir);
    chat(&sqlite, 1).await;
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&dir), 0o700);
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), wanted, "{}", path.display());
    }
}
