//! Attachments at the border: what is taken, what is refused and leaves nothing, and what is served to
//! no harm.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::{Body, Bytes};
use futures_util::{StreamExt, stream};
use holdfast_core::ids::ChatId;
use holdfast_core::limits::{ATTACHMENT_BYTES_MAX, ATTACHMENT_NAME_CHARS_MAX};
use rstest::rstest;
use serde_json::{Value, json};

use crate::client::{Border, Got};

fn path(chat: ChatId, query: &str) -> String {
    format!("/api/v1/chats/{chat}/attachments{query}")
}

async fn post(border: &Border, path: &str, kind: &str, body: impl Into<Body>) -> Got {
    border.call_with("POST", path, &[("content-type", kind)], body).await
}

async fn attach(border: &Border, chat: ChatId, name: &str, kind: &str, bytes: &str) -> Value {
    let got = post(border, &path(chat, &format!("?name={name}")), kind, bytes.to_owned()).await;
    assert_eq!(got.status, 201, "{}", got.json());
    got.json()
}

#[tokio::test]
async fn what_is_kept_is_told_and_listed() {
    let border = Border::new();
    let chat = border.chat().await;
    let one = attach(&border, chat, "%C3%A4%20b.txt", "Text/Plain; charset=utf-8", "hi").await;
    let sum = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
    assert_eq!(one["sha256"], sum);
    assert_eq!((&one["name"], &one["bytes"]), (&json!("ä b.txt"), &json!(2)));
    assert_eq!(one["media_type"], "text/plain");
    assert_eq!(one["href"], path(chat, &format!("/{}", one["id"].as_str().unwrap())));
    // Without a word about it.
    let got = border.call("POST", &path(chat, ""), "x").await;
    let two = got.json();
    assert_eq!(
        (&two["name"], &two["media_type"]),
        (&json!("attachment"), &json!("application/octet-stream"))
    );
    let list = border.get(&path(chat, "")).await;
    assert_eq!(list["items"][0]["id"], one["id"]);
    assert_eq!(list["items"][1]["id"], two["id"]);
    assert_eq!((&list["items"][1]["message"], &list["next"]), (&Value::Null, &Value::Null));
    assert_eq!(border.host.files(), 2);
}

#[rstest]
#[case::path("?name=a%2Fb", "text/plain", "x", "invalid_field", Some("name"))]
#[case::windows("?name=a%5Cb", "text/plain", "x", "invalid_field", Some("name"))]
#[case::up("?name=..", "text/plain", "x", "invalid_field", Some("name"))]
#[case::control("?name=a%00b", "text/plain", "x", "invalid_field", Some("name"))]
#[case::line("?name=a%0Ab", "text/plain", "x", "invalid_field", Some("name"))]
#[case::turned("?name=gnp.%E2%80%AEexe", "text/plain", "x", "invalid_field", Some("name"))]
#[case::blank("?name=%20", "text/plain", "x", "empty_field", Some("name"))]
#[case::twice("?name=a&name=b", "text/plain", "x", "invalid_field", Some("name"))]
#[case::unknown("?nam=a", "text/plain", "x", "unknown_field", Some("nam"))]
#[case::kind("", "text", "x", "invalid_field", Some("Content-Type"))]
#[case::kind_of_nothing("", "/", "x", "invalid_field", Some("Content-Type"))]
#[case::empty("?name=a", "text/plain", "", "empty_field", Some("body"))]
#[tokio::test]
async fn what_is_odd_is_refused_and_leaves_nothing(
    #[case] query: &str,
    #[case] kind: &str,
    #[case] body: &'static str,
    #[case] code: &str,
    #[case] field: Option<&str>,
) {
    let border = Border::new();
    let chat = border.chat().await;
    let got = post(&border, &path(chat, query), kind, body).await;
    assert_eq!((got.status.as_u16(), got.code().as_str()), (400, code));
    assert_eq!(got.json()["field"].as_str(), field);
    assert_eq!(border.host.files(), 0);
    assert_eq!(border.get(&path(chat, "")).await["items"], json!([]));
}

#[tokio::test]
async fn a_long_name_and_a_long_type_are_refused_by_their_limits() {
    let border = Border::new();
    let chat = border.chat().await;
    let name = format!("?name={}", "a".repeat(ATTACHMENT_NAME_CHARS_MAX + 1));
    for (query, kind, field, limit) in [
        (name.as_str(), "text/plain", "name", ATTACHMENT_NAME_CHARS_MAX),
        ("", &format!("text/{}", "a".repeat(127)), "Content-Type", 127),
    ] {
        let got = post(&border, &path(chat, query), kind, "x").await;
        assert_eq!((got.status.as_u16(), got.code()), (400, "field_too_long".to_owned()));
        assert_eq!((&got.json()["field"], &got.json()["limit"]), (&json!(field), &json!(limit)));
    }
    assert_eq!(border.host.files(), 0);
}

/// Pieces of a body that does not say its length, and perhaps breaks off.
fn pieces(count: usize, breaks: bool) -> Body {
    let piece = Bytes::from(vec![7; 1024 * 1024]);
    let mut all: Vec<Result<Bytes, std::io::Error>> =
        (0..count).map(|_| Ok(piece.clone())).collect();
    if breaks {
        all.push(Err(std::io::Error::other("gone")));
    }
    Body::from_stream(stream::iter(all))
}

#[tokio::test]
async fn one_byte_too_many_is_refused_whether_it_is_announced_or_not() {
    let border = Border::new();
    let chat = border.chat().await;
    let most = pieces(ATTACHMENT_BYTES_MAX / (1024 * 1024), false);
    assert_eq!(post(&border, &path(chat, ""), "text/plain", most).await.status, 201);
    assert_eq!(border.host.files(), 1);
    let announced = Body::from(vec![7; ATTACHMENT_BYTES_MAX + 1]);
    let counted = pieces(ATTACHMENT_BYTES_MAX / (1024 * 1024) + 1, false);
    for body in [announced, counted] {
        let got = post(&border, &path(chat, ""), "text/plain", body).await;
        assert_eq!((got.status.as_u16(), got.code()), (413, "body_too_large".to_owned()));
        assert_eq!(got.json()["limit"], ATTACHMENT_BYTES_MAX);
        assert_eq!(border.host.files(), 1);
    }
    let got = post(&border, &path(chat, ""), "text/plain", pieces(3, true)).await;
    assert_eq!((got.status.as_u16(), got.code()), (400, "body_incomplete".to_owned()));
    assert_eq!(border.host.files(), 1);
}

/// What does not end is not read to its end: beside what is taken only as much as lets the caller hear
/// the answer.
#[tokio::test]
async fn a_body_is_not_taken_any_further_than_it_may_be() {
    let border = Border::new();
    let chat = border.chat().await;
    let (many, read) = (150, Arc::new(AtomicUsize::new(0)));
    let piece = Bytes::from(vec![7; 1024 * 1024]);
    let count = Arc::clone(&read);
    let pieces = stream::iter(0..many).map(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok::<_, std::io::Error>(piece.clone())
    });
    let got = post(&border, &path(chat, ""), "text/plain", Body::from_stream(pieces)).await;
    assert_eq!((got.status.as_u16(), got.code()), (413, "body_too_large".to_owned()));
    assert!(read.load(Ordering::Relaxed) < many / 2, "{read:?}");
    assert_eq!(border.host.files(), 0);
}

#[tokio::test]
async fn where_no_chat_takes_it_nothing_is_kept() {
    let border = Border::new();
    let chat = border.chat().await;
    let nowhere = format!("/api/v1/chats/chat_{:032}/attachments", 9);
    let got = post(&border, &nowhere, "text/plain", "x").await;
    assert_eq!((got.status.as_u16(), got.code()), (404, "chat_not_found".to_owned()));
    border.post(&format!("/api/v1/chats/{chat}/close"), json!({})).await;
    for headers in [&[][..], &[("idempotency-key", "k")][..]] {
        let got = border.call_with("POST", &path(chat, ""), headers, "x").await;
        assert_eq!((got.status.as_u16(), got.code()), (409, "chat_closed".to_owned()));
    }
    assert_eq!(border.host.files(), 0);
}

#[tokio::test]
async fn a_repeat_is_answered_as_the_first_was_though_it_is_gone_by_then() {
    let border = Border::new();
    let chat = border.chat().await;
    let keyed = async |query: &str, kind: &str, body: &'static str| {
        let headers = [("idempotency-key", "k"), ("content-type", kind)];
        border.call_with("POST", &path(chat, query), &headers, body).await
    };
    let first = keyed("?name=a", "text/plain", "x").await.json();
    let id = first["id"].as_str().unwrap();
    for (query, kind, body) in [
        ("?name=a", "text/plain", "y"),
        ("?name=b", "text/plain", "x"),
        ("?name=a", "text/css", "x"),
    ] {
        let got = keyed(query, kind, body).await;
        assert_eq!((got.status.as_u16(), got.code()), (409, "operation_conflict".to_owned()));
    }
    assert_eq!(border.host.files(), 1);
    let gone = border.call("DELETE", &path(chat, &format!("/{id}")), "").await;
    assert_eq!((gone.status.as_u16(), border.host.files()), (200, 0));
    assert_eq!(keyed("?name=a", "text/plain", "x").await.json(), first);
    assert_eq!(border.host.files(), 0);
}

#[tokio::test]
async fn a_message_names_what_its_own_chat_has() {
    let border = Border::new();
    let (chat, other) = (border.chat().await, border.chat().await);
    let one = attach(&border, chat, "a", "text/plain", "x").await;
    let send = async |chat: ChatId, body: Value| {
        border.post(&format!("/api/v1/chats/{chat}/messages"), body).await
    };
    let id = &one["id"];
    let got = send(other, json!({"text": "a", "attachments": [id]})).await;
    assert_eq!((got.status.as_u16(), got.code()), (400, "unknown_attachment".to_owned()));
    assert!(got.json()["detail"].as_str().unwrap().contains(id.as_str().unwrap()));
    assert_eq!(got.json()["field"], "attachments");
    let got = send(chat, json!({"text": "a", "attachments": [id, id]})).await;
    assert_eq!((got.status.as_u16(), got.code()), (400, "invalid_field".to_owned()));
    let got = send(chat, json!({"text": "", "attachments": []})).await;
    assert_eq!((got.status.as_u16(), got.code()), (400, "empty_field".to_owned()));
    let got = send(chat, json!({"text": "", "attachments": [id]})).await;
    assert_eq!(got.status, 202);
    let queue = border.get(&format!("/api/v1/chats/{chat}/queue")).await;
    assert_eq!(queue["items"][0]["attachments"], json!([one]));
    let here = path(chat, &format!("/{}", id.as_str().unwrap()));
    let got = border.call("DELETE", &here, "").await;
    assert_eq!((got.status.as_u16(), got.code()), (409, "attachment_in_use".to_owned()));
    assert_eq!(border.host.files(), 1);
}

/// What a page of ours could be made to run is never served as a page.
#[tokio::test]
async fn what_is_served_does_no_harm() {
    let border = Border::new();
    let chat = border.chat().await;
    for (kind, served, way) in [
        ("image/png", "image/png", "inline"),
        ("image/svg+xml", "application/octet-stream", "attachment"),
        ("text/html", "application/octet-stream", "attachment"),
        ("text/plain", "application/octet-stream", "attachment"),
        ("application/pdf", "application/octet-stream", "attachment"),
    ] {
        let body = "<script>alert(1)</script>";
        let one = attach(&border, chat, "%C3%A4%22%3Bb.png", kind, body).await;
        let got = border.call("GET", one["href"].as_str().unwrap(), "").await;
        assert_eq!((got.status.as_u16(), got.bytes.as_slice()), (200, body.as_bytes()));
        let header = |name: &str| got.headers[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), served);
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("content-security-policy"), "default-src 'none'; sandbox");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin");
        let told = format!("{way}; filename*=UTF-8''%C3%A4%22%3Bb.png");
        assert_eq!(header("content-disposition"), told);
        assert_eq!(header("content-length"), "25");
    }
}

#[tokio::test]
async fn it_is_served_in_ranges_and_only_to_whom_it_belongs() {
    let border = Border::new();
    let (chat, other) = (border.chat().await, border.chat().await);
    let one = attach(&border, chat, "a", "image/png", "0123456789").await;
    let href = one["href"].as_str().unwrap();
    for (range, status, bytes, told) in [
        ("bytes=2-4", 206, "234", "bytes 2-4/10"),
        ("bytes=-3", 206, "789", "bytes 7-9/10"),
        ("bytes=10-", 416, "", "bytes */10"),
    ] {
        let got = border.call_with("GET", href, &[("range", range)], "").await;
        assert_eq!(got.status, status);
        assert_eq!(got.bytes, bytes.as_bytes());
        assert_eq!(got.headers["content-range"], told);
    }
    let id = one["id"].as_str().unwrap();
    let got = border.call("GET", &path(other, &format!("/{id}")), "").await;
    assert_eq!((got.status.as_u16(), got.code()), (404, "attachment_not_found".to_owned()));
    let got = border.call("DELETE", &path(other, &format!("/{id}")), "").await;
    assert_eq!((got.status.as_u16(), got.code()), (404, "attachment_not_found".to_owned()));
    let got = border.call("GET", &path(chat, "/odd"), "").await;
    assert_eq!((got.status.as_u16(), got.code()), (400, "invalid_id".to_owned()));
    assert_eq!(border.host.files(), 1);
}
