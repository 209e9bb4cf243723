//! Sessions that agents keep themselves, as clients are told of them and adopt them.

use serde_json::{Value, json};

use crate::client::Border;
use crate::fake::Fake;

const LIST: &str = "/api/v1/agents/demo/sessions";

#[tokio::test]
async fn sessions_are_listed_and_adopted_once() {
    let border = Border::over(Fake::new());
    insta::assert_json_snapshot!("sessions", border.get(LIST).await);
    let body = json!({"agent": "demo", "adopt": {"session": "s-1"}});
    let opened = border.post("/api/v1/chats", body.clone()).await;
    assert_eq!(opened.status.as_u16(), 201);
    let chat = opened.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(opened.json()["title"], "Fix the parser");
    let items = border.get(&format!("/api/v1/chats/{chat}/items")).await;
    insta::assert_json_snapshot!("adopted", items["items"]);
    assert_eq!(border.get(LIST).await["items"][0]["chat"], json!(chat));
    let twice = border.post("/api/v1/chats", body).await;
    assert_eq!((twice.status.as_u16(), &twice.json()["code"]), (409, &json!("session_taken")));
    assert!(twice.json()["detail"].as_str().unwrap().contains(&chat));
    // A new session would be told of what was said before, too.
    let recap = border.get(&format!("/api/v1/offers/{chat}/recap")).await;
    let text = recap["text"].as_str().unwrap();
    assert!(text.contains("Fix the parser") && text.contains("It is fixed."), "{text}");
}

#[tokio::test]
async fn what_is_asked_of_sessions_is_checked() {
    let border = Border::over(Fake::new());
    let found = async |query: &str| border.get(&format!("{LIST}?{query}")).await["items"].clone();
    assert_eq!(found("q=S-2").await[0]["id"], "s-2");
    assert_eq!(found("limit=1").await.as_array().unwrap().len(), 1);
    let long = "x".repeat(5000);
    for (path, status, code) in [
        ("/api/v1/agents/none/sessions".to_owned(), 404, "agent_not_found"),
        (format!("{LIST}?before=x"), 400, "invalid_cursor"),
        (format!("{LIST}?limit=x"), 400, "invalid_field"),
        (format!("{LIST}?cwd={long}"), 400, "field_too_long"),
        (format!("{LIST}?odd=1"), 400, "unknown_field"),
    ] {
        let refused = border.call("GET", &path, "").await;
        assert_eq!(
            (refused.status.as_u16(), refused.json()["code"].as_str()),
            (status, Some(code)),
            "{path}"
        );
    }
    for (adopt, cwd, field, code) in [
        (json!("s-1"), Value::Null, "adopt", "invalid_field"),
        (json!({}), Value::Null, "adopt.session", "missing_field"),
        (json!({"session": 7}), Value::Null, "adopt.session", "invalid_field"),
        (json!({"session": "s-1", "odd": 1}), Value::Null, "adopt.odd", "unknown_field"),
        (json!({"session": "s-1"}), json!("/tmp"), "cwd", "invalid_field"),
    ] {
        let body = json!({"agent": "demo", "adopt": adopt, "cwd": cwd});
        let refused = border.post("/api/v1/chats", body).await;
        let said = (
            refused.status.as_u16(),
            refused.json()["field"].clone(),
            refused.json()["code"].clone(),
        );
        assert_eq!(said, (400, json!(field), json!(code)));
    }
}
