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

/// Asks again until there is an index that can be read.
async fn until_answered(border: &Border, path: &str) {
    let mut looks = tokio::time::interval(Duration::from_millis(10));
    let answered = async {
        while border.call("GET", path, "").await.status != 200 {
            looks.tick().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), answered).await.unwrap();
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

#[tokio::test]
async fn a_list_looks_for_words_on_both_sides_of_a_nul() {
    let border = Border::over(Fake::searched());
    let chat = said(&border, "The quick fox.").await;
    until_found(&border, "/api/v1/search?q=quick").await;
    for (q, found) in [("fo%00x", true), ("quick%00fox", true), ("fo%00y", false)] {
        for path in ["search", "chats"] {
            let got = border.call("GET", &format!("/api/v1/{path}?q={q}"), "").await;
            assert_eq!(got.status, 200, "{path} {q}");
            let key = if path == "chats" { "id" } else { "chat" };
            let all = got.json()["items"].as_array().unwrap().clone();
            assert_eq!(all.iter().any(|row| row[key] == json!(chat)), found, "{path} {q}");
        }
    }
}

#[tokio::test]
async fn an_index_that_cannot_be_read_is_made_anew_and_lists_find_what_their_rows_say() {
    for list_first in [false, true] {
        let border = Border::over(Fake::searched());
        let chat = said(&border, "Where is the needle?").await;
        border.host.damage_index("needle").await;
        if list_first {
            let list = border.get("/api/v1/chats?q=chat").await;
            assert_eq!(list["items"][0]["id"], json!(chat));
        } else {
            let got = border.call("GET", "/api/v1/search?q=needle", "").await;
            assert_eq!((got.status.as_u16(), got.code().as_str()), (503, "search_unavailable"));
        }
        until_answered(&border, "/api/v1/search?q=needle").await;
        let found = until_found(&border, "/api/v1/search?q=needle").await;
        assert_eq!((&found["items"][0]["chat"], &found["complete"]), (&json!(chat), &json!(true)));
    }
}
