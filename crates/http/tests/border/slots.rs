//! Slots.

use serde_json::json;

use crate::client::Border;

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
