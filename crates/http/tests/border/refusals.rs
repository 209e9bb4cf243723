//! Bad input: each refusal has its code and its field, and nothing is stored.

use holdfast_core::limits::{BODY_BYTES_MAX, MESSAGE_BODY_BYTES_MAX, MESSAGE_BYTES_MAX};
use holdfast_store::Store;
use rstest::rstest;
use serde_json::{Value, json};

use crate::client::Border;

/// An attachment that no chat has.
const NOWHERE: &str = "file_00000000000000000000000000000000";

/// The number of the newest change: nothing was stored if it stands still.
async fn newest(border: &Border) -> u64 {
    border.host.memory().change_bounds().await.unwrap().newest
}

#[rstest]
#[case::not_json("{", 400, "invalid_json", None)]
#[case::no_object("[]", 400, "invalid_json", None)]
#[case::doubled(r#"{"agent":"demo","agent":"demo"}"#, 400, "invalid_json", None)]
#[case::empty("", 400, "missing_field", Some("agent"))]
#[case::null(r#"{"agent":null}"#, 400, "missing_field", Some("agent"))]
#[case::unknown(r#"{"agnt":"demo"}"#, 400, "unknown_field", Some("agnt"))]
#[case::wrong_type(r#"{"agent":7}"#, 400, "invalid_field", Some("agent"))]
#[case::blank(r#"{"agent":"  "}"#, 400, "empty_field", Some("agent"))]
#[case::no_such_agent(r#"{"agent":"other"}"#, 404, "agent_not_found", Some("agent"))]
#[case::title(r#"{"agent":"demo","title":" "}"#, 400, "empty_field", Some("title"))]
#[case::title_lines(r#"{"agent":"demo","title":"a\nb"}"#, 400, "invalid_field", Some("title"))]
#[case::cwd(r#"{"agent":"demo","cwd":"src"}"#, 400, "invalid_field", Some("cwd"))]
#[case::cwd_nul(r#"{"agent":"demo","cwd":"/a\u0000b"}"#, 400, "invalid_field", Some("cwd"))]
#[case::message(r#"{"agent":"demo","message":7}"#, 400, "invalid_field", Some("message"))]
#[case::message_blank(r#"{"agent":"demo","message":" "}"#, 400, "empty_field", Some("message"))]
#[case::message_field(
    r#"{"agent":"demo","message":{"txt":"a"}}"#,
    400,
    "unknown_field",
    Some("message.txt")
)]
#[tokio::test]
async fn a_chat_is_not_opened(
    #[case] body: &'static str,
    #[case] status: u16,
    #[case] code: &str,
    #[case] field: Option<&str>,
) {
    let border = Border::new();
    let got = border.call("POST", "/api/v1/chats", body).await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (status, code));
    assert_eq!(got.json()["field"].as_str(), field);
    assert!(!got.json()["detail"].as_str().unwrap().is_empty());
    assert_eq!(newest(&border).await, 0);
}

#[rstest]
#[case::title("title", 200)]
#[case::slot("slot", 64)]
#[case::project("project", 200)]
#[case::model("model", 200)]
#[case::mode("mode", 200)]
#[tokio::test]
async fn a_long_line_is_refused_by_its_limit(#[case] field: &str, #[case] limit: usize) {
    let border = Border::new();
    let body = |text: String| json!({"agent": "demo", field: text});
    let got = border.post("/api/v1/chats", body("é".repeat(limit + 1))).await;
    assert_eq!((got.status.as_u16(), got.code()), (400, "field_too_long".to_owned()));
    assert_eq!((&got.json()["field"], &got.json()["limit"]), (&json!(field), &json!(limit)));
    assert_eq!(newest(&border).await, 0);
    let got = border.post("/api/v1/chats", body(format!("  {}  ", "é".repeat(limit)))).await;
    assert_eq!(got.status, 201);
}

#[rstest]
#[case::missing(json!({}), 400, "missing_field", Some("text"))]
#[case::blank(json!({"text": " \n\t"}), 400, "empty_field", Some("text"))]
#[case::number(json!({"text": 1}), 400, "invalid_field", Some("text"))]
#[case::list(json!({"text": ["a"]}), 400, "invalid_field", Some("text"))]
#[case::unknown(json!({"text": "a", "deliver": "queue"}), 400, "unknown_field", Some("deliver"))]
#[case::way(json!({"text": "a", "delivery": "later"}), 400, "invalid_field", Some("delivery"))]
#[case::attached(json!({"text": "a", "attachments": ["x"]}), 400, "invalid_id", Some("attachments"))]
#[case::nowhere(json!({"text": "a", "attachments": [NOWHERE]}), 400, "unknown_attachment", Some("attachments"))]
#[case::many(json!({"text": "a", "attachments": vec![NOWHERE; 21]}), 400, "field_too_long", Some("attachments"))]
#[case::attachments(json!({"text": "a", "attachments": "x"}), 400, "invalid_field", Some("attachments"))]
#[case::long(json!({"text": "x".repeat(MESSAGE_BYTES_MAX + 1)}), 400, "field_too_long", Some("text"))]
#[tokio::test]
async fn a_message_is_not_accepted(
    #[case] body: Value,
    #[case] status: u16,
    #[case] code: &str,
    #[case] field: Option<&str>,
) {
    let border = Border::new();
    let chat = border.chat().await;
    let before = newest(&border).await;
    let got = border.post(&format!("/api/v1/chats/{chat}/messages"), body).await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (status, code));
    assert_eq!(got.json()["field"].as_str(), field);
    assert_eq!(newest(&border).await, before);
}

#[tokio::test]
async fn a_message_of_the_very_limit_is_accepted() {
    let border = Border::new();
    let chat = border.chat().await;
    let text = json!({"text": "x".repeat(MESSAGE_BYTES_MAX)});
    let got = border.post(&format!("/api/v1/chats/{chat}/messages"), text).await;
    assert_eq!(got.status, 202);
}

#[tokio::test]
async fn a_body_beyond_its_limit_is_refused_with_the_limit() {
    let border = Border::new();
    let chat = border.chat().await;
    let before = newest(&border).await;
    let calls = [
        ("POST", "messages", MESSAGE_BODY_BYTES_MAX),
        ("PUT", "draft", MESSAGE_BODY_BYTES_MAX),
        ("PATCH", "", BODY_BYTES_MAX),
        ("POST", "close", BODY_BYTES_MAX),
    ];
    for (method, call, limit) in calls {
        let path = format!("/api/v1/chats/{chat}/{call}");
        let path = path.trim_end_matches('/');
        let got = border.call(method, path, vec![b' '; limit + 1]).await;
        assert_eq!((got.status.as_u16(), got.code()), (413, "body_too_large".to_owned()), "{path}");
        assert_eq!(got.json()["limit"], limit);
    }
    assert_eq!(newest(&border).await, before);
}

#[rstest]
#[case("GET", "/api/v1/chats/x", 400, "invalid_id")]
#[case("GET", "/api/v1/chats/%ff", 400, "invalid_id")]
#[case("POST", "/api/v1/chats/x/messages", 400, "invalid_id")]
#[case("GET", "/api/v1/chats/chat_00000000000000000000000000000009", 404, "chat_not_found")]
#[case("GET", "/api/v1/chats/chat_00000000000000000000000000000009/items", 404, "chat_not_found")]
#[case("GET", "/api/v1/chats/chat_00000000000000000000000000000009/turns", 404, "chat_not_found")]
#[case("GET", "/api/v1/chats/chat_00000000000000000000000000000009/queue", 404, "chat_not_found")]
#[case("GET", "/api/v1/chats/chat_00000000000000000000000000000009/draft", 404, "chat_not_found")]
#[case("DELETE", "/api/v1/chats/chat_00000000000000000000000000000009", 404, "chat_not_found")]
#[case("GET", "/api/v1/receipts/rcp_x", 400, "invalid_id")]
#[case(
    "GET",
    "/api/v1/receipts/rcp_00000000000000000000000000000009_m00000000000000000000000000000009",
    404,
    "receipt_not_found"
)]
#[case("GET", "/api/v1/chats?state=ajar", 400, "invalid_field")]
#[case("GET", "/api/v1/chats?limit=0", 400, "invalid_field")]
#[case("GET", "/api/v1/chats?limt=1", 400, "unknown_field")]
#[case("GET", "/api/v1/chats?before=nonsense", 400, "invalid_cursor")]
#[case("GET", "/api/v1/events?chat=x", 400, "invalid_id")]
#[case("GET", "/api/v1/events?aftr=x", 400, "unknown_field")]
#[case("GET", "/api/v1/events", 400, "invalid_field")]
#[case("GET", "/api/v1/nothing", 404, "not_found")]
#[case("GET", "/nothing", 404, "not_found")]
#[case("PUT", "/api/v1/chats", 405, "method_not_allowed")]
#[case("POST", "/livez", 405, "method_not_allowed")]
#[case("POST", "/api/v1/host/stop", 400, "missing_field")]
#[case("POST", "/api/v1/offers/resume", 400, "missing_field")]
#[tokio::test]
async fn a_call_that_names_nothing_is_refused(
    #[case] method: &str,
    #[case] path: &str,
    #[case] status: u16,
    #[case] code: &str,
) {
    let border = Border::new();
    let got = border.call(method, path, "").await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (status, code));
    assert_eq!(got.headers["content-type"], "application/problem+json");
    assert_eq!(newest(&border).await, 0);
    assert!(border.host.told().is_empty());
    assert_eq!(got.headers.contains_key("allow"), status == 405);
}

#[tokio::test]
async fn a_stream_of_too_many_chats_is_refused() {
    let border = Border::new();
    let query = |count| -> String { (0..count).map(|n| format!("chat=chat_{n:032x}&")).collect() };
    let ask = async |count| {
        let path = format!("/api/v1/events?{}after=", query(count));
        border.call("GET", &path, "").await.json()["field"].clone()
    };
    let most = holdfast_http::limits::EVENT_CHATS_MAX;
    assert_eq!(ask(most + 1).await, "chat");
    // As many as that are fine; what is missing is the form of a stream.
    assert_eq!(ask(most).await, "accept");
}

#[tokio::test]
async fn within_a_chat_what_is_not_there_is_named() {
    let border = Border::new();
    let chat = border.chat().await;
    let none = "msg_00000000000000000000000000000abc";
    let calls = [
        ("GET", "items/i1.1/text".to_owned(), "", "item_not_found"),
        ("GET", format!("messages/{none}/text"), "", "message_not_found"),
        ("DELETE", format!("queue/{none}"), "", "not_queued"),
        ("POST", format!("queue/{none}/send-now"), "", "not_queued"),
        ("POST", format!("messages/{none}/resolve"), r#"{"choice":"arrived"}"#, "not_in_doubt"),
        ("POST", "prompts/p1.1/answer".to_owned(), r#"{"option":"a"}"#, "prompt_not_found"),
        ("POST", "tasks/k1.1/stop".to_owned(), "", "task_not_found"),
        ("POST", "interrupt".to_owned(), "", "no_turn"),
        ("PATCH", String::new(), r#"{"pinned":1}"#, "invalid_field"),
        ("PUT", "queue/order".to_owned(), r#"{"messages":["x"]}"#, "invalid_id"),
        ("GET", "items?before=1&after=2".to_owned(), "", "invalid_field"),
        ("GET", "items/i1.1/text?field=body".to_owned(), "", "invalid_field"),
        ("GET", format!("queue?from={none}"), "", "invalid_cursor"),
        ("POST", "close".to_owned(), r#"{"leftovers":"eat"}"#, "invalid_field"),
        ("PUT", "draft".to_owned(), "{}", "missing_field"),
    ];
    let before = newest(&border).await;
    for (method, call, body, code) in calls {
        let path = format!("/api/v1/chats/{chat}/{call}");
        let got = border.call(method, path.trim_end_matches('/'), body).await;
        assert_eq!(got.code(), code, "{method} {call}");
    }
    assert_eq!(newest(&border).await, before);
}
