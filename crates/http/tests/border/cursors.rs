//! Cursors: all that followed, or an honest gap with a snapshot.

use holdfast_http::port::Host;
use holdfast_store::{Memory, MemoryStore};
use rstest::rstest;
use serde_json::Value;
use uuid::Uuid;

use crate::client::{Border, connect, frame};
use crate::fake::Fake;

#[tokio::test]
async fn without_a_cursor_comes_a_snapshot() {
    let border = Border::new();
    let chat = border.chat().await;
    let address = border.serve().await;
    let mut socket = connect(address, &format!("?chat={chat}")).await;
    let hello = frame(&mut socket).await;
    insta::assert_json_snapshot!("hello", hello);
    let snapshot = frame(&mut socket).await;
    assert_eq!(snapshot["cursor"], hello["cursor"]);
    insta::assert_json_snapshot!("snapshot", snapshot);
}

#[tokio::test]
async fn after_a_good_cursor_comes_all_that_followed() {
    let border = Border::new();
    let chat = border.chat().await;
    let address = border.serve().await;
    let cursor = frame(&mut connect(address, "").await).await["cursor"].clone();
    let cursor = cursor.as_str().unwrap();
    border.retitle(chat, "while nobody listened").await;
    let mut socket = connect(address, &format!("?after={cursor}")).await;
    let hello = frame(&mut socket).await;
    assert_eq!((hello["verdict"].as_str(), hello["cursor"].as_str()), (Some("ok"), Some(cursor)));
    let changes = frame(&mut socket).await;
    assert_eq!(changes["type"], "changes");
    assert_eq!(changes["changes"][0]["value"]["title"], "while nobody listened");
    // The cursor of the last frame has nothing after it.
    let last = changes["cursor"].as_str().unwrap();
    let mut socket = connect(address, &format!("?after={last}")).await;
    assert_eq!(frame(&mut socket).await["verdict"], "ok");
    border.retitle(chat, "newer").await;
    assert_eq!(frame(&mut socket).await["changes"][0]["value"]["title"], "newer");
}

#[rstest]
#[case::nonsense("nonsense")]
#[case::of_the_future("0000000000000000000000000000face-99999")]
#[case::foreign("0000000000000000000000000000beef-1")]
#[case::of_another_form("0000000000000000000000000000face-1-1")]
#[tokio::test]
async fn a_cursor_that_cannot_be_followed_has_a_gap_and_a_snapshot(#[case] cursor: &str) {
    let border = Border::new();
    let chat = border.chat().await;
    let address = border.serve().await;
    let mut socket = connect(address, &format!("?after={cursor}")).await;
    let hello = frame(&mut socket).await;
    assert_eq!((&hello["type"], &hello["verdict"]), (&"hello".into(), &"gap".into()));
    let snapshot = frame(&mut socket).await;
    assert_eq!(snapshot["type"], "snapshot");
    assert_eq!(snapshot["chats"][0]["id"], chat.to_string());
    border.retitle(chat, "on it goes").await;
    assert_eq!(frame(&mut socket).await["changes"][0]["value"]["title"], "on it goes");
}

#[tokio::test]
async fn a_cursor_survives_a_restart_and_not_a_restored_store() {
    let border = Border::new();
    let chat = border.chat().await;
    let address = border.serve().await;
    let cursor = frame(&mut connect(address, "").await).await["cursor"].clone();
    border.retitle(chat, "before the restart").await;

    let mut kept = border.host.memory().snapshot();
    kept.reopen();
    let again = Border::over(Fake::over(Memory::new(kept)));
    let query = format!("?after={}", cursor.as_str().unwrap());
    let mut socket = connect(again.serve().await, &query).await;
    let hello = frame(&mut socket).await;
    assert_eq!((&hello["verdict"], &hello["generation"]), (&"ok".into(), &2.into()));
    assert_eq!(frame(&mut socket).await["changes"][0]["value"]["title"], "before the restart");

    let other = Border::over(Fake::over(Memory::new(MemoryStore::new(Uuid::from_u128(2)))));
    let mut socket = connect(other.serve().await, &query).await;
    assert_eq!(frame(&mut socket).await["verdict"], "gap");
}

#[tokio::test]
async fn a_restored_copy_gives_a_gap_although_its_numbers_fit() {
    let border = Border::new();
    border.chat().await;
    let incarnation = border.host.store().incarnation().simple().to_string();
    let mut socket = connect(border.serve().await, "").await;
    let hello = frame(&mut socket).await;
    let cursor: &Value = &hello["cursor"];
    assert!(cursor.as_str().unwrap().contains(&incarnation));
}

#[tokio::test]
async fn a_snapshot_holds_all_that_was_answered_before() {
    let border = Border::new();
    let chat = border.chat().await;
    let address = border.serve().await;
    for title in ["one", "two"] {
        border.retitle(chat, title).await;
        let mut socket = connect(address, "").await;
        frame(&mut socket).await;
        assert_eq!(frame(&mut socket).await["chats"][0]["title"], title);
    }
}
