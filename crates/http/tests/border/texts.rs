//! Big texts are shown in part and served in ranges.

use holdfast_core::ids::ChatId;
use holdfast_core::item::{Body, CallState, Field, ItemKind, Role, ToolCall};
use holdfast_core::limits::ITEM_TEXT_HEAD_BYTES;
use holdfast_core::provider::ProviderEvent;
use serde_json::json;

use crate::client::Border;
use crate::shapes::takes;

/// A tool's output of 5 MB, in characters of two bytes.
const CHARS: usize = 2_500_000;

async fn with_output(border: &Border) -> ChatId {
    let got = border.post("/api/v1/chats", json!({"agent": "demo", "message": "a"})).await;
    let chat = got.json()["id"].as_str().unwrap().parse().unwrap();
    takes(&border.host, chat).await;
    let call = ToolCall {
        name: "Run".to_owned(),
        tool_kind: "execute".to_owned(),
        state: CallState::Running,
        task: None,
        within: None,
    };
    let (kind, role) = (ItemKind::ToolCall, Role::Agent);
    let opened = ProviderEvent::ItemOpened { item: 1, kind, role, body: Body::Call(call) };
    border.host.says(chat, opened).await;
    let text = "é".repeat(CHARS);
    let said = ProviderEvent::ItemText { item: 1, field: Field::Output, at: 0, text };
    border.host.says(chat, said).await;
    chat
}

#[tokio::test]
async fn a_big_output_is_shown_in_part_and_can_be_fetched_whole() {
    let border = Border::new();
    let chat = with_output(&border).await;
    let items = border.get(&format!("/api/v1/chats/{chat}/items")).await;
    let output = &items["items"][1]["call"]["output"];
    assert_eq!(output["text"].as_str().unwrap().len(), ITEM_TEXT_HEAD_BYTES);
    assert_eq!(output["full"]["bytes"], 2 * CHARS);
    let got = border.call("GET", output["full"]["href"].as_str().unwrap(), "").await;
    assert_eq!(got.status, 200);
    assert_eq!(got.headers["content-length"], (2 * CHARS).to_string());
    assert_eq!(got.headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(got.bytes, "é".repeat(CHARS).as_bytes());
}

#[tokio::test]
async fn a_range_is_served_in_bytes() {
    let border = Border::new();
    let chat = with_output(&border).await;
    let path = format!("/api/v1/chats/{chat}/items/i1.1/text?field=output");
    let range = async |text| border.call_with("GET", &path, &[("range", text)], "").await;
    let got = range("bytes=1-4").await;
    assert_eq!(got.status, 206);
    assert_eq!(got.headers["content-range"], format!("bytes 1-4/{}", 2 * CHARS));
    assert_eq!(got.bytes, &"ééé".as_bytes()[1..5]);
    let got = range("bytes=1000000-").await;
    assert_eq!(got.bytes.len(), 2 * CHARS - 1_000_000);
    let got = range("bytes=5000000-").await;
    assert_eq!(got.status, 416);
    assert_eq!(got.headers["content-range"], format!("bytes */{}", 2 * CHARS));
    assert_eq!(range("bytes=0-1,4-5").await.status, 200);
}

#[tokio::test]
async fn an_empty_text_is_empty() {
    let border = Border::new();
    let chat = with_output(&border).await;
    let got = border.call("GET", &format!("/api/v1/chats/{chat}/items/i1.1/text"), "").await;
    assert_eq!((got.status.as_u16(), got.bytes.len()), (200, 0));
}
