//! Quiet streams show that they live, and keep their clients' cursors young.

use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::client::{Border, TOKEN};

/// What the stream says until a text that passes; time moves on by itself.
async fn until(body: &mut BodyDataStream, passes: impl Fn(&str) -> bool) -> String {
    loop {
        let piece = body.next().await.unwrap().unwrap();
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
        .body(Body::empty())
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
    let (mine, other) = (border.chat().await, border.chat().await);
    // The queue is a change within the other chat; its row is told to everybody.
    border.post(&format!("/api/v1/chats/{other}/queue/pause"), json!({})).await;
    let path = format!("/api/v1/chats/{other}/messages");
    let accepted = border.post(&path, json!({"text": "a"})).await.json();
    let mut body = listen(&border, &format!("?chat={mine}")).await;
    let message = accepted["message"]["id"].as_str().unwrap();
    let edit = format!("/api/v1/chats/{other}/queue/{message}");
    let edited = border.call("PATCH", &edit, r#"{"text":"b"}"#).await;
    assert_eq!(edited.status, 200);
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
