//! A store that an earlier schema wrote is brought up to date and loses nothing.

use holdfast_core::fact::Fact;
use holdfast_core::input::Reply;
use holdfast_core::item::Row;
use holdfast_core::provider::Handle;

use super::{chat, open, raw};
use crate::Store;
use crate::contract::pen::{chat_id, message_id};

#[tokio::test]
async fn operations_of_the_first_schema_are_read() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).stop();
    let db = raw(dir.path());
    db.execute_batch(
        "DROP TABLE commands;
        DROP INDEX chats_session;
        ALTER TABLE chats DROP COLUMN session;
        DROP TABLE grants;
        DROP TABLE attachments;
        DROP TABLE message_attachments;
        ALTER TABLE turns DROP COLUMN mark;
        ALTER TABLE turns DROP COLUMN ends;
        ALTER TABLE turns DROP COLUMN holds;
        ALTER TABLE turns DROP COLUMN left_behind;
        ALTER TABLE chats DROP COLUMN first_prompt;
        ALTER TABLE chats DROP COLUMN first_message;
        ALTER TABLE operations DROP COLUMN shown;
        INSERT INTO operations (principal, key, chat, at, body, reply)
            VALUES ('ada', 'k', x'01020304050607080910111213141516', 5, zeroblob(32),
                '{\"reply\":\"done\"}');
        PRAGMA user_version = 1;",
    )
    .unwrap();
    drop(db);
    let sqlite = open(dir.path());
    let stored = sqlite.operation("ada".to_owned(), "k".to_owned()).await.unwrap().unwrap();
    assert_eq!((stored.operation.reply, stored.row), (Reply::Done, None));
    assert!(stored.chat.is_some());
}

#[tokio::test]
async fn what_a_chat_was_told_first_is_found_in_the_fourth_schema() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    pen.accept(1, &format!("look\nhere {}", "é".repeat(300))).await;
    pen.accept(2, "second").await;
    chat(&sqlite, 2).await;
    sqlite.stop();
    let db = raw(dir.path());
    db.execute_batch(
        "DROP TABLE commands;
        DROP INDEX chats_session;
        ALTER TABLE chats DROP COLUMN session;
        ALTER TABLE turns DROP COLUMN mark;
        ALTER TABLE turns DROP COLUMN ends;
        ALTER TABLE turns DROP COLUMN holds;
        ALTER TABLE turns DROP COLUMN left_behind;
        ALTER TABLE chats DROP COLUMN first_prompt;
        ALTER TABLE chats DROP COLUMN first_message;
        PRAGMA user_version = 4;",
    )
    .unwrap();
    drop(db);
    let sqlite = open(dir.path());
    let first = async |n| sqlite.chat(chat_id(n)).await.unwrap().unwrap().first_prompt;
    let told = first(1).await.unwrap();
    assert!(told.starts_with("look here é") && told.ends_with('…'), "{told}");
    assert_eq!(told.chars().count(), crate::LAST_PROMPT_CHARS_MAX);
    assert_eq!(first(2).await, None);
    // It can still be written right while it waits.
    pen.store = std::sync::Arc::new(sqlite.clone());
    let (message, text) = (message_id(1), "right".to_owned());
    let fact = Fact::MessageEdited { message, bytes: 5, digest: String::new() };
    pen.write([fact], [Row::MessageText { message, text }]).await;
    assert_eq!(first(1).await.as_deref(), Some("right"));
}

#[tokio::test]
async fn the_sessions_of_chats_are_found_in_the_sixth_schema() {
    let dir = tempfile::tempdir().unwrap();
    let sqlite = open(dir.path());
    let mut pen = chat(&sqlite, 1).await;
    let session = "s-1".to_owned();
    let handle = Handle { root: session.clone(), leaf: session.clone() };
    pen.put([Fact::ChatAdopted { handle, messages: 1, shown: 0, older: 0 }]).await;
    chat(&sqlite, 2).await;
    sqlite.stop();
    let db = raw(dir.path());
    db.execute_batch(
        "DROP INDEX chats_session;
        DROP TABLE commands;
        ALTER TABLE chats DROP COLUMN session;
        PRAGMA user_version = 6;",
    )
    .unwrap();
    drop(db);
    let sqlite = open(dir.path());
    let taken = sqlite.chats_by_sessions(vec!["none".to_owned(), session.clone()]).await.unwrap();
    assert_eq!(taken, [(session, chat_id(1))]);
}
