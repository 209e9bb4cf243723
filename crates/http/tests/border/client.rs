//! A client: requests without a socket, and real sockets where they matter.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use futures_util::StreamExt;
use holdfast_core::ids::ChatId;
use holdfast_core::input::{ChangeChat, Command, Input};
use holdfast_http::auth::{Names, OneToken, Principal};
use holdfast_http::{App, listen, router, serve};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::{CancellationToken, DropGuard};
use tower::ServiceExt;

use crate::conform;
use crate::fake::Fake;

pub(crate) const TOKEN: &str = "t0ken";
/// Longer than anything here takes.
pub(crate) const BOUND: Duration = Duration::from_secs(60);

/// A border and its host.
pub(crate) struct Border {
    pub(crate) host: Fake,
    pub(crate) app: App,
    router: Router,
    stopping: CancellationToken,
    _stops: DropGuard,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }
    pub(crate) fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Border {
    pub(crate) fn new() -> Self {
        Self::over(Fake::new())
    }

    pub(crate) fn over(host: Fake) -> Self {
        Self::build(host, |app| app)
    }

    /// One whose app is made up further.
    pub(crate) fn with(more: impl FnOnce(App) -> App) -> Self {
        Self::build(Fake::new(), more)
    }

    fn build(host: Fake, more: impl FnOnce(App) -> App) -> Self {
        let stopping = CancellationToken::new();
        let tokens = Arc::new(OneToken::new(TOKEN, Principal::person("owner")));
        let names = Names::new("127.0.0.1:7433".parse().unwrap(), &[]);
        let app = more(App::new(Arc::new(host.clone()), tokens, names, stopping.clone()));
        let stops = stopping.clone().drop_guard();
        Self { host, router: router(app.clone()), app, stopping, _stops: stops }
    }

    /// The answer before its body is read.
    pub(crate) async fn open(&self, request: Request<Body>) -> axum::response::Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    pub(crate) async fn raw(&self, request: Request<Body>) -> Got {
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let response = self.open(request).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap().to_vec();
        let got = Got { status, headers, bytes };
        conform::answer(&method, &path, &got);
        got
    }

    /// A call with the token and with these headers.
    pub(crate) async fn call_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Got {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost:7433")
            .header("authorization", format!("Bearer {TOKEN}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.raw(request.body(body.into()).unwrap()).await
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: impl Into<Body>) -> Got {
        self.call_with(method, path, &[], body).await
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let got = self.call("GET", path, "").await;
        assert_eq!(got.status, 200, "{path}: {}", String::from_utf8_lossy(&got.bytes));
        got.json()
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Got {
        self.call("POST", path, body.to_string()).await
    }

    /// A chat of the demo agent.
    pub(crate) async fn chat(&self) -> ChatId {
        let got = self.post("/api/v1/chats", json!({"agent": "demo"})).await;
        assert_eq!(got.status, 201);
        got.json()["id"].as_str().unwrap().parse().unwrap()
    }

    /// Something small that changes, as its own commit.
    pub(crate) async fn retitle(&self, chat: ChatId, title: &str) {
        let command =
            Command::Change(ChangeChat { title: Some(title.to_owned()), ..ChangeChat::default() });
        self.host.put(chat, Input::Command(command)).await;
    }

    /// Serves on a free port.
    pub(crate) async fn serve(&self) -> SocketAddr {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(listener, self.app.clone()));
        address
    }

    pub(crate) fn stop(&self) {
        self.stopping.cancel();
    }
}

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A request for the event socket.
pub(crate) fn upgrade(address: SocketAddr, query: &str) -> Request<()> {
    let url = format!("ws://{address}/api/v1/events{query}");
    let mut request = url.into_client_request().unwrap();
    let bearer = format!("Bearer {TOKEN}").parse().unwrap();
    request.headers_mut().insert("authorization", bearer);
    request
}

pub(crate) async fn connect(address: SocketAddr, query: &str) -> Socket {
    connect_async(upgrade(address, query)).await.unwrap().0
}

/// The status of an upgrade that is refused.
pub(crate) async fn refused(request: Request<()>) -> StatusCode {
    match connect_async(request).await {
        Err(Error::Http(response)) => response.status(),
        other => panic!("not refused: {other:?}"),
    }
}

/// The next frame.
pub(crate) async fn frame(socket: &mut Socket) -> Value {
    loop {
        match timeout(BOUND, socket.next()).await.unwrap() {
            Some(Ok(Message::Text(text))) => {
                let frame = serde_json::from_str(&text).unwrap();
                conform::frame(&frame);
                return frame;
            }
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            other => panic!("no frame but {other:?}"),
        }
    }
}

/// The code with which the socket is closed, after whatever frames come before.
pub(crate) async fn close_code(socket: &mut Socket) -> u16 {
    loop {
        match timeout(BOUND, socket.next()).await.unwrap() {
            Some(Ok(Message::Close(Some(close)))) => return close.code.into(),
            Some(Ok(_)) => {}
            other => panic!("no close but {other:?}"),
        }
    }
}

/// The changes of the next frames, until one passes.
pub(crate) async fn change(socket: &mut Socket, mut passes: impl FnMut(&Value) -> bool) -> Value {
    loop {
        let frame = frame(socket).await;
        for change in frame["changes"].as_array().into_iter().flatten() {
            if passes(change) {
                return change.clone();
            }
        }
    }
}
