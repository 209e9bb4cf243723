//! Ways back: what is asked and answered, and what is said of what was left behind.

use holdfast_core::ids::ChatId;
use holdfast_core::item::{Body, Field, ItemKind};
use holdfast_core::provider::{Forks, ProviderEvent, TurnEnd};
use serde_json::{Value, json};

use crate::client::Border;
use crate::shapes::{item, takes_from, text, written};

/// A chat with two turns behind it, whose agent said `first` and `second`.
async fn talked(border: &Border) -> ChatId {
    let body = json!({"agent": "demo", "cwd": "/tmp", "message": "hello"});
    let got = border.post("/api/v1/chats", body).await;
    let chat = got.json()["id"].as_str().unwrap().parse().unwrap();
    takes_from(&border.host, chat, Forks::AtTurns).await;
    answers(border, chat, 1, "first").await;
    border.post(&format!("/api/v1/chats/{chat}/messages"), json!({"text": "again"})).await;
    let frame = written(&border.host, chat).await;
    border.host.says(chat, ProviderEvent::MessageTaken { frame }).await;
    answers(border, chat, 2, "second").await;
    chat
}

async fn answers(border: &Border, chat: ChatId, n: u32, said: &str) {
    item(&border.host, chat, n, ItemKind::Message, Body::Text).await;
    text(&border.host, chat, n, Field::Text, said).await;
    let (how, mark) = (TurnEnd::Completed, Some(format!("u{n}")));
    border.host.says(chat, ProviderEvent::TurnEnded { how, usage: None, text: None, mark }).await;
}

#[tokio::test]
async fn a_chat_goes_back_and_what_it_left_is_told_apart() {
    let border = Border::new();
    let chat = talked(&border).await;
    let path = format!("/api/v1/chats/{chat}");
    assert_eq!(border.get(&path).await["capabilities"], json!(["stop_task", "fork", "rewind"]));
    let ends = async || {
        let page = border.get(&format!("{path}/items")).await;
        let ends = page["items"].as_array().unwrap().iter().filter(|it| it["turn_end"] == true);
        ends.map(|item| item["seq"].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(ends().await, [2, 4]);

    let nowhere = border.post(&format!("{path}/rewind"), json!({"at": 9})).await;
    assert_eq!((nowhere.status.as_u16(), nowhere.code().as_str()), (404, "item_not_found"));
    let between = border.post(&format!("{path}/rewind"), json!({"at": 3})).await;
    assert_eq!((between.status.as_u16(), between.code().as_str()), (409, "not_supported"));
    let odd = border.post(&format!("{path}/rewind"), json!({"at": 2, "text": 3})).await;
    assert_eq!((odd.status.as_u16(), odd.code().as_str()), (400, "invalid_field"));
    let body = json!({"at": 2, "text": "instead"});
    let went = border.post(&format!("{path}/rewind"), body).await;
    assert_eq!(went.status.as_u16(), 200, "{}", went.json());
    let went = went.json();
    assert_eq!((&went["id"], &went["queue_length"]), (&json!(chat.to_string()), &json!(1)));
    assert!(went["note"].as_str().unwrap().ends_with("Files were not changed."), "{went}");
    let receipt = went["receipt"].as_str().unwrap();
    assert_eq!(border.get(&format!("/api/v1/receipts/{receipt}")).await["state"], "queued");

    assert_eq!(ends().await, [2]);
    let turns = border.get(&format!("{path}/turns")).await;
    let turns: Vec<_> = turns["items"].as_array().unwrap().iter().collect();
    let shown: Vec<_> = turns.iter().map(|it| (&it["ends_at"], &it["left_behind"])).collect();
    assert_eq!(shown, [(&json!(2), &json!(false)), (&Value::Null, &json!(true))]);
    let notice = border.get(&format!("{path}/items")).await["items"][4].clone();
    assert_eq!(
        (&notice["notice"]["kind"], &notice["notice"]["to"]),
        (&json!("went_back"), &json!(2))
    );

    // A new session is told what counts.
    let recap = border.get(&format!("/api/v1/offers/{chat}/recap")).await;
    let recap = recap["text"].as_str().unwrap();
    assert!(recap.contains("first") && !recap.contains("second"), "{recap}");
    assert!(!recap.contains("I wrote:\nagain"), "{recap}");
}
