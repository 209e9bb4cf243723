//! Search over transcripts, and lists that are narrowed by it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::Border;
use crate::fake::Fake;
use crate::shapes::takes;

/// Asks again until something is found: the index follows a moment behind.
async fn until_found(border: &Border, path: &str) -> Value {
    let mut looks = tokio::time::interval(Duration::from_millis(10));
    let found = async {
        loop {
            looks.tick().await;
            let got = border.get(path).await;
            if got["items"].as_array().is_some_and(|items| !items.is_empty()) {
                return got;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), found).await.unwrap()
}

async fn said(border: &Border, text: &str) -> String {
    let body = json!({"agent": "demo", "title": "a chat", "message": text});
    let chat = border.post("/api/v1/chats", body).await.json()["id"].as_str().unwrap().to_owned();
    takes(&border.host, chat.parse().unwrap()).await;
    chat
}

#[tokio::test]
async fn a_search_finds_items_and_lists_find_their_chats() {
    let border = Border::over(Fake::searched());
    let chat = said(&border, "Where is the needle?").await;
    let other = said(&border, "Only hay here.").await;
    let found = until_found(&border, "/api/v1/search?q=NEEDLE").await;
    insta::assert_json_snapshot!("search", found);
    until_found(&border, "/api/v1/search?q=hay").await;
    let within = format!("/api/v1/search?q=needle&chat={other}");
    assert_eq!(border.get(&within).await["items"], json!([]));
    for (q, chats) in
        [("needle", vec![&chat]), ("hay", vec![&other]), ("a%20chat", vec![&other, &chat])]
    {
        let list = border.get(&format!("/api/v1/chats?q={q}")).await;
        let ids: Vec<&str> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, chats, "{q}");
    }
}

#[tokio::test]
async fn what_cannot_be_searched_for_is_refused() {
    let border = Border::over(Fake::searched());
    let long = format!("q={}", "x".repeat(201));
    for (query, code, field) in [
        ("", "invalid_field", "q"),
        ("q=%20", "invalid_field", "q"),
        (long.as_str(), "field_too_long", "q"),
        ("q=abc&chat=x", "invalid_field", "chat"),
        ("q=abc&before=x", "invalid_cursor", "before"),
        ("q=abc&limit=0", "invalid_field", "limit"),
        ("q=abc&page=2", "unknown_field", "page"),
    ] {
        let got = border.call("GET", &format!("/api/v1/search?{query}"), "").await;
        assert_eq!((got.status.as_u16(), got.code().as_str()), (400, code), "{query}");
        assert_eq!(got.json()["field"], field, "{query}");
    }
    let without = Border::new();
    let got = without.call("GET", "/api/v1/search?q=abc", "").await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (503, "search_unavailable"));
    // A list finds what its rows say all the same.
    assert_eq!(without.get("/api/v1/chats?q=abc").await["items"], json!([]));
}
