//! The queue of a chat, and drafts.

use holdfast_core::ids::ChatId;
use holdfast_core::limits::ITEM_TEXT_HEAD_BYTES;
use serde_json::{Value, json};

use crate::client::Border;

/// A chat whose queue is paused with these texts in it.
async fn waiting(border: &Border, texts: &[&str]) -> (ChatId, Vec<String>) {
    let chat = border.chat().await;
    border.post(&format!("/api/v1/chats/{chat}/queue/pause"), json!({})).await;
    let mut ids = Vec::new();
    for text in texts {
        let path = format!("/api/v1/chats/{chat}/messages");
        let got = border.post(&path, json!({"text": text})).await;
        ids.push(got.json()["message"]["id"].as_str().unwrap().to_owned());
    }
    (chat, ids)
}

fn texts(queue: &Value) -> Vec<&str> {
    queue["items"].as_array().unwrap().iter().map(|item| item["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn what_waits_is_listed_edited_ordered_and_taken_back() {
    let border = Border::new();
    let (chat, ids) = waiting(&border, &["a", "b", "c"]).await;
    let path = format!("/api/v1/chats/{chat}/queue");
    insta::assert_json_snapshot!("queue", border.get(&path).await);

    let order = json!({"messages": [ids[2], ids[0], ids[1]]}).to_string();
    let got = border.call("PUT", &format!("{path}/order"), order).await;
    assert_eq!(texts(&got.json()), ["c", "a", "b"]);

    let one = format!("{path}/{}", ids[0]);
    let got = border.call("PATCH", &one, r#"{"text":"A"}"#).await;
    assert_eq!(got.json(), json!({"message": {"id": ids[0], "state": "queued"}}));
    let got = border.call("DELETE", &one, "").await;
    assert_eq!(got.json(), json!({"message": {"id": ids[0], "state": "withdrawn"}}));
    assert_eq!(border.call("DELETE", &one, "").await.code(), "not_queued");
    assert_eq!(texts(&border.get(&path).await), ["c", "b"]);

    let got = border.post(&format!("{path}/resume"), json!({})).await;
    assert_eq!(got.json()["paused"], false);
    let row = border.get(&format!("/api/v1/chats/{chat}")).await;
    assert_eq!((&row["queue_length"], &row["status"]["process"]), (&json!(2), &json!("starting")));
}

#[tokio::test]
async fn a_long_queue_is_paged_and_its_long_texts_are_cut() {
    let border = Border::new();
    let long = "é".repeat(ITEM_TEXT_HEAD_BYTES);
    let all: Vec<&str> = std::iter::repeat_n(long.as_str(), 70).collect();
    let (chat, ids) = waiting(&border, &all).await;
    let path = format!("/api/v1/chats/{chat}/queue");
    let mut page = border.get(&path).await;
    let mut seen = Vec::new();
    let first = page["items"][0].clone();
    loop {
        let items = page["items"].as_array().unwrap();
        seen.extend(items.iter().map(|item| item["message"].as_str().unwrap().to_owned()));
        match page["next"].as_str().map(str::to_owned) {
            Some(next) => page = border.get(&format!("{path}?from={next}")).await,
            None => break,
        }
    }
    assert_eq!(seen, ids);
    assert_eq!(first["text"].as_str().unwrap().len(), ITEM_TEXT_HEAD_BYTES);
    let got = border.call("GET", first["full"]["href"].as_str().unwrap(), "").await;
    assert_eq!(got.bytes, long.as_bytes());
}

#[tokio::test]
async fn a_draft_is_kept_until_a_message_is_accepted() {
    let border = Border::new();
    let chat = border.chat().await;
    let path = format!("/api/v1/chats/{chat}/draft");
    let empty = json!({"text": "", "updated_at": null});
    assert_eq!(border.get(&path).await, empty);
    let got = border.call("PUT", &path, r#"{"text":" half a "}"#).await;
    assert_eq!(got.json()["text"], " half a ");
    assert_eq!(border.call("PUT", &path, r#"{"text":""}"#).await.json(), empty);
    assert_eq!(border.get(&path).await, empty);
    border.call("PUT", &path, r#"{"text":" half a "}"#).await;
    let messages = format!("/api/v1/chats/{chat}/messages");
    assert_eq!(border.post(&messages, json!({"text": ""})).await.status, 400);
    assert_eq!(border.get(&path).await["text"], " half a ");
    assert_eq!(border.post(&messages, json!({"text": "whole"})).await.status, 202);
    assert_eq!(border.get(&path).await, empty);
}
