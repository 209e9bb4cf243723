//! The page's cookie: how it is found, written, and when it counts.
//!
//! A browser adds a cookie by itself, also to what a page of another port of the same machine asks
//! for. So it counts only where the request shows that our own page made it.

use axum::http::{HeaderMap, HeaderValue, Method, header};
use holdfast_core::refusal::{Code, Refusal};

/// Seconds for which a browser keeps the cookie; the host keeps the session until it is ended.
const KEPT_SECONDS: u32 = 365 * 24 * 3600;

/// The value of the one cookie of this name; none where there are two.
pub(crate) fn presented<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lists = headers.get_all(header::COOKIE).iter();
    let pairs = lists.filter_map(|list| list.to_str().ok()).flat_map(|list| list.split(';'));
    let mut values = pairs.filter_map(|pair| {
        let (key, value) = pair.trim().split_once('=')?;
        (key == name).then_some(value)
    });
    let value = values.next()?;
    if values.next().is_some() { None } else { Some(value) }
}

/// Sets the cookie. Scripts cannot read it, and no other site's page sends it.
pub(crate) fn set(name: &str, value: &str, headers: &HeaderMap) -> Option<HeaderValue> {
    written(name, value, KEPT_SECONDS, headers)
}

/// Takes the cookie back.
pub(crate) fn clear(name: &str, headers: &HeaderMap) -> Option<HeaderValue> {
    written(name, "", 0, headers)
}

fn written(name: &str, value: &str, seconds: u32, headers: &HeaderMap) -> Option<HeaderValue> {
    let https = headers
        .get(header::ORIGIN)
        .is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if https { "; Secure" } else { "" };
    let text =
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).ok()
}

/// Whether a request with the cookie was made by our own page. The guard has compared `Origin`, where
/// there is one, with the host already; a browser always sends it with a write and an upgrade.
///
/// # Errors
/// `foreign_origin`.
pub(crate) fn own_page(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let reads = matches!(*method, Method::GET | Method::HEAD);
    let origin = headers.contains_key(header::ORIGIN);
    if origin || (reads && !headers.contains_key(header::UPGRADE) && not_from_elsewhere(headers)) {
        return Ok(());
    }
    Err(Refusal::new(
        Code::ForeignOrigin,
        "A cookie counts only for what the host's own page asks. Other programs send \
         Authorization: Bearer TOKEN.",
    ))
}

/// Whether the browser says that a read comes of our page or of a person; one that says nothing
/// keeps the cookie from other sites by itself.
fn not_from_elsewhere(headers: &HeaderMap) -> bool {
    headers
        .get("sec-fetch-site")
        .is_none_or(|site| matches!(site.as_bytes(), b"same-origin" | b"none"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    #[rstest]
    #[case(&[("cookie", "a=1; h=x; b=2")], Some("x"))]
    #[case(&[("cookie", "a=1"), ("cookie", "h=x")], Some("x"))]
    #[case::two(&[("cookie", "h=x; h=y")], None)]
    #[case::other(&[("cookie", "hh=x; xh=y")], None)]
    #[case::none(&[], None)]
    fn the_cookie_is_found(#[case] pairs: &[(&'static str, &str)], #[case] value: Option<&str>) {
        assert_eq!(presented(&headers(pairs), "h"), value);
    }

    #[rstest]
    #[case::write(Method::POST, &[("origin", "http://localhost")], true)]
    #[case::write_without_origin(Method::POST, &[], false)]
    #[case::write_of_a_navigation(Method::POST, &[("sec-fetch-site", "none")], false)]
    #[case::read(Method::GET, &[("sec-fetch-site", "same-origin")], true)]
    #[case::typed(Method::GET, &[("sec-fetch-site", "none")], true)]
    #[case::old_browser(Method::GET, &[], true)]
    #[case::other_port(Method::GET, &[("sec-fetch-site", "same-site")], false)]
    #[case::other_site(Method::GET, &[("sec-fetch-site", "cross-site")], false)]
    #[case::upgrade_without_origin(Method::GET, &[("upgrade", "websocket")], false)]
    #[case::upgrade(Method::GET, &[("upgrade", "websocket"), ("origin", "http://localhost")], true)]
    fn a_cookie_counts_for_our_own_page(
        #[case] method: Method,
        #[case] pairs: &[(&'static str, &str)],
        #[case] counts: bool,
    ) {
        assert_eq!(own_page(&method, &headers(pairs)).is_ok(), counts);
    }

    #[test]
    fn scripts_and_other_sites_are_kept_from_it() {
        let plain = set("h", "v", &headers(&[("origin", "http://localhost")])).unwrap();
        assert_eq!(plain, "h=v; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000");
        let secure = set("h", "v", &headers(&[("origin", "https://box.example")])).unwrap();
        assert!(secure.to_str().unwrap().ends_with("; Secure"));
        assert!(clear("h", &HeaderMap::new()).unwrap().to_str().unwrap().contains("Max-Age=0"));
    }
}
