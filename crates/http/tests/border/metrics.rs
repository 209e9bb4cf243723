//! Figures, and the names of requests.

use axum::body::Body;
use axum::http::Request;
use holdfast_http::auth::{Names, OneToken, Principal};
use holdfast_http::{App, router};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::client::{Border, TOKEN};
use crate::fake::Fake;

fn ask(path: &str) -> axum::http::request::Builder {
    Request::get(path).header("host", "127.0.0.1:7433")
}

#[tokio::test]
async fn figures_name_nobody_and_need_a_token() {
    let border = Border::new();
    let body = json!({"agent": "demo", "message": "hello"});
    let row = border.post("/api/v1/chats", body).await.json();
    let told = border.call("GET", "/metrics", "").await;
    assert_eq!(told.status, 200);
    let text = String::from_utf8(told.bytes).unwrap();
    assert!(!text.contains(row["id"].as_str().unwrap()), "{text}");
    // Within a family they have no order.
    let mut lines: Vec<&str> = text.lines().filter(|line| !line.contains("_bucket{")).collect();
    lines.sort_unstable();
    insta::assert_snapshot!(lines.join("\n"));
    let without = ask("/metrics").body(Body::empty()).unwrap();
    assert_eq!(border.raw(without).await.status, 401);
}

#[tokio::test]
async fn figures_are_for_everybody_where_that_was_set() {
    let tokens = Arc::new(OneToken::new(TOKEN, Principal::person("owner")));
    let names = Names::new("127.0.0.1:7433".parse().unwrap(), &[]);
    let app = App::new(Arc::new(Fake::new()), tokens, names, CancellationToken::new());
    let router = router(app.with_open_metrics());
    for (path, status) in [("/metrics", 200), ("/api/v1/host", 401)] {
        let request = ask(path).body(Body::empty()).unwrap();
        assert_eq!(router.clone().oneshot(request).await.unwrap().status(), status, "{path}");
    }
}

#[tokio::test]
async fn a_cursor_that_is_not_kept_is_counted() {
    let border = Border::new();
    let address = border.serve().await;
    let count = async || {
        let text = border.call("GET", "/metrics", "").await.bytes;
        let text = String::from_utf8(text).unwrap();
        let line = text.lines().find(|line| line.starts_with("holdfast_gaps_told_total")).unwrap();
        line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(count().await, 0);
    let mut socket = crate::client::connect(address, "?after=strange").await;
    assert_eq!(crate::client::frame(&mut socket).await["verdict"], "gap");
    assert_eq!(count().await, 1);
    let mut socket = crate::client::connect(address, "").await;
    assert_eq!(crate::client::frame(&mut socket).await["verdict"], "ok");
    assert_eq!(count().await, 1);
}

#[tokio::test]
async fn every_answer_names_its_request() {
    let border = Border::new();
    let named = async |id: Option<&str>, path: &str| {
        let mut request = ask(path);
        if let Some(id) = id {
            request = request.header("x-request-id", id);
        }
        let got = border.raw(request.body(Body::empty()).unwrap()).await;
        got.headers["x-request-id"].to_str().unwrap().to_owned()
    };
    assert_eq!(named(Some("mine-1.a_b"), "/version").await, "mine-1.a_b");
    let long = "x".repeat(65);
    for odd in ["", "a b", "a\"b", long.as_str()] {
        let given = named(Some(odd), "/version").await;
        assert!(given != odd && given.len() == 32, "{given}");
    }
    assert_ne!(named(None, "/version").await, named(None, "/nowhere").await);
    // Also one that is let in nowhere.
    assert_eq!(named(Some("out"), "/api/v1/host").await, "out");
}
