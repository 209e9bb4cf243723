//! What the event stream tells, and to whom.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use holdfast_core::ids::ItemId;
use holdfast_core::input::{Command, Input};
use holdfast_core::item::Field;
use holdfast_http::port::Delta;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{BOUND, Border, TOKEN, change, close_code, connect, frame};

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
            return (id, serde_json::from_str(&data).unwrap());
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
