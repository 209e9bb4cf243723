//! Quiet streams show that they live, and keep their clients' cursors young.

use axum::body::{Body as Bytes, BodyDataStream};
use axum::http::Request;
use futures_util::StreamExt;
use holdfast_core::item::{Body, Field, ItemKind, Role};
use holdfast_core::provider::ProviderEvent;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::client::{BOUND, Border, TOKEN};
use crate::shapes::takes;

/// What the stream says until a text that passes; time moves on by itself.
async fn until(body: &mut BodyDataStream, passes: impl Fn(&str) -> bool) -> String {
    loop {
        let piece = timeout(2 * BOUND, body.next()).await.unwrap().unwrap().unwrap();
        let text = String::from_utf8(piece.to_vec()).unwrap();
        if passes(&text) {
            return text;
        }
    }
}

async fn listen(border: &Border, query: &str) -> BodyDataStream {
    let request = Request::get(format!("/api/v1/events{query}"))
        .header("host", "localhost")
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("accept", "text/event-stream")
        .body(Bytes::empty())
        .unwrap();
    let mut body = border.open(request).await.into_body().into_data_stream();
    until(&mut body, |text| text.contains(r#""type":"snapshot""#)).await;
    body
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_beats() {
    let border = Border::new();
    let mut body = listen(&border, "").await;
    for _ in 0..3 {
        until(&mut body, |text| text == ":\n\n").await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_for_others_moves_the_cursor_on() {
    let border = Border::new();
    let mine = border.chat().await;
    let got = border.post("/api/v1/chats", json!({"agent": "demo", "message": "a"})).await;
    let other = got.json()["id"].as_str().unwrap().parse().unwrap();
    takes(&border.host, other).await;
    let (kind, role) = (ItemKind::Message, Role::Agent);
    let opened = ProviderEvent::ItemOpened { item: 1, kind, role, body: Body::Text };
    border.host.says(other, opened).await;
    let mut body = listen(&border, &format!("?chat={mine}")).await;
    // More text is a change within the other chat alone.
    let text = "for others".to_owned();
    let said = ProviderEvent::ItemText { item: 1, field: Field::Text, at: 0, text };
    border.host.says(other, said).await;
    let mark = until(&mut body, |text| text.contains(r#""changes":[]"#)).await;
    let mark: Value = serde_json::from_str(&mark).unwrap();
    let newest = border.get("/api/v1/offers").await["as_of"].clone();
    assert_eq!(mark["cursor"], newest);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_loses_its_seat() {
    let border = Border::new();
    let chat = border.chat().await;
    let _unread = listen(&border, "").await;
    let mut cut = border.app.hub().cut();
    for n in 0..10 {
        border.retitle(chat, &format!("title {n}")).await;
        tokio::task::yield_now().await;
    }
    cut.wait_for(|cut| *cut == 1).await.unwrap();
}
