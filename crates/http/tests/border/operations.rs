//! Idempotency keys at the border: the same request is one operation.

use serde_json::json;

use crate::client::Border;
use crate::offers::stopped;

#[tokio::test]
async fn the_same_key_and_body_get_the_first_answer_again() {
    let border = Border::new();
    let chat = border.chat().await;
    let path = format!("/api/v1/chats/{chat}/messages");
    let key = [("idempotency-key", "k1")];
    let body = json!({"text": "hello"}).to_string();
    let first = border.call_with("POST", &path, &key, body.clone()).await;
    let again = border.call_with("POST", &path, &key, body).await;
    assert_eq!((first.status, again.status), (202.try_into().unwrap(), 202.try_into().unwrap()));
    assert_eq!(first.json(), again.json());
    assert_eq!(border.get(&format!("/api/v1/chats/{chat}")).await["user_messages"], 1);

    let other = json!({"text": "goodbye"}).to_string();
    let conflict = border.call_with("POST", &path, &key, other).await;
    assert_eq!((conflict.status.as_u16(), conflict.code()), (409, "operation_conflict".to_owned()));
    assert_eq!(border.get(&format!("/api/v1/chats/{chat}")).await["user_messages"], 1);
}

#[tokio::test]
async fn the_same_body_to_another_chat_is_another_request() {
    let border = Border::new();
    let (one, other) = (border.chat().await, border.chat().await);
    let key = [("idempotency-key", "k1")];
    let body = json!({"text": "hello"}).to_string();
    let path = |chat: &holdfast_core::ids::ChatId| format!("/api/v1/chats/{chat}/messages");
    let first = border.call_with("POST", &path(&one), &key, body.clone()).await;
    assert_eq!(first.status.as_u16(), 202);
    let second = border.call_with("POST", &path(&other), &key, body).await;
    assert_eq!((second.status.as_u16(), second.code()), (409, "operation_conflict".to_owned()));
    let close = border.call_with("POST", &format!("/api/v1/chats/{other}/close"), &key, "").await;
    assert_eq!((close.status.as_u16(), close.code()), (409, "operation_conflict".to_owned()));
}

#[tokio::test]
async fn a_chat_is_opened_once_under_one_key() {
    let border = Border::new();
    let key = [("idempotency-key", "k1")];
    let body = json!({"agent": "demo", "message": "hello"}).to_string();
    let first = border.call_with("POST", "/api/v1/chats", &key, body.clone()).await.json();
    let again = border.call_with("POST", "/api/v1/chats", &key, body).await.json();
    assert_eq!(first["id"], again["id"]);
    assert_eq!(first["receipt"], again["receipt"]);
    assert_eq!(border.get("/api/v1/chats").await["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn one_key_may_name_a_write_to_several_chats() {
    let border = Border::new();
    let chats = json!([stopped(&border).await.to_string(), stopped(&border).await.to_string()]);
    let key = [("idempotency-key", "k1")];
    let body = json!({"chats": chats}).to_string();
    let first = border.call_with("POST", "/api/v1/offers/dismiss", &key, body.clone()).await;
    let again = border.call_with("POST", "/api/v1/offers/dismiss", &key, body).await;
    assert_eq!(first.json(), again.json());
    let outcomes = first.json();
    let mut outcomes = outcomes["results"].as_array().unwrap().iter();
    assert!(outcomes.all(|result| result["outcome"] == "dismissed"));
}

#[tokio::test]
async fn an_odd_device_stores_nothing() {
    let border = Border::new();
    for device in ["", "\u{e9}", "x".repeat(201).as_str()] {
        let body = json!({"agent": "demo"}).to_string();
        let device = [("holdfast-device", device)];
        let got = border.call_with("POST", "/api/v1/chats", &device, body).await;
        assert_eq!((got.status.as_u16(), got.code()), (400, "invalid_field".to_owned()));
    }
    assert_eq!(border.get("/api/v1/chats").await["items"], json!([]));
}

#[tokio::test]
async fn an_odd_key_stores_nothing() {
    let border = Border::new();
    let long = "x".repeat(129);
    for key in ["", long.as_str()] {
        let body = json!({"agent": "demo"}).to_string();
        let key = [("idempotency-key", key)];
        let got = border.call_with("POST", "/api/v1/chats", &key, body).await;
        assert_eq!((got.status.as_u16(), got.code()), (400, "invalid_operation_key".to_owned()));
    }
    assert_eq!(border.get("/api/v1/chats").await["items"], json!([]));
}
