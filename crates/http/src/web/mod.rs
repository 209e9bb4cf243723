//! The page that is built into the program. It is static: what it shows it asks for.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;

/// What the page's build left; nothing where it was not built.
#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

/// The one document; which screen it shows is its own affair.
const DOCUMENT: &str = "index.html";
/// What is shown where the page was not built.
const NOTICE: &str = include_str!("notice.html");

/// Only what this host serves, no script and no style inside documents, no frame around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// A file of the page, the document itself for the address of a screen, or none.
pub(crate) fn page(method: &Method, path: &str) -> Option<Response> {
    answer(method, path, |name| Dist::get(name).map(|file| file.data.into_owned()))
}

/// The document for a person who went to an address that is none, so that the page says it and leads
/// on. Whoever does not ask for a page, and whoever calls the API, is told as a program is.
pub(crate) fn nowhere(method: &Method, path: &str, headers: &HeaderMap) -> Option<Response> {
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let is_person = accepts.is_some_and(|accept| accept.contains("text/html"));
    if !is_person || path == "/api" || path.starts_with("/api/") {
        return None;
    }
    let mut document = page(method, "/")?;
    *document.status_mut() = StatusCode::NOT_FOUND;
    Some(document)
}

fn answer(method: &Method, path: &str, file: impl Fn(&str) -> Option<Vec<u8>>) -> Option<Response> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return None;
    }
    if is_screen(path) {
        let document = file(DOCUMENT).unwrap_or_else(|| NOTICE.into());
        return Some(dressed(document, DOCUMENT, "no-cache"));
    }
    let name = path.strip_prefix('/').filter(|name| !name.starts_with('.') && *name != DOCUMENT)?;
    // The name of an asset says what is in it.
    let kept = if name.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    file(name).map(|bytes| dressed(bytes, name, kept))
}

/// The addresses of the page's screens; anything else that is not there is an error.
fn is_screen(path: &str) -> bool {
    match path.strip_prefix("/chats/") {
        Some(chat) => !chat.is_empty() && !chat.contains('/'),
        None => matches!(path, "/" | "/new" | "/history" | "/sign-in"),
    }
}

fn dressed(bytes: Vec<u8>, name: &str, kept: &'static str) -> Response {
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    let mut tell = |name: HeaderName, value| {
        headers.insert(name, HeaderValue::from_static(value));
    };
    tell(header::CONTENT_TYPE, kind(name));
    tell(header::CACHE_CONTROL, kept);
    tell(header::CONTENT_SECURITY_POLICY, POLICY);
    tell(header::REFERRER_POLICY, "same-origin");
    tell(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    tell(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("webmanifest") => "application/manifest+json",
        Some(_) | None => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn built(name: &str) -> Option<Vec<u8>> {
        let files = [("index.html", "doc"), ("assets/a-1.js", "js"), ("icon.svg", "icon")];
        files.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_bytes().to_vec())
    }

    fn told(path: &str) -> Option<(String, String)> {
        let response = answer(&Method::GET, path, built)?;
        let of = |name: HeaderName| response.headers()[name].to_str().unwrap().to_owned();
        Some((of(header::CONTENT_TYPE), of(header::CACHE_CONTROL)))
    }

    #[rstest]
    #[case("/")]
    #[case("/new")]
    #[case("/history")]
    #[case("/sign-in")]
    #[case("/chats/chat_1")]
    fn a_screen_is_the_document_and_asked_for_each_time(#[case] path: &str) {
        let html = "text/html; charset=utf-8".to_owned();
        assert_eq!(told(path), Some((html, "no-cache".to_owned())));
    }

    #[rstest]
    #[case("/index.html")]
    #[case("/assets/gone.js")]
    #[case("/assets/../index.html")]
    #[case("/chats/")]
    #[case("/chats/a/b")]
    #[case("/api/v1/none")]
    #[case("/nothing")]
    fn nothing_else_is_the_document(#[case] path: &str) {
        assert_eq!(told(path), None);
    }

    #[rstest]
    #[case::a_person("/nowhere", "text/html,*/*;q=0.8", true)]
    #[case::a_person_below_a_chat("/chats/a/b", "text/html", true)]
    #[case::a_program("/nowhere", "*/*", false)]
    #[case::a_call("/api/v1/none", "text/html", false)]
    #[case::no_api("/api", "text/html", false)]
    fn who_goes_nowhere_is_told_by_the_page(
        #[case] path: &str,
        #[case] accept: &'static str,
        #[case] is_told: bool,
    ) {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
        let response = nowhere(&Method::GET, path, &headers);
        assert_eq!(response.map(|page| page.status()), is_told.then_some(StatusCode::NOT_FOUND));
        assert!(nowhere(&Method::POST, path, &headers).is_none());
        assert!(nowhere(&Method::GET, path, &HeaderMap::new()).is_none());
    }

    #[test]
    fn an_asset_is_kept_and_an_icon_asked_for() {
        let script = told("/assets/a-1.js").unwrap();
        assert_eq!(script.0, "text/javascript; charset=utf-8");
        assert!(script.1.contains("immutable"), "{script:?}");
        assert_eq!(told("/icon.svg"), Some(("image/svg+xml".to_owned(), "no-cache".to_owned())));
        assert!(answer(&Method::POST, "/", built).is_none());
    }

    #[test]
    fn no_script_runs_but_the_hosts_own() {
        let response = answer(&Method::GET, "/", built).unwrap();
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self';"));
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(!NOTICE.contains("<script") && !NOTICE.contains("style="));
    }

    #[tokio::test]
    async fn without_a_build_it_is_said_so() {
        let response = answer(&Method::GET, "/", |_| None).unwrap();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        assert_eq!(body, NOTICE);
        assert!(answer(&Method::GET, "/assets/a-1.js", |_| None).is_none());
    }
}
