//! Who may call at all.

use holdfast_testkit::raw::{RawRequest, address, exchange};

use crate::routes::ROUTES;
use crate::scene::{problem, with_scene};

#[test]
fn nobody_comes_in_without_the_token_or_from_another_page() {
    with_scene(|scene| {
        let (url, token) = (&scene.host.url, &scene.host.token);
        let here = address(url);
        let good = format!("Bearer {token}");
        for route in ROUTES {
            let path = scene.path(route, None);
            let call = |headers: &[(&str, &str)]| {
                let mut request = RawRequest::new(route.method, &path);
                for (name, value) in headers {
                    request = request.header(name, *value);
                }
                if route.path.ends_with("/events") {
                    request = request.header("accept", "text/event-stream");
                }
                exchange(url, &request)
            };
            let longer = format!("{good}0");
            let wrong = ["Bearer x", "Bearer", "Basic b3duZXI6", "", longer.as_str()];
            for authorization in wrong.map(Some).into_iter().chain([None]) {
                let mut headers = vec![("host", here)];
                headers.extend(authorization.map(|value| ("authorization", value)));
                let answer = call(&headers);
                if route.is_open() {
                    assert_eq!(answer.status, 200, "{path}");
                } else {
                    problem(&answer, 401, "not_authorised", None);
                    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
                }
            }
            let auth = ("authorization", good.as_str());
            if !route.is_open() {
                let answer = call(&[("host", here), auth, ("authorization", "Bearer x")]);
                problem(&answer, 401, "not_authorised", None);
            }
            for host in ["evil.example", "127.0.0.1.evil.example:80", "", "0.0.0.0"] {
                problem(&call(&[("host", host), auth]), 403, "foreign_host", None);
            }
            for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "file://", ""] {
                let answer = call(&[("host", here), auth, ("origin", origin)]);
                problem(&answer, 403, "foreign_origin", None);
            }
        }
        // The upgrade of a socket is asked the same.
        let upgrade = |headers: &[(&str, &str)]| {
            let mut request = RawRequest::new("GET", "/api/v1/events")
                .header("upgrade", "websocket")
                .header("connection", "Upgrade")
                .header("sec-websocket-version", "13")
                .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
            for (name, value) in headers {
                request = request.header(name, *value);
            }
            exchange(url, &request)
        };
        let auth = ("authorization", good.as_str());
        problem(&upgrade(&[("host", here)]), 401, "not_authorised", None);
        let foreign = [("host", here), auth, ("origin", "http://evil.example")];
        problem(&upgrade(&foreign), 403, "foreign_origin", None);
        problem(&upgrade(&[("host", here), auth, ("origin", "null")]), 403, "foreign_origin", None);
        problem(&upgrade(&[("host", "evil.example"), auth]), 403, "foreign_host", None);
        let protocol = ("sec-websocket-protocol", "holdfast, holdfast.bearer.x");
        problem(&upgrade(&[("host", here), protocol]), 401, "not_authorised", None);
    });
}
