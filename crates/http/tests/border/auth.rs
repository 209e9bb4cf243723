//! Every request, reads and upgrades too, passes the guard.

use axum::body::Body;
use axum::http::Request;
use rstest::rstest;

use crate::client::{Border, TOKEN, connect, frame, refused, upgrade};

const CALLS: &[(&str, &str)] = &[
    ("GET", "/api/v1/host"),
    ("GET", "/api/v1/agents"),
    ("GET", "/api/v1/chats"),
    ("POST", "/api/v1/chats"),
    ("GET", "/api/v1/chats/x"),
    ("DELETE", "/api/v1/chats/x"),
    ("GET", "/api/v1/chats/x/items"),
    ("POST", "/api/v1/chats/x/messages"),
    ("PUT", "/api/v1/chats/x/draft"),
    ("GET", "/api/v1/offers"),
    ("POST", "/api/v1/offers/resume"),
    ("GET", "/api/v1/receipts/x"),
    ("GET", "/api/v1/events"),
    ("POST", "/api/v1/host/stop"),
    ("GET", "/api/v1/session"),
    ("DELETE", "/api/v1/session"),
    ("POST", "/api/v1/session/links"),
    ("GET", "/api/v1/no/such/call"),
    ("PATCH", "/api/v1/host"),
    ("GET", "/metrics"),
];

#[rstest]
#[case::no_token(&[("host", "localhost:7433")], 401, "not_authorised")]
#[case::wrong_token(&[("host", "localhost:7433"), ("authorization", "Bearer no")], 401, "not_authorised")]
#[case::rebound(&[("host", "evil.example:7433"), ("authorization", "Bearer t0ken")], 403, "foreign_host")]
#[case::no_host(&[("authorization", "Bearer t0ken")], 403, "foreign_host")]
#[case::foreign(
    &[("host", "localhost:7433"), ("authorization", "Bearer t0ken"), ("origin", "http://evil.example")],
    403, "foreign_origin",
)]
#[case::null(
    &[("host", "localhost:7433"), ("authorization", "Bearer t0ken"), ("origin", "null")],
    403, "foreign_origin",
)]
#[case::foreign_without_token(
    &[("host", "localhost:7433"), ("origin", "http://evil.example")], 403, "foreign_origin",
)]
#[tokio::test]
async fn no_call_is_answered_without_right(
    #[case] headers: &[(&str, &str)],
    #[case] status: u16,
    #[case] code: &str,
) {
    let border = Border::new();
    for (method, path) in CALLS {
        let mut request = Request::builder().method(*method).uri(*path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let got = border.raw(request.body(Body::from("{}")).unwrap()).await;
        assert_eq!(got.status, status, "{method} {path}");
        assert_eq!(got.code(), code, "{method} {path}");
    }
}

#[tokio::test]
async fn what_says_nothing_needs_no_token_but_the_right_host() {
    let border = Border::new();
    for path in ["/livez", "/readyz", "/version"] {
        let ask = |host: &str| Request::get(path).header("host", host).body(Body::empty()).unwrap();
        assert_eq!(border.raw(ask("127.0.0.1:7433")).await.status, 200, "{path}");
        assert_eq!(border.raw(ask("evil.example")).await.code(), "foreign_host", "{path}");
    }
}

#[tokio::test]
async fn every_answer_is_nobodys_to_cache_and_what_it_says() {
    let border = Border::new();
    for path in ["/api/v1/host", "/api/v1/none", "/livez"] {
        let got = border.call("GET", path, "").await;
        assert_eq!(got.headers["cache-control"], "no-store", "{path}");
        assert_eq!(got.headers["x-content-type-options"], "nosniff", "{path}");
    }
}

#[tokio::test]
async fn an_upgrade_passes_the_guard_too() {
    let border = Border::new();
    let address = border.serve().await;
    let with = |name: &'static str, value: &str| {
        let mut request = upgrade(address, "");
        request.headers_mut().insert(name, value.parse().unwrap());
        request
    };
    assert_eq!(refused(with("authorization", "Bearer no")).await, 401);
    assert_eq!(refused(with("origin", "http://evil.example")).await, 403);
    assert_eq!(refused(with("origin", "null")).await, 403);
    assert_eq!(refused(with("host", "evil.example")).await, 403);
    let mut request = upgrade(address, "");
    request.headers_mut().remove("authorization");
    assert_eq!(refused(request).await, 401);
    assert_eq!(frame(&mut connect(address, "").await).await["type"], "hello");
    let own = with("origin", &format!("http://{address}"));
    assert!(tokio_tungstenite::connect_async(own).await.is_ok());
}

#[tokio::test]
async fn a_page_sends_its_token_as_a_protocol() {
    let border = Border::new();
    let address = border.serve().await;
    let mut request = upgrade(address, "");
    request.headers_mut().remove("authorization");
    let offered = format!("holdfast, holdfast.bearer.{TOKEN}").parse().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", offered);
    let (mut socket, response) = tokio_tungstenite::connect_async(request).await.unwrap();
    assert_eq!(response.headers()["sec-websocket-protocol"], "holdfast");
    assert_eq!(frame(&mut socket).await["type"], "hello");
}
