//! A client that does not read costs little and is cut; the others are told all the same.

use holdfast_core::ids::ChatId;
use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::provider::ProviderEvent;
use serde_json::json;
use tokio::time::timeout;

use crate::client::{BOUND, Border, change, close_code, connect, frame};
use crate::shapes::takes;

/// Says so much that it does not fit what a connection holds.
async fn flood(border: &Border, chat: ChatId, items: std::ops::Range<u32>) {
    for n in items {
        let (kind, role) = (ItemKind::Message, Role::Agent);
        let opened = ProviderEvent::ItemOpened { item: n, kind, role, body: Body::Text };
        border.host.says(chat, opened).await;
        let text = "x".repeat(16 * 1024);
        let said = ProviderEvent::ItemText { item: n, field: Field::Text, at: 0, text };
        border.host.says(chat, said).await;
    }
}

#[tokio::test]
async fn who_answers_no_heartbeat_is_cut() {
    let border = Border::new();
    let mut silent = connect(border.serve().await, "").await;
    frame(&mut silent).await;
    let mut cut = border.app.hub().cut();
    // From here on time moves whenever nothing else does; the client is not asked for anything.
    tokio::time::pause();
    cut.wait_for(|cut| *cut == 1).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_read_is_cut_with_4408_and_comes_back_with_its_cursor() {
    let border = Border::new();
    let got = border.post("/api/v1/chats", json!({"agent": "demo", "message": "a"})).await;
    let chat: ChatId = got.json()["id"].as_str().unwrap().parse().unwrap();
    takes(&border.host, chat).await;
    let address = border.serve().await;
    let mut slow = connect(address, "").await;
    let cursor = frame(&mut slow).await["cursor"].as_str().unwrap().to_owned();
    let mut quick = connect(address, "").await;
    let reader = tokio::spawn(async move {
        change(&mut quick, |change| change["value"]["title"] == "the end").await;
    });
    flood(&border, chat, 1..1200).await;
    border.retitle(chat, "the end").await;
    timeout(BOUND, reader).await.unwrap().unwrap();
    let mut cut = border.app.hub().cut();
    timeout(BOUND, cut.wait_for(|cut| *cut == 1)).await.unwrap().unwrap();
    assert_eq!(close_code(&mut slow).await, 4408);
    let mut back = connect(address, &format!("?after={cursor}")).await;
    assert_eq!(frame(&mut back).await["verdict"], "ok");
    change(&mut back, |change| change["value"]["title"] == "the end").await;
}
