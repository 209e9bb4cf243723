//! The shapes of the wire, as snapshots that read like documentation.

use holdfast_core::frame::Issued;
use holdfast_core::ids::{ChatId, FrameNo};
use holdfast_core::input::KeeperEvent;
use holdfast_core::item::{Body, CallState, Field, ItemKind, PlanEntry, Role, ToolCall};
use holdfast_core::provider::{
    Capabilities, Forks, Handle, ProviderEvent, TaskKind, TurnEnd, Usage,
};
use serde_json::json;

use crate::client::Border;
use crate::fake::Fake;

/// The chat's agent is ready and takes the message that waits.
pub(crate) async fn takes(host: &Fake, chat: ChatId) {
    takes_from(host, chat, Forks::AtTheEnd).await;
}

/// The same, of an agent whose sessions can be forked from there.
pub(crate) async fn takes_from(host: &Fake, chat: ChatId, forks: Forks) {
    host.keeper(chat, KeeperEvent::Born { pid: 7 }).await;
    let handle = Handle { root: "r".to_owned(), leaf: "r".to_owned() };
    let capabilities = Capabilities { stop_task: true, forks, ..Capabilities::NONE };
    host.says(chat, ProviderEvent::Ready { handle, capabilities, model: None, mode: None }).await;
    let frame = written(host, chat).await;
    host.says(chat, ProviderEvent::MessageTaken { frame }).await;
}

/// All that waits to be written is; answers the number of the last frame.
pub(crate) async fn written(host: &Fake, chat: ChatId) -> FrameNo {
    let attempt = host.load(chat).await.head.attempt.unwrap();
    let frames: Vec<FrameNo> = attempt.outbox.iter().map(|issued: &Issued| issued.frame).collect();
    for frame in &frames {
        host.keeper(chat, KeeperEvent::FrameBegun(*frame)).await;
        host.keeper(chat, KeeperEvent::FrameDone(*frame)).await;
    }
    *frames.last().unwrap()
}

pub(crate) async fn item(host: &Fake, chat: ChatId, n: u32, kind: ItemKind, body: Body) {
    let opened = ProviderEvent::ItemOpened { item: n, kind, role: Role::Agent, body };
    host.says(chat, opened).await;
}

pub(crate) async fn text(host: &Fake, chat: ChatId, n: u32, field: Field, text: &str) {
    let text = text.to_owned();
    host.says(chat, ProviderEvent::ItemText { item: n, field, at: 0, text }).await;
}

async fn working(border: &Border) -> ChatId {
    let body = json!({"agent": "demo", "cwd": "/tmp", "title": "A chat", "slot": "main",
        "project": "p", "message": "hello"});
    let got = border.post("/api/v1/chats", body).await;
    let chat = got.json()["id"].as_str().unwrap().parse().unwrap();
    takes(&border.host, chat).await;
    chat
}

#[tokio::test]
async fn a_host() {
    insta::assert_json_snapshot!(Border::new().get("/api/v1/host").await);
}

#[tokio::test]
async fn what_an_agent_can_is_known_once_a_session_of_it_stood() {
    let border = Border::new();
    let shown = async || border.get("/api/v1/agents").await["items"].clone();
    assert_eq!(shown().await[0]["capabilities"], json!([]));
    let chat = working(&border).await;
    let can = json!(["stop_task", "fork"]);
    assert_eq!(shown().await[0]["capabilities"], can);
    assert_eq!(border.get(&format!("/api/v1/chats/{chat}")).await["capabilities"], can);
    assert_eq!(shown().await[1]["capabilities"], json!([]), "another agent");
}

#[tokio::test]
async fn agents() {
    insta::assert_json_snapshot!(Border::new().get("/api/v1/agents").await);
}

#[tokio::test]
async fn what_an_agent_runs_in_is_shown_without_its_values_unless_they_are_asked_for() {
    let border = Border::new();
    let masked = border.get("/api/v1/agents/demo/environment").await;
    assert!(!masked.to_string().contains("s3cret"));
    insta::assert_json_snapshot!(masked);
    let shown = border.get("/api/v1/agents/demo/environment?values=shown").await;
    assert_eq!(shown["items"][0]["value"], "s3cret");
    let asked = border.post("/api/v1/agents/environment/refresh", json!({})).await;
    assert_eq!(asked.json(), json!({"source": "login_shell", "shell": "/bin/sh", "note": null}));
    let none = border.call("GET", "/api/v1/agents/none/environment", "").await;
    assert_eq!((none.status.as_u16(), none.code().as_str()), (404, "agent_not_found"));
    let odd = border.call("GET", "/api/v1/agents/demo/environment?values=all", "").await;
    assert_eq!((odd.status.as_u16(), odd.code().as_str()), (400, "invalid_field"));
}

#[tokio::test]
async fn a_chat_that_was_just_opened() {
    let border = Border::new();
    let body = json!({"agent": "demo", "message": {"text": "hello"}});
    insta::assert_json_snapshot!(border.post("/api/v1/chats", body).await.json());
}

#[tokio::test]
async fn a_row_at_work() {
    let border = Border::new();
    let chat = working(&border).await;
    let kind = TaskKind::Agent;
    let label = "Look".to_owned();
    let started = ProviderEvent::TaskStarted { task: 1, kind, label, foreground: false };
    border.host.says(chat, started).await;
    let list = border.get("/api/v1/chats").await;
    assert_eq!(list["items"][0], border.get(&format!("/api/v1/chats/{chat}")).await);
    insta::assert_json_snapshot!(list);
}

#[tokio::test]
async fn a_transcript() {
    let border = Border::new();
    let (host, chat) = (&border.host, working(&border).await);
    item(host, chat, 1, ItemKind::Message, Body::Text).await;
    text(host, chat, 1, Field::Text, "Hi.").await;
    let call = ToolCall {
        name: "Read a file".to_owned(),
        tool_kind: "read".to_owned(),
        state: CallState::Completed,
        task: None,
        within: None,
    };
    item(host, chat, 2, ItemKind::ToolCall, Body::Call(call)).await;
    text(host, chat, 2, Field::Input, r#"{"path":"a.txt"}"#).await;
    text(host, chat, 2, Field::Output, "contents").await;
    let step = PlanEntry { text: "Think".to_owned(), state: "pending".to_owned() };
    item(host, chat, 3, ItemKind::Plan, Body::Plan { entries: vec![step] }).await;
    let reason = "invalid_json".to_owned();
    item(host, chat, 4, ItemKind::Unrecognised, Body::Unrecognised { reason }).await;
    insta::assert_json_snapshot!(border.get(&format!("/api/v1/chats/{chat}/items")).await);
}

#[tokio::test]
async fn turns_and_their_receipt() {
    let border = Border::new();
    let (host, chat) = (&border.host, working(&border).await);
    let usage = Some(Usage { input_tokens: Some(5), ..Usage::default() });
    let ended = ProviderEvent::TurnEnded { how: TurnEnd::Completed, usage, text: None, mark: None };
    host.says(chat, ended).await;
    let path = format!("/api/v1/chats/{chat}/messages");
    let accepted = border.post(&path, json!({"text": "again"})).await.json();
    insta::assert_json_snapshot!("accepted", accepted);
    insta::assert_json_snapshot!("turns", border.get(&format!("/api/v1/chats/{chat}/turns")).await);
    let receipt = accepted["receipt"].as_str().unwrap();
    insta::assert_json_snapshot!(
        "receipt",
        border.get(&format!("/api/v1/receipts/{receipt}")).await
    );
}

#[tokio::test]
async fn a_list_is_paged_and_narrowed() {
    let border = Border::new();
    for title in ["one", "two", "three"] {
        border
            .post("/api/v1/chats", json!({"agent": "demo", "title": title, "project": title}))
            .await;
    }
    let first = border.get("/api/v1/chats?limit=2").await;
    let next = first["next"].as_str().unwrap();
    let second = border.get(&format!("/api/v1/chats?limit=2&before={next}")).await;
    let titles = |page: &serde_json::Value| -> Vec<String> {
        let rows = page["items"].as_array().unwrap();
        rows.iter().map(|row| row["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (titles(&first), titles(&second)),
        (vec!["three".to_owned(), "two".to_owned()], vec!["one".to_owned()],)
    );
    assert!(second["next"].is_null());
    assert_eq!(titles(&border.get("/api/v1/chats?q=TW").await), ["two"]);
    assert_eq!(titles(&border.get("/api/v1/chats?project=one").await), ["one"]);
    assert!(titles(&border.get("/api/v1/chats?folder=x").await).is_empty());
    assert!(titles(&border.get("/api/v1/chats?state=closed").await).is_empty());
}

#[tokio::test]
async fn a_chat_is_titled_closed_reopened_and_deleted() {
    let border = Border::new();
    let chat = border.chat().await;
    let path = format!("/api/v1/chats/{chat}");
    let got = border.call("PATCH", &path, r#"{"title":" New "}"#).await;
    assert_eq!(got.json()["title"], "New");
    let got = border.post(&format!("{path}/close"), json!({"leftovers": "end"})).await;
    assert_eq!(got.json(), json!({"leftovers": []}));
    assert_eq!(border.get(&path).await["state"], "closed");
    assert_eq!(border.get("/api/v1/chats?state=closed").await["items"][0]["id"], chat.to_string());
    let got = border.post(&format!("{path}/messages"), json!({"text": "a"})).await;
    assert_eq!((got.status.as_u16(), got.code()), (409, "chat_closed".to_owned()));
    let got = border.post(&format!("{path}/reopen"), json!({})).await;
    assert_eq!((got.status.as_u16(), &got.json()["state"]), (200, &json!("open")));
    assert_eq!(border.call("DELETE", &path, "").await.json(), json!({}));
    assert_eq!(border.call("GET", &path, "").await.code(), "chat_not_found");
    assert_eq!(border.call("DELETE", &path, "").await.code(), "chat_not_found");
}

#[tokio::test]
async fn a_slot_belongs_to_one_open_chat() {
    let border = Border::new();
    let body = json!({"agent": "demo", "slot": "main"});
    assert_eq!(border.post("/api/v1/chats", body.clone()).await.status, 201);
    let got = border.post("/api/v1/chats", body).await;
    assert_eq!((got.status.as_u16(), got.code()), (409, "slot_taken".to_owned()));
}

#[tokio::test]
async fn a_host_that_is_told_to_stop_says_who_works() {
    let border = Border::new();
    let chat = working(&border).await;
    border.chat().await;
    let got = border.post("/api/v1/host/stop", json!({"agents": "keep"})).await;
    let is = json!({"working": [
        {"chat": chat.to_string(), "title": "A chat", "text": "Was mid-reply"},
    ]});
    assert_eq!(got.json(), is);
    border.post("/api/v1/host/restart", json!({})).await;
    assert_eq!(border.host.told(), ["keep", "restart"]);
}
