//! A browser signs in with a link, and its cookie counts for our own page alone.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Request;
use holdfast_http::auth::{Principal, Sessions};
use rstest::rstest;
use serde_json::json;

use crate::client::{Border, Got, TOKEN, frame, refused, upgrade};

const OWN: (&str, &str) = ("origin", "http://localhost:7433");

async fn ask(border: &Border, method: &str, path: &str, more: &[(&str, &str)], body: &str) -> Got {
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost:7433");
    for (name, value) in more {
        request = request.header(*name, *value);
    }
    border.raw(request.body(Body::from(body.to_owned())).unwrap()).await
}

/// What a browser sends back of what it was told to keep.
fn cookie(got: &Got) -> String {
    let set = got.headers["set-cookie"].to_str().unwrap();
    assert!(set.contains("; HttpOnly") && set.contains("; SameSite=Strict"), "{set}");
    set.split(';').next().unwrap().to_owned()
}

/// A link's code, as a person who has the token gets it.
async fn code(border: &Border) -> String {
    let got = border.post("/api/v1/session/links", json!({})).await;
    let path = got.json()["path"].as_str().unwrap().to_owned();
    path.strip_prefix("/#sign-in=").unwrap().to_owned()
}

async fn signed_in(border: &Border) -> String {
    let body = json!({"code": code(border).await}).to_string();
    let got = ask(border, "POST", "/api/v1/session", &[OWN], &body).await;
    assert_eq!(got.status, 200);
    cookie(&got)
}

#[tokio::test]
async fn a_link_signs_a_browser_in_once() {
    let border = Border::new();
    let body = json!({"code": code(&border).await}).to_string();
    let got = ask(&border, "POST", "/api/v1/session", &[OWN], &body).await;
    let cookie = cookie(&got);
    let got = ask(&border, "GET", "/api/v1/session", &[("cookie", &cookie)], "").await;
    assert_eq!(got.json(), json!({"name": "owner"}));
    let again = ask(&border, "POST", "/api/v1/session", &[OWN], &body).await;
    assert_eq!((again.status.as_u16(), again.code().as_str()), (401, "not_authorised"));
    assert!(!again.headers.contains_key("set-cookie"));
}

#[rstest]
#[case::wrong_code(json!({"code": "no"}), 401)]
#[case::wrong_token(json!({"token": "no"}), 401)]
#[case::nothing(json!({}), 401)]
#[case::odd(json!({"code": "x", "next": "http://evil.example"}), 400)]
#[case::no_text(json!({"code": 7}), 400)]
#[case::long(json!({"code": "x".repeat(300)}), 400)]
#[tokio::test]
async fn nothing_else_signs_in(#[case] body: serde_json::Value, #[case] status: u16) {
    let border = Border::new();
    let got = ask(&border, "POST", "/api/v1/session", &[OWN], &body.to_string()).await;
    assert_eq!(got.status, status);
    assert!(!got.headers.contains_key("set-cookie"));
}

#[tokio::test]
async fn the_token_signs_in_too_and_a_foreign_page_does_not() {
    let border = Border::new();
    let body = json!({"token": TOKEN}).to_string();
    let got = ask(&border, "POST", "/api/v1/session", &[OWN], &body).await;
    assert!(!cookie(&got).contains(TOKEN));
    let foreign = [("origin", "http://localhost:3000")];
    let got = ask(&border, "POST", "/api/v1/session", &foreign, &body).await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (403, "foreign_origin"));
}

#[rstest]
#[case::own_page("POST", &[OWN], 201)]
#[case::other_port("POST", &[("origin", "http://localhost:3000")], 403)]
#[case::null("POST", &[("origin", "null")], 403)]
#[case::no_origin("POST", &[], 403)]
#[case::a_read_of_the_page("GET", &[("sec-fetch-site", "same-origin")], 200)]
#[case::a_read_of_another_port("GET", &[("sec-fetch-site", "same-site")], 403)]
#[case::a_read_of_another_site("GET", &[("sec-fetch-site", "cross-site")], 403)]
#[tokio::test]
async fn a_cookie_counts_for_the_page_alone(
    #[case] method: &str,
    #[case] more: &[(&str, &str)],
    #[case] status: u16,
) {
    let border = Border::new();
    let cookie = signed_in(&border).await;
    let headers = [more, &[("cookie", &cookie)]].concat();
    let body = if method == "POST" { r#"{"agent": "demo"}"# } else { "" };
    let got = ask(&border, method, "/api/v1/chats", &headers, body).await;
    assert_eq!(got.status, status, "{}", String::from_utf8_lossy(&got.bytes));
}

#[tokio::test]
async fn a_wrong_token_is_not_saved_by_a_cookie() {
    let border = Border::new();
    let cookie = signed_in(&border).await;
    let headers = [("cookie", cookie.as_str()), ("authorization", "Bearer no")];
    assert_eq!(ask(&border, "GET", "/api/v1/host", &headers, "").await.status, 401);
}

#[tokio::test]
async fn who_signs_out_is_out() {
    let border = Border::new();
    let cookie = signed_in(&border).await;
    let headers = [OWN, ("cookie", &cookie)];
    let got = ask(&border, "DELETE", "/api/v1/session", &headers, "").await;
    assert!(got.headers["set-cookie"].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(ask(&border, "GET", "/api/v1/host", &headers, "").await.status, 401);
}

#[tokio::test]
async fn an_upgrade_with_the_cookie_has_to_come_of_the_page() {
    let border = Border::new();
    let address = border.serve().await;
    let cookie = signed_in(&border).await;
    let with = |origin: Option<String>| {
        let mut request = upgrade(address, "");
        request.headers_mut().remove("authorization");
        request.headers_mut().insert("cookie", cookie.parse().unwrap());
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        request
    };
    assert_eq!(refused(with(None)).await, 403);
    assert_eq!(refused(with(Some("http://127.0.0.1:1".to_owned()))).await, 403);
    let own = with(Some(format!("http://{address}")));
    let (mut socket, _) = tokio_tungstenite::connect_async(own).await.unwrap();
    assert_eq!(frame(&mut socket).await["type"], "hello");
}

#[tokio::test]
async fn a_session_that_cannot_be_kept_signs_nobody_in() {
    let full = |_: &[[u8; 32]]| Err(std::io::Error::other("full"));
    let sessions = Sessions::new(Principal::person("owner"), "x", Vec::new(), full);
    let border = Border::with(|app| app.with_sessions(Arc::new(sessions)));
    let body = json!({"code": code(&border).await}).to_string();
    let got = ask(&border, "POST", "/api/v1/session", &[OWN], &body).await;
    assert_eq!(got.status, 500);
    assert!(!got.headers.contains_key("set-cookie"));
}

#[tokio::test]
async fn a_screen_needs_no_token_and_runs_no_foreign_script() {
    let border = Border::new();
    for path in ["/", "/chats/chat_1", "/history"] {
        let got = ask(&border, "GET", path, &[], "").await;
        assert_eq!(got.status, 200, "{path}");
        assert_eq!(got.headers["content-type"], "text/html; charset=utf-8");
        assert!(
            got.headers["content-security-policy"].to_str().unwrap().contains("script-src 'self'")
        );
    }
    for path in ["/nothing", "/assets/none.js", "/chats/a/b"] {
        assert_eq!(ask(&border, "GET", path, &[], "").await.code(), "not_found", "{path}");
    }
    assert_eq!(ask(&border, "POST", "/", &[OWN], "").await.code(), "not_found");
}
