//! A store that an earlier schema wrote is brought up to date and loses nothing.

use holdfast_core::input::Reply;

use super::{open, raw};
use crate::Store;

#[tokio::test]
async fn operations_of_the_first_schema_are_read() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path()).stop();
    let db = raw(dir.path());
    db.execute_batch(
        "DROP TABLE grants;
        DROP TABLE attachments;
        DROP TABLE message_attachments;
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
