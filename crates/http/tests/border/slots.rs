//! Slots.

use holdfast_core::ids::ChatId;
use holdfast_core::input::{ChangeChat, Command};
use holdfast_store::Store;
use serde_json::json;

use crate::client::{Border, Got};

#[tokio::test]
async fn a_slot_is_given_to_another_chat_and_a_repeat_changes_nothing() {
    let border = Border::new();
    let body = json!({"agent": "demo", "slot": "desk"});
    let one = border.post("/api/v1/chats", body).await.json()["id"].as_str().unwrap().to_owned();
    let two = border.chat().await.to_string();
    let slot_of =
        async |chat: &str| border.get(&format!("/api/v1/chats/{chat}")).await["slot"].clone();
    let key = [("idempotency-key", "k")];
    let body = json!({"chat": two}).to_string();
    for _ in 0..2 {
        let got = border.call_with("PUT", "/api/v1/slots/desk", &key, body.clone()).await;
        assert_eq!((got.status.as_u16(), &got.json()["slot"]), (200, &json!("desk")));
        assert_eq!((slot_of(&one).await, slot_of(&two).await), (json!(null), json!("desk")));
    }
    let other = json!({"chat": one}).to_string();
    let got = border.call_with("PUT", "/api/v1/slots/desk", &key, other.clone()).await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (409, "operation_conflict"));
    let got = border.call("PUT", "/api/v1/slots/de%20sk", other.clone()).await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (400, "invalid_field"));
    border.post(&format!("/api/v1/chats/{one}/close"), json!({})).await;
    let got = border.call("PUT", "/api/v1/slots/desk", other).await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (409, "chat_closed"));
    assert_eq!(slot_of(&two).await, "desk", "nothing was taken away");
}

struct Desk {
    border: Border,
    /// The chat that has the slot.
    one: ChatId,
    two: ChatId,
    three: ChatId,
}

impl Desk {
    async fn new() -> Self {
        let border = Border::new();
        let mut chats = [border.chat().await, border.chat().await, border.chat().await];
        chats.sort();
        let [one, two, three] = chats;
        let desk = Self { border, one, two, three };
        desk.give(one, "first").await;
        desk
    }

    async fn give(&self, chat: ChatId, key: &str) -> Got {
        let body = json!({"chat": chat.to_string()}).to_string();
        let key = [("idempotency-key", key)];
        self.border.call_with("PUT", "/api/v1/slots/desk", &key, body).await
    }

    async fn holder(&self) -> Option<ChatId> {
        let row = self.border.host.memory().chat_by_slot("desk".to_owned()).await.unwrap();
        row.map(|row| row.id)
    }
}

#[tokio::test]
async fn a_repeat_answers_the_first_row_and_takes_the_slot_from_nobody() {
    let desk = Desk::new().await;
    let first = desk.give(desk.two, "k").await;
    assert_eq!(first.status, 200);
    desk.give(desk.three, "l").await;
    let repeat = desk.give(desk.two, "k").await;
    assert_eq!((repeat.status.as_u16(), repeat.json()), (200, first.json()));
    assert_eq!(desk.holder().await, Some(desk.three));
    for (method, path) in [("POST", "/close"), ("DELETE", "")] {
        let path = format!("/api/v1/chats/{}{path}", desk.two);
        assert_eq!(desk.border.call(method, &path, "{}").await.status, 200, "{path}");
        let repeat = desk.give(desk.two, "k").await;
        assert_eq!((repeat.status.as_u16(), repeat.json()), (200, first.json()), "{path}");
    }
    assert_eq!(desk.holder().await, Some(desk.three));
}

#[tokio::test]
async fn a_slot_that_somebody_else_took_meanwhile_is_given_all_the_same() {
    let desk = Desk::new().await;
    let slot = |slot: &str| {
        let slot = Some(slot.to_owned());
        Command::Change(ChangeChat { slot, ..ChangeChat::default() })
    };
    desk.border.host.meanwhile([(desk.one, slot("")), (desk.three, slot("desk"))]);
    let got = desk.give(desk.two, "k").await;
    assert_eq!((got.status.as_u16(), &got.json()["slot"]), (200, &json!("desk")));
    assert_eq!(desk.holder().await, Some(desk.two));
}

#[tokio::test]
async fn a_slot_that_cannot_be_given_stays_where_it_was() {
    let desk = Desk::new().await;
    desk.border.host.meanwhile([(desk.two, Command::Delete)]);
    let got = desk.give(desk.two, "k").await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (404, "chat_not_found"));
    assert_eq!(desk.holder().await, Some(desk.one));
}
