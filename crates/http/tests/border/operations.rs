//! Idempotency keys at the border: the same request is one operation.

use holdfast_core::ids::ChatId;
use serde_json::{Value, json};

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
    let path = |chat: &ChatId| format!("/api/v1/chats/{chat}/messages");
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

/// Calls twice with one key, in between does something else, and gives both answers.
async fn twice(
    border: &Border,
    (method, path, body): (&str, &str, &str),
    between: impl AsyncFnOnce(&Border),
) -> [(u16, Value); 2] {
    let key = [("idempotency-key", "twice")];
    let first = border.call_with(method, path, &key, body.to_owned()).await;
    between(border).await;
    let again = border.call_with(method, path, &key, body.to_owned()).await;
    [(first.status.as_u16(), first.json()), (again.status.as_u16(), again.json())]
}

#[tokio::test]
async fn a_row_that_was_answered_is_answered_again_also_of_a_chat_that_is_gone() {
    for gone in [false, true] {
        let after = async |border: &Border| {
            let all = border.get("/api/v1/chats?state=all").await;
            let id = all["items"][0]["id"].as_str().unwrap().to_owned();
            let path = format!("/api/v1/chats/{id}");
            assert_eq!(border.call("PATCH", &path, r#"{"title":"later"}"#).await.status, 200);
            if gone {
                assert_eq!(border.call("DELETE", &path, "").await.status, 200);
                assert_eq!(border.call("GET", &path, "").await.status, 404);
            }
        };
        let border = Border::new();
        let body = r#"{"agent":"demo","title":"first","message":"a"}"#;
        let [first, again] = twice(&border, ("POST", "/api/v1/chats", body), after).await;
        assert_eq!((first.0, &first.1["title"]), (201, &json!("first")));
        assert_eq!(first, again);

        for (what, body) in [("", r#"{"title":"first"}"#), ("", "{}"), ("/reopen", "{}")] {
            let border = Border::new();
            let chat = border.chat().await;
            let path = format!("/api/v1/chats/{chat}{what}");
            if !what.is_empty() {
                let close = format!("/api/v1/chats/{chat}/close");
                assert_eq!(border.post(&close, json!({})).await.status, 200);
            }
            let method = if what.is_empty() { "PATCH" } else { "POST" };
            let [first, again] = twice(&border, (method, &path, body), after).await;
            assert_eq!((first.0, &first.1["state"]), (200, &json!("open")), "{path} {body}");
            assert_ne!(first.1["title"], "later");
            assert_eq!(first, again, "{path} {body}");
        }
    }
}

#[tokio::test]
async fn a_request_that_finds_nothing_to_do_spends_its_key() {
    let border = Border::new();
    let chat = border.chat().await;
    let patch = format!("/api/v1/chats/{chat}");
    let cases = [
        ("PATCH", patch.as_str(), "{}", r#"{"title":"x"}"#),
        ("POST", "/api/v1/offers/resume", r#"{"chats":"all"}"#, r#"{"chats":[]}"#),
        ("POST", "/api/v1/offers/dismiss", r#"{"chats":"all"}"#, r#"{"chats":[]}"#),
        ("POST", "/api/v1/offers/dismiss", r#"{"chats":[]}"#, r#"{"chats":"all"}"#),
    ];
    for (n, (method, path, body, other)) in cases.into_iter().enumerate() {
        let key = n.to_string();
        let key = [("idempotency-key", key.as_str())];
        let first = border.call_with(method, path, &key, body).await;
        let again = border.call_with(method, path, &key, body).await;
        assert_eq!((first.status.as_u16(), first.json()), (200, again.json()), "{path} {body}");
        let conflict = border.call_with(method, path, &key, other).await;
        assert_eq!(
            (conflict.status.as_u16(), conflict.code().as_str()),
            (409, "operation_conflict")
        );
    }
    assert_eq!(border.get(&patch).await["title"], Value::Null);
    let nowhere = format!("/api/v1/chats/{}", ChatId::new(uuid::Uuid::from_u128(999)));
    let key = [("idempotency-key", "free")];
    assert_eq!(border.call_with("PATCH", &nowhere, &key, "{}").await.status, 404);
    assert_eq!(border.call_with("PATCH", &patch, &key, "{}").await.status, 200);
}

/// All means what it meant when it came first; an offer that is recorded later is not meant.
#[tokio::test]
async fn all_offers_are_the_same_ones_when_asked_again() {
    let border = Border::new();
    let first = stopped(&border).await.to_string();
    let later = async |border: &Border| {
        stopped(border).await;
    };
    let dismiss = ("POST", "/api/v1/offers/dismiss", r#"{"chats":"all"}"#);
    let [told, again] = twice(&border, dismiss, later).await;
    assert_eq!(
        told.1["results"][0],
        json!({"chat": first, "outcome": "dismissed",
        "receipt": null, "failure": null})
    );
    assert_eq!(told, again);
    assert_eq!(border.get("/api/v1/offers").await["offers"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn another_list_of_chats_under_one_key_is_another_request() {
    let border = Border::new();
    let [one, other] = [stopped(&border).await, stopped(&border).await];
    let key = [("idempotency-key", "k")];
    let body = |chat: &ChatId| json!({"chats": [chat]}).to_string();
    let first = border.call_with("POST", "/api/v1/offers/dismiss", &key, body(&one)).await;
    assert_eq!(first.json()["results"][0]["outcome"], "dismissed");
    let conflict = border.call_with("POST", "/api/v1/offers/dismiss", &key, body(&other)).await;
    assert_eq!((conflict.status.as_u16(), conflict.code().as_str()), (409, "operation_conflict"));
    let path = format!("/api/v1/chats/{other}/messages");
    let message = border.call_with("POST", &path, &key, r#"{"text":"a"}"#).await;
    assert_eq!((message.status.as_u16(), message.code().as_str()), (409, "operation_conflict"));
}

#[tokio::test]
async fn a_draft_that_is_put_again_overwrites_no_newer_one() {
    let border = Border::new();
    let chat = border.chat().await;
    let path = format!("/api/v1/chats/{chat}/draft");
    let newer = async |border: &Border| {
        assert_eq!(border.call("PUT", &path, r#"{"text":"newer"}"#).await.status, 200);
    };
    let [first, again] = twice(&border, ("PUT", &path, r#"{"text":"older"}"#), newer).await;
    assert_eq!((first.0, &first.1["text"]), (200, &json!("older")));
    assert_eq!(first, again);
    assert_eq!(border.get(&path).await["text"], "newer");
    let key = [("idempotency-key", "twice")];
    let conflict = border.call_with("PUT", &path, &key, r#"{"text":"third"}"#).await;
    assert_eq!((conflict.status.as_u16(), conflict.code().as_str()), (409, "operation_conflict"));
    assert_eq!(border.get(&path).await["text"], "newer");
}
