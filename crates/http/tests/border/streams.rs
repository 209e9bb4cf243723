//! What the event stream tells, and to whom.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use holdfast_core::ids::{ChatId, ItemId};
use holdfast_core::input::{Command, Input};
use holdfast_core::item::{Field, ItemKind, Role};
use holdfast_core::limits::ITEM_TEXT_HEAD_BYTES;
use holdfast_core::provider::ProviderEvent;
use holdfast_http::limits::{
    EVENT_CHATS_MAX, QUEUE_TOLD_HEAD_BYTES, QUEUE_TOLD_MESSAGES_MAX, SNAPSHOT_ITEMS_BYTES_MAX,
};
use holdfast_http::port::Delta;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{BOUND, Border, TOKEN, change, close_code, connect, frame};
use crate::conform;
use crate::shapes::takes;

#[tokio::test]
async fn a_message_is_told_as_row_queue_and_counts() {
    let border = Border::new();
    let chat = border.chat().await;
    let mut socket = connect(border.serve().await, "").await;
    assert_eq!(frame(&mut socket).await["type"], "hello");
    assert_eq!(frame(&mut socket).await["type"], "snapshot");
    border.post(&format!("/api/v1/chats/{chat}/messages"), json!({"text": "hi"})).await;
    let id = json!(chat.to_string());
    let row = change(&mut socket, |change| change["what"] == "chat").await;
    assert_eq!((&row["chat"], &row["value"]["user_messages"]), (&id, &json!(1)));
    assert_eq!(row["value"], border.get(&format!("/api/v1/chats/{chat}")).await);
}

#[tokio::test]
async fn each_kind_of_change_carries_its_current_state() {
    let border = Border::new();
    let chat = border.chat().await;
    let mut socket = connect(border.serve().await, "").await;
    border.post(&format!("/api/v1/chats/{chat}/queue/pause"), json!({})).await;
    border.post(&format!("/api/v1/chats/{chat}/messages"), json!({"text": "hi"})).await;
    let is = |what: &'static str| move |change: &Value| change["what"] == what;
    let queue = change(&mut socket, |change| {
        change["what"] == "queue" && change["value"]["items"][0]["text"] == "hi"
    });
    assert_eq!(queue.await["value"]["reason"], "person");
    border.host.put(chat, Input::Command(Command::Delete)).await;
    let removed = change(&mut socket, is("removed")).await;
    assert_eq!((&removed["chat"], &removed["value"]), (&json!(chat.to_string()), &Value::Null));
}

/// What so many long messages that wait cost a client, in bytes of what is told of the queue. Each
/// is heard of before the next is sent.
async fn told_of_a_queue(messages: usize) -> usize {
    let border = Border::new();
    let chat = border.chat().await;
    border.post(&format!("/api/v1/chats/{chat}/queue/pause"), json!({})).await;
    let mut socket = connect(border.serve().await, "").await;
    let long = "x".repeat(20_000);
    let mut bytes = 0;
    for n in 1..=messages {
        border.post(&format!("/api/v1/chats/{chat}/messages"), json!({"text": long})).await;
        let mut heard = false;
        while !heard {
            let frame = frame(&mut socket).await;
            for change in frame["changes"].as_array().into_iter().flatten() {
                bytes += if change["what"] == "queue" { change.to_string().len() } else { 0 };
                heard |= change["what"] == "chat" && change["value"]["queue_length"] == n;
            }
        }
    }
    bytes
}

#[tokio::test]
async fn what_a_growing_queue_costs_a_client_grows_with_its_messages_only() {
    let (one, two) = (told_of_a_queue(60).await, told_of_a_queue(120).await);
    assert!(two <= one * 2 + one / 10, "{one} bytes for 60 messages, {two} for 120");
}

#[tokio::test]
async fn a_change_of_a_long_queue_tells_its_beginning_and_where_the_rest_is() {
    let border = Border::new();
    let chat = border.chat().await;
    let mut socket = connect(border.serve().await, "").await;
    border.post(&format!("/api/v1/chats/{chat}/queue/pause"), json!({})).await;
    let messages = format!("/api/v1/chats/{chat}/messages");
    let long = "x".repeat(QUEUE_TOLD_HEAD_BYTES + 1);
    let most = QUEUE_TOLD_MESSAGES_MAX;
    let mut ids = Vec::new();
    for n in 0..=most {
        let text = if n == 0 { long.as_str() } else { "short" };
        let got = border.post(&messages, json!({"text": text})).await;
        ids.push(got.json()["message"]["id"].clone());
    }
    let mut queue = Value::Null;
    change(&mut socket, |change| {
        if change["what"] == "queue" {
            queue = change["value"].clone();
        }
        change["what"] == "chat" && change["value"]["queue_length"] == most + 1
    })
    .await;
    let items = queue["items"].as_array().unwrap();
    let told: Vec<_> = items.iter().map(|item| item["message"].clone()).collect();
    assert_eq!((told, &queue["next"]), (ids[..most].to_vec(), &ids[most]));
    assert_eq!(items[0]["text"].as_str().unwrap().len(), QUEUE_TOLD_HEAD_BYTES);
    assert_eq!(items[0]["full"]["bytes"], long.len());
    assert_eq!((&items[1]["text"], &items[1]["full"]), (&json!("short"), &Value::Null));
    let next = queue["next"].as_str().unwrap();
    let rest = border.get(&format!("/api/v1/chats/{chat}/queue?from={next}")).await;
    assert_eq!(rest["items"][0]["message"], next);
    assert_eq!(rest["next"], Value::Null);
}

/// A snapshot holds the newest page of each chat that is named, as far as there is room.
#[tokio::test]
async fn the_items_of_a_snapshot_are_bounded_in_bytes() {
    let border = Border::new();
    let got = border.post("/api/v1/chats", json!({"agent": "demo", "message": "a"})).await;
    let chat: ChatId = got.json()["id"].as_str().unwrap().parse().unwrap();
    takes(&border.host, chat).await;
    let others: Vec<_> = (1..EVENT_CHATS_MAX).map(|_| border.chat()).collect();
    let others = futures_util::future::join_all(others).await;
    let lines = 20;
    for item in 1..=lines {
        let (kind, role) = (ItemKind::Message, Role::Agent);
        let body = holdfast_core::item::Body::Text;
        border.host.says(chat, ProviderEvent::ItemOpened { item, kind, role, body }).await;
        let text = format!("{item} {}", "x".repeat(ITEM_TEXT_HEAD_BYTES));
        let said = ProviderEvent::ItemText { item, field: Field::Text, at: 0, text };
        border.host.says(chat, said).await;
    }
    let address = border.serve().await;
    let snapshot = async |query: String| {
        let mut socket = connect(address, &query).await;
        frame(&mut socket).await;
        frame(&mut socket).await["items"].as_array().unwrap().clone()
    };
    assert_eq!(snapshot(format!("?chat={chat}")).await.len(), lines as usize + 1);
    let also: String = others.iter().map(|other| format!("&chat={other}")).collect();
    let items = snapshot(format!("?chat={chat}{also}")).await;
    let room = SNAPSHOT_ITEMS_BYTES_MAX / EVENT_CHATS_MAX;
    let bytes: usize = items.iter().map(|item| item.to_string().len()).sum();
    assert!(bytes <= room && bytes > room / 2, "{bytes} of {room}");
    // The newest ones, without a gap.
    let seqs: Vec<_> = items.iter().map(|item| item["seq"].as_u64().unwrap()).collect();
    let newest = border.get(&format!("/api/v1/chats/{chat}/items?limit=200")).await;
    let newest: Vec<_> = newest["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, newest[newest.len() - seqs.len()..]);
}

#[tokio::test]
async fn who_names_a_chat_hears_only_what_is_within_it() {
    let border = Border::new();
    let (mine, other) = (border.chat().await, border.chat().await);
    let mut socket = connect(border.serve().await, &format!("?chat={mine}")).await;
    assert_eq!(frame(&mut socket).await["type"], "hello");
    assert_eq!(frame(&mut socket).await["type"], "snapshot");
    for chat in [other, mine] {
        border.post(&format!("/api/v1/chats/{chat}/queue/pause"), json!({})).await;
        border.post(&format!("/api/v1/chats/{chat}/messages"), json!({"text": "hi"})).await;
    }
    border.retitle(mine, "the end").await;
    let mut rows_of_other = 0;
    loop {
        let frame = frame(&mut socket).await;
        for change in frame["changes"].as_array().unwrap() {
            let of_other = change["chat"] == other.to_string();
            rows_of_other += usize::from(of_other && change["what"] == "chat");
            assert!(!of_other || change["what"] != "queue", "{change}");
            if change["value"]["title"] == "the end" {
                assert!(rows_of_other > 0);
                return;
            }
        }
    }
}

#[tokio::test]
async fn live_text_is_told_to_who_listens_to_its_chat() {
    let border = Border::new();
    let (mine, other) = (border.chat().await, border.chat().await);
    let mut socket = connect(border.serve().await, &format!("?chat={mine}")).await;
    frame(&mut socket).await;
    frame(&mut socket).await;
    let long = "x".repeat(holdfast_core::limits::DELTA_BYTES_MAX + 1);
    for (chat, text) in [(other, "not for you"), (mine, long.as_str()), (mine, "é!")] {
        let item = ItemId::new(1, 1);
        border.host.say_live(Delta {
            chat,
            item,
            field: Field::Text,
            at: 3,
            text: text.to_owned(),
        });
    }
    let is = json!({"type": "delta", "chat": mine.to_string(), "item": "i1.1", "field": "text",
        "at": 3, "text": "é!"});
    assert_eq!(frame(&mut socket).await, is);
}

#[tokio::test]
async fn sockets_are_closed_when_the_host_stops() {
    let border = Border::new();
    let mut socket = connect(border.serve().await, "").await;
    frame(&mut socket).await;
    border.stop();
    assert_eq!(close_code(&mut socket).await, 1001);
}

#[tokio::test]
async fn what_a_client_sends_is_passed_over_within_a_bound() {
    use futures_util::SinkExt;
    use tokio_tungstenite::tungstenite::Message;
    let border = Border::new();
    let chat = border.chat().await;
    let mut socket = connect(border.serve().await, "").await;
    frame(&mut socket).await;
    socket.send(Message::text(r#"{"type":"delete everything"}"#)).await.unwrap();
    border.retitle(chat, "still here").await;
    change(&mut socket, |change| change["value"]["title"] == "still here").await;
    socket.send(Message::text("x".repeat(100_000))).await.unwrap();
    let ended = async {
        use futures_util::StreamExt;
        while let Some(Ok(message)) = socket.next().await {
            if message.is_close() {
                break;
            }
        }
    };
    timeout(BOUND, ended).await.unwrap();
}

#[tokio::test]
async fn events_are_told_as_lines_with_their_cursor_as_id() {
    let border = Border::new();
    let chat = border.chat().await;
    let address = border.serve().await;
    let (mut lines, head) = sse(address, "/api/v1/events", "").await;
    assert!(head.contains("content-type: text/event-stream"));
    // Who is cut before the snapshot must not come back as if it had it.
    let (id, hello) = event(&mut lines).await;
    assert_eq!((id, &hello["type"]), (None, &json!("hello")));
    let (id, snapshot) = event(&mut lines).await;
    assert_eq!(snapshot["type"], "snapshot");
    assert_eq!(json!(id), snapshot["cursor"]);
    border.retitle(chat, "told").await;
    let (_, changes) = event(&mut lines).await;
    assert_eq!(changes["changes"][0]["value"]["title"], "told");
    // A browser comes back with the last id, whatever its address says.
    let last = format!("last-event-id: {}\r\n", id.unwrap());
    let (mut lines, _) = sse(address, "/api/v1/events?after=nonsense", &last).await;
    assert_eq!(event(&mut lines).await.1["verdict"], "ok");
    assert_eq!(event(&mut lines).await.1["changes"][0]["value"]["title"], "told");
}

type Lines = BufReader<TcpStream>;

async fn sse(address: std::net::SocketAddr, path: &str, header: &str) -> (Lines, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\n\
         accept: text/event-stream\r\n{header}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(timeout(BOUND, lines.read_line(&mut head)).await.unwrap().unwrap() > 0);
    }
    (lines, head)
}

/// The next event, with its id; the sizes of chunks stand between the lines.
async fn event(lines: &mut Lines) -> (Option<String>, Value) {
    let mut id = None;
    loop {
        let mut line = String::new();
        assert!(timeout(BOUND, lines.read_line(&mut line)).await.unwrap().unwrap() > 0);
        if let Some(text) = line.strip_prefix("id: ") {
            id = Some(text.trim_end().to_owned());
        }
        if let Some(data) = line.strip_prefix("data: ") {
            // The data is a chunk of its own.
            let mut data = data.to_owned();
            while !data.starts_with('{') {
                data.clear();
                timeout(BOUND, lines.read_line(&mut data)).await.unwrap().unwrap();
            }
            let frame = serde_json::from_str(&data).unwrap();
            conform::frame(&frame);
            return (id, frame);
        }
    }
}

#[tokio::test]
async fn more_streams_than_there_are_seats_are_refused() {
    let border = Border::new();
    let mut open = Vec::new();
    let request = || {
        Request::get("/api/v1/events")
            .header("host", "localhost")
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("accept", "text/event-stream")
            .body(Body::empty())
            .unwrap()
    };
    for _ in 0..holdfast_http::limits::EVENT_STREAMS_MAX {
        open.push(border.open(request()).await);
    }
    assert!(open.iter().all(|response| response.status() == 200));
    let got = border.raw(request()).await;
    assert_eq!((got.status.as_u16(), got.code()), (429, "overloaded".to_owned()));
    // A seat is free again when its client goes.
    open.pop();
    let free = async {
        while border.open(request()).await.status() != 200 {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(10), free).await.unwrap();
}
