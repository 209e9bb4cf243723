//! Connections: refused bodies, and how serving ends.

use std::net::SocketAddr;

use holdfast_core::limits::{BODY_BYTES_MAX, MESSAGE_BODY_BYTES_MAX};
use holdfast_http::{listen, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{BOUND, Border, TOKEN};

/// Begins a request with a body of so many bytes.
async fn begin(address: SocketAddr, path: &str, token: &str, bytes: usize) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         connection: close\r\ncontent-length: {bytes}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn answer(mut stream: TcpStream) -> String {
    let mut answer = String::new();
    timeout(BOUND, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_sends_too_much_sees_the_refusal() {
    let border = Border::new();
    let chat = border.chat().await;
    let address = border.serve().await;
    let messages = format!("/api/v1/chats/{chat}/messages");
    let cases = [
        (messages.as_str(), TOKEN, 3 * MESSAGE_BODY_BYTES_MAX, "body_too_large"),
        ("/api/v1/offers/dismiss", TOKEN, 10 * BODY_BYTES_MAX, "body_too_large"),
        (messages.as_str(), "wrong", MESSAGE_BODY_BYTES_MAX, "not_authorised"),
    ];
    for (path, token, bytes, code) in cases {
        let mut stream = begin(address, path, token, bytes).await;
        stream.write_all(&vec![b' '; bytes]).await.unwrap();
        let answer = answer(stream).await;
        assert!(answer.contains(&format!(r#""code":"{code}""#)), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_body_that_is_cut_stores_nothing() {
    let border = Border::new();
    let chat = border.chat().await;
    let address = border.serve().await;
    let text = br#"{"text":"hello"}"#;
    for cut in 0..text.len() {
        let path = format!("/api/v1/chats/{chat}/messages");
        let mut stream = begin(address, &path, TOKEN, text.len()).await;
        stream.write_all(&text[..cut]).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = Vec::new();
        // Whether an answer comes is the connection's affair.
        let _ = timeout(BOUND, stream.read_to_end(&mut rest)).await.unwrap();
    }
    assert_eq!(border.get(&format!("/api/v1/chats/{chat}")).await["user_messages"], 0);
}

#[tokio::test]
async fn serving_ends_although_a_client_hangs() {
    let border = Border::new();
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(serve(listener, border.app.clone()));
    let mut hanging = begin(address, "/api/v1/chats", TOKEN, 100).await;
    hanging.write_all(b"{").await.unwrap();
    // A second call is answered, so the first has been accepted.
    let other = begin(address, "/api/v1/nothing", TOKEN, 0).await;
    assert!(answer(other).await.starts_with("HTTP/1.1 404"));
    border.stop();
    tokio::time::pause();
    serving.await.unwrap().unwrap();
}
